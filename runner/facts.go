package runner

import (
	"context"
	"errors"
	"time"

	"github.com/org/foreman-action/config"
	"github.com/org/foreman-action/rules"
	"github.com/org/foreman-action/rules/facts"
	"github.com/org/foreman-action/rules/ruletest"
	"github.com/org/foreman-action/triage"
)

// Explain tells of every rule of o.Config, which may have none, why it matches the event
// or does not. The event must hold its issue. What rules ask beyond it is looked up as in a
// run, with o.Host and o.Memory; nothing is written.
func Explain(ctx context.Context, o Options, e triage.Delivery) ([]rules.RuleWhy, error) {
	if e.Issue == nil {
		return nil, errors.New("explain the rules: the event holds no issue")
	}
	w := newWork(o, e)
	return w.c.Rules.Explain(w.facts(ctx)), nil
}

// facts is the event as rules see it, with what they may look up.
func (w *work) facts(ctx context.Context) facts.Facts {
	f := rulesFacts(w.e, w.o.Now().UTC())
	f.Lookup = &lookup{work: w, ctx: ctx}
	f.Effect = w.effect(ctx, true)
	return f
}

// rulesFacts is the event as rules see it.
func rulesFacts(e triage.Delivery, now time.Time) facts.Facts {
	f := facts.Facts{
		Now: now, Issue: *e.Issue, Event: e.Event, Repo: e.Repo, Scans: e.Scans,
		Actor: triage.Actor{Login: e.Sender.Login, Type: e.Sender.Type},
	}
	f.Event.Name = e.RuleName()
	if e.Pull != nil {
		f.Pull = *e.Pull
	}
	if e.HasComment() && e.Comment.Author == e.Sender.Login {
		f.Actor.Association = e.Comment.Association
	}
	if e.Issue.Author == e.Sender.Login && e.Sender.Login != "" {
		f.Actor.Association = e.Issue.Association
	}
	return f
}

// Test runs one of the tests of a configuration, by its rules and what its policy says of
// labels.
func Test(c *config.Config, t ruletest.Test) ruletest.Result { return ruletest.Run(c.Rules, t, c.Policy.MayLabel) }

// RecordTest returns an item for the tests of a rule file, in YAML: the event as of now, the
// decision of the rules of o.Config, and what they looked up, as in a run. The error says
// that the event has no issue, is about a pull request, or has what a test cannot express.
func RecordTest(ctx context.Context, o Options, e triage.Delivery, name string) (string, error) {
	switch {
	case e.Issue == nil:
		return "", errors.New("record a test: the event holds no issue")
	case e.Issue.PullRequest:
		return "", errors.New("record a test: only issues are recorded, and this is a pull request")
	}
	w := newWork(o, e)
	return ruletest.Record(w.c.Rules, name, w.facts(ctx))
}

// newWork is the work on an event of which only the rules are asked.
func newWork(o Options, e triage.Delivery) *work {
	return &work{Runner: newRunner(o), e: e, past: past{host: o.Host, ref: e.Ref()}}
}
