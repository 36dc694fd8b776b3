package github

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"time"

	"github.com/org/foreman-action/internal/github/rest"
	"github.com/org/foreman-action/triage"
)

// maxTimelinePages is how many pages of a timeline are asked for at most.
const maxTimelinePages = 5

// readTimeline reads a timeline, and tells how many pages were asked for.
func readTimeline(ctx context.Context, c *rest.Caller, ref triage.Ref) (t triage.Timeline, asked int, err error) {
	r := timelineReader{op: rest.ReadIssue("read the timeline of", ref), caller: c, pages: map[int][]triage.TimelineEvent{}}
	complete, err := r.read(rest.ShareWait(ctx))
	if err != nil {
		return triage.Timeline{}, r.asked, err
	}
	return triage.Timeline{Events: r.events(), Complete: complete}, r.asked, nil
}

// A timelineReader collects the pages of one timeline.
type timelineReader struct {
	op     rest.Op
	caller *rest.Caller
	asked  int
	pages  map[int][]triage.TimelineEvent
}

// A timelinePage is what an answer says of the other pages.
type timelinePage struct {
	more bool // there is a page after this one
	next int  // its number; 0 when there is none or GitHub counts in another way
	last int  // the number of the last page; 0 when GitHub does not tell
}

// read reads the pages and reports whether they are the whole timeline. Else what is
// kept are its newest pages, without a hole.
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
	// Backwards, for a comment that is deleted meanwhile moves all that follow to the
	// front: what is read then is read twice, and not missed.
	n := last - 1
	for ; n > 1 && r.asked < maxTimelinePages; n-- {
		if _, err := r.page(ctx, n); err != nil {
			return false, err
		}
	}
	if n > 1 {
		delete(r.pages, 1) // between it and the others is a hole
	}
	return n == 1, nil
}

// forward reads on from a page to the end. ErrTruncated when the end is too far away.
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

// events puts the pages together: each event once, in order of time.
func (r *timelineReader) events() []triage.TimelineEvent {
	type key struct {
		kind, actor string
		id, at      int64
	}
	var list []triage.TimelineEvent
	seen := map[key]bool{}
	numbers := make([]int, 0, len(r.pages))
	for n := range r.pages {
		numbers = append(numbers, n)
	}
	slices.Sort(numbers)
	for _, n := range numbers {
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

// A timelineEvent is what is read of an event in GitHub's JSON. Each field is decoded
// by itself, so that one of an unexpected form costs only itself.
type timelineEvent struct {
	ID            json.RawMessage `json:"id"`
	Event         json.RawMessage `json:"event"`
	CreatedAt     json.RawMessage `json:"created_at"`
	UpdatedAt     json.RawMessage `json:"updated_at"`
	SubmittedAt   json.RawMessage `json:"submitted_at"` // of reviews
	Committer     json.RawMessage `json:"committer"`    // of commits
	Author        json.RawMessage `json:"author"`
	Actor         json.RawMessage `json:"actor"` // null for a deleted account
	User          json.RawMessage `json:"user"`  // of comments and reviews
	Label         json.RawMessage `json:"label"`
	Assignee      json.RawMessage `json:"assignee"`
	Milestone     json.RawMessage `json:"milestone"`
	IssueType     json.RawMessage `json:"issue_type"`
	PrevIssueType json.RawMessage `json:"prev_issue_type"`
	StateReason   json.RawMessage `json:"state_reason"`
	LockReason    json.RawMessage `json:"lock_reason"`
	Rename        json.RawMessage `json:"rename"`
	Body          json.RawMessage `json:"body"`
	HTMLURL       json.RawMessage `json:"html_url"`
}

// decodeTimelineEvent reads one event. It reports false for what has no name or no
// time.
func decodeTimelineEvent(raw json.RawMessage) (triage.TimelineEvent, bool) {
	var in timelineEvent
	if json.Unmarshal(raw, &in) != nil {
		return triage.TimelineEvent{}, false
	}
	e := triage.TimelineEvent{Kind: text(in.Event), At: in.time()}
	if e.Kind == "" || e.At.IsZero() {
		return triage.TimelineEvent{}, false
	}
	_ = json.Unmarshal(in.ID, &e.ID) // cross-referenced has none
	for _, account := range []json.RawMessage{in.User, in.Actor} {
		if name := field(account, "login"); name != "" {
			e.Actor, e.ActorType = name, field(account, "type")
		}
	}
	switch e.Kind {
	case "labeled", "unlabeled":
		e.Label = field(in.Label, "name")
	case "assigned", "unassigned":
		e.Assignee = field(in.Assignee, "login")
	case "milestoned", "demilestoned":
		e.Milestone = field(in.Milestone, "title")
	case "issue_type_added", "issue_type_changed":
		e.IssueType = field(in.IssueType, "name")
	case "issue_type_removed":
		e.IssueType = field(in.PrevIssueType, "name")
	case "closed":
		e.Reason = text(in.StateReason)
	case "locked":
		e.Reason = text(in.LockReason)
	case "renamed":
		e.From = field(in.Rename, "from")
	case "commented":
		e.Body, e.URL, e.Edited = text(in.Body), text(in.HTMLURL), moment(in.UpdatedAt)
	}
	return e, true
}

// time returns when an event happened; the zero time when it does not say.
func (e timelineEvent) time() time.Time {
	for _, s := range []string{
		text(e.CreatedAt), text(e.SubmittedAt), field(e.Committer, "date"), field(e.Author, "date"),
	} {
		if at, err := time.Parse(time.RFC3339, s); err == nil {
			return at.UTC()
		}
	}
	return time.Time{}
}

// moment returns the time that a JSON string tells; the zero time when it tells none.
func moment(raw json.RawMessage) time.Time {
	at, err := time.Parse(time.RFC3339, text(raw))
	if err != nil {
		return time.Time{}
	}
	return at.UTC()
}

// field returns a string that lies in a JSON object, or nothing.
func field(raw json.RawMessage, name string) string {
	var fields map[string]json.RawMessage
	if json.Unmarshal(raw, &fields) != nil {
		return ""
	}
	return text(fields[name])
}

// text returns a JSON string's value, or nothing for any other value.
func text(raw json.RawMessage) string {
	var s string
	if json.Unmarshal(raw, &s) != nil {
		return ""
	}
	return s
}
