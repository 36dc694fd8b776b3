package rules_test

import (
	"context"
	"errors"
	"testing"

	"github.com/org/foreman-action/rules/facts"
	"github.com/org/foreman-action/triage"
)

// ending is a Lookup whose first call ends the context, and then waits for it as a call to a server
// does.
type ending struct {
	facts.Known
	end   context.CancelFunc
	calls *int
}

func (e ending) Permission(ctx context.Context, _ string) (string, error) {
	*e.calls++
	e.end()
	<-ctx.Done()
	return "", ctx.Err()
}

func TestContextEnds(t *testing.T) {
	t.Parallel()
	set := mustCompile(t, `
version: 1
rules:
  - {id: asks, when: actor.permission == "write", then: [{add_label: a}]}
  - {id: asks-again, when: actor.permission == "write", then: [{add_label: b}]}
`)
	ctx, end := context.WithCancel(t.Context())
	calls := 0
	f := facts.Facts{Event: triage.Event{Name: "issues", Action: "opened"}, Lookup: ending{end: end, calls: &calls}}
	r, err := set.Decide(ctx, f)
	if !errors.Is(err, context.Canceled) || len(r.Trace) > 0 {
		t.Errorf("got %+v, %v; want no result and the context's error", r, err)
	}
	if calls != 1 {
		t.Errorf("got %d look-ups, want 1: the rules after the end are not evaluated", calls)
	}
	for _, w := range set.Explain(ctx, f) {
		if w.Outcome != "failed" {
			t.Errorf("rule %s is %s, want it failed", w.ID, w.Outcome)
		}
	}
}
