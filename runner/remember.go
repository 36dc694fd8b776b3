package runner

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/org/foreman-action/memory"
	"github.com/org/foreman-action/triage"
)

// The memory is a help: a run waits for it no longer than this.
const (
	loadTime = 45 * time.Second
	saveTime = 60 * time.Second
)

// remembered returns what was done before on the issue: what the memory holds, or what
// can be rebuilt from the issue's timeline when it holds nothing. Of an issue that was
// just opened nothing is read. Trouble with memory is a warning: it costs time, never
// the decision.
func (w *work) remembered(ctx context.Context) memory.Record {
	if w.known != nil {
		return *w.known
	}
	r := memory.Record{Repo: w.e.FullRepo(), Issue: w.e.Number}
	w.known = &r
	if w.o.Memory == nil || w.fresh() {
		return r
	}
	bounded, cancel := context.WithTimeout(ctx, loadTime)
	defer cancel()
	loaded, err := w.o.Memory.Load(bounded, r.Repo, r.Issue)
	if err == nil {
		r = loaded
	} else if !errors.Is(err, memory.ErrNotFound) {
		w.forgot = true
		w.rep.warnf("memory: %v; what was done before is taken from the timeline of the issue", err)
	}
	h, ok := w.hindsight(ctx)
	if !ok {
		return r
	}
	if err != nil {
		rebuilt := h.rebuild(w.own)
		r.Tasks, r.Earlier = rebuilt.Tasks, rebuilt.Earlier
	}
	h.tell(&r)
	return r
}

// hindsight is what the timeline tells; ok is false when it cannot be read, which is a
// warning.
func (w *work) hindsight(ctx context.Context) (hindsight, bool) {
	if w.o.Host == nil {
		return hindsight{}, false
	}
	t, err := w.past.timeline(ctx)
	if err != nil {
		w.rep.warnf("memory: %v; what it would tell is missing", err)
		return hindsight{}, false
	}
	return hindsight{Timeline: t, bot: w.o.Bot, issue: *w.e.Issue}, true
}

// own reports whether a trace may be that of an earlier attempt at this task: its
// marker says so, or it has none and is not older than the event.
func (w *work) own(t trace) bool {
	if t.task != "" {
		return t.task == w.o.TaskID
	}
	return w.resumed && !t.events[0].At.Before(w.began())
}

// summary is what the agent is told of earlier tasks; ok is false when there is
// nothing. What an earlier attempt at this task did is part of the task, and what was
// said long ago keeps nobody away.
func (w *work) summary(ctx context.Context) (text string, ok bool) {
	r := w.remembered(ctx)
	r.Tasks = slices.DeleteFunc(slices.Clone(r.Tasks), func(t memory.Task) bool { return t.ID == w.o.TaskID })
	r = r.Faded(w.o.Now())
	if w.o.Summarize != nil {
		return w.o.Summarize(ctx, r)
	}
	return memory.Summary(r)
}

// remember adds what this task did to the record of the issue. A dry run, and rules of
// which none fired, did nothing and leave no trace. The error says that what is to be
// kept in mind is not; what else is lost is a warning.
func (w *work) remember(ctx context.Context) error {
	if w.o.Memory == nil || w.o.DryRun || w.quiet(len(w.rep.Actions)) {
		return nil
	}
	// What was written must be remembered also when the run was asked to stop.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), saveTime)
	defer cancel()
	err := w.save(ctx, w.task())
	switch {
	case err == nil:
	case w.noted():
		return w.unkept(err)
	case w.o.MustRemember && w.out.Err == nil:
		err = fmt.Errorf("remember what was done: %w", err)
		w.rep.fail(err)
		return err
	case w.forgot || w.o.MemoryByDefault:
		w.o.Log("memory: %v; what was done is not remembered", err)
	default:
		w.rep.warnf("memory: %v; what was done is not remembered", err)
	}
	return nil
}

// save puts the task into the record. On an issue that was just opened there is none
// yet, as far as anybody can tell without looking.
func (w *work) save(ctx context.Context, task memory.Task) error {
	repo, issue := w.e.FullRepo(), w.e.Number
	if w.fresh() {
		r := memory.Record{Repo: repo, Issue: issue}
		w.keep(&r)
		r.Put(task)
		if err := w.o.Memory.Save(ctx, r); !errors.Is(err, memory.ErrConflict) {
			return err
		}
	}
	_, err := memory.Update(ctx, w.o.Memory, repo, issue, func(r *memory.Record) error {
		w.revise(r, task)
		return nil
	})
	return err
}

// revise puts the task into a record, and what people did as far as it was read.
func (w *work) revise(r *memory.Record, task memory.Task) {
	if w.overtaken(*r) {
		return
	}
	var h hindsight
	read := w.past.known
	if read {
		h = hindsight{Timeline: w.past.t, bot: w.o.Bot, issue: *w.e.Issue}
	}
	if r.Revision == 0 && read { // nothing was kept, or nothing that can be used
		rebuilt := h.rebuild(w.own)
		r.Tasks, r.Earlier = rebuilt.Tasks, rebuilt.Earlier
	}
	w.keep(r) // before the task, which makes room
	r.Put(task)
	if read {
		h.tell(r)
	}
}

// overtaken reports whether a run that was stopped is behind another attempt at the task,
// which has remembered more.
func (w *work) overtaken(r memory.Record) bool {
	return errors.Is(w.out.Err, triage.ErrHalted) && slices.ContainsFunc(r.Tasks, func(t memory.Task) bool {
		done := 0
		for _, a := range t.Actions {
			if a.Result == memory.Done || a.Result == memory.Noted {
				done++
			}
		}
		return t.ID == w.rep.TaskID && done > w.out.Executed()
	})
}

// task is what the report tells, for the record. Its time is as exact as GitHub's, so
// that what people did in the same second comes after it.
func (w *work) task() memory.Task {
	task := memory.Task{
		ID: w.rep.TaskID, At: w.at.Truncate(time.Second), Event: w.rep.Event,
		Decision: w.rep.Decision, Rationale: w.rep.Rationale, By: w.rep.By, Status: string(w.rep.Status),
	}
	for _, a := range w.rep.Actions {
		done := memory.NewAction(a.Index, a.Action)
		done.Rule = a.rule
		if a.Result == ResultDone {
			done.Values = a.values // what was written, not what was asked for
		}
		done.Verdict, done.Result, done.Reason, done.URL = string(a.Verdict), memoryResult(a), a.Reason, a.URL
		task.Actions = append(task.Actions, done)
	}
	return task
}

func memoryResult(a ActionReport) string {
	switch a.Result {
	case ResultDone:
		if a.noted {
			return memory.Noted
		}
		return memory.Done
	case ResultFailed:
		return memory.Failed
	case ResultNotRun:
		return memory.NotRun
	case ResultPlanned:
		return memory.Planned
	case ResultNone:
	}
	if a.Verdict == triage.Refuse {
		return memory.Refused
	}
	return memory.Skipped
}
