package runner

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/org/foreman-action/config"
	"github.com/org/foreman-action/memory"
	"github.com/org/foreman-action/runner/internal/history"
	"github.com/org/foreman-action/runner/internal/judge"
	"github.com/org/foreman-action/triage"
)

// rememberPlanned records the actions that shadow mode suppressed, so that [Runner.Judge] can compare them with
// what people do. A planned action that the record of the issue has already, also by an earlier attempt at the
// task, is not recorded again. An error is only a warning.
func (a *recorder) rememberPlanned(ctx context.Context, rep *Report, at time.Time) {
	m := a.o.Memory
	if a.c.Mode != config.ModeShadow || a.tryOnly || a.due != nil || m.Store == nil || m.ReadOnly || m.Discards || a.o.Host.Issues == nil {
		return
	}
	task := taskOf(*rep, at)
	task.Actions = slices.DeleteFunc(task.Actions, func(action memory.Action) bool {
		return action.Result != triage.Planned || action.Pair == "" || len(judge.Acts(action, at)) == 0
	})
	if len(task.Actions) == 0 {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), loadTime+saveTime)
	defer cancel()
	r, err := a.reads.stored(ctx)
	if err == nil || errors.Is(err, memory.ErrNotFound) || errors.Is(err, memory.ErrBroken) {
		task.Actions = slices.DeleteFunc(task.Actions, func(action memory.Action) bool { return foreseen(r, action) })
		if len(task.Actions) == 0 || slices.ContainsFunc(r.Tasks, a.reads.isThis) {
			return
		}
		err = a.savePlanned(ctx, task)
	}
	switch {
	case err == nil:
	case a.reads.warned:
		a.o.Log.InfoContext(ctx, "the actions that shadow mode planned are not saved in the memory", "error", err)
	default:
		a.warn("memory: %v; the planned actions are not compared with what people do", err)
	}
}

// foreseen reports whether a record has all changes of an action as planned ones.
func foreseen(r memory.Record, action memory.Action) bool {
	known := map[memory.PairKey]bool{}
	for _, t := range r.Tasks {
		for _, other := range t.Actions {
			for _, act := range judge.Acts(other, t.At) {
				if act.Planned {
					known[judge.KeyOf(other.Pair, act)] = true
				}
			}
		}
	}
	return !slices.ContainsFunc(judge.Acts(action, time.Time{}), func(act judge.Act) bool { return !known[judge.KeyOf(action.Pair, act)] })
}

// savePlanned adds a task with planned actions to the record of the issue.
func (a *recorder) savePlanned(ctx context.Context, task memory.Task) error {
	if a.reads.fresh() {
		r := memory.Record{Repo: a.d.FullRepo(), Issue: a.d.Number}
		r.Put(task)
		if err := a.o.Memory.Store.Save(ctx, r); !errors.Is(err, memory.ErrConflict) {
			return err
		}
	}
	return a.update(ctx, a.d.Ref(), func(r *memory.Record) error {
		if r.Revision == 0 && a.reads.timeline.read {
			rebuilt := history.Rebuild(a.reads.history(a.reads.timeline.value), a.reads.own)
			r.Tasks, r.Earlier = rebuilt.Tasks, rebuilt.Earlier
		}
		r.Put(task)
		return nil
	})
}
