package runner

import (
	"errors"
	"time"

	"github.com/org/foreman-action/config"
	"github.com/org/foreman-action/rules/facts"
	"github.com/org/foreman-action/triage"
)

// Replay returns the facts on which the rules of a configuration would decide the event
// at the given time, with l to answer what the event does not tell. The event must hold
// its issue. A label that the policy refuses is refused in the facts too.
func Replay(c *config.Config, e triage.Delivery, l facts.Lookup, now time.Time) (facts.Facts, error) {
	if e.Issue == nil {
		return facts.Facts{}, errors.New("replay the rules: the event holds no issue")
	}
	f := rulesFacts(e, now)
	f.Lookup, f.May = l, c.Policy.MayLabel
	return f, nil
}
