package memory

import (
	"errors"
	"maps"
	"slices"
	"time"

	"github.com/org/foreman-action/protocol"
	"github.com/org/foreman-action/triage"
)

// An Earlier summarizes the tasks that a record does not keep individually any more.
type Earlier struct {
	Tasks int       `json:"tasks"`
	From  time.Time `json:"from"` // of the oldest one; UTC
	To    time.Time `json:"to"`   // of the newest one; UTC
	// Done counts the actions that were carried out, by type.
	Done map[string]int `json:"done,omitempty"`
	// Escalated counts the tasks that were escalated to a human.
	Escalated int `json:"escalated,omitempty"`
}

// The types of actions that an Earlier counts.
const (
	maxTypes = 32 // types counted separately; further unknown types count as otherType
	// maxUnknown is the most types that this program does not know. It exceeds maxTypes because
	// another version, which knows other types, may have written the counts. otherType is not
	// included.
	maxUnknown = 2 * maxTypes
	otherType  = "other"
	// fadedType replaces the types of comments that are older than AnswerWindow. No stored record
	// contains it, and no action has this name.
	fadedType = "comment/old"
)

// check verifies the bounds of the counts, the times and the types.
func (e *Earlier) check() error {
	if !e.plausible() {
		return errors.New("the counts of earlier tasks are out of range")
	}
	if !storable(e.From) || !storable(e.To) {
		return errors.New("the times of earlier tasks are out of range")
	}
	// The number of types is checked first, so that a huge list costs no time.
	few := len(e.Done) <= maxUnknown+len(protocol.ActionSpecs())+1
	if !few || !short(slices.Collect(maps.Keys(e.Done))...) || e.unknown() > maxUnknown {
		return errors.New("the types of earlier actions are too many, or too long")
	}
	return nil
}

// plausible reports whether all counts are in their range.
func (e *Earlier) plausible() bool {
	ok := func(n, least int) bool { return n >= least && n <= maxCount }
	for _, n := range e.Done {
		if !ok(n, 0) {
			return false
		}
	}
	return ok(e.Tasks, 1) && ok(e.Escalated, 0)
}

// unknown counts the types that this program does not know, without otherType.
func (e *Earlier) unknown() int {
	n := 0
	for typ := range e.Done {
		if _, known := protocol.SpecOf(typ); !known && typ != otherType && typ != fadedType {
			n++
		}
	}
	return n
}

// clone returns a deep copy within the bounds of an Earlier. The copy of nil is empty.
func (e *Earlier) clone() Earlier {
	if e == nil {
		return Earlier{}
	}
	c := *e
	if e.check() == nil {
		c.Done = maps.Clone(e.Done)
		return c
	}
	c.From, c.To, c.Done = clipTime(e.From), clipTime(e.To), nil
	c.Tasks, c.Escalated = plus(max(e.Tasks, 1), 0), plus(e.Escalated, 0)
	for _, typ := range slices.Sorted(maps.Keys(e.Done)) {
		c.count(clip(typ, maxShort), e.Done[typ])
	}
	return c
}

// add adds a task to the counts, unless shadow mode suppressed it. The caller has checked that the types are within their bounds.
func (e *Earlier) add(t Task) {
	if t.Suppressed() {
		return
	}
	if e.Tasks == 0 || t.At.Before(e.From) {
		e.From = t.At
	}
	if e.Tasks == 0 || t.At.After(e.To) {
		e.To = t.At
	}
	e.Tasks = plus(e.Tasks, 1)
	if t.Decision == protocol.Escalate {
		e.Escalated = plus(e.Escalated, 1)
	}
	for _, a := range t.Actions {
		if a.Result == triage.Done {
			e.count(a.Type, 1)
		}
	}
}

// count counts n actions of a type.
func (e *Earlier) count(typ string, n int) {
	if e.Done == nil {
		e.Done = map[string]int{}
	}
	if e.Done[typ] == 0 && len(e.Done) >= maxTypes {
		if _, known := protocol.SpecOf(typ); !known && typ != fadedType {
			typ = otherType
		}
	}
	e.Done[typ] = plus(e.Done[typ], n)
}
