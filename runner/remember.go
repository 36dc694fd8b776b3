package runner

import (
	"context"
	"errors"

	"github.com/org/foreman-action/memory"
	"github.com/org/foreman-action/protocol"
)

// remembered loads what was done before on the issue. Trouble with memory is a
// warning: it costs time, never the decision.
func (r *Runner) remembered(ctx context.Context, e Event, rep *Report) memory.Record {
	fresh := memory.Record{Repo: e.FullRepo(), Issue: e.Number}
	if r.o.Memory == nil {
		return fresh
	}
	rec, err := r.o.Memory.Load(ctx, e.FullRepo(), e.Number)
	if err == nil {
		return rec
	}
	if !errors.Is(err, memory.ErrNotFound) {
		rep.warnf("memory: %v; going on without it", err)
	}
	return fresh
}

// remember adds what this task did to the record of the issue. A dry run, and rules of
// which none fired, did nothing and leave no trace.
func (r *Runner) remember(ctx context.Context, e Event, rep *Report) {
	quiet := rep.Decision == protocol.Skip && len(rep.Actions) == 0 && rep.By == byRules
	if r.o.Memory == nil || rep.DryRun || quiet {
		return
	}
	task := memory.Task{
		ID: rep.TaskID, At: r.o.Now().UTC(), Event: rep.Event,
		Decision: rep.Decision, Rationale: rep.Rationale, By: rep.By, Status: string(rep.Status),
	}
	for _, a := range rep.Actions {
		done := memory.NewAction(a.Index, a.Action)
		done.Rule = a.rule
		if a.Result == ResultDone {
			done.Values = a.values // what was written, not what was asked for
		}
		done.Verdict, done.Result, done.Reason, done.URL = string(a.Verdict), memoryResult(a), a.Reason, a.URL
		task.Actions = append(task.Actions, done)
	}
	// What was written must be remembered also when the run was asked to stop.
	ctx = context.WithoutCancel(ctx)
	_, err := memory.Update(ctx, r.o.Memory, e.FullRepo(), e.Number, func(rec *memory.Record) error {
		rec.Put(task)
		return nil
	})
	if err != nil {
		rep.warnf("memory: %v; what was done is not remembered", err)
	}
}

func memoryResult(a ActionReport) string {
	switch a.Result {
	case ResultDone:
		return memory.Done
	case ResultFailed:
		return memory.Failed
	case ResultNotRun:
		return memory.NotRun
	case ResultPlanned:
		return memory.Planned
	case ResultNone:
	}
	if a.Verdict == Refuse {
		return memory.Refused
	}
	return memory.Skipped
}
