package runner

import (
	"context"
	"time"

	"github.com/org/foreman-action/protocol"
	"github.com/org/foreman-action/triage"
)

// A given decision was made before its task came to a Runner.
type given struct {
	message *protocol.DecisionMessage // nil: nobody was asked
	since   time.Time                 // as in Target
	told    time.Time                 // when the issue last changed before it was decided; zero: not known
}

// Apply is [Runner.Run] for an event that an agent was asked about before: the other half
// of [Task]. m is what it decided, nil when nobody was asked; Options.By says who it is,
// and Options.Agent is not asked. What the rules decide comes first, as ever.
//
// The agent took its time, so the issue is read anew. Of a decision on another task, and
// of one with too many actions, nothing is carried out, and the error says so.
func (r *Runner) Apply(ctx context.Context, e triage.Delivery, m *protocol.DecisionMessage) (Report, error) {
	w := r.work(e)
	w.given = &given{message: m}
	if e.Happened() && e.Issue != nil {
		w.given.since, w.given.told = e.Issue.UpdatedAt, e.Issue.UpdatedAt
	}
	if w.given.since.IsZero() {
		// The issue that is read now says nothing of when the task began.
		w.given.since = r.o.Now().Add(-rerunWindow)
	}
	err := w.run(ctx)
	return w.rep, err
}

// renew replaces the issue of an event whose decision is given by the issue as it is now,
// unless the decision is to do nothing, and no rule has a say in it.
func (w *work) renew(ctx context.Context) error {
	if w.given == nil || w.o.Host == nil || w.e.Pull != nil {
		return nil
	}
	if m := w.given.message; m != nil && !m.Decision.Writes() && w.c.Rules.Len() == 0 {
		return nil
	}
	return w.fetch(ctx)
}

// takeDecision joins the decision that the agent made before to that of the rules.
func (w *work) takeDecision(q question, d Decision) (Decision, error) {
	m := w.given.message
	switch {
	case m == nil:
		return d, nil
	case q.res != nil && (q.res.Stopped || q.res.Message.Decision == protocol.Escalate):
		w.rep.warnf("the agent's decision is passed over: the rules leave nothing open")
		return d, nil
	}
	if err := w.usable(*m); err != nil {
		return Decision{}, &AgentError{err}
	}
	return merge(d, Decision{Message: *m, By: w.o.By}, q.res), nil
}
