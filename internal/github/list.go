package github

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/org/foreman-action/triage"
)

// A ListQuery says which issues of a repository are listed. The zero value asks for the
// first page of the open ones, those created last first.
type ListQuery struct {
	State   string    // "open", "closed" or "all"; empty: open
	Updated bool      // in the order of the last change, and not of creation
	Oldest  bool      // the oldest first
	Since   time.Time // those changed at this time or later; zero: all. GitHub keeps whole seconds
	Page    int       // from 1; 0 is the first one too
	// ETag is what the answer to the same question said before; empty: it is new. When
	// nothing has changed, the answer costs nothing and says so.
	ETag string
}

// A ListPage is a page of up to 100 issues and pull requests.
type ListPage struct {
	Issues []triage.Snapshot
	More   bool      // there is a page after this one
	ETag   string    // for the next time
	Same   bool      // nothing changed since ListQuery.ETag: the other fields but Date are empty
	Date   time.Time // of GitHub's clock when it answered; zero when it does not tell
}

// ListIssues returns a page of the issues of a repository, pull requests among them, in
// one call. Entries that are no issues are left out. ErrNotFound when there is no such
// repository, or the token does not see it.
func (c *Client) ListIssues(ctx context.Context, owner, repo string, q ListQuery) (ListPage, error) {
	o := lookUp("list the issues of", triage.Ref{Owner: owner, Repo: repo})
	o.wide = true
	var page ListPage
	var raw []json.RawMessage
	err := c.do(ctx, o, func(ctx context.Context) error {
		req, err := c.newRequest(http.MethodGet, fmt.Sprintf("repos/%s/%s/issues?%s", owner, repo, q.encode()), nil)
		if err != nil {
			return err
		}
		if q.ETag != "" {
			req.Header.Set("If-None-Match", q.ETag)
		}
		resp, err := c.send(ctx, req, &raw)
		if resp != nil {
			page.Date, _ = http.ParseTime(resp.Header.Get("Date")) // the zero time says that it is not known
		}
		ex, ok := ctx.Value(exchangeKey{}).(*exchange)
		if ok && ex.answer != nil && ex.answer.status == http.StatusNotModified && q.ETag != "" {
			page.Same = true
			return nil
		}
		if err != nil {
			return err
		}
		if raw == nil {
			return errors.New("the answer is not a list")
		}
		page.ETag = resp.Header.Get("ETag")
		page.More = resp.NextPage != 0 || resp.After != "" || resp.Cursor != ""
		return nil
	})
	for _, r := range raw {
		if i, err := triage.ParseIssue(r); err == nil {
			page.Issues = append(page.Issues, i)
		}
	}
	return page, err
}

func (q ListQuery) encode() string {
	v := url.Values{"per_page": {strconv.Itoa(pageSize)}, "direction": {"desc"}, "sort": {"created"}, "state": {"open"}}
	if q.State != "" {
		v.Set("state", q.State)
	}
	if q.Updated {
		v.Set("sort", "updated")
	}
	if q.Oldest {
		v.Set("direction", "asc")
	}
	if !q.Since.IsZero() {
		v.Set("since", q.Since.UTC().Format(time.RFC3339))
	}
	if q.Page > 1 {
		v.Set("page", strconv.Itoa(q.Page))
	}
	return v.Encode()
}

// StatusOf returns the status of the answer that an error of a [Client] tells of; 0 when
// there was none.
func StatusOf(err error) int {
	if a, ok := errors.AsType[*answerError](err); ok {
		return a.status
	}
	return 0
}
