package memory

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/org/foreman-action/internal/text"
	"github.com/org/foreman-action/internal/wilson"
)

// Outcomes are the track records of all pairs of a repository, in the record with the number
// [Repository]. The zero value is empty.
type Outcomes struct {
	Pairs []Pair `json:"pairs,omitempty"` // sorted by their keys
	// Judged is the time up to which all actions were judged; zero: none.
	Judged time.Time `json:"judged,omitzero"`
	// Counted are the outcomes of later actions that were counted already, because a person acted or because a
	// run ended early: 12 hexadecimal digits for the issue, the pair and shadow mode, a space, and the Unix time of the action in seconds. Sorted
	// by that time. An acceptance, which a person may still undo, also has a space and the number of judged
	// outcomes of the period then, or "-" if it counted as unjudged.
	Counted []string `json:"counted,omitempty"`
}

// The bounds of Outcomes.
const (
	maxPairs     = 1000
	maxPairBytes = 96 << 10 // bytes of all pairs in the stored form
	maxCounted   = 600
	roomCounted  = 100 // elements of Outcomes.Counted that are left to passes; see Outcomes.Room
	keyDigits    = 12  // of an element of Outcomes.Counted
)

// Pair returns the track record of a pair; ok is false if there is none.
func (o *Outcomes) Pair(k PairKey) (p Pair, ok bool) {
	if o == nil {
		return Pair{}, false
	}
	i, found := slices.BinarySearchFunc(o.Pairs, k.clip(), func(p Pair, k PairKey) int { return p.compare(k) })
	if !found {
		return Pair{}, false
	}
	return o.Pairs[i], true
}

// Count adds the outcome of an action of a pair, and reports whether it did. name is as in [Pair].
//
// It does not count an action up to Outcomes.Judged, nor a second action of the pair on the same issue while
// the first is in Outcomes.Counted. An action that shadow mode only planned is another one. There is
// one exception: an outcome that was counted as accepted becomes undone, once. If Outcomes.Counted is full,
// an action that it would have to hold is left to a later pass.
//
// At most 1,000 pairs are kept. Of those without a permission, the ones with the oldest last outcome are dropped.
func (o *Outcomes) Count(k PairKey, name string, r Result, t Threshold) bool {
	k = k.clip()
	acted := clipTime(r.Acted)
	n, counted := o.find(k, r.Issue, r.Shadow)
	mark, open := "", false
	if counted {
		mark, open = openMark(o.Counted[n])
	}
	if !acted.After(o.Judged) || counted && (!open || r.Outcome != OutcomeUndone) || !counted && !r.Passed && len(o.Counted) >= maxCounted {
		return false
	}
	o.Pairs = slices.Clone(o.Pairs)
	i, found := slices.BinarySearchFunc(o.Pairs, k, func(p Pair, k PairKey) int { return p.compare(k) })
	if !found {
		o.Pairs = slices.Insert(o.Pairs, i, Pair{PairKey: k})
	}
	p := &o.Pairs[i]
	p.Name = clip(name, maxPairText)
	o.Counted = slices.Clone(o.Counted)
	if counted {
		o.Counted[n] = strings.TrimSuffix(o.Counted[n], " "+mark)
		p.undo(r, mark, t)
	} else if as := p.Count(r, t); !r.Passed {
		element := fmt.Sprintf("%s %d", k.on(r.Issue, r.Shadow), acted.Unix())
		switch {
		case r.Outcome != OutcomeAccepted:
		case as == OutcomeAccepted:
			judged, _ := p.Judged()
			element += fmt.Sprintf(" %d", judged)
		default:
			element += " " + markUnjudged
		}
		o.Counted = append(o.Counted, element)
		slices.SortStableFunc(o.Counted, func(a, b string) int { return cmp.Compare(actedAt(a), actedAt(b)) })
	}
	o.trim()
	return true
}

// markUnjudged marks an acceptance in Outcomes.Counted that counted as unjudged.
const markUnjudged = "-"

// openMark returns the mark of an acceptance in an element of Outcomes.Counted; ok is false if the element
// is another outcome, or if the acceptance was undone.
func openMark(s string) (mark string, ok bool) {
	_, rest, _ := strings.Cut(s, " ")
	_, mark, ok = strings.Cut(rest, " ")
	return mark, ok
}

// Reset begins a new period of a pair whose period began before a time. The same applies to its outcomes in
// shadow mode.
func (o *Outcomes) Reset(k PairKey, at time.Time) {
	i, found := slices.BinarySearchFunc(o.Pairs, k.clip(), func(p Pair, k PairKey) int { return p.compare(k) })
	at = clipTime(at)
	before := func(since time.Time) bool { return !since.IsZero() && since.Before(at) }
	if !found || !before(o.Pairs[i].Since) && !before(o.Pairs[i].Shadow.Since) {
		return
	}
	o.Pairs = slices.Clone(o.Pairs)
	p := &o.Pairs[i]
	if before(p.Shadow.Since) {
		p.Shadow = Shadow{}
	}
	if before(p.Since) {
		p.lose(at, "the policy resets it")
	}
}

// A PermissionChange is a permission that a pair got or lost.
type PermissionChange struct {
	PairKey

	Name    string    // as in Pair
	Granted bool      // false: the permission was lost
	At      time.Time // since when
	Why     string    // for people
}

// Changed returns the change of the permission since an earlier state of the pair; ok is false if it is the
// same.
func (p Pair) Changed(before Pair) (c PermissionChange, ok bool) {
	c = PermissionChange{PairKey: p.PairKey, Name: p.Name}
	switch was := !before.Granted.IsZero(); {
	case !p.Granted.IsZero() && !was:
		judged, right := p.Proof()
		c.Granted, c.At, c.Why = true, p.Granted, fmt.Sprintf("%d of %d were right, bound %.2f", right, judged, wilson.Bound(right, judged))
	case p.Granted.IsZero() && was:
		c.At, c.Why = p.Lost, p.Why
	default:
		return PermissionChange{}, false
	}
	return c, true
}

// Advance records that all actions up to a time were judged. An earlier time than before changes
// nothing.
func (o *Outcomes) Advance(to time.Time) {
	if to = clipTime(to); !to.After(o.Judged) {
		return
	}
	o.Judged = to
	o.Counted = slices.DeleteFunc(slices.Clone(o.Counted), func(s string) bool { return actedAt(s) < to.Unix() })
	if len(o.Counted) == 0 {
		o.Counted = nil
	}
}

// Holds reports whether Outcomes.Counted has an outcome of a pair on an issue, of an action that shadow mode
// only planned or of another one. Nil outcomes have none.
func (o *Outcomes) Holds(k PairKey, issue int, shadow bool) bool {
	_, found := o.find(k, issue, shadow)
	return found
}

// Undoable reports whether Outcomes.Counted has an acceptance of a pair on an issue that a person may still undo.
func (o *Outcomes) Undoable(k PairKey, issue int) bool {
	i, found := o.find(k, issue, false)
	if !found {
		return false
	}
	_, open := openMark(o.Counted[i])
	return open
}

// Room reports whether an outcome may be counted before its time. If Outcomes.Counted is nearly full, it must
// wait for the pass that moves Outcomes.Judged, or an element that is dropped would be counted twice.
func (o *Outcomes) Room() bool { return o == nil || len(o.Counted) < maxCounted-roomCounted }

// find returns the index of an outcome in Outcomes.Counted.
func (o *Outcomes) find(k PairKey, issue int, shadow bool) (i int, found bool) {
	if o == nil {
		return 0, false
	}
	key := k.clip().on(issue, shadow)
	i = slices.IndexFunc(o.Counted, func(s string) bool { return strings.HasPrefix(s, key) })
	return i, i >= 0
}

// on returns the digits in Outcomes.Counted for an issue.
func (k PairKey) on(issue int, shadow bool) string {
	parts := []string{strconv.Itoa(issue), k.Source, k.Action, k.Value}
	if shadow {
		parts = append(parts, "shadow")
	}
	sum := sha256.Sum256([]byte(strings.Join(parts, "\x00")))
	return hex.EncodeToString(sum[:keyDigits/2])
}

// actedAt returns the time in an element of Outcomes.Counted; 0 if it has another form.
func actedAt(s string) int64 {
	_, at, _ := strings.Cut(s, " ")
	at, _, _ = strings.Cut(at, " ")
	n, err := strconv.ParseInt(at, 10, 64)
	if err != nil {
		return 0
	}
	return n
}

func (k PairKey) compare(other PairKey) int {
	return cmp.Or(cmp.Compare(k.Source, other.Source), cmp.Compare(k.Action, other.Action), cmp.Compare(k.Value, other.Value))
}

func (k PairKey) clip() PairKey {
	return PairKey{clip(k.Source, maxPairText), clip(k.Action, maxPairText), clip(k.Value, maxPairText)}
}

// trim drops pairs until they are within their bounds.
func (o *Outcomes) trim() {
	most := 0
	for _, p := range o.Pairs {
		most += p.maxRoom()
	}
	if len(o.Pairs) <= maxPairs && most <= maxPairBytes {
		return // encoding all pairs for each outcome would be slow
	}
	sizes := roomOf(o.Pairs)
	for len(o.Pairs) > maxPairs || sizes.sum() > maxPairBytes {
		i := o.dispensable()
		o.Pairs, sizes = slices.Delete(o.Pairs, i, i+1), slices.Delete(sizes, i, i+1)
	}
}

// dispensable returns the index of the pair to drop first.
func (o *Outcomes) dispensable() int {
	first := 0
	for i, p := range o.Pairs {
		f := o.Pairs[first]
		if p.Granted.IsZero() != f.Granted.IsZero() {
			if p.Granted.IsZero() {
				first = i
			}
			continue
		}
		if p.At.Before(f.At) {
			first = i
		}
	}
	return first
}

// countedPattern is the form of the elements of Outcomes.Counted.
var countedPattern = text.Regexp(`^[0-9a-f]{12} -?[0-9]{1,12}( -| [0-9]{1,10})?$`)

// check verifies the bounds of the outcomes.
func (o *Outcomes) check() error {
	switch {
	case o == nil:
		return nil
	case len(o.Pairs) > maxPairs || len(o.Counted) > maxCounted:
		return fmt.Errorf("it has %d pairs and %d counted outcomes, more than %d or %d", len(o.Pairs), len(o.Counted), maxPairs, maxCounted)
	case !storable(o.Judged):
		return errors.New("the time up to which actions were judged is out of range")
	case slices.ContainsFunc(o.Counted, func(s string) bool { return !countedPattern().MatchString(s) }):
		return errors.New("a counted outcome has another form")
	}
	for i, p := range o.Pairs {
		if err := p.check(); err != nil {
			return err
		}
		if i > 0 && o.Pairs[i-1].compare(p.PairKey) >= 0 {
			return errors.New("the pairs are not sorted, or one is there twice")
		}
	}
	if size := roomOf(o.Pairs).sum(); size > maxPairBytes {
		return fmt.Errorf("the pairs take %d bytes, more than %d", size, maxPairBytes)
	}
	return nil
}
