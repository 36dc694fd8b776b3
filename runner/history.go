package runner

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
)

// A Timeline is what happened on an issue, as GitHub's timeline of an issue tells it.
type Timeline struct {
	// Events are in order of time, the oldest first.
	Events []TimelineEvent
	// Complete is false for a timeline that is too long to be read as a whole: then
	// its newest part is there.
	Complete bool
}

// A TimelineEvent is one thing that happened on an issue. Fields that an event of its
// kind does not have are empty. All text in it is hostile.
type TimelineEvent struct {
	ID        int64
	Kind      string // GitHub's name for it, such as "labeled", "closed" or "commented"
	At        time.Time
	Actor     string    // login; empty for a deleted account
	ActorType string    // "User", "Bot" or another type of account; empty when not told
	Label     string    // of labeled and unlabeled
	Assignee  string    // of assigned and unassigned: a login
	Milestone string    // of milestoned and demilestoned: its title
	IssueType string    // of issue_type_added, issue_type_changed and issue_type_removed: its name
	Reason    string    // of closed and locked
	From      string    // of renamed: the title before
	Body      string    // of commented
	URL       string    // of commented: for humans
	Edited    time.Time // of commented: when its text was last changed; zero when not told
}

// A past is the timeline of an issue, read when it is first asked for, and once.
type past struct {
	host Host // nil: there is no way to it
	ref  Ref

	asked bool // t and err are what there is now
	known bool // t was read, now or some time ago
	t     Timeline
	err   error
}

// outdate lets the timeline be read again when it is asked for.
func (p *past) outdate() { p.asked = false }

func (p *past) timeline(ctx context.Context) (Timeline, error) {
	if !p.asked {
		p.asked = true
		if p.host == nil {
			p.err = fmt.Errorf("read the timeline of %s: %w", p.ref, ErrNeedsHost)
		} else {
			p.t, p.err = p.host.Timeline(ctx, p.ref)
		}
		if errors.Is(p.err, ErrTruncated) {
			p.t, p.err = Timeline{}, nil
		}
		p.known = p.err == nil
	}
	return p.t, p.err
}

// A hindsight is what the timeline tells of who did what on an issue.
type hindsight struct {
	Timeline
	bot   string // our login
	issue Issue
}

// ours reports whether it happened under our login, which we may share with other
// programs. A deleted account has no login, and is never ours.
func (h hindsight) ours(e TimelineEvent) bool { return isLogin(e.Actor, h.bot) }

// isLogin reports whether two logins are the same account's.
func isLogin(a, b string) bool { return a != "" && strings.EqualFold(a, b) }

// human reports whether a person did it, whose account may be deleted by now: neither
// we nor another program.
func (h hindsight) human(e TimelineEvent) bool {
	return !h.ours(e) && e.ActorType != "Bot" && !strings.HasSuffix(e.Actor, "[bot]")
}

// openingTime is how soon after the opening of an issue GitHub has done what its form
// or template asks for.
const openingTime = time.Minute

// brought reports whether something came with the issue, set by a form or a template:
// GitHub names the author for it, also one who may not label or assign.
func (h hindsight) brought(e TimelineEvent) bool {
	switch e.Kind {
	case "labeled", "assigned", "milestoned", "issue_type_added":
	default:
		return false
	}
	return isLogin(e.Actor, h.issue.Author) && !h.issue.byMaintainer() &&
		!h.issue.CreatedAt.IsZero() && e.At.Sub(h.issue.CreatedAt) <= openingTime
}

// sees reports whether everything that happened since a time is there. Of a timeline
// whose end cannot be found nothing is, and it does not tell of a flood either.
func (h hindsight) sees(since time.Time) bool {
	return h.Complete || len(h.Events) == 0 || !h.Events[0].At.After(since)
}

// last returns the newest event that matches.
func (h hindsight) last(match func(TimelineEvent) bool) (TimelineEvent, bool) {
	for _, e := range slices.Backward(h.Events) {
		if match(e) {
			return e, true
		}
	}
	return TimelineEvent{}, false
}

// against says why people stand against a step, and is empty when they do not: the last
// of the events that match is a person's, and of the given kind, any when it is empty.
// did says what they did to it.
func (h hindsight) against(kind, did string, match func(TimelineEvent) bool) string {
	e, found := h.last(match)
	switch {
	case !found && !h.Complete:
		return "the timeline of the issue is too long to tell what people did"
	case !found || kind != "" && e.Kind != kind || !h.human(e) || h.brought(e):
		return ""
	}
	return fmt.Sprintf("%s %s on %s, and people have the last word (override_humans)", whoOf(e), did, e.At.UTC().Format(time.DateOnly))
}

func whoOf(e TimelineEvent) string {
	if e.Actor == "" {
		return "somebody"
	}
	return clip(e.Actor)
}

// of matches the events of the kinds in which name is the value that field returns.
func of(name string, field func(TimelineEvent) string, kinds ...string) func(TimelineEvent) bool {
	return func(e TimelineEvent) bool {
		return slices.Contains(kinds, e.Kind) && (name == "" || fold(field(e)) == fold(name))
	}
}

func labelOf(e TimelineEvent) string     { return e.Label }
func assigneeOf(e TimelineEvent) string  { return e.Assignee }
func milestoneOf(e TimelineEvent) string { return e.Milestone }

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
		s.Verdict = Pass
	}
	return kept
}

// giveWay passes a step over when there is a reason to.
func giveWay(s *Step, reason string) {
	if reason != "" {
		s.set(Pass, reason)
	}
}
