package executor

import (
	"errors"
	"net/http"
	"sync"
	"time"

	"github.com/org/foreman-action/internal/github/rest"
	"github.com/org/foreman-action/internal/server/health"
	"github.com/org/foreman-action/runner"
	"github.com/org/foreman-action/triage"
)

const (
	maxOutageWait = 5 * time.Minute // between two tries of a decision during an outage
	// maxOutage is how long tries during an outage do not count for a decision. It is limited,
	// because the decision may be the only one, and its issue may never become readable.
	maxOutage = 24 * time.Hour
)

// outages distinguishes an outage of GitHub, or of a token, from a problem of one decision. In an
// outage all decisions of an identity fail, and no try counts. This is not a circuit breaker: all
// decisions are still tried, but less often.
type outages struct {
	mu    sync.Mutex
	known map[string]*access // by identity
}

// An access is the health of GitHub for one identity.
type access struct {
	peer  health.Peer
	tasks health.Items
}

// judge records the result of an attempt that ends now. It returns err, or an *outageError if the failure seems
// to be an outage. Then the wait grows with the duration of the outage.
func (o *outages) judge(identity, task string, rep runner.Report, err error, now time.Time) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	a := o.known[identity]
	if a == nil {
		a = &access{}
		o.known[identity] = a
	}
	if !unreachable(rep, err) {
		a.peer.Succeed()
		a.tasks.Succeed(task, now)
		return err
	}
	a.peer.Fail(now, now, err.Error())
	if i := a.tasks.Fail(task, now); i.Blamed || now.Sub(i.First) > maxOutage {
		return err
	}
	return &outageError{err, min(max(now.Sub(a.peer.Since)/2, time.Second), maxOutageWait)}
}

// unreachable reports whether an attempt failed before it read the issue, for a reason that does
// not depend on the issue.
func unreachable(rep runner.Report, err error) bool {
	status := rest.StatusOf(err)
	if errors.Is(err, triage.ErrGone) {
		return false // other issues may be there
	}
	return err != nil && rep.IssueURL == "" && rep.Decision == "" && !permanent(err) && (status == 0 || status == http.StatusUnauthorized || status >= 500)
}
