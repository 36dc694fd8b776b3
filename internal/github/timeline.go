package github

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/org/foreman-action/internal/github/rest"
	"github.com/org/foreman-action/triage"
)

// maxTimelinePages bounds the pages of a timeline that are read.
const maxTimelinePages = 5

// readTimeline reads a timeline, and returns the number of requests.
func readTimeline(ctx context.Context, c *rest.Caller, ref triage.Ref) (t triage.Timeline, asked int, err error) {
	r := timelineReader{op: rest.ReadIssue("read the timeline of", ref), caller: c, pages: map[int][]triage.TimelineEvent{}}
	complete, err := r.read(rest.ShareWait(ctx))
	if err != nil {
		return triage.Timeline{}, r.asked, err
	}
	t = triage.Timeline{Events: r.events(), Complete: complete}
	if !complete {
		// The date of a commit is its author's word, and no sign of how far back the part goes.
		for len(t.Events) > 0 && t.Events[0].Kind == "committed" {
			t.Events = t.Events[1:]
		}
	}
	return t, r.asked, nil
}

// A timelineReader collects the pages of one timeline.
type timelineReader struct {
	op     rest.Op
	caller *rest.Caller
	asked  int
	pages  map[int][]triage.TimelineEvent
}

// A timelinePage is the position of a page among the others.
type timelinePage struct {
	more bool // there is a page after this one
	next int  // its number; 0 when there is none or GitHub counts in another way
	last int  // the number of the last page; 0 when GitHub sent none
}

// read reads the pages, and reports whether they are the whole timeline. If not, the newest
// pages are kept, without a gap.
func (r *timelineReader) read(ctx context.Context) (complete bool, err error) {
	p, err := r.page(ctx, 1)
	switch {
	case err != nil || !p.more:
		return true, err
	case p.last < 2:
		return true, r.forward(ctx, p)
	}
	last := p.last
	if p, err = r.page(ctx, last); err != nil {
		return false, err
	}
	if err := r.forward(ctx, p); err != nil { // the timeline may have grown meanwhile
		return false, err
	}
	// Backwards, because a comment that is deleted meanwhile moves later events to earlier
	// pages: they are read twice, and not missed.
	n := last - 1
	for ; n > 1 && r.asked < maxTimelinePages; n-- {
		if _, err := r.page(ctx, n); err != nil {
			return false, err
		}
	}
	if n > 1 {
		delete(r.pages, 1) // there is a gap behind it
	}
	return n == 1, nil
}

// forward reads the pages after p. ErrTruncated: they are too many.
func (r *timelineReader) forward(ctx context.Context, p timelinePage) (err error) {
	for p.more {
		if r.asked == maxTimelinePages || p.next == 0 {
			return fmt.Errorf("%s: %w: its last page is not among the first %d asked for", r.op, triage.ErrTruncated, r.asked)
		}
		if p, err = r.page(ctx, p.next); err != nil {
			return err
		}
	}
	return nil
}

func (r *timelineReader) page(ctx context.Context, n int) (timelinePage, error) {
	var list []json.RawMessage
	path := issuePath(r.op.Ref, fmt.Sprintf("/timeline?per_page=%d&page=%d", rest.PageSize, n))
	r.asked++
	reply, err := r.caller.Do(ctx, r.op, rest.Call{Method: http.MethodGet, Path: path, Out: &list})
	if err == nil && list == nil {
		err = fmt.Errorf("%s: the answer is not a list", r.op)
	}
	if err != nil {
		return timelinePage{}, err
	}
	r.pages[n] = nil
	for _, raw := range list {
		if e, ok := decodeTimelineEvent(raw); ok {
			r.pages[n] = append(r.pages[n], e)
		}
	}
	return timelinePage{more: reply.More || reply.Named, next: reply.Next, last: reply.Last}, nil
}

// events returns the events of all pages: each once, in order of time.
func (r *timelineReader) events() []triage.TimelineEvent {
	type key struct {
		kind, actor string
		id, at      int64
	}
	var list []triage.TimelineEvent
	seen := map[key]bool{}
	for _, n := range slices.Sorted(maps.Keys(r.pages)) {
		for _, e := range r.pages[n] {
			// Comments and events count their ids apart, and some have none.
			k := key{kind: e.Kind, actor: e.Actor, id: e.ID, at: e.At.Unix()}
			if !seen[k] {
				seen[k] = true
				list = append(list, e)
			}
		}
	}
	slices.SortStableFunc(list, func(a, b triage.TimelineEvent) int { return a.At.Compare(b.At) })
	return list
}

// decodeTimelineEvent reads one event. Each field is decoded by itself, so that one of an
// unexpected form costs only itself. It reports false for an event without a name or a time.
func decodeTimelineEvent(raw json.RawMessage) (triage.TimelineEvent, bool) {
	var in map[string]json.RawMessage
	if json.Unmarshal(raw, &in) != nil {
		return triage.TimelineEvent{}, false
	}
	e := triage.TimelineEvent{Kind: rest.Text(in["event"])}
	// Reviews have submitted_at, and commits the dates of two people.
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
	_ = json.Unmarshal(in["id"], &e.ID)                 // cross-referenced has none
	for _, account := range []string{"user", "actor"} { // comments and reviews have user; a deleted account is null
		if name := field(in[account], "login"); name != "" {
			e.Actor, e.ActorType = name, field(in[account], "type")
		}
	}
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
		e.Body, e.URL, e.Edited = rest.Text(in["body"]), rest.Text(in["html_url"]), parseTime(rest.Text(in["updated_at"]))
	}
	return e, true
}

// parseTime returns the time in a text; the zero time when there is none.
func parseTime(s string) time.Time {
	at, err := time.Parse(time.RFC3339, s)
	if err != nil {
		return time.Time{}
	}
	return at.UTC()
}

// field returns a string of a JSON object, or nothing.
func field(raw json.RawMessage, name string) string {
	var fields map[string]json.RawMessage
	_ = json.Unmarshal(raw, &fields) // nothing stays of what is no object
	return rest.Text(fields[name])
}
