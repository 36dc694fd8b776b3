package github

import (
	"context"
	"encoding/json"
	"strings"
	"time"

	"github.com/org/foreman-action/internal/github/rest"
	"github.com/org/foreman-action/internal/order"
	"github.com/org/foreman-action/runner/effect"
	"github.com/org/foreman-action/triage"
)

// The bounds of reading a timeline.
const (
	timelinePages = 5  // requests of one reading
	earlierPages  = 20 // pages that can be read at all, from the newest one back
)

// readTimeline reads a timeline, and returns the number of requests.
func readTimeline(ctx context.Context, c *rest.Caller, ref triage.Ref) (t triage.Timeline, asked int, err error) {
	r := timelineOf(c, ref)
	oldest, last, err := r.read(rest.ShareWait(ctx))
	if err != nil {
		return triage.Timeline{}, r.asked, err
	}
	t = triage.Timeline{Events: inOrder(r.pages), Complete: oldest == 1}
	if !t.Complete {
		t.Before, t.Size = oldest-1, last*rest.PageSize
	}
	return withoutOldCommits(t), r.asked, nil
}

// withoutOldCommits drops the commits at the start of an incomplete timeline. The date of a commit
// comes from its author's machine, so it does not show how far back the timeline goes.
func withoutOldCommits(t triage.Timeline) triage.Timeline {
	for !t.Complete && len(t.Events) > 0 && t.Events[0].Kind == "committed" {
		t.Events = t.Events[1:]
	}
	return t
}

// readEarlier reads one more page of a timeline.
func readEarlier(ctx context.Context, c *rest.Caller, ref triage.Ref, t triage.Timeline) (triage.Timeline, error) {
	if t.Complete || t.Before < 1 {
		return t, nil
	}
	r := timelineOf(c, ref)
	p, err := r.page(rest.ShareWait(ctx), t.Before)
	if err != nil {
		return t, err
	}
	r.pages[t.Before+1] = t.Events
	out := triage.Timeline{Events: inOrder(r.pages), Complete: t.Before == 1, Before: t.Before - 1, Size: t.Size}
	if max(p.last, t.Size/rest.PageSize)-t.Before >= earlierPages-1 {
		out.Before = 0
	}
	return withoutOldCommits(out), nil
}

func timelineOf(c *rest.Caller, ref triage.Ref) pageReader[triage.TimelineEvent] {
	return pageReader[triage.TimelineEvent]{
		op: rest.ReadIssue("read the timeline of", ref), caller: c, path: issuePath(ref, "/timeline?"), most: timelinePages,
		parse: func(raw json.RawMessage) (triage.TimelineEvent, bool, error) {
			e, ok := decodeTimelineEvent(raw)
			return e, ok, nil
		},
	}
}

// inOrder returns the events of all pages without duplicates, in order of time.
func inOrder(pages map[int][]triage.TimelineEvent) []triage.TimelineEvent {
	type key struct {
		kind, actor string
		id, at      int64
	}
	// An id alone is no key: comments and events have separate sequences of ids, and some events
	// have no id.
	list := entries(pages, func(e triage.TimelineEvent) key {
		return key{kind: e.Kind, actor: e.Actor, id: e.ID, at: e.At.Unix()}
	})
	order.Stable(list, func(a, b triage.TimelineEvent) int { return a.At.Compare(b.At) })
	return list
}

// decodeTimelineEvent decodes one event. It decodes each field separately, so that a field of an
// unexpected type does not affect the others. It reports false for an event without a kind or a
// time.
func decodeTimelineEvent(raw json.RawMessage) (triage.TimelineEvent, bool) {
	var in map[string]json.RawMessage
	if json.Unmarshal(raw, &in) != nil {
		return triage.TimelineEvent{}, false
	}
	e := triage.TimelineEvent{Kind: rest.Text(in["event"])}
	// Reviews have submitted_at. Commits have the dates of the committer and the author.
	for _, at := range []string{
		rest.Text(in["created_at"]), rest.Text(in["submitted_at"]), field(in["committer"], "date"), field(in["author"], "date"),
	} {
		if e.At = parseTime(at); !e.At.IsZero() {
			break
		}
	}
	if e.Kind == "" || e.At.IsZero() {
		return triage.TimelineEvent{}, false
	}
	_ = json.Unmarshal(in["id"], &e.ID)                 // a cross-referenced event has no id
	for _, account := range []string{"user", "actor"} { // comments and reviews have "user"; a deleted account is null
		if name := field(in[account], "login"); name != "" {
			e.Actor, e.ActorType = name, field(in[account], "type")
		}
	}
	readIntent(&e, in)
	switch e.Kind {
	case "labeled", "unlabeled":
		e.Label = field(in["label"], "name")
	case "assigned", "unassigned":
		e.Assignee = field(in["assignee"], "login")
	case "milestoned", "demilestoned":
		e.Milestone = field(in["milestone"], "title")
	case "issue_type_added", "issue_type_changed":
		e.IssueType = field(in["issue_type"], "name")
	case "issue_type_removed":
		e.IssueType = field(in["prev_issue_type"], "name")
	case "review_requested", "review_request_removed":
		if e.Reviewer = field(in["requested_reviewer"], "login"); e.Reviewer == "" && len(in["requested_team"]) > 0 {
			e.Reviewer = effect.TeamName(field(in["requested_team"], "slug"))
		}
	case "closed":
		e.Reason = rest.Text(in["state_reason"])
	case "committed":
		if strings.HasSuffix(field(in["author"], "name"), "[bot]") {
			e.ActorType = "Bot"
		}
	case "locked":
		e.Reason = rest.Text(in["lock_reason"])
	case "renamed":
		e.From = field(in["rename"], "from")
	case "commented":
		e.Association = rest.Text(in["author_association"])
		e.Body, e.URL, e.Edited = rest.Text(in["body"]), rest.Text(in["html_url"]), parseTime(rest.Text(in["updated_at"]))
		e.Hidden = len(in["minimized"]) > 0 && string(in["minimized"]) != "null"
	}
	return e, true
}

// parseTime parses a time; it returns the zero time for an invalid text.
func parseTime(s string) time.Time {
	at, err := time.Parse(time.RFC3339, s)
	if err != nil {
		return time.Time{}
	}
	return at.UTC()
}

// field returns a string field of a JSON object; empty if there is none.
func field(raw json.RawMessage, name string) string {
	var fields map[string]json.RawMessage
	_ = json.Unmarshal(raw, &fields) // a value that is not an object has no fields
	return rest.Text(fields[name])
}
