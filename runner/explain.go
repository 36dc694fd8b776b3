package runner

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/org/foreman-action/config"
	"github.com/org/foreman-action/rules"
	"github.com/org/foreman-action/rules/facts"
	"github.com/org/foreman-action/triage"
)

// Explain returns for every rule of o.Config, which may have none, why it matches the event or
// does not. The event must hold its issue. Look-ups work as in a run, with o.Host and o.Memory;
// nothing is written.
func Explain(ctx context.Context, o Options, d triage.Delivery) ([]rules.RuleWhy, error) {
	f, err := Facts(ctx, o, d)
	if err != nil {
		return nil, fmt.Errorf("explain the rules: %w", err)
	}
	return newSetup(o).c.Rules.Explain(f), nil
}

// Facts returns the event as the rules of o.Config see it in a run: look-ups use o.Host and
// o.Memory. The event must hold its issue.
func Facts(ctx context.Context, o Options, d triage.Delivery) (facts.Facts, error) {
	if d.Issue == nil {
		return facts.Facts{}, errNoIssue
	}
	return (decider{newAttempt(newSetup(o), d, nil, func(string, ...any) {})}).facts(ctx), nil
}

var errNoIssue = errors.New("the event holds no issue")

// Replay returns the facts on which the rules of a configuration would decide the event
// at the given time, with l for facts that are not in the event. The event must contain
// its issue. A label that the policy refuses is refused in the facts too.
func Replay(c *config.Config, d triage.Delivery, l facts.Lookup, now time.Time) (facts.Facts, error) {
	if d.Issue == nil {
		return facts.Facts{}, fmt.Errorf("replay the rules: %w", errNoIssue)
	}
	f := factsOf(d, now)
	f.Lookup, f.May = l, c.Policy.MayLabel
	return f, nil
}
