package plan

import (
	"fmt"
	"time"

	"github.com/org/foreman-action/policy"
	"github.com/org/foreman-action/runner/internal/history"
	"github.com/org/foreman-action/triage"
)

// A rateLimiter limits how often we comment on and change one issue.
type rateLimiter struct {
	policy.RateLimits

	now            time.Time
	posted         int       // our comments so far, without sticky ones
	last           time.Time // time of our newest comment for another task
	begun          bool      // this task has commented, or will comment
	changes        int       // our changes within the last hour, including planned ones
	unsureHour     bool      // the last hour has more events than can be read
	unsureInterval bool      // the interval has more events than can be read
}

// writeWindow is the time within which changes are counted.
const writeWindow = time.Hour

// newRateLimiter counts our comments and changes in the timeline.
func newRateLimiter(limits policy.RateLimits, h history.History, a Attempt) *rateLimiter {
	p := &rateLimiter{RateLimits: limits, now: a.Now}
	p.unsureHour, p.unsureInterval = !h.Covers(p.now.Add(-writeWindow)), !h.Covers(p.now.Add(-p.Interval))
	for _, e := range h.Events {
		if !h.Ours(e) {
			continue
		}
		if m, ok := h.OurComment(e); ok && m.Key == "" {
			p.posted++
			switch {
			case m.By != "", a.Beside(m): // an answer to a command, or a comment of another step
			case a.Mine(m):
				p.begun = true
			default:
				p.last = e.At
			}
		}
		if _, _, ok := history.ActionOf(e); ok && e.At.After(p.now.Add(-writeWindow)) {
			p.changes++
		}
	}
	return p
}

// hasCooldown reports whether the comment interval applies to a step: it posts a comment that is
// neither an answer to a command, nor accepted by a person, nor sticky.
func hasCooldown(s *Step) bool {
	c, comments := s.Comment()
	return comments && c.Key == "" && !s.unpaced()
}

// check skips a step that exceeds a limit. A task that has already commented may post its other
// comments.
func (p *rateLimiter) check(s *Step) {
	c, comments := s.Comment()
	fresh := comments && c.Key == "" // the comment is not sticky
	switch {
	case p.Writes > 0 && p.unsureHour:
		s.set(triage.Skip, "the issue's timeline is too long to count our writes: policy.max_writes_per_hour")
		return
	case p.Writes > 0 && p.changes >= p.Writes:
		s.set(triage.Skip, fmt.Sprintf("%d changes of ours within an hour: policy.max_writes_per_hour is %d", p.changes, p.Writes))
		return
	case !fresh || p.begun && !s.unpaced():
	case !s.unpaced() && p.Interval > 0 && p.last.IsZero() && p.unsureInterval:
		s.set(triage.Skip, "the issue's timeline is too long to find our last comment: policy.comment_interval")
		return
	case !s.unpaced() && p.Interval > 0 && !p.last.IsZero() && p.now.Sub(p.last) < p.Interval:
		s.set(triage.Skip, fmt.Sprintf("we commented at %s: policy.comment_interval is %s", p.last.UTC().Format(time.RFC3339), short(p.Interval)))
		return
	case p.Comments > 0 && p.posted >= p.Comments:
		s.set(triage.Skip, fmt.Sprintf("%d comments of ours on the issue: policy.max_comments_per_issue is %d", p.posted, p.Comments))
		return
	}
	p.changes += max(1, len(s.Written()))
	switch {
	case s.unpaced() && comments:
		p.posted++
	case fresh:
		p.begun = true
	}
}

// short formats a duration without trailing units that are zero: 24h, not 24h0m0s.
func short(d time.Duration) string {
	out := d.String()
	for _, zero := range []string{"m0s", "h0m"} {
		if n := len(out) - len(zero); n > 0 && out[n:] == zero {
			out = out[:n+1]
		}
	}
	return out
}
