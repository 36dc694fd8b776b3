package memory

import (
	"cmp"
	"maps"
	"slices"

	"github.com/org/foreman-action/protocol"
)

// Put adds a task, or merges it with the task of the same id: an attempt that runs
// again may report as "already so" what an earlier attempt did, so what was done
// once stays done. Tasks stand in order of time. Texts that are too long are cut,
// numbers and times that are out of range moved into it, and the oldest tasks folded,
// until the whole record is within its bounds and can be saved. What humans did
// before the oldest task that is kept is dropped.
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
	r.boundPending()
	if checkHumans(r.Humans) != nil {
		r.Humans = boundHumans(r.Humans)
	}
}

// mergeActions returns what two attempts at one task did together, maxMerged actions
// at most.
func mergeActions(old, new []Action) []Action {
	var out []Action
	for _, o := range old {
		if o.Result == Done && !slices.ContainsFunc(new, func(n Action) bool { return n.Result == Done && same(n, o) }) {
			out = append(out, o)
		}
	}
	kept := len(out)
	for _, n := range new {
		before := slices.ContainsFunc(out[:kept], func(o Action) bool { return o.Index == n.Index && o.Type == n.Type })
		if n.Result == Done || !before {
			out = append(out, n)
		}
	}
	slices.SortStableFunc(out, func(a, b Action) int { return cmp.Compare(a.Index, b.Index) })
	return clipActions(out, maxMerged)
}

func same(a, b Action) bool {
	return a.Index == b.Index && a.Type == b.Type && slices.Equal(a.Values, b.Values)
}

// clone returns a copy that shares nothing with e, and is within its bounds; that of
// nil is empty.
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

// add counts a task. Its types are within their bounds.
func (e *Earlier) add(t Task) {
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
		if a.Result == Done {
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

// plus adds counts, and stops at maxCount.
func plus(a, b int) int {
	a = min(max(a, 0), maxCount)
	return a + min(max(b, 0), maxCount-a)
}
