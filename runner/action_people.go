package runner

import (
	"context"
	"fmt"
	"strings"

	"github.com/org/foreman-action/triage"
)

func assign() action {
	return action{
		judge: func(p *planner, s *Step) {
			s.logins = pick(names(s.Action, "assignees"), p.now.assignees, false)
			switch {
			case len(s.logins) == 0:
				s.set(triage.Skip, "already assigned")
			case len(s.logins) > maxAssignees:
				s.set(triage.Refuse, fmt.Sprintf("at most %d people can be assigned", maxAssignees))
			}
		},
		effect: func(now *state, s *Step) { put(now.assignees, s.logins, true) },
		yield: func(ctx context.Context, x *execution, h hindsight, s *Step) {
			s.logins = yield(s, s.logins, func(login string) string {
				if why := x.undone(ctx, h, s, login); why != "" {
					return why
				}
				return h.against("unassigned", "removed them", of(login, assigneeOf, "assigned", "unassigned"))
			})
		},
		write: func(ctx context.Context, x *execution, s *Step) error {
			accepted, err := x.Host.Assign(ctx, x.Ref, s.logins)
			if err != nil {
				return err
			}
			if dropped := pick(s.logins, set(accepted), false); len(dropped) > 0 {
				s.Reason = "GitHub did not accept " + strings.Join(dropped, ", ")
			}
			if s.logins = pick(s.logins, set(accepted), true); len(s.logins) == 0 {
				return errNothing
			}
			return nil
		},
		landed: func(now state, s *Step) bool {
			return len(pick(s.logins, now.assignees, false)) == 0
		},
	}
}

// maxAssignees is GitHub's limit for one issue.
const maxAssignees = 10

func unassign() action {
	return action{
		judge: func(p *planner, s *Step) {
			s.logins = pick(names(s.Action, "assignees"), p.now.assignees, true)
			if len(s.logins) == 0 {
				s.set(triage.Skip, "not assigned")
			}
		},
		effect: func(now *state, s *Step) { put(now.assignees, s.logins, false) },
		yield: func(ctx context.Context, x *execution, h hindsight, s *Step) {
			s.logins = yield(s, s.logins, func(login string) string {
				if why := x.undone(ctx, h, s, login); why != "" {
					return why
				}
				return h.against("assigned", "assigned them", of(login, assigneeOf, "assigned", "unassigned"))
			})
		},
		write: func(ctx context.Context, x *execution, s *Step) error {
			return x.Host.Unassign(ctx, x.Ref, s.logins)
		},
		landed: func(now state, s *Step) bool {
			return len(pick(s.logins, now.assignees, true)) == 0
		},
	}
}
