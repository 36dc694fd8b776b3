package memory

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/org/foreman-action/protocol"
)

// The bounds of one task, in bytes and items.
const (
	maxText    = 4 << 10 // the rationale
	maxShort   = 512     // every other string
	maxValues  = 100     // of an action
	maxActions = 200     // of a task
	maxTypes   = 32      // counted apart in an Earlier; the rest is counted as otherType
	otherType  = "other"
)

// Put adds a task, or merges it with the task of the same id: an attempt that runs
// again may report as "already so" what an earlier attempt did, so what was done
// once stays done. Tasks stand in order of time. Texts that are too long are cut,
// and the oldest tasks folded, until the record is within its bounds. What humans did
// before the oldest task that is kept is dropped.
func (r *Record) Put(t Task) {
	t = clipTask(t)
	tasks := slices.Clone(r.Tasks)
	i := slices.IndexFunc(tasks, func(old Task) bool { return old.ID == t.ID })
	if i >= 0 {
		t.Actions = mergeActions(tasks[i].Actions, t.Actions)
		tasks = slices.Delete(tasks, i, i+1)
	}
	tasks = append(tasks, t)
	slices.SortStableFunc(tasks, func(a, b Task) int { return a.At.Compare(b.At) })
	r.Tasks = tasks
	r.dropHumans()
	for len(r.Tasks) > 0 && (len(r.Tasks) > MaxTasks || r.large()) {
		r.fold()
		r.dropHumans()
	}
}

// large reports whether r would not fit, with some room for its revision to grow.
func (r *Record) large() bool {
	data, err := marshal(*r)
	return err == nil && len(data) > MaxSize-64
}

// mergeActions returns what two attempts at one task did together.
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
	return out
}

func same(a, b Action) bool {
	return a.Index == b.Index && a.Type == b.Type && slices.Equal(a.Values, b.Values)
}

// fold moves the oldest task into what is only counted.
func (r *Record) fold() {
	e := r.Earlier.clone()
	e.add(r.Tasks[0])
	r.Earlier = &e
	r.Tasks = r.Tasks[1:]
}

// clone returns a copy that shares nothing with e; that of nil is empty.
func (e *Earlier) clone() Earlier {
	if e == nil {
		return Earlier{}
	}
	c := *e
	c.Done = maps.Clone(e.Done)
	return c
}

func (e *Earlier) add(t Task) {
	if e.Tasks == 0 || t.At.Before(e.From) {
		e.From = t.At
	}
	if e.Tasks == 0 || t.At.After(e.To) {
		e.To = t.At
	}
	e.Tasks++
	if t.Decision == protocol.Escalate {
		e.Escalated++
	}
	for _, a := range t.Actions {
		if a.Result != Done {
			continue
		}
		if e.Done == nil {
			e.Done = map[string]int{}
		}
		typ := a.Type
		if _, known := protocol.SpecOf(typ); !known && e.Done[typ] == 0 && len(e.Done) >= maxTypes {
			typ = otherType
		}
		e.Done[typ]++
	}
}

func clipTask(t Task) Task {
	t.At = t.At.UTC().Truncate(time.Millisecond)
	t.ID, t.Event, t.By, t.Status = clip(t.ID, maxShort), clip(t.Event, maxShort), clip(t.By, maxShort), clip(t.Status, maxShort)
	t.Rationale = clip(t.Rationale, maxText)
	t.Actions = slices.Clone(t.Actions[:min(len(t.Actions), maxActions)])
	for i, a := range t.Actions {
		a.Type, a.Rule, a.Verdict = clip(a.Type, maxShort), clip(a.Rule, maxShort), clip(a.Verdict, maxShort)
		a.Result, a.Reason, a.URL = clip(a.Result, maxShort), clip(a.Reason, maxShort), clip(a.URL, maxShort)
		a.Values, a.Hash = clipAll(a.Values), clip(a.Hash, maxShort)
		t.Actions[i] = a
	}
	return t
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

// updateTries bounds how often [Update] starts again after a conflict.
const updateTries = 10

// Update loads the record of an issue, lets change alter it, and saves it; after a
// conflict it starts again from the record as it is then. A record that is missing
// or broken is a new one. It returns the record as it is stored now. change may be
// called several times; its error ends the update.
func Update(ctx context.Context, s Store, repo string, issue int, change func(*Record) error) (Record, error) {
	for try := 1; ; try++ {
		r, err := s.Load(ctx, repo, issue)
		switch {
		case errors.Is(err, ErrNotFound), errors.Is(err, ErrBroken):
			r = Record{Repo: repo, Issue: issue}
		case err != nil:
			return Record{}, err
		}
		if err := change(&r); err != nil {
			return Record{}, err
		}
		err = s.Save(ctx, r)
		if err == nil {
			r.Schema, r.Revision = Schema, r.Revision+1
			return r, nil
		}
		if !errors.Is(err, ErrConflict) || try == updateTries {
			return Record{}, fmt.Errorf("update the record of %s#%d: %w", repo, issue, err)
		}
	}
}
