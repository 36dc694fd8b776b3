package executor

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
	maxOutageWait = 5 * time.Minute // between two tries of a decision during an outage
	// maxOutage is how long tries during an outage do not count for a decision. It is limited,
	// because the decision may be the only one, and its issue may never become readable.
	maxOutage      = 24 * time.Hour
	forgetFailures = time.Hour // after the last failure of a task
)

// outages distinguishes an outage of GitHub, or of a token, from a problem of one decision. In an
// outage all decisions of an identity fail, and no try counts. This is not a circuit breaker: all
// decisions are still tried, but less often.
type outages struct {
	now func() time.Time

	mu    sync.Mutex
	known map[string]*outage // by identity
}

// An outage is the state of one identity.
type outage struct {
	success time.Time // time of the last success
	since   time.Time // time of the first failure after success; zero: none
	tasks   map[string]failures
}

// failures are the times of the first and the last failure of a task without a success.
type failures struct{ first, last time.Time }

// judge records the result of an attempt. It returns err, or an *outageError if the failure seems
// to be an outage.
func (o *outages) judge(identity, task string, rep runner.Report, err error) error {
	if !unreachable(rep, err) {
		o.succeeded(identity, task)
		return err
	}
	if wait, ok := o.failed(identity, task); ok {
		return &outageError{err, wait}
	}
	return err
}

// succeeded records that GitHub answered.
func (o *outages) succeeded(identity, task string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	s := o.of(identity)
	s.success, s.since = o.now(), time.Time{}
	delete(s.tasks, task)
	for id, f := range s.tasks {
		if s.success.Sub(f.last) > forgetFailures {
			delete(s.tasks, id)
		}
	}
}

// failed records that GitHub did not answer. It reports whether this may be an outage, and how long
// to wait. The wait grows with the duration of the outage.
func (o *outages) failed(identity, task string) (wait time.Duration, ok bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	s, now := o.of(identity), o.now()
	if s.since.IsZero() {
		s.since = now
	}
	f, again := s.tasks[task]
	othersSucceed := again && s.success.After(f.last)
	if f.last = now; !again {
		f.first = now
	}
	s.tasks[task] = f
	if othersSucceed || now.Sub(f.first) > maxOutage {
		return 0, false
	}
	return min(max(now.Sub(s.since)/2, time.Second), maxOutageWait), true
}

// of returns the state of an identity. The caller holds o.mu.
func (o *outages) of(identity string) *outage {
	s := o.known[identity]
	if s == nil {
		s = &outage{tasks: map[string]failures{}}
		o.known[identity] = s
	}
	return s
}

// unreachable reports whether an attempt failed before it read the issue, for a reason that does
// not depend on the issue.
func unreachable(rep runner.Report, err error) bool {
	status := rest.StatusOf(err)
	if errors.Is(err, triage.ErrGone) {
		return false // other issues may be there
	}
	return err != nil && rep.IssueURL == "" && !permanent(err) && (status == 0 || status == http.StatusUnauthorized || status >= 500)
}
