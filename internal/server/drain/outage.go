package drain

import (
	"errors"
	"net/http"
	"sync"
	"time"

	"github.com/org/foreman-action/internal/github/rest"
	"github.com/org/foreman-action/runner"
	"github.com/org/foreman-action/triage"
)

const (
	outageMost = 5 * time.Minute // between two tries of a decision while nothing can be had
	// outageEnd is how long a decision may be tried without that being counted: maybe it is
	// the only one there is, and its issue can never be read. It is how long an agent that
	// is asked may be out of order, too.
	outageEnd = 24 * time.Hour
)

// outages tell what is wrong with one decision from what is wrong with all of them: while
// GitHub is down, or a token has expired, no decision is worse than another, and none is
// given up for it.
type outages struct {
	mu    sync.Mutex
	known map[string]*spell
}

// A spell is what is known of one identity.
type spell struct {
	well  time.Time // when something was last had from GitHub
	since time.Time // of the outage; zero: there is none
	tasks map[string]want
}

// A want is when nothing could be had for a task: for the first time since something was,
// and the last.
type want struct{ first, last time.Time }

// get returns the spell of an identity. The caller holds o.mu.
func (o *outages) get(identity string) *spell {
	if o.known == nil {
		o.known = map[string]*spell{}
	}
	if o.known[identity] == nil {
		o.known[identity] = &spell{tasks: map[string]want{}}
	}
	return o.known[identity]
}

// over notes that something was had.
func (o *outages) over(identity, task string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	s := o.get(identity)
	s.well, s.since = time.Now(), time.Time{}
	delete(s.tasks, task)
	for id, w := range s.tasks {
		if s.well.Sub(w.last) > time.Hour {
			delete(s.tasks, id)
		}
	}
}

// met notes that nothing could be had for a task. ok says that this may be so for all, and
// not for ever, and wait when it is worth trying again: the longer it lasts, the later.
func (o *outages) met(identity, task string) (wait time.Duration, ok bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	s, now := o.get(identity), time.Now()
	if s.since.IsZero() {
		s.since = now
	}
	w, again := s.tasks[task]
	others := again && s.well.After(w.last) // had something since
	if w.last = now; !again {
		w.first = now
	}
	s.tasks[task] = w
	if others || now.Sub(w.first) > outageEnd {
		return 0, false
	}
	return min(max(now.Sub(s.since)/2, time.Second), outageMost), true
}

// unreached reports whether an attempt failed before it knew the issue, for a reason that
// every issue would have met.
func unreached(rep runner.Report, err error) bool {
	status := rest.StatusOf(err)
	if errors.Is(err, triage.ErrGone) {
		return false // every other issue may be there
	}
	return err != nil && rep.IssueURL == "" && !final(err) && (status == 0 || status == http.StatusUnauthorized || status >= 500)
}

// An outageError is what went wrong while nothing could be had from GitHub.
type outageError struct {
	err  error
	wait time.Duration
}

func (e *outageError) Error() string { return e.err.Error() }
func (e *outageError) Unwrap() error { return e.err }
