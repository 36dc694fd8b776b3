package github

import (
	"net/url"
	"strconv"
	"time"

	"github.com/org/foreman-action/internal/github/rest"
	"github.com/org/foreman-action/triage"
)

// A ListQuery selects issues of a repository. The zero value selects the first page of the open
// issues, the newest first.
type ListQuery struct {
	State   string    // "open", "closed" or "all"; empty: open
	Updated bool      // sort by the last change instead of by creation
	Oldest  bool      // sort in ascending order
	Since   time.Time // only issues changed at this time or later; zero: all. GitHub compares whole seconds
	Creator string    // login of the issue's author; empty: any
	Page    int       // from 1; 0 means 1
	// ETag is the ETag of an earlier response to the same query; empty: there was none. If the list
	// is unchanged, the call does not count towards the rate limit and the response has no body.
	ETag string
}

// A ListPage is a page of up to 100 issues and pull requests.
type ListPage struct {
	Issues []triage.Snapshot
	More   bool      // there is a page after this one
	Last   int       // number of the last page; 0 if this page is the last, or if GitHub does not report it
	ETag   string    // for the next query
	Same   bool      // nothing has changed since ListQuery.ETag: all other fields except Date are empty
	Date   time.Time // GitHub's time of the response; zero when unknown
}

func (q ListQuery) encode() string {
	v := url.Values{"per_page": {strconv.Itoa(rest.PageSize)}, "direction": {"desc"}, "sort": {"created"}, "state": {"open"}}
	if q.State != "" {
		v.Set("state", q.State)
	}
	if q.Creator != "" {
		v.Set("creator", q.Creator)
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
