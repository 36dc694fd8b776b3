// Package shadow computes the score of shadow mode. It predicts actions, and compares the
// predictions with what people did. It does no I/O.
package shadow

import (
	"slices"
	"strings"
	"time"

	"github.com/org/foreman-action/internal/text"
	"github.com/org/foreman-action/memory"
	"github.com/org/foreman-action/protocol"
	"github.com/org/foreman-action/runner/effect"
	"github.com/org/foreman-action/runner/internal/outcome"
	"github.com/org/foreman-action/triage"
)

// agentScore is the key of an agent's score. No rule has this id.
const agentScore = "(agent)"

// Predict returns predictions for those planned actions that people may take as well: changes of
// labels, and closing. An action that would be proposed is predicted as well: the score shows whether people
// agree with the rule, whatever the policy does with its actions.
func Predict(list []triage.ActionResult, issue int, at time.Time) []memory.Prediction {
	var out []memory.Prediction
	for _, a := range list {
		if a.State != triage.Planned || a.Source.Command != "" { // people expect what they command
			continue
		}
		p := memory.Prediction{At: at, Issue: issue, Rule: a.Source.ID(), Type: a.Action.Type}
		if p.Rule == "" {
			p.Rule = agentScore
		}
		e, err := outcome.Parse(a.Action)
		if err != nil {
			continue
		}
		var values []string
		switch e := e.(type) {
		case effect.AddLabels:
			p.Type, values = protocol.ActionAddLabel, e.Names
		case effect.RemoveLabels:
			values = e.Names
		case effect.Close:
			values = []string{e.Reason}
		default: // people rarely take the other actions, or choose other values
		}
		for _, v := range values {
			p.Value = v
			out = append(out, p)
		}
	}
	return out
}

// A Settled is a prediction that was compared with its issue.
type Settled struct {
	memory.Prediction

	Agreed bool // the issue matches the prediction
	Gone   bool // the issue no longer exists
}

// Settle compares a prediction with its issue. A nil issue no longer exists.
func Settle(p memory.Prediction, issue *triage.Issue) Settled {
	return Settled{Prediction: p, Gone: issue == nil, Agreed: issue != nil && shows(*issue, p)}
}

// shows reports whether an issue's state matches a prediction.
func shows(i triage.Issue, p memory.Prediction) bool {
	has := slices.ContainsFunc(i.Labels, func(l string) bool { return text.Fold(l) == text.Fold(p.Value) })
	switch p.Type {
	case protocol.ActionAddLabel:
		return has
	case protocol.ActionRemoveLabel:
		return !has
	}
	return i.State == "closed" && (p.Value == "" || strings.EqualFold(p.Value, i.StateReason))
}

// Update returns the scores after counting the settled predictions and adding new ones.
func Update(was *memory.Scores, settled []Settled, predicted []memory.Prediction) *memory.Scores {
	var s memory.Scores
	if was != nil {
		s = *was
	}
	for _, p := range settled {
		if p.Gone {
			s.Drop(p.Prediction)
			continue
		}
		s.Settle(p.Prediction, p.Agreed)
	}
	for _, p := range predicted {
		s.Predict(p)
	}
	return &s
}
