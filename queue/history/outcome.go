package history

import (
	"bytes"
	"encoding/json"
	"strings"
	"time"

	"github.com/org/foreman-action/queue"
)

// An Outcome is what became of a task.
type Outcome string

// The outcomes. The first eight are those of done tasks.
const (
	Applied   Outcome = "applied"   // at least one action was carried out
	Partial   Outcome = "partial"   // some actions were carried out, and one failed or was refused
	Refused   Outcome = "refused"   // GitHub refused all that was left to do
	Planned   Outcome = "planned"   // shadow mode: nothing was written
	Nothing   Outcome = "nothing"   // there was nothing to do, or nothing was permitted
	Escalated Outcome = "escalated" // left to a person
	Suggested Outcome = "suggested" // proposed to people
	Unknown   Outcome = "unknown"   // done, but the report cannot be read

	NoDecision Outcome = "no_decision" // failed without a decision: the agent failed or did not answer
	NotApplied Outcome = "not_applied" // failed with a decision that could not be carried out
	Cancelled  Outcome = "cancelled"   // an operator cancelled the task
)

// Outcomes returns all outcomes, those of done tasks first.
func Outcomes() []Outcome {
	return []Outcome{Applied, Partial, Refused, Planned, Nothing, Escalated, Suggested, Unknown, NoDecision, NotApplied, Cancelled}
}

// MaxReport is how many bytes of a report [OutcomeOf] needs at most. The status of a longer report may
// be unknown.
const MaxReport = 64 << 10

// OutcomeOf returns the outcome of a task that ended. report is the task's report or its beginning.
func OutcomeOf(t queue.Info, report []byte) Outcome {
	if t.State == queue.Failed {
		switch {
		case strings.HasPrefix(t.Reason, "cancelled by "):
			return Cancelled
		case t.Completed.IsZero():
			return NoDecision
		}
		return NotApplied
	}
	switch status(report) {
	case "applied":
		return Applied
	case "partial":
		return Partial
	case "done":
		return Refused
	case "dry_run":
		return Planned
	case "skipped":
		return Nothing
	case "escalated":
		return Escalated
	case "suggested":
		return Suggested
	}
	return Unknown
}

// status returns the status in a report, which may be cut off; empty: there is none.
func status(report []byte) string {
	d := json.NewDecoder(bytes.NewReader(report))
	if open, err := d.Token(); err != nil || open != json.Delim('{') {
		return ""
	}
	for d.More() {
		key, err := d.Token()
		if err != nil {
			return ""
		}
		if key == "status" {
			var s string
			if d.Decode(&s) != nil {
				return ""
			}
			return s
		}
		var skipped json.RawMessage
		if d.Decode(&skipped) != nil {
			return ""
		}
	}
	return ""
}

// An Ended is a task that ended, or whose decision is stored.
type Ended struct {
	queue.Info

	// Restarted is when an operator last called Retry or AskAgain; zero: never.
	Restarted time.Time
	Report    []byte // or its beginning
}

// A Fact is what happened to a task at one time.
type Fact struct {
	At time.Time
	Counts
}

// Facts returns the decision on a task and its end, if there were any. After a Retry, durations begin
// with the Retry, and an older decision is not counted a second time.
func (t Ended) Facts() []Fact {
	var list []Fact
	var waited Counts
	if !t.Claimed.IsZero() && !t.Claimed.Before(t.Restarted) {
		waited.waits(later(t.Enqueued, t.Restarted), t.Claimed)
	}
	decided := !t.Completed.IsZero()
	if decided && (t.Restarted.IsZero() || t.Completed.After(t.Restarted)) {
		f := Fact{t.Completed, waited}
		f.Decided = 1
		if !t.Claimed.IsZero() {
			f.measure(&f.Deciding, t.Claimed, t.Completed)
		}
		list = append(list, f)
	}
	if t.Ended.IsZero() {
		return list
	}
	f := Fact{At: t.Ended}
	if !decided {
		f.Counts = waited
	}
	if t.State == queue.Done {
		f.Done = 1
	} else {
		f.Failed = 1
	}
	f.Outcomes = map[Outcome]int{OutcomeOf(t.Info, t.Report): 1}
	if decided {
		f.measure(&f.Applying, later(t.Completed, t.Restarted), t.Ended)
	}
	return append(list, f)
}

// Received returns the fact that a task was received.
func Received(at time.Time) Fact { return Fact{at, Counts{Received: 1}} }

func (c *Counts) waits(from, to time.Time) { c.measure(&c.Waiting, from, to) }

// measure adds a duration to a histogram of c.
func (c *Counts) measure(h *Histogram, from, to time.Time) {
	d := to.Sub(from)
	if d < 0 {
		c.Skewed++
		d = 0
	}
	*h = h.plus(Histogram{bin(d): 1})
}

func later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}
