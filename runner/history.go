package runner

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/org/foreman-action/internal/text"

	"github.com/org/foreman-action/triage"
)

// A past is the timeline of an issue, read when it is first asked for, and once.
type past struct {
	host Host // nil: there is no way to it
	ref  triage.Ref

	asked bool // t and err are what there is now
	known bool // t was read, now or some time ago
	t     triage.Timeline
	err   error
}

// outdate lets the timeline be read again when it is asked for.
func (p *past) outdate() { p.asked = false }

func (p *past) timeline(ctx context.Context) (triage.Timeline, error) {
	if !p.asked {
		p.asked = true
		if p.host == nil {
			p.err = fmt.Errorf("read the timeline of %s: %w", p.ref, triage.ErrNeedsHost)
		} else {
			p.t, p.err = p.host.Timeline(ctx, p.ref)
		}
		if errors.Is(p.err, triage.ErrTruncated) {
			p.t, p.err = triage.Timeline{}, nil
		}
		p.known = p.err == nil
	}
	return p.t, p.err
}

// A hindsight is what the timeline tells of who did what on an issue.
type hindsight struct {
	triage.Timeline
	bot   string // our login
	issue triage.Issue
}

// ours reports whether it happened under our login, which we may share with other
// programs. A deleted account has no login, and is never ours.
func (h hindsight) ours(e triage.TimelineEvent) bool { return isLogin(e.Actor, h.bot) }

// isLogin reports whether two logins are the same account's.
func isLogin(a, b string) bool { return a != "" && strings.EqualFold(a, b) }

// human reports whether a person did it, whose account may be deleted by now: neither
// we nor another program.
func (h hindsight) human(e triage.TimelineEvent) bool {
	return !h.ours(e) && e.ActorType != "Bot" && !strings.HasSuffix(e.Actor, "[bot]")
}

// openingTime is how soon after the opening of an issue GitHub has done what its form
// or template asks for.
const openingTime = time.Minute

// brought reports whether something came with the issue, set by a form or a template:
// GitHub names the author for it, also one who may not label or assign.
func (h hindsight) brought(e triage.TimelineEvent) bool {
	switch e.Kind {
	case "labeled", "assigned", "milestoned", "issue_type_added":
	default:
		return false
	}
	return isLogin(e.Actor, h.issue.Author) && !triage.IsMaintainer(h.issue.Association) &&
		!h.issue.CreatedAt.IsZero() && e.At.Sub(h.issue.CreatedAt) <= openingTime
}

// sees reports whether everything that happened since a time is there. Of a timeline
// whose end cannot be found nothing is, and it does not tell of a flood either.
func (h hindsight) sees(since time.Time) bool {
	return h.Complete || len(h.Events) == 0 || !h.Events[0].At.After(since)
}

// last returns the newest event that matches.
func (h hindsight) last(match func(triage.TimelineEvent) bool) (triage.TimelineEvent, bool) {
	for _, e := range slices.Backward(h.Events) {
		if match(e) {
			return e, true
		}
	}
	return triage.TimelineEvent{}, false
}

// against says why people stand against a step, and is empty when they do not: the last
// of the events that match is a person's, and of the given kind, any when it is empty.
// did says what they did to it.
func (h hindsight) against(kind, did string, match func(triage.TimelineEvent) bool) string {
	e, found := h.last(match)
	switch {
	case !found && !h.Complete:
		return "the timeline of the issue is too long to tell what people did"
	case !found || kind != "" && e.Kind != kind || !h.human(e) || h.brought(e):
		return ""
	}
	return fmt.Sprintf("%s %s on %s, and people have the last word (override_humans)", whoOf(e), did, e.At.UTC().Format(time.DateOnly))
}

func whoOf(e triage.TimelineEvent) string {
	if e.Actor == "" {
		return "somebody"
	}
	return text.Quote(e.Actor)
}

// of matches the events of the kinds in which name is the value that field returns.
func of(name string, field func(triage.TimelineEvent) string, kinds ...string) func(triage.TimelineEvent) bool {
	return func(e triage.TimelineEvent) bool {
		return slices.Contains(kinds, e.Kind) && (name == "" || fold(field(e)) == fold(name))
	}
}

func labelOf(e triage.TimelineEvent) string     { return e.Label }
func assigneeOf(e triage.TimelineEvent) string  { return e.Assignee }
func milestoneOf(e triage.TimelineEvent) string { return e.Milestone }

// yield takes out of a step the names that people stand against, by what against says
// of each, and passes it over when none is left.
func yield(s *Step, list []string, against func(name string) string) []string {
	var kept, why []string
	for _, name := range list {
		if reason := against(name); reason != "" {
			why = append(why, name+": "+reason)
			continue
		}
		kept = append(kept, name)
	}
	if len(why) > 0 {
		s.Reason = strings.Join(append(nonEmpty(s.Reason), why...), "; ")
	}
	if len(kept) == 0 {
		s.Verdict = triage.Skip
	}
	return kept
}

// giveWay passes a step over when there is a reason to.
func giveWay(s *Step, reason string) {
	if reason != "" {
		s.set(triage.Skip, reason)
	}
}
