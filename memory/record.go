package memory

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/org/foreman-action/internal/text"
)

// Schema is the version of the encoded form of a [Record].
const Schema = 1

// Repository is the number of the record about a whole repository: it contains [Scores], and
// neither tasks nor changes of people.
const Repository = 0

// A Record is everything that was done on one issue. That of issue [Repository] is about
// the repository as a whole.
type Record struct {
	Schema   int    `json:"schema"`   // of the encoded form; 0 in a record that was never stored
	Repo     string `json:"repo"`     // "owner/name"
	Issue    int    `json:"issue"`    // number, from 1; or Repository
	Revision int    `json:"revision"` // counts the saves; 0 for a record that was never stored
	// Earlier sums up the tasks that are not kept one by one any more; nil: none.
	Earlier *Earlier `json:"earlier,omitempty"`
	// Never are the labels that are never added again, as [Record.Forbid] keeps them.
	Never []string `json:"never,omitempty"`
	// Closings are to come, or were vetoed, as [Record.Plan] keeps them: the first one that is due before
	// the others, and one of each rule.
	Closings []ScheduledClose `json:"closings,omitempty"`
	Tasks    []Task           `json:"tasks"` // oldest first
	// Humans lists the changes of humans since the oldest recorded task, the oldest first.
	Humans []Change `json:"humans,omitempty"`
	// Scores are the scores of shadow mode; nil: none.
	Scores *Scores `json:"scores,omitempty"`
}

// Put adds a task, or merges it with the task of the same id: an action that one attempt
// carried out stays done, also when a later attempt reports it as "already so". Tasks are
// in order of time. Put cuts texts that are too long, moves numbers and times into their
// range, and folds the oldest tasks, until the whole record is within its bounds and can
// be saved. It drops the changes of humans before the oldest task that is kept.
func (r *Record) Put(t Task) {
	r.bound()
	t = clipTask(t, maxActions)
	i := slices.IndexFunc(r.Tasks, func(old Task) bool { return old.ID == t.ID })
	if i >= 0 {
		t.Actions = mergeActions(r.Tasks[i].Actions, t.Actions)
		r.Tasks = slices.Delete(r.Tasks, i, i+1)
	}
	r.Tasks = append(r.Tasks, t)
	slices.SortStableFunc(r.Tasks, func(a, b Task) int { return a.At.Compare(b.At) })
	r.dropHumans()
	r.fit()
}

// bound brings all parts of a record within their bounds, and makes Tasks a copy. A
// record that was loaded is within them.
func (r *Record) bound() {
	r.Tasks = slices.Clone(r.Tasks)
	for i, t := range r.Tasks {
		if t.check() != nil {
			r.Tasks[i] = clipTask(t, maxMerged)
		}
	}
	if r.Earlier != nil && r.Earlier.check() != nil {
		e := r.Earlier.clone()
		r.Earlier = &e
	}
	r.boundDeferred()
	if checkHumans(r.Humans) != nil {
		r.Humans = boundHumans(r.Humans)
	}
}

// SetHumans replaces all changes of humans: it is [Record.AddHumans] of a caller that has
// seen everything.
func (r *Record) SetHumans(list []Change) { r.AddHumans(list, time.Time{}) }

// AddHumans replaces the changes of humans at since or later, which is the time from which
// the caller has seen everything, and keeps the changes before. Changes of the list
// before since are added, unless they are known: changes with the same time, type,
// values and login are one, but for those of a list with another change of that time
// between them.
//
// Changes are in order of time. Those before the oldest task that is kept are
// dropped, all of them when there is no task, and those whose type is that of a
// comment, or of no action's form. Texts that are too long are cut, and the oldest
// changes dropped, until there are [MaxChanges] at most and the record is within its
// bounds.
func (r *Record) AddHumans(list []Change, since time.Time) {
	since = clipTime(since) // as the changes are
	added := clipChanges(list)
	older := slices.DeleteFunc(clipChanges(r.Humans), func(c Change) bool {
		return !c.At.Before(since) || slices.ContainsFunc(added, c.equal)
	})
	r.Humans = boundHumans(slices.Concat(older, added))
	r.dropHumans()
	r.fitHumans()
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
	label = text.Fold(clip(label, maxLabel))
	return slices.ContainsFunc(r.Never, func(s string) bool { return text.Fold(s) == label })
}

// Planned returns the closing that the rule, or for the empty id an agent, has asked for,
// vetoed or not.
func (r *Record) Planned(rule string) (ScheduledClose, bool) {
	i := slices.IndexFunc(r.Closings, func(c ScheduledClose) bool { return c.Rule == clip(rule, maxWord) })
	if i < 0 {
		return ScheduledClose{}, false
	}
	return r.Closings[i], true
}

// Plan keeps a closing, and reports whether it is kept now. One that the same rule, or
// an agent, has asked for before stays as it is, so its time does not change. It
// is false when there are [MaxClosings] of others.
func (r *Record) Plan(c ScheduledClose) bool {
	if _, there := r.Planned(c.Rule); there {
		return true
	}
	if len(r.Closings) >= MaxClosings {
		return false
	}
	r.Closings = append(slices.Clip(r.Closings), c.clip())
	slices.SortStableFunc(r.Closings, func(a, b ScheduledClose) int { return a.Due.Compare(b.Due) })
	return true
}

// Veto records that people vetoed the closing that the rule, or for the empty id an
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
	r.Closings = slices.DeleteFunc(slices.Clone(r.Closings), func(c ScheduledClose) bool { return c.Rule == clip(rule, maxWord) })
	if len(r.Closings) == 0 {
		r.Closings = nil
	}
}

// Due returns when the first scheduled close may be carried out, without those that were vetoed;
// ok is false when there is none.
func (r *Record) Due() (at time.Time, ok bool) {
	for _, c := range r.Closings {
		if !c.Vetoed && (!ok || c.Due.Before(at)) {
			at, ok = c.Due, true
		}
	}
	return at, ok
}

// AnswerWindow is how long agents stay away from an issue on which we commented.
const AnswerWindow = 24 * time.Hour

// Faded returns the record for the summary that agents get at a time. Published agents stay
// away from an issue as long as its summary contains "commented", so [Summary] calls a
// comment that was posted [AnswerWindow] ago or earlier "replied", which no agent looks
// for. Comments that were folded into counts share the time of the last of those tasks,
// so they fade together. The record itself does not change; the result must not be saved.
func (r Record) Faded(now time.Time) Record {
	since := now.Add(-AnswerWindow)
	if r.Earlier != nil && !r.Earlier.To.After(since) {
		e := *r.Earlier
		e.Done = maps.Clone(e.Done)
		for typ, n := range r.Earlier.Done {
			if isComment(typ) {
				delete(e.Done, typ)
				e.Done[fadedType] = plus(e.Done[fadedType], n)
			}
		}
		r.Earlier = &e
	}
	r.Tasks = slices.Clone(r.Tasks)
	for i, t := range r.Tasks {
		if t.At.After(since) {
			continue
		}
		r.Tasks[i].Actions = slices.Clone(t.Actions)
		for j, a := range t.Actions {
			if isComment(a.Type) {
				r.Tasks[i].Actions[j].Type = fadedType
			}
		}
	}
	return r
}

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
	if err := errors.Join(r.Scores.check(), checkDeferred(r.Never, r.Closings)); err != nil {
		return err
	}
	return checkHumans(r.Humans)
}

// boundDeferred brings the forbidden labels and the closings within their bounds.
func (r *Record) boundDeferred() {
	if checkDeferred(r.Never, r.Closings) == nil {
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

// dropHumans drops the changes of humans before the oldest task that is kept.
func (r *Record) dropHumans() {
	if len(r.Tasks) == 0 {
		r.Humans = nil
		return
	}
	r.Humans = sinceTime(r.Humans, r.Tasks[0].At)
}

// fit folds the oldest tasks, and drops the changes of humans before the rest, until the
// record is within its size. Every part passes its check already. Each part is encoded
// once, and the head once for each time that it grew too much; steps counts the encodings.
func (r *Record) fit() (steps int) {
	e := r.Earlier.clone()
	fold := func(n int) {
		for _, t := range r.Tasks[:n] {
			e.add(t)
		}
		r.Earlier, r.Tasks = &e, r.Tasks[n:]
		r.dropHumans()
	}
	if more := len(r.Tasks) - MaxTasks; more > 0 {
		fold(more)
	}
	tasks, humans := roomOf(r.Tasks), roomOf(r.Humans)
	steps = len(tasks) + len(humans)
	for len(r.Tasks) > 0 {
		steps++
		free := MaxSize - r.head()
		if tasks.sum()+humans.sum() <= free {
			break
		}
		for len(r.Tasks) > 0 && tasks.sum()+humans.sum() > free {
			fold(1)
			tasks, humans = tasks[1:], humans[len(humans)-len(r.Humans):]
		}
	}
	return steps
}

// fitHumans drops the oldest changes until the record is within its size.
func (r *Record) fitHumans() {
	tasks, humans := roomOf(r.Tasks), roomOf(r.Humans)
	free := MaxSize - r.head() - tasks.sum()
	for len(humans) > 0 && humans.sum() > free {
		humans = humans[1:]
	}
	r.Humans = orNil(r.Humans[len(r.Humans)-len(humans):])
}

// head returns the bytes that a record takes at its last revision, with the brackets of
// two lists that are not empty, and without their elements.
func (r *Record) head() int {
	data, err := marshal(Record{
		Repo: r.Repo, Issue: r.Issue, Revision: maxRevision, Earlier: r.Earlier, Scores: r.Scores,
		Never: r.Never, Closings: r.Closings,
	})
	if err != nil {
		return MaxSize
	}
	return len(data) + len("\n ") - len(",") + len(",\n \"humans\": [\n ]") - len(",")
}

// marshal returns the stored form of a record, whatever its bounds.
func marshal(r Record) ([]byte, error) {
	r.Schema = Schema
	if r.Tasks == nil {
		r.Tasks = []Task{}
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", " ")
	err := e.Encode(r)
	return b.Bytes(), err
}
