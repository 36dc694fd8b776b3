package plan

import (
	"fmt"
	"strconv"

	"github.com/org/foreman-action/runner/effect"
	"github.com/org/foreman-action/triage"
)

// Grouped reports whether the step belongs to actions that are carried out together: those of a rule,
// or those of an accepted proposal.
func (s *Step) Grouped() bool {
	if s.Accepted != nil {
		return s.Accepted.Group
	}
	return s.Source.Together && !s.Source.Undo
}

// Group returns a name of the group of a step that is Grouped. It differs from the names of all other
// groups, because ids of rules contain no "#".
func (s *Step) Group() string {
	if s.Accepted != nil {
		return "#" + strconv.Itoa(s.Accepted.Number)
	}
	return s.Source.Rule
}

// passes reports whether a step does not prevent the other steps of its group: it is carried out as
// requested, or there is nothing left to do.
func (s *Step) passes() bool {
	return !s.Unknown && !s.Refused && !s.Short && (!s.later() || s.Accepted != nil) && (s.Verdict == triage.Do || s.Holds)
}

// later reports whether the step closes the issue after a grace period.
func (s *Step) later() bool {
	c, ok := s.Effect.(effect.Close)
	return ok && c.After > 0
}

// apart returns the groups whose steps are skipped because one of them is not carried out.
func (p Plan) apart() map[string]bool {
	groups := map[string]bool{}
	for i := range p.Steps {
		if p.Steps[i].Apart {
			groups[p.Steps[i].Group()] = true
		}
	}
	return groups
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
			if s.Grouped() && s.Group() == why.Group() && s.isOpen() {
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
// consecutive, because they belong to one rule or one proposal. An accepted proposal of another source
// keeps its order.
func commentsLast(list []Step) {
	for i := 0; i < len(list); {
		end := i + 1
		for end < len(list) && list[i].Grouped() && list[end].Grouped() && list[end].Group() == list[i].Group() {
			end++
		}
		var others, comments []Step
		for _, s := range list[i:end] {
			if _, ok := s.Effect.(effect.Comment); ok && s.Source.Together {
				comments = append(comments, s)
			} else {
				others = append(others, s)
			}
		}
		copy(list[i:end], append(others, comments...))
		i = end
	}
}
