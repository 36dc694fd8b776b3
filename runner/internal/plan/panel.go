package plan

import (
	"slices"

	"github.com/org/foreman-action/runner/effect"
	"github.com/org/foreman-action/triage"
)

// WithPanel returns the plan for a repository whose automation panel is on: changes of labels, assignees
// and the type are written with their intents, which GitHub shows beside them, and those that are proposed
// alone are proposed there. why returns the rationale of a step that has none yet.
func (p Plan) WithPanel(why func(s *Step) string) Plan {
	p.Steps = slices.Clone(p.Steps)
	bundles := map[int]int{}
	for _, s := range p.Steps {
		if s.Verdict == triage.Suggest {
			bundles[s.Bundle]++
		}
	}
	for i := range p.Steps {
		s := &p.Steps[i]
		proposed := s.Verdict == triage.Suggest && bundles[s.Bundle] == 1 && s.Proposal == 0 && !s.Astray
		if !proposed && (!s.isOpen() || s.Grouped() || s.Accepted != nil || s.Source.Command != "" || s.Source.Undo) {
			continue // what GitHub holds of them would break a group, or the yes of a person
		}
		in := effect.Intent{Rationale: s.Rationale, Confidence: confidenceOf(s.Source, s.Confidence), Suggest: proposed}
		if in.Rationale == "" && panelled(s.Effect) {
			in.Rationale = why(s)
		}
		switch e := s.Effect.(type) {
		case effect.AddLabels:
			e.Intents = slices.Repeat([]effect.Intent{in}, len(e.Names))
			s.Effect = e
		case effect.Assign:
			e.Intents = slices.Repeat([]effect.Intent{in}, len(e.Logins))
			s.Effect = e
		case effect.SetType:
			e.Intent = in
			s.Effect = e
		default:
			continue
		}
		if s.Rationale, s.Confidence = in.Rationale, in.Confidence; proposed {
			s.Carrier = triage.CarrierGitHub
		}
	}
	return p
}

// panelled reports whether GitHub shows the intent of an effect.
func panelled(e effect.Effect) bool {
	switch e.(type) { //nolint:gochecksumtype // as in WithPanel
	case effect.AddLabels, effect.Assign, effect.SetType:
		return true
	}
	return false
}

// HasPanel reports whether GitHub's panel can show a step of the plan, or the intent of one.
func (p Plan) HasPanel() bool {
	return slices.ContainsFunc(p.Steps, func(s Step) bool { return (s.Verdict == triage.Suggest || s.isOpen()) && panelled(s.Effect) })
}
