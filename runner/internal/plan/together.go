package plan

import (
	"fmt"

	"github.com/org/foreman-action/runner/effect"
	"github.com/org/foreman-action/triage"
)

// Grouped reports whether the step belongs to the actions of a rule that are carried out together.
func (s *Step) Grouped() bool { return s.Source.Together && !s.Source.Undo }

// passes reports whether a step does not prevent the other steps of its group: it is carried out as
// requested, or there is nothing left to do.
func (s *Step) passes() bool {
	return !s.Unknown && !s.Refused && !s.Short && !s.later() && (s.Verdict == triage.Do || s.Holds)
}

// later reports whether the step closes the issue after a grace period.
func (s *Step) later() bool {
	c, ok := s.Effect.(effect.Close)
	return ok && c.After > 0
}

// apart returns the ids of the rules whose steps are skipped because one of them is not carried out.
func (p Plan) apart() map[string]bool {
	rules := map[string]bool{}
	for i := range p.Steps {
		if p.Steps[i].Apart {
			rules[p.Steps[i].Source.Rule] = true
		}
	}
	return rules
}

// settleGroups skips all steps of a group if one of its steps is not carried out. It returns
// whether it skipped any.
func (p Plan) settleGroups() bool {
	changed := false
	for i := range p.Steps {
		why := &p.Steps[i]
		if !why.Grouped() || why.passes() || why.Apart {
			continue
		}
		reason := why.Reason
		if why.isOpen() && why.later() {
			reason = "it would happen only after a grace period"
		}
		for k := range p.Steps {
			s := &p.Steps[k]
			if s.Grouped() && s.Source.Rule == why.Source.Rule && s.isOpen() {
				s.set(triage.Skip, Dropped(why.Action.Type, reason))
				s.Apart, s.Deferred, changed = true, why.Deferred, true
			}
		}
	}
	return changed
}

// Dropped returns the reason for a step that is skipped because another step of its group is not
// carried out.
func Dropped(typ, why string) string {
	return fmt.Sprintf("together: %s is not carried out: %s", typ, why)
}

// commentsLast moves the comments of each group behind its other steps. The steps of a group are
// consecutive, because they belong to one rule.
func commentsLast(list []Step) {
	for i := 0; i < len(list); {
		end := i + 1
		for end < len(list) && list[i].Grouped() && list[end].Grouped() && list[end].Source.Rule == list[i].Source.Rule {
			end++
		}
		var others, comments []Step
		for _, s := range list[i:end] {
			if _, ok := s.Effect.(effect.Comment); ok {
				comments = append(comments, s)
			} else {
				others = append(others, s)
			}
		}
		copy(list[i:end], append(others, comments...))
		i = end
	}
}
