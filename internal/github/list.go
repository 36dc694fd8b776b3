package github

import (
	"net/url"
	"strconv"
	"time"

	"github.com/org/foreman-action/internal/github/rest"
	"github.com/org/foreman-action/triage"
)

// A ListQuery selects issues of a repository. The zero value asks for the
// first page of the open ones, those created last first.
type ListQuery struct {
	State   string    // "open", "closed" or "all"; empty: open
	Updated bool      // in the order of the last change, and not of creation
	Oldest  bool      // the oldest first
	Since   time.Time // those changed at this time or later; zero: all. GitHub keeps whole seconds
	Creator string    // login of who opened them; empty: anybody
	Page    int       // from 1; 0 is the first one too
	// ETag is the ETag of an earlier answer for the same list; empty: there was none. An unchanged
	// answer costs nothing and has no body.
	ETag string
}

// A ListPage is a page of up to 100 issues and pull requests.
type ListPage struct {
	Issues []triage.Snapshot
	More   bool      // there is a page after this one
	Last   int       // number of the last page; 0 when this is it, or when GitHub does not report it
	ETag   string    // for the next time
	Same   bool      // nothing changed since ListQuery.ETag: the other fields but Date are empty
	Date   time.Time // of GitHub's clock when it answered; zero when unknown
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
