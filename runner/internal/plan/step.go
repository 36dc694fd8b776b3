package plan

import (
	"time"

	"github.com/org/foreman-action/protocol"
	"github.com/org/foreman-action/runner/effect"
	"github.com/org/foreman-action/runner/internal/outcome"
	"github.com/org/foreman-action/triage"
)

// A Step is one action of a plan: its result so far, and its effect.
type Step struct {
	triage.ActionResult

	// Effect is the permitted part of the action; nil for an unknown or malformed action.
	Effect effect.Effect
	// Unknown means that the action's type is unknown. The actions after it are skipped.
	Unknown bool
	// Deferred means that the step is skipped only temporarily.
	Deferred bool
	// Landed means that an earlier attempt at the task carried out the step.
	Landed bool
	// Doubled is an error about comments that were posted twice before; nil: there are none.
	Doubled error
	// Holds means that the step is skipped because there is nothing left to do. Short means that the
	// policy or the review took a part of the step away. Apart means that the step is skipped because
	// another step of its group is not carried out.
	Holds, Short, Apart bool
	// Refused means that the host refused the step for good, in an earlier attempt.
	Refused bool
	// Held means that the policy requires a person's yes before the step is carried out. Bundle is the
	// index of the step with whose proposal it is proposed, for a step with the verdict
	// [triage.Suggest]; its own index if it is proposed alone.
	Held   bool
	Bundle int
	// Unproven is the reason why the source of a held step has not earned the permission; empty: another
	// reason holds the step.
	Unproven string
	// Astray means that GitHub may have applied the held step although it was only proposed.
	Astray bool
	// HeldNames are the names of the step that GitHub shows in its panel of suggestions instead of writing
	// them, after the step was carried out.
	HeldNames []string
	// Accepted is the yes of the person who accepted the step's proposal; nil: it had none.
	Accepted *Acceptance
}

// An Acceptance is a person's yes to a proposal.
type Acceptance struct {
	Number int       // of the proposal
	ID     string    // of the proposal; the task id in the markers of its comments
	By     string    // login of the person
	Made   time.Time // when the proposal was made
	At     time.Time // when the person answered
	Group  bool      // the proposal has several actions, all of which are carried out, or none
	// Rationale, Confidence and Pair are those of the proposal.
	Rationale  string
	Pair       string
	Confidence protocol.Confidence
}

// RecordOnly reports whether the step changes only the memory's record. A step without an effect is
// classified by its action type.
func (s *Step) RecordOnly() bool {
	if s.Effect == nil {
		spec, _ := protocol.SpecOf(s.Action.Type)
		return spec.RecordOnly
	}
	return outcome.RecordOnly(s.Effect)
}

// Comment returns the comment that the step posts; ok is false if it posts none.
func (s *Step) Comment() (c effect.Comment, ok bool) {
	c, ok = s.Effect.(effect.Comment)
	return c, ok
}

// Own reports whether the step carries out an action that is not built in. No look-up shows whether it
// was carried out.
func (s *Step) Own() bool {
	_, ok := s.Effect.(effect.Custom)
	return ok
}

// Answers reports whether the step answers its command. An answer does not use up the policy's
// limits per event.
func (s *Step) Answers() bool {
	return s.Source.Command != "" && (s.Action.Type == protocol.ActionComment || s.Action.Type == protocol.ActionReact)
}

// Written returns the names that the step writes, or those that an earlier attempt wrote.
func (s *Step) Written() []string {
	if len(s.Values) > 0 || s.Effect == nil {
		return s.Values
	}
	return effect.Values(s.Effect)
}

// unpaced reports whether the limits for one event and the comment interval do not apply to the step: it
// answers a command, or a person accepted it.
func (s *Step) unpaced() bool { return s.Answers() || s.Accepted != nil }

// isOpen reports whether the step is still to be carried out.
func (s *Step) isOpen() bool { return s.Verdict == triage.Do && !s.Landed && !s.Refused }

func (s *Step) set(v triage.Verdict, reason string) { s.Verdict, s.Reason = v, reason }
