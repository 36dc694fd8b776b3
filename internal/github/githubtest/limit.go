package githubtest

import (
	"fmt"
	"hash/fnv"
	"maps"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/org/foreman-action/internal/github/githubtest/internal/state"
)

// A limit is the number of calls that the token has left. The zero value does not limit calls.
type limit struct {
	on    bool
	left  int
	reset time.Time
}

// refuse refuses a call if no calls are left.
func (l *limit) refuse(c *state.Clock) (answer, bool) {
	if l.on && !c.Now().Before(l.reset) {
		l.left, l.reset = 5000, c.Now().Add(time.Hour)
	}
	if !l.on || l.left > 0 {
		return answer{}, false
	}
	a := failure(http.StatusForbidden, "API rate limit exceeded for installation ID 1.")
	maps.Copy(a.header, l.header())
	return a, true
}

// account counts a call that was answered, and adds the number of remaining calls to its response.
func (l *limit) account(a answer) {
	if !l.on {
		return
	}
	if a.status != http.StatusNotModified {
		l.left--
	}
	maps.Copy(a.header, l.header())
}

func (l *limit) header() http.Header {
	h := http.Header{}
	h.Set("X-Ratelimit-Remaining", strconv.Itoa(l.left))
	h.Set("X-Ratelimit-Reset", strconv.FormatInt(l.reset.Unix(), 10))
	return h
}

// A budget is the number of remaining calls that responses report. It never causes a refusal.
type budget struct {
	on   bool
	left int
}

// spend writes into an answer how many calls are left.
func (b *budget) spend(r *http.Request, a answer) {
	switch {
	case a.header == nil:
	case a.status >= http.StatusBadRequest && a.header.Get("X-Ratelimit-Remaining") != "": // a rate limit's refusal already has the headers
	case strings.HasPrefix(r.URL.Path, "/search/"):
		a.header.Set("X-Ratelimit-Resource", "search")
		a.header.Set("X-Ratelimit-Remaining", "29")
	case r.URL.Path == graphQLPath:
		a.header.Set("X-Ratelimit-Resource", "graphql")
	case b.on:
		b.left = max(b.left-1, 0)
		a.header.Set("X-Ratelimit-Resource", "core")
		a.header.Set("X-Ratelimit-Remaining", strconv.Itoa(b.left))
	}
}

// conditional adds an entity tag to the response to a read. It answers 304 if the client sent the
// same tag. The tags are weak, as GitHub's are when it compresses responses.
func conditional(r *http.Request, a answer) answer {
	if r.Method != http.MethodGet || a.status != http.StatusOK {
		return a
	}
	h := fnv.New64a()
	_, _ = h.Write(a.raw) // never fails
	fmt.Fprint(h, a.header["Link"])
	tag := fmt.Sprintf(`W/"%016x"`, h.Sum64())
	a.header.Set("ETag", tag)
	for known := range strings.SplitSeq(r.Header.Get("If-None-Match"), ",") {
		if strings.TrimPrefix(strings.TrimSpace(known), "W/") == strings.TrimPrefix(tag, "W/") {
			a.status, a.raw = http.StatusNotModified, nil
			a.header.Del("Content-Type")
		}
	}
	return a
}
