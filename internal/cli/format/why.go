package format

import (
	"fmt"
	"strings"

	"github.com/org/foreman-action/internal/cli/failure"
	"github.com/org/foreman-action/internal/sanitize"
	"github.com/org/foreman-action/rules"
)

// WriteRule prints an empty line and then the explanation of one rule.
func WriteRule(b *strings.Builder, r rules.RuleWhy, p Painter) {
	sign := p.Faint("-")
	if r.Outcome == rules.Matched {
		sign = p.Paint("32", "+")
	}
	if r.Outcome == rules.Undecided {
		sign = p.Paint("33", "?")
	}
	fmt.Fprintf(b, "\n%s %s  %s\n", sign, p.Bold(r.ID), p.Faint(outcomeText(r.RuleTrace)))
	if r.Why != nil {
		for depth, part := range r.Why.All() {
			part.Error = failure.Advise(part.Error)
			fmt.Fprintf(b, "%s%s  %s\n", strings.Repeat("  ", depth+1), sanitize.Log(part.Shown()), sanitize.Log(strings.Join(strings.Fields(part.Text), " ")))
		}
	}
	if r.Error != "" {
		fmt.Fprintf(b, "  %s\n", strings.ReplaceAll(Lines(failure.Advise(r.Error)), "\n", "\n  "))
	}
}

// outcomeText returns the outcome of a rule in a few words.
func outcomeText(r rules.RuleTrace) string {
	place := fmt.Sprintf("(%s:%d)", r.File, r.Line)
	switch r.Outcome {
	case rules.Matched:
		return "fires " + place
	case rules.NotListed:
		return "does not listen to this event " + place
	case rules.False:
		return "its condition is false " + place
	case rules.Later:
		return "its condition became true only after the event " + place
	case rules.Cut:
		return "an earlier rule stopped " + place
	case rules.Unknown:
		return "unknown, so it does nothing " + place
	case rules.Failed:
		return "fails " + place
	case rules.Undecided:
		return "unknown here " + place
	}
	return string(r.Outcome) + " " + place
}

// A RuleJSON explains in JSON why a rule fired or did not fire.
type RuleJSON struct {
	ID      string        `json:"id"`
	Outcome rules.Outcome `json:"outcome"` // matched, event, condition, later, stopped, failed, unknown, undecided
	File    string        `json:"file"`
	Line    int           `json:"line"`
	Why     *PartJSON     `json:"why"`   // null: no condition, or the event does not concern the rule
	Error   string        `json:"error"` // why the outcome is failed, unknown or undecided
}

// A PartJSON is one part of a condition with its value.
type PartJSON struct {
	Text    string     `json:"text"`
	Value   string     `json:"value"`
	Error   string     `json:"error"`
	Missing []string   `json:"missing,omitempty"` // the values that nobody supplied; Error says so
	Idle    bool       `json:"idle"`
	Parts   []PartJSON `json:"parts"`
}

// RuleOf returns the JSON form of one rule's explanation.
func RuleOf(r rules.RuleWhy) RuleJSON {
	rule := RuleJSON{ID: r.ID, Outcome: r.Outcome, File: r.File, Line: r.Line, Error: failure.Advise(r.Error)}
	if r.Why != nil {
		why := partOf(*r.Why)
		rule.Why = &why
	}
	return rule
}

func partOf(w rules.Why) PartJSON {
	out := PartJSON{w.Text, w.Value, failure.Advise(w.Error), w.Missing, w.Idle, []PartJSON{}}
	for _, p := range w.Parts {
		out.Parts = append(out.Parts, partOf(p))
	}
	return out
}
