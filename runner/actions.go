package runner

import (
	"context"

	"github.com/org/foreman-action/internal/sanitize"
	"github.com/org/foreman-action/protocol"
)

// An action is one row of the table of what can be done to an issue.
type action struct {
	spec protocol.ActionSpec
	// judge sets a verdict other than Do, and reads the parameters into the step.
	judge func(p *planner, s *Step)
	// limit names the entry of Policy.Limits that the action uses up; empty: its own.
	limit string
	// effect carries the step's effect over to the state that later steps see; nil:
	// it has none that matters.
	effect func(now *state, s *Step)
	// yield gives way to what people did on the issue before: it takes out of the step
	// what they stand against. nil: they have no say in it.
	yield func(ctx context.Context, x *execution, h hindsight, s *Step)
	// write makes the one call.
	write func(ctx context.Context, x *execution, s *Step) error
	// calls says that it calls off what the memory keeps for later: neither rules nor
	// agents name it, it comes of taking back what they did.
	calls bool
	// landed reports whether a write of unknown outcome took effect. nil: a
	// repetition does no harm.
	landed func(now state, s *Step) bool
}

// counts returns the limit that a step uses up, and how much of it.
func (a action) counts(s *Step) (name string, n int) {
	name = a.limit
	if name == "" {
		name = a.spec.Name
	}
	if name == addsLabels {
		return name, len(s.labels)
	}
	return name, 1
}

func (a action) change(now *state, s *Step) {
	if a.effect != nil {
		a.effect(now, s)
	}
}

// addsLabels is the limit that every label to be added uses up.
const addsLabels = protocol.ActionAddLabel

// actionOf returns the row of a type.
func actionOf(name string) (action, bool) {
	spec, ok := protocol.SpecOf(name)
	if !ok {
		return callOff(name)
	}
	a, ok := actionTable()[name]
	a.spec = spec
	return a, ok
}

// actionTable returns the rows by type.
func actionTable() map[string]action {
	return map[string]action{
		protocol.ActionAddLabel:      addLabels("label"),
		protocol.ActionAddLabels:     addLabels("labels"),
		protocol.ActionRemoveLabel:   removeLabel(),
		protocol.ActionComment:       comment(),
		protocol.ActionUpdateComment: updateComment(),
		protocol.ActionCloseIssue:    closeIssue(),
		protocol.ActionReopenIssue:   reopenIssue(),
		protocol.ActionMarkDuplicate: markDuplicate(),
		protocol.ActionAssign:        assign(),
		protocol.ActionUnassign:      unassign(),
		protocol.ActionSetMilestone:  setMilestone(),
		protocol.ActionSetType:       setType(),
		protocol.ActionLock:          lock(),
		protocol.ActionReact:         react(),
		protocol.ActionNeverAgain:    neverAgain(),
	}
}

// names returns a parameter's names, made harmless, each once. The shape was
// checked before.
func names(a protocol.ActionItem, param string) []string {
	list, _, _ := a.Texts(param)
	var out []string
	seen := map[string]bool{}
	for _, s := range list {
		s = sanitize.Name(s)
		if s != "" && !seen[fold(s)] {
			seen[fold(s)] = true
			out = append(out, s)
		}
	}
	return out
}

func first(a protocol.ActionItem, param string) string {
	s, _, _ := a.Text(param)
	return sanitize.Name(s)
}

func set(list []string) map[string]bool {
	m := make(map[string]bool, len(list))
	put(m, list, true)
	return m
}
