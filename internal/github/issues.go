package github

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/org/foreman-action/internal/github/rest"
	"github.com/org/foreman-action/internal/text"
	"github.com/org/foreman-action/runner"
	"github.com/org/foreman-action/runner/effect"
	"github.com/org/foreman-action/triage"
)

// Issue returns the current state of the issue. See [runner.Issues].
func (c *Client) Issue(ctx context.Context, ref triage.Ref) (triage.Snapshot, error) {
	o := rest.ReadIssue("read issue", ref)
	var raw json.RawMessage
	if _, err := c.caller.Do(ctx, o, rest.Call{Method: http.MethodGet, Path: issuePath(ref, ""), Out: &raw}); err != nil {
		return triage.Snapshot{}, err
	}
	if len(raw) == 0 || raw[0] != '{' {
		return triage.Snapshot{}, fmt.Errorf("%s: the answer is not a JSON object", o)
	}
	return triage.ParseIssue(raw)
}

// commentPages is the maximal number of pages of comments that are read.
const commentPages = 20

// Comments returns the issue's comments. See [runner.Issues].
func (c *Client) Comments(
	ctx context.Context, ref triage.Ref, since time.Time, until func(triage.Comment) bool,
) ([]triage.Comment, error) {
	path := issuePath(ref, "/comments?")
	if !since.IsZero() {
		path += url.Values{"since": {since.UTC().Format(time.RFC3339)}}.Encode() + "&"
	}
	r := pageReader[triage.Comment]{
		op: rest.ReadIssue("list comments of", ref), caller: c.caller, path: path, most: commentPages, until: until,
		parse: func(raw json.RawMessage) (triage.Comment, bool, error) {
			var in comment
			err := json.Unmarshal(raw, &in)
			return in.comment(), err == nil, err
		},
	}
	oldest, last, err := r.read(rest.ShareWait(ctx))
	if err != nil {
		return nil, err
	}
	list := entries(r.pages, func(c triage.Comment) int64 { return c.ID })
	if oldest > 1 && !r.found(oldest) {
		return list, fmt.Errorf("%s: %w: the newest %d of about %d comments were read", r.op, triage.ErrTruncated, len(list), last*rest.PageSize)
	}
	return list, nil
}

// Comment returns one comment of the issue. See [runner.Issues].
func (c *Client) Comment(ctx context.Context, ref triage.Ref, id int64) (triage.Comment, error) {
	o := rest.LookUp(fmt.Sprintf("read comment %d of", id), ref)
	var in comment
	if _, err := c.caller.Do(ctx, o, rest.Call{Method: http.MethodGet, Path: commentPath(ref, id), Out: &in}); err != nil {
		return triage.Comment{}, err
	}
	if !strings.HasSuffix(in.Issue, fmt.Sprintf("/issues/%d", ref.Number)) { // ids are unique per host, not per issue
		return triage.Comment{}, fmt.Errorf("%s: %w: it is on another issue", o, triage.ErrNotFound)
	}
	return in.comment(), nil
}

// Timeline returns the events of the issue, in at most five requests. If a timeline has more than
// 500 events, it returns the last four pages. See [runner.Issues], and GitHub's
// "List timeline events for an issue".
func (c *Client) Timeline(ctx context.Context, ref triage.Ref) (triage.Timeline, error) {
	t, _, err := readTimeline(ctx, c.caller, ref)
	return t, err
}

// Earlier extends a timeline by the page of events before it. See [runner.Issues].
func (c *Client) Earlier(ctx context.Context, ref triage.Ref, t triage.Timeline) (triage.Timeline, error) {
	return readEarlier(ctx, c.caller, ref, t)
}

// Write performs one effect. See [runner.Issues].
func (c *Client) Write(ctx context.Context, ref triage.Ref, e effect.Effect) (effect.Written, error) {
	w, err := writeOf(ref, e)
	if err != nil || w.none() {
		return effect.Written{}, err
	}
	ctx = rest.ShareWait(ctx)
	if err := complete(ctx, c.caller, w); err != nil {
		return effect.Written{}, err
	}
	add, adds := e.(effect.AddLabels)
	if _, err := c.caller.Do(ctx, w.op, w.call); err != nil {
		if adds {
			c.labels.forget(ref.Owner+"/"+ref.Repo, add.Names...)
		}
		return effect.Written{}, w.failed(err)
	}
	out, err := result(w, effect.Values(e))
	if has, ok := w.call.Out.(*labelList); ok && adds && err == nil {
		out.Missing, err = takeBackLabels(ctx, c, w.op, add, *has)
	}
	return out, err
}

// ListIssues returns a page of the issues of a repository, including pull requests, in one call. It
// omits entries that cannot be parsed. ErrNotFound means that the repository does not exist, or
// that the token has no access to it.
func (c *Client) ListIssues(ctx context.Context, owner, repo string, q ListQuery) (ListPage, error) {
	o := rest.InRepository("list the issues of", owner, repo, rest.NeedIssuesRead)
	var raw []json.RawMessage
	path := fmt.Sprintf("repos/%s/%s/issues?%s", owner, repo, q.encode())
	r, err := c.caller.Do(ctx, o, rest.Call{Method: http.MethodGet, Path: path, Out: &raw, ETag: q.ETag})
	if err == nil && raw == nil && !r.Same {
		err = fmt.Errorf("%s: the answer is not a list", o)
	}
	page := ListPage{Date: r.Date, Same: r.Same}
	if err == nil && !r.Same {
		page.ETag, page.More, page.Last = r.ETag, r.More, r.Last
	}
	for _, r := range raw {
		if i, err := triage.ParseIssue(r); err == nil {
			page.Issues = append(page.Issues, i)
		}
	}
	return page, err
}

// Open returns all open issues and pull requests. See [runner.Search].
func (c *Client) Open(ctx context.Context, ref triage.Ref, calls int) ([]triage.Issue, error) {
	var list []triage.Issue
	ctx = rest.ShareWait(ctx)
	for n := 1; ; n++ {
		// The list is sorted by creation, so a change does not move an issue to another page. If an
		// issue is closed meanwhile, the later ones move up, and one may be missing until the next
		// run. If an issue is reopened meanwhile, it may be listed twice.
		page, err := c.ListIssues(ctx, ref.Owner, ref.Repo, ListQuery{Oldest: true, Page: n})
		if err != nil {
			return nil, err
		}
		for _, i := range page.Issues {
			if !slices.ContainsFunc(list, func(have triage.Issue) bool { return have.Number == i.Number }) {
				list = append(list, i.Issue)
			}
		}
		switch {
		case !page.More:
			return list, nil
		case page.Last == 0, page.Last > calls, n == calls:
			return nil, fmt.Errorf("list the open issues of %s/%s: %w: they take more than %d calls", ref.Owner, ref.Repo, triage.ErrTruncated, calls)
		}
	}
}

// Find returns the issues that match a query. See [runner.Search], and GitHub's
// "Search issues and pull requests".
func (c *Client) Find(ctx context.Context, ref triage.Ref, query string, most int) (runner.Found, error) {
	o := rest.InRepository("search issues of", ref.Owner, ref.Repo, rest.NeedIssuesRead)
	q := url.Values{"q": {searchFor(ref, query)}, "per_page": {strconv.Itoa(min(most, rest.PageSize))}}
	if !text.Sorts(query) {
		q.Set("sort", "created")
		q.Set("order", "asc")
	}
	f := runner.Found{Whole: true}
	ctx = rest.ShareWait(ctx)
	for n := 1; len(f.Issues) < most && n <= maxFound/rest.PageSize; n++ {
		q.Set("page", strconv.Itoa(n))
		var page struct {
			Total      int               `json:"total_count"`
			Incomplete bool              `json:"incomplete_results"`
			Items      []json.RawMessage `json:"items"`
		}
		if _, err := c.caller.Do(ctx, o, rest.Call{Method: http.MethodGet, Path: "search/issues?" + q.Encode(), Out: &page}); err != nil {
			return runner.Found{}, err
		}
		f.Total, f.Whole = page.Total, f.Whole && !page.Incomplete
		for _, raw := range page.Items {
			issue, ok := found(ref, raw)
			if ok && len(f.Issues) < most {
				f.Issues = append(f.Issues, issue)
			}
		}
		if len(page.Items) < min(most, rest.PageSize) {
			break
		}
	}
	return f, nil
}

// Reactions returns the reactions to an issue or a comment. See [runner.Search].
func (c *Client) Reactions(ctx context.Context, ref triage.Ref, comment int64, content string) ([]triage.Reaction, error) {
	o, path := rest.ReadIssue("list the reactions to", ref), issuePath(ref, "/reactions?")
	if comment != 0 {
		o = rest.LookUp(fmt.Sprintf("list the reactions to comment %d of", comment), ref)
		path = commentPath(ref, comment) + "/reactions?"
	}
	path += url.Values{"content": {content}}.Encode()
	var list []triage.Reaction
	for page, err := range rest.Pages[reaction](ctx, c.caller, o, path) {
		if err != nil {
			return list, err
		}
		for _, r := range page {
			if r.Content == content {
				list = append(list, r.reaction())
			}
		}
	}
	return list, nil
}

// maxCommentPages is the maximal number of pages that [Client.FindComment] reads.
const maxCommentPages = 30

// FindComment returns the first comment of an issue that matches; found is false when there is
// none. ErrTruncated means that none of the first 3,000 matches and that there are more.
func (c *Client) FindComment(ctx context.Context, ref triage.Ref, match func(triage.Comment) bool) (one triage.Comment, found bool, err error) {
	o := rest.ReadIssue("list comments of", ref)
	o.Pages = maxCommentPages
	for page, err := range rest.Pages[comment](ctx, c.caller, o, issuePath(ref, "/comments?")) {
		if err != nil {
			return triage.Comment{}, false, err
		}
		for _, one := range page {
			if match(one.comment()) {
				return one.comment(), true, nil
			}
		}
	}
	return triage.Comment{}, false, nil
}
