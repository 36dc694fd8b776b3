package runner

import (
	"fmt"
	"time"

	"github.com/org/foreman-action/policy"
	"github.com/org/foreman-action/triage"
)

// A pace keeps us from saying and doing too much on one issue.
type pace struct {
	now      time.Time
	interval time.Duration // 0: none
	comments int           // most of ours on the issue; 0: any number
	writes   int           // most of ours within an hour; 0: any number

	said    int       // comments of ours so far, sticky ones apart
	last    time.Time // when the newest of other tasks was posted
	begun   bool      // this task has commented, or will
	changes int       // of ours within the last hour, and those that are planned

	flooded bool // more happened within the last hour than can be read
	buried  bool // more happened within the interval than can be read
}

// writeWindow is the time within which changes are counted.
const writeWindow = time.Hour

// newPace counts what the timeline tells of us.
func (x *execution) newPace(h hindsight) *pace {
	limits := x.policy.Pacing()
	p := &pace{now: x.now(), interval: limits.Interval, comments: limits.Comments, writes: limits.Writes}
	p.flooded, p.buried = !h.sees(p.now.Add(-writeWindow)), !h.sees(p.now.Add(-p.interval))
	for _, e := range h.Events {
		if !h.ours(e) {
			continue
		}
		if m, ok := markOf(e.Body); ok && e.Kind == "commented" && m.key == "" {
			p.said++
			switch {
			case m.by != "": // an answer to a command
			case m.task == x.Task:
				p.begun = true
			default:
				p.last = e.At
			}
		}
		if _, ok := deedOf(e); ok && e.At.After(p.now.Add(-writeWindow)) {
			p.changes++
		}
	}
	return p
}

// paced reports whether anything is limited by what was done on the issue before.
func paced(p policy.Policy) bool { return p.Pacing() != policy.Pacing{} }

// hold passes a step over that would be too much. What a task has begun to say it may
// say to its end.
func (p *pace) hold(s *Step) {
	switch {
	case p.writes > 0 && p.flooded:
		s.set(triage.Skip, "too much happens on the issue to tell what was ours: policy.max_writes_per_hour")
		return
	case p.writes > 0 && p.changes >= p.writes:
		s.set(triage.Skip, fmt.Sprintf("%d changes of ours within an hour: policy.max_writes_per_hour is %d", p.changes, p.writes))
		return
	case !s.isComment() || s.key != "" || p.begun && !s.answers():
	case !s.answers() && p.interval > 0 && p.last.IsZero() && p.buried:
		s.set(triage.Skip, "too much happens on the issue to tell whether we commented: policy.comment_interval")
		return
	case !s.answers() && p.interval > 0 && !p.last.IsZero() && p.now.Sub(p.last) < p.interval:
		s.set(triage.Skip, fmt.Sprintf("we commented at %s: policy.comment_interval is %s", p.last.UTC().Format(time.RFC3339), short(p.interval)))
		return
	case p.comments > 0 && p.said >= p.comments:
		s.set(triage.Skip, fmt.Sprintf("%d comments of ours on the issue: policy.max_comments_per_issue is %d", p.said, p.comments))
		return
	}
	p.changes += max(1, len(s.values()))
	switch {
	case s.answers() && s.isComment():
		p.said++
	case s.isComment() && s.key == "":
		p.begun = true
	}
}

// short is a duration without the units that are zero at its end: 24h, not 24h0m0s.
func short(d time.Duration) string {
	text := d.String()
	for _, zero := range []string{"m0s", "h0m"} {
		if n := len(text) - len(zero); n > 0 && text[n:] == zero {
			text = text[:n+1]
		}
	}
	return text
}
