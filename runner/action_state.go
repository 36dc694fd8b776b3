package runner

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/org/foreman-action/internal/text"

	"github.com/org/foreman-action/memory"
	"github.com/org/foreman-action/protocol"
	"github.com/org/foreman-action/triage"
)

func closeIssue() action {
	return action{
		judge: func(p *planner, s *Step) {
			s.text = first(s.Action, "reason")
			s.delay()
			p.judgeClose(s)
		},
		effect: func(now *state, s *Step) { now.open = now.open && s.noted() },
		yield:  stayOpen,
		write: func(ctx context.Context, x *execution, s *Step) error {
			if s.noted() {
				return nil
			}
			return x.Host.CloseIssue(ctx, x.Ref, s.text)
		},
		landed: func(now state, s *Step) bool { return !now.open && !s.noted() },
	}
}

func (p *planner) judgeClose(s *Step) {
	switch {
	case !p.policy.AllowClose:
		s.set(triage.Skip, "closing is not allowed: policy.allow_close (input allow-close) is false")
	case !p.now.open:
		s.set(triage.Skip, "already closed")
	}
}

func markDuplicate() action {
	return action{
		judge: func(p *planner, s *Step) {
			n, _, _ := s.Action.Int("of")
			s.duplicate = int(n)
			if n <= 0 || s.duplicate == p.now.number {
				s.set(triage.Refuse, fmt.Sprintf("an issue cannot be a duplicate of #%d", n))
				return
			}
			p.judgeClose(s)
		},
		effect: func(now *state, s *Step) { now.open = false },
		yield:  stayOpen,
		write: func(ctx context.Context, x *execution, s *Step) error {
			return x.Host.MarkDuplicate(ctx, x.Ref, s.duplicate)
		},
		landed: func(now state, s *Step) bool { return !now.open },
	}
}

// stayOpen keeps an issue open that a person reopened after whoever asks for the step
// had closed it. When nobody remembers who asked for that, it stays open as well.
func stayOpen(ctx context.Context, x *execution, h hindsight, s *Step) {
	if why := x.undone(ctx, h, s, ""); why != "" {
		giveWay(s, why)
		return
	}
	if !h.Complete {
		giveWay(s, h.against("reopened", "reopened it", of("", nil, "reopened")))
		return
	}
	var closed triage.TimelineEvent
	for _, e := range h.Events {
		switch {
		case e.Kind == "closed":
			closed = e
		case e.Kind != "reopened" || !h.human(e) || !h.ours(closed):
		case x.closedBy(ctx, closed.At, s.Source):
			giveWay(s, fmt.Sprintf("%s reopened it on %s, and people have the last word (override_humans)",
				whoOf(e), e.At.UTC().Format(time.DateOnly)))
		}
	}
}

// closedBy reports whether the one who asks now may be the one who asked for the issue
// to be closed at that time.
func (x *execution) closedBy(ctx context.Context, at time.Time, asks triage.Source) bool {
	if x.Record == nil {
		return true
	}
	known := false
	for _, t := range x.Record(ctx).Tasks {
		if t.At.Sub(at).Abs() > closeSlack || t.By == memory.ByTimeline {
			continue
		}
		for _, a := range t.Actions {
			closes := a.Type == protocol.ActionCloseIssue || a.Type == protocol.ActionMarkDuplicate
			if closes && a.Result == memory.Done {
				known = true
				if a.Rule == asks.Rule {
					return true
				}
			}
		}
	}
	return !known
}

// closeSlack is how far the time of a task may be from that of its writes.
const closeSlack = 15 * time.Minute

func reopenIssue() action {
	return action{
		judge: func(p *planner, s *Step) {
			if p.now.open {
				s.set(triage.Skip, "already open")
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
				s.set(triage.Skip, "already set")
			}
		},
		effect: func(now *state, s *Step) { now.milestone = s.text },
		yield: func(_ context.Context, _ *execution, h hindsight, s *Step) {
			giveWay(s, h.against("demilestoned", "removed it", of(s.text, milestoneOf, "milestoned", "demilestoned")))
			if h.issue.Milestone != "" && s.Verdict == triage.Do {
				giveWay(s, h.against("milestoned", "set "+text.Quote(h.issue.Milestone), of("", nil, "milestoned", "demilestoned")))
			}
		},
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
				s.set(triage.Skip, "already set")
			}
		},
		effect: func(now *state, s *Step) { now.issueType = s.text },
		yield: func(_ context.Context, _ *execution, h hindsight, s *Step) {
			giveWay(s, h.against("", "decided about the type", of("", nil, "issue_type_added", "issue_type_changed", "issue_type_removed")))
		},
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
				s.set(triage.Skip, "already locked")
			}
		},
		effect: func(now *state, s *Step) { now.locked = true },
		yield: func(_ context.Context, _ *execution, h hindsight, s *Step) {
			giveWay(s, h.against("unlocked", "unlocked the conversation", of("", nil, "locked", "unlocked")))
		},
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
			if s.answers() {
				return x.Host.ReactToComment(ctx, x.Ref, x.Comment, s.text)
			}
			return x.Host.React(ctx, x.Ref, s.text)
		},
	}
}
