package outage

import (
	"context"
	"time"

	"github.com/org/foreman-action/internal/text"
)

const (
	// confirm is how long all requests must fail before an outage is reported. Retries handle shorter
	// failures of GitHub.
	confirm       = 10 * time.Second
	leastFailures = 2
	maxError      = 200 // characters of an error in the log
)

// A streak counts consecutive failures of one kind of request. The zero value has none.
type streak struct {
	since    time.Time // when the first of the failed requests began
	failures int
	last     time.Time // when the last request ended
	used     time.Time // time of the last failure, other than of a probe
	err      string    // of the last failure
	outage   bool      // the failures count as an outage
}

// fail records a failure now of a request, and reports whether an outage begins with it.
func (s *streak) fail(begin, now time.Time, err string) bool {
	s.last = now
	if s.failures == 0 {
		s.since = begin
	}
	s.failures++
	s.err = text.Shorten(err, maxError)
	if s.outage || s.failures < leastFailures || s.last.Sub(s.since) < confirm {
		return false
	}
	s.outage = true
	return true
}

// succeed ends the streak, and returns it as it was.
func (s *streak) succeed(now time.Time) streak {
	before := *s
	*s = streak{last: now}
	return before
}

// silent reports whether no request was sent for a while during an outage.
func (s *streak) silent(now time.Time) bool {
	return s.outage && now.Sub(s.last) >= probeInterval-time.Second
}

// probing marks the context of a probe.
type probing struct{}

// asked records a request about a repository that is not a probe.
func (s *streak) asked(ctx context.Context, now time.Time) {
	if ctx.Value(probing{}) == nil {
		s.used = now
	}
}
