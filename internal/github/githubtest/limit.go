package githubtest

import (
	"fmt"
	"hash/fnv"
	"maps"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// A limit is how many calls the token has left. The zero value does not count.
type limit struct {
	on    bool
	left  int
	reset time.Time
}

// LimitCalls leaves the token n calls until a time from now, when there are 5,000 again.
// Answers say how many are left; a call beyond is refused. Calls that are answered with
// 304 cost nothing.
func (s *Server) LimitCalls(n int, reset time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.limit = limit{on: true, left: n, reset: s.now().Add(reset)}
}

// refuse refuses a call when none is left. The caller holds s.mu.
func (s *Server) refuse() (answer, bool) {
	if s.limit.on && !s.now().Before(s.limit.reset) {
		s.limit.left, s.limit.reset = 5000, s.now().Add(time.Hour)
	}
	if !s.limit.on || s.limit.left > 0 {
		return answer{}, false
	}
	a := failure(http.StatusForbidden, "API rate limit exceeded for installation ID 1.")
	maps.Copy(a.header, s.limit.header())
	return a, true
}

// account counts a call that was answered, and lets the answer say what is left. The
// caller holds s.mu.
func (s *Server) account(a *answer) {
	if !s.limit.on {
		return
	}
	if a.status != http.StatusNotModified {
		s.limit.left--
	}
	maps.Copy(a.header, s.limit.header())
}

func (l limit) header() http.Header {
	h := http.Header{}
	h.Set("X-Ratelimit-Remaining", strconv.Itoa(l.left))
	h.Set("X-Ratelimit-Reset", strconv.FormatInt(l.reset.Unix(), 10))
	return h
}

// conditional gives the answer to a read its entity tag, and answers 304 to a caller who
// has it already. GitHub's tags are weak where answers are compressed.
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
