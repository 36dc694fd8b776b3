package memory

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
)

// The bounds of what a record keeps for later.
const (
	MaxNever    = 50 // labels that are never added again
	MaxClosings = 5  // closings that are to come, of one issue
)

const (
	maxLabel = 200 // bytes; GitHub takes 50 characters
	maxWord  = 100 // bytes of every text of a closing
	maxVetos = 10  // of a closing
)

// A Closing is to come: the issue is closed by a scheduled run, unless people veto it.
type Closing struct {
	At     time.Time `json:"at"`               // as of when it was decided: only what people do from then on can veto it; UTC
	Due    time.Time `json:"due"`              // when it may be carried out; UTC
	Reason string    `json:"reason,omitempty"` // as in close_issue; empty: the service's default
	Veto   []string  `json:"veto,omitempty"`   // what stands against it, such as protocol.VetoComment
	Rule   string    `json:"rule,omitempty"`   // id of the rule that asked for it; empty: an agent
	Task   string    `json:"task"`             // id of the task in which it was decided
	// Vetoed says that people stood against it: it is not carried out, and kept so that
	// it is not asked for again.
	Vetoed bool `json:"vetoed,omitempty"`
}

// check verifies the bounds of a closing.
func (c Closing) check() error {
	switch {
	case !storable(c.At) || !storable(c.Due):
		return errors.New("the time of a closing is out of range")
	case !within(maxWord, c.Reason, c.Rule, c.Task) || !within(maxWord, c.Veto...) || len(c.Veto) > maxVetos:
		return errors.New("a closing is too long")
	}
	return nil
}

func (c Closing) clip() Closing {
	c.At, c.Due = clipTime(c.At), clipTime(c.Due)
	c.Reason, c.Rule, c.Task = clip(c.Reason, maxWord), clip(c.Rule, maxWord), clip(c.Task, maxWord)
	c.Veto = slices.Clone(c.Veto[:min(len(c.Veto), maxVetos)])
	for i, v := range c.Veto {
		c.Veto[i] = clip(v, maxWord)
	}
	return c
}

func within(most int, list ...string) bool {
	return !slices.ContainsFunc(list, func(s string) bool { return stored(s) > most })
}

// checkPending verifies what a record keeps for later.
func (r Record) checkPending() error {
	switch {
	case len(r.Never) > MaxNever || !within(maxLabel, r.Never...):
		return errors.New("the labels that are never added again are too many, or too long")
	case len(r.Closings) > MaxClosings:
		return fmt.Errorf("it has %d closings to come", len(r.Closings))
	}
	for _, c := range r.Closings {
		if err := c.check(); err != nil {
			return err
		}
	}
	return nil
}

// boundPending brings what a record keeps for later within its bounds.
func (r *Record) boundPending() {
	if r.checkPending() == nil {
		return
	}
	never, closings := r.Never, r.Closings
	r.Never, r.Closings = nil, nil
	for _, label := range never {
		r.Forbid(label)
	}
	for _, c := range closings {
		r.Plan(c)
	}
}

// Forbid keeps a label that is never to be added again, and reports whether it is kept
// now: false when there are [MaxNever] others. Names that differ in case alone are one.
func (r *Record) Forbid(label string) bool {
	switch {
	case r.Forbids(label):
		return true
	case len(r.Never) >= MaxNever:
		return false
	}
	r.Never = append(slices.Clip(r.Never), clip(label, maxLabel))
	return true
}

// Forbids reports whether a label is never to be added again. Case does not matter.
func (r *Record) Forbids(label string) bool {
	label = foldCase(clip(label, maxLabel))
	return slices.ContainsFunc(r.Never, func(s string) bool { return foldCase(s) == label })
}

// foldCase makes names equal that differ in case alone, in whatever letters.
func foldCase(s string) string { return strings.ToLower(strings.ToUpper(s)) }

// Planned returns the closing that the rule, or for the empty id an agent, has asked for,
// vetoed or not.
func (r *Record) Planned(rule string) (Closing, bool) {
	i := slices.IndexFunc(r.Closings, func(c Closing) bool { return c.Rule == clip(rule, maxWord) })
	if i < 0 {
		return Closing{}, false
	}
	return r.Closings[i], true
}

// Plan keeps a closing, and reports whether it is kept now. One that the same rule, or
// an agent, has asked for before stays as it is: nobody is given more time, or less. It
// is false when there are [MaxClosings] of others.
func (r *Record) Plan(c Closing) bool {
	if _, there := r.Planned(c.Rule); there {
		return true
	}
	if len(r.Closings) >= MaxClosings {
		return false
	}
	r.Closings = append(slices.Clip(r.Closings), c.clip())
	slices.SortStableFunc(r.Closings, func(a, b Closing) int { return a.Due.Compare(b.Due) })
	return true
}

// Veto notes that people stood against the closing that the rule, or for the empty id an
// agent, has asked for.
func (r *Record) Veto(rule string) {
	r.Closings = slices.Clone(r.Closings)
	for i, c := range r.Closings {
		if c.Rule == clip(rule, maxWord) {
			r.Closings[i].Vetoed = true
		}
	}
}

// Drop forgets the closing that the rule, or for the empty id an agent, has asked for.
func (r *Record) Drop(rule string) {
	r.Closings = slices.DeleteFunc(slices.Clone(r.Closings), func(c Closing) bool { return c.Rule == clip(rule, maxWord) })
	if len(r.Closings) == 0 {
		r.Closings = nil
	}
}

// Due returns when the first of the closings to come may be carried out; ok is false
// when there is none, or none that was not vetoed.
func (r *Record) Due() (at time.Time, ok bool) {
	for _, c := range r.Closings {
		if !c.Vetoed && (!ok || c.Due.Before(at)) {
			at, ok = c.Due, true
		}
	}
	return at, ok
}

// maxToldNever bounds the labels that a summary lists.
const maxToldNever = 5

// pending is "never to set the label 'x'; closing as 'not_planned' on 2026-04-13"; it is
// empty when nothing is kept for later.
func (r *Record) pending() string {
	var told []string
	if n := len(r.Never); n > 0 {
		word := "label "
		if n > 1 {
			word = "labels "
		}
		text := "never to set the " + word + quoteAll(r.Never[:min(n, maxToldNever)])
		if n > maxToldNever {
			text += fmt.Sprintf(" and %d more", n-maxToldNever)
		}
		told = append(told, text)
	}
	open := slices.DeleteFunc(slices.Clone(r.Closings), func(c Closing) bool { return c.Vetoed })
	if len(open) > 0 {
		c := slices.MinFunc(open, func(a, b Closing) int {
			return cmp.Or(a.Due.Compare(b.Due), cmp.Compare(a.Rule, b.Rule))
		})
		text := "closing"
		if c.Reason != "" {
			text += " as " + quote(c.Reason)
		}
		told = append(told, text+" on "+date(c.Due))
	}
	return strings.Join(told, "; ")
}
