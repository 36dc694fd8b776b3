package runner

import (
	"context"
	"fmt"
	"strings"

	"github.com/org/foreman-action/triage"
)

func addLabels(param string) action {
	return action{
		limit: addsLabels,
		judge: func(p *planner, s *Step) {
			wanted := names(s.Action, param)
			s.labels = pick(wanted, p.now.labels, false)
			left := pick(s.labels, p.now.never, false)
			switch {
			case len(wanted) == 0:
				s.set(triage.Refuse, "it names no label")
			case len(s.labels) == 0:
				s.set(triage.Skip, "already there")
			case len(left) == 0:
				s.set(triage.Skip, "never again, as the plan says before (never_again)")
			default:
				s.labels = left
				p.judgeLabels(s)
			}
		},
		effect: func(now *state, s *Step) { put(now.labels, s.labels, true) },
		yield: func(ctx context.Context, x *execution, h hindsight, s *Step) {
			s.labels = yield(s, s.labels, func(name string) string {
				if why := x.undone(ctx, h, s, name); why != "" {
					return why
				}
				return h.against("unlabeled", "removed it", of(name, labelOf, "labeled", "unlabeled"))
			})
		},
		write: func(ctx context.Context, x *execution, s *Step) error {
			return x.Host.AddLabels(ctx, x.Ref, s.labels)
		},
		landed: func(now state, s *Step) bool {
			return len(pick(s.labels, now.labels, false)) == 0
		},
	}
}

func removeLabel() action {
	return action{
		judge: func(p *planner, s *Step) {
			s.labels = names(s.Action, "label")
			if len(pick(s.labels, p.now.labels, true)) == 0 {
				s.set(triage.Skip, "not there")
				return
			}
			p.judgeLabels(s)
		},
		effect: func(now *state, s *Step) { put(now.labels, s.labels, false) },
		yield: func(ctx context.Context, x *execution, h hindsight, s *Step) {
			s.labels = yield(s, s.labels, func(name string) string {
				if why := x.undone(ctx, h, s, name); why != "" {
					return why
				}
				return h.against("labeled", "added it", of(name, labelOf, "labeled", "unlabeled"))
			})
		},
		write: func(ctx context.Context, x *execution, s *Step) error {
			return x.Host.RemoveLabel(ctx, x.Ref, s.labels[0])
		},
		landed: func(now state, s *Step) bool {
			return len(pick(s.labels, now.labels, true)) == 0
		},
	}
}

// judgeLabels drops the labels that the policy forbids and refuses the step when
// none is left.
func (p *planner) judgeLabels(s *Step) {
	var kept, why []string
	for _, name := range s.labels {
		if reason := p.policy.Labels.Refuses(name); reason != "" {
			why = append(why, fmt.Sprintf("%s: %s", name, reason))
			continue
		}
		kept = append(kept, name)
	}
	s.labels, s.Reason = kept, strings.Join(why, "; ")
	if len(kept) == 0 {
		s.set(triage.Refuse, s.Reason)
	}
}
