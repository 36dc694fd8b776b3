package runner

import (
	"context"
	"fmt"
	"strings"
)

func closeIssue() action {
	return action{
		judge: func(p *planner, s *Step) {
			s.text = first(s.Action, "reason")
			p.judgeClose(s)
		},
		effect: func(now *state, s *Step) { now.open = false },
		write: func(ctx context.Context, x *execution, s *Step) error {
			return x.Host.CloseIssue(ctx, x.Ref, s.text)
		},
		landed: func(now state, s *Step) bool { return !now.open },
	}
}

func (p *planner) judgeClose(s *Step) {
	switch {
	case !p.policy.AllowClose:
		s.set(Pass, "closing is not allowed: policy.allow_close (input allow-close) is false")
	case !p.now.open:
		s.set(Pass, "already closed")
	}
}

func markDuplicate() action {
	return action{
		judge: func(p *planner, s *Step) {
			n, _, _ := s.Action.Int("of")
			s.duplicate = int(n)
			if n <= 0 || s.duplicate == p.now.number {
				s.set(Refuse, fmt.Sprintf("an issue cannot be a duplicate of #%d", n))
				return
			}
			p.judgeClose(s)
		},
		effect: func(now *state, s *Step) { now.open = false },
		write: func(ctx context.Context, x *execution, s *Step) error {
			return x.Host.MarkDuplicate(ctx, x.Ref, s.duplicate)
		},
		landed: func(now state, s *Step) bool { return !now.open },
	}
}

func reopenIssue() action {
	return action{
		judge: func(p *planner, s *Step) {
			if p.now.open {
				s.set(Pass, "already open")
			}
		},
		effect: func(now *state, s *Step) { now.open = true },
		write: func(ctx context.Context, x *execution, s *Step) error {
			return x.Host.ReopenIssue(ctx, x.Ref)
		},
		landed: func(now state, s *Step) bool { return now.open },
	}
}

func setMilestone() action {
	return action{
		judge: func(p *planner, s *Step) {
			s.text = first(s.Action, "milestone")
			if s.text == p.now.milestone {
				s.set(Pass, "already set")
			}
		},
		effect: func(now *state, s *Step) { now.milestone = s.text },
		write: func(ctx context.Context, x *execution, s *Step) error {
			return x.Host.SetMilestone(ctx, x.Ref, s.text)
		},
		landed: func(now state, s *Step) bool { return now.milestone == s.text },
	}
}

func setType() action {
	return action{
		judge: func(p *planner, s *Step) {
			s.text = first(s.Action, "issue_type")
			if strings.EqualFold(s.text, p.now.issueType) {
				s.set(Pass, "already set")
			}
		},
		effect: func(now *state, s *Step) { now.issueType = s.text },
		write: func(ctx context.Context, x *execution, s *Step) error {
			return x.Host.SetType(ctx, x.Ref, s.text)
		},
		landed: func(now state, s *Step) bool { return strings.EqualFold(now.issueType, s.text) },
	}
}

func lock() action {
	return action{
		judge: func(p *planner, s *Step) {
			s.text = first(s.Action, "reason")
			if p.now.locked {
				s.set(Pass, "already locked")
			}
		},
		effect: func(now *state, s *Step) { now.locked = true },
		write: func(ctx context.Context, x *execution, s *Step) error {
			return x.Host.Lock(ctx, x.Ref, s.text)
		},
		landed: func(now state, s *Step) bool { return now.locked },
	}
}

func react() action {
	return action{
		judge: func(p *planner, s *Step) { s.text = first(s.Action, "content") },
		write: func(ctx context.Context, x *execution, s *Step) error {
			return x.Host.React(ctx, x.Ref, s.text)
		},
	}
}
