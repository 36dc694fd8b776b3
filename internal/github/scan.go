package github

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/org/foreman-action/runner"
	"github.com/org/foreman-action/triage"
)

// maxFound is how much of a query GitHub's search shows.
const maxFound = 1000

// Find returns the issues that a query finds. See [runner.Search], and GitHub's
// "Search issues and pull requests".
func (c *Client) Find(ctx context.Context, ref triage.Ref, query string, most int) (runner.Found, error) {
	o := lookUp("search issues of", ref)
	o.wide = true
	q := url.Values{
		"q": {searchFor(ref, query)}, "sort": {"updated"}, "order": {"asc"},
		"per_page": {strconv.Itoa(min(most, pageSize))},
	}
	f := runner.Found{Whole: true}
	ctx = withBudget(ctx)
	for n := 1; len(f.Issues) < most && n <= maxFound/pageSize; n++ {
		q.Set("page", strconv.Itoa(n))
		var page struct {
			Total      int               `json:"total_count"`
			Incomplete bool              `json:"incomplete_results"`
			Items      []json.RawMessage `json:"items"`
		}
		if err := c.request(ctx, o, call{http.MethodGet, "search/issues?" + q.Encode(), nil, &page}); err != nil {
			return runner.Found{}, err
		}
		f.Total, f.Whole = page.Total, f.Whole && !page.Incomplete
		for _, raw := range page.Items {
			issue, ok := found(ref, raw)
			if ok && len(f.Issues) < most {
				f.Issues = append(f.Issues, issue)
			}
		}
		if len(page.Items) < min(most, pageSize) {
			break
		}
	}
	return f, nil
}

// searchFor is the query for one repository. GitHub wants to know whether issues or pull
// requests are looked for.
func searchFor(ref triage.Ref, query string) string {
	pulls := false
	for word := range strings.FieldsSeq(strings.ToLower(query)) {
		switch word {
		case "is:pr", "is:pull-request", "type:pr":
			pulls = true
		}
	}
	query += fmt.Sprintf(" repo:%s/%s", ref.Owner, ref.Repo)
	if !pulls {
		query += " is:issue"
	}
	return query
}

// found decodes what a search found. A query in which words are joined by OR may find
// issues of other repositories too, which are none of ours.
func found(ref triage.Ref, raw json.RawMessage) (triage.Issue, bool) {
	var at struct {
		Repo string `json:"repository_url"`
	}
	issue, err := triage.ParseIssue(raw)
	if err != nil || json.Unmarshal(raw, &at) != nil {
		return triage.Issue{}, false
	}
	own := strings.ToLower("/repos/" + ref.Owner + "/" + ref.Repo)
	return issue.Issue, strings.HasSuffix(strings.ToLower(at.Repo), own)
}

// Reactions returns who reacted to an issue or a comment. See [runner.Search].
func (c *Client) Reactions(ctx context.Context, ref triage.Ref, comment int64, content string) ([]triage.Reaction, error) {
	o, path := onIssue("list the reactions to", ref), issuePath(ref, "/reactions?")
	if comment != 0 {
		o = lookUp(fmt.Sprintf("list the reactions to comment %d of", comment), ref)
		path = fmt.Sprintf("repos/%s/%s/issues/comments/%d/reactions?", ref.Owner, ref.Repo, comment)
	}
	o.need = needIssuesRead
	var list []triage.Reaction
	var page []struct {
		Content string    `json:"content"`
		At      time.Time `json:"created_at"`
		User    *struct {
			Login string `json:"login"`
			Type  string `json:"type"`
		} `json:"user"` // null for a deleted account
	}
	path += url.Values{"content": {content}}.Encode()
	err := c.pages(withBudget(ctx), o, path, func() any { page = nil; return &page }, func() bool {
		for _, r := range page {
			if r.Content != content {
				continue
			}
			one := triage.Reaction{At: r.At}
			if r.User != nil {
				one.Actor, one.ActorType = r.User.Login, r.User.Type
			}
			list = append(list, one)
		}
		return false
	})
	return list, err
}

// Budget returns what is left of this hour's calls. See [runner.Search].
func (c *Client) Budget() (left int, ok bool) {
	n := c.left.Load()
	return int(n) - 1, n > 0
}

// note keeps what an answer tells of the calls that are left: one more than that in the
// counter, for 0 is not known. The search has a limit of its own.
func note(left *atomic.Int64, h http.Header) {
	if r := h.Get("X-Ratelimit-Resource"); r != "" && r != "core" {
		return
	}
	if n, err := strconv.ParseInt(h.Get("X-Ratelimit-Remaining"), 10, 32); err == nil && n >= 0 {
		left.Store(n + 1)
	}
}

// Is reports whether the target is [triage.ErrLimited].
func (e *LimitError) Is(target error) bool {
	return target == triage.ErrLimited
}
