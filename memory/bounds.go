package memory

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/org/foreman-action/protocol"
)

// The bounds of what a record holds, in bytes and items. What is stored keeps them:
// Encode writes, and Decode reads, nothing that does not.
const (
	maxText    = 4 << 10        // the rationale
	maxShort   = 512            // every other string
	maxValues  = 100            // of an action
	maxActions = 200            // of a task that is put
	maxMerged  = 2 * maxActions // of a task that was put more than once
	maxTypes   = 32             // counted apart in an Earlier; the rest is counted as otherType
	otherType  = "other"
	// maxUnknown bounds the types in an Earlier that this program does not know; another
	// version may have known as many as are counted apart. otherType comes on top.
	maxUnknown = 2 * maxTypes
	// maxCount bounds indices, and the counts of an Earlier; sums stop there.
	maxCount = 1 << 30
	// maxRevision is the last one that can be written. It cannot be saved again, so a
	// record that has it counts as broken, and the next save starts anew.
	maxRevision = math.MaxInt32
)

// check verifies everything but the identity, the revision and the size.
func (r Record) check() error {
	if len(r.Tasks) > MaxTasks {
		return fmt.Errorf("it has %d tasks", len(r.Tasks))
	}
	if r.Earlier != nil {
		if err := r.Earlier.check(); err != nil {
			return err
		}
	}
	for _, t := range r.Tasks {
		if err := t.check(); err != nil {
			return fmt.Errorf("task %q has %w", clip(t.ID, 60), err)
		}
	}
	if err := errors.Join(r.Scores.check(), r.checkPending()); err != nil {
		return err
	}
	return checkHumans(r.Humans)
}

func (t Task) check() error {
	switch {
	case !storable(t.At):
		return errors.New("a time out of range")
	case !short(t.ID, t.Event, string(t.Decision), t.By, t.Status) || stored(t.Rationale) > maxText:
		return errTooLong
	case len(t.Actions) > maxMerged:
		return fmt.Errorf("%d actions", len(t.Actions))
	}
	for _, a := range t.Actions {
		switch {
		case a.Index < 0 || a.Index > maxCount:
			return fmt.Errorf("an action %d", a.Index)
		case !short(a.Type, a.Rule, a.Verdict, a.Result, a.Reason, a.URL, a.Hash) || !short(a.Values...):
			return errTooLong
		case len(a.Values) > maxValues:
			return fmt.Errorf("an action with %d values", len(a.Values))
		}
	}
	return nil
}

var errTooLong = errors.New("a text that is too long")

func (e *Earlier) check() error {
	if !e.plausible() {
		return errors.New("the counts of earlier tasks are out of range")
	}
	if !storable(e.From) || !storable(e.To) {
		return errors.New("the times of earlier tasks are out of range")
	}
	// Many types are not worth looking at.
	few := len(e.Done) <= maxUnknown+len(protocol.ActionSpecs())+1
	if !few || !short(slices.Collect(maps.Keys(e.Done))...) || e.unknown() > maxUnknown {
		return errors.New("the types of earlier actions are too many, or too long")
	}
	return nil
}

func (e *Earlier) plausible() bool {
	ok := func(n, least int) bool { return n >= least && n <= maxCount }
	for _, n := range e.Done {
		if !ok(n, 0) {
			return false
		}
	}
	return ok(e.Tasks, 1) && ok(e.Escalated, 0)
}

// unknown counts the types that are no known action's, but for otherType.
func (e *Earlier) unknown() int {
	n := 0
	for typ := range e.Done {
		if _, known := protocol.SpecOf(typ); !known && typ != otherType && typ != fadedType {
			n++
		}
	}
	return n
}

func short(list ...string) bool {
	return !slices.ContainsFunc(list, func(s string) bool { return stored(s) > maxShort })
}

// stored is how long a string is when it is read again: in JSON each byte that is not
// UTF-8 becomes a character.
func stored(s string) int {
	if utf8.ValidString(s) {
		return len(s)
	}
	n := 0
	for _, c := range s {
		n += utf8.RuneLen(c)
	}
	return n
}

// storable reports whether a time can be written, and also in UTC.
func storable(t time.Time) bool {
	_, err := t.MarshalText()
	y := t.UTC().Year()
	return err == nil && y >= 1 && y <= 9999
}

// clipTime returns t in UTC, as exact as it is stored, and in a year of four digits.
func clipTime(t time.Time) time.Time {
	t = t.UTC().Truncate(time.Millisecond)
	switch y := t.Year(); {
	case y < 1:
		return time.Time{}
	case y > 9999:
		return time.Date(9999, 12, 31, 23, 59, 59, 0, time.UTC)
	}
	return t
}

// clipTask returns a copy of t within its bounds, with that many actions at most.
func clipTask(t Task, actions int) Task {
	t.At, t.Decision = clipTime(t.At), protocol.DecisionType(clip(string(t.Decision), maxShort))
	t.ID, t.Event, t.By, t.Status = clip(t.ID, maxShort), clip(t.Event, maxShort), clip(t.By, maxShort), clip(t.Status, maxShort)
	t.Rationale = clip(t.Rationale, maxText)
	t.Actions = clipActions(t.Actions, actions)
	for i, a := range t.Actions {
		a.Index = min(max(a.Index, 0), maxCount)
		a.Type, a.Rule, a.Verdict = clip(a.Type, maxShort), clip(a.Rule, maxShort), clip(a.Verdict, maxShort)
		a.Result, a.Reason, a.URL = clip(a.Result, maxShort), clip(a.Reason, maxShort), clip(a.URL, maxShort)
		a.Values, a.Hash = clipAll(a.Values), clip(a.Hash, maxShort)
		t.Actions[i] = a
	}
	return t
}

// clipActions returns a copy of n actions at most, in their order. What was carried
// out goes before what was not, and a comment before everything: whether there is one
// must not be forgotten.
func clipActions(list []Action, n int) []Action {
	if len(list) <= n {
		return slices.Clone(list)
	}
	keep := make([]bool, len(list))
	for rank := range 3 {
		for i, a := range list {
			if n > 0 && a.rank() == rank {
				keep[i] = true
				n--
			}
		}
	}
	var out []Action
	for i, a := range list {
		if keep[i] {
			out = append(out, a)
		}
	}
	return out
}

func (a Action) rank() int {
	switch {
	case a.Result != Done:
		return 2
	case a.Type != protocol.ActionComment && a.Type != protocol.ActionUpdateComment:
		return 1
	}
	return 0
}

// clipAll returns a copy of values within the bounds of an action's.
func clipAll(values []string) []string {
	values = slices.Clone(values[:min(len(values), maxValues)])
	for i, v := range values {
		values[i] = clip(v, maxShort)
	}
	return values
}

// clip cuts s to n bytes at most, between characters, and replaces what is not UTF-8.
func clip(s string, n int) string {
	if len(s) > n {
		cut := n - len("…")
		for range utf8.UTFMax - 1 {
			if !utf8.RuneStart(s[cut]) {
				cut--
			}
		}
		s = s[:cut] + "…"
	}
	// One byte, so that the text does not grow again.
	return strings.ToValidUTF8(s, "?")
}
