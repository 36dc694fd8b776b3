// Package recorder records the history of the tasks and of the calls to GitHub once a minute.
package recorder

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/org/foreman-action/harness/observe"
	"github.com/org/foreman-action/internal/server/budget"
	"github.com/org/foreman-action/internal/server/supervisor"
	"github.com/org/foreman-action/internal/wait"
	"github.com/org/foreman-action/queue/history"
)

const (
	interval = time.Minute // between two passes
	flushFor = 2 * time.Second
)

// Options configure a Recorder.
type Options struct {
	History history.Store        // must be set
	Budget  func() budget.Report // the calls to GitHub; nil: GitHub is never called
	Now     func() time.Time     // nil: time.Now
	Observe observe.Func
	Log     *slog.Logger // nil discards
}

// A Recorder records the history. All servers on a database may record at the same time. Its methods
// are safe for concurrent use.
type Recorder struct {
	o    Options
	loop *supervisor.Loop

	// counted are the calls of each account and resource that are recorded. Only the loop uses it.
	counted map[string]int
}

// New returns a Recorder that does not run yet. Calls that were made before are not recorded, because
// another Recorder of this process has recorded them. The error names the option that is wrong.
func New(o Options) (*Recorder, error) {
	if o.History == nil {
		return nil, errors.New("recorder: History is not set")
	}
	if o.Budget == nil {
		o.Budget = func() budget.Report { return budget.Report{} }
	}
	o.Now = wait.Clock(o.Now)
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	r := &Recorder{o: o, counted: map[string]int{}}
	r.loop = supervisor.NewLoop(supervisor.LoopOptions{Name: "history", Interval: interval, Now: o.Now, Observe: o.Observe, Log: o.Log})
	for _, a := range o.Budget().Accounts {
		r.counted[nameOf(a)] = a.Total
	}
	return r, nil
}

// Run records until ctx ends, and then the last calls.
func (r *Recorder) Run(ctx context.Context) error {
	r.loop.Run(ctx, r.record)
	last, stop := context.WithTimeout(context.WithoutCancel(ctx), flushFor)
	defer stop()
	if err := r.recordCalls(last); err != nil {
		r.o.Log.DebugContext(ctx, "the last calls to GitHub are not part of the history", "error", err)
	}
	return ctx.Err()
}

// Health returns the state of the loop.
func (r *Recorder) Health() supervisor.Health {
	h := r.loop.Health()
	h.Optional = true
	return h
}

// record records all that happened. After each step it pauses for as long as the step took, so that
// others can write: the first steps after an update record the tasks of a month.
func (r *Recorder) record(ctx context.Context) error {
	if err := r.recordCalls(ctx); err != nil {
		return err
	}
	for {
		start := r.o.Now()
		got, err := r.o.History.Record(ctx)
		if err != nil || !got.More {
			return err
		}
		r.loop.Beat()
		if err := wait.For(ctx, r.o.Now().Sub(start)); err != nil {
			return err
		}
	}
}

// recordCalls records the calls since the last time.
func (r *Recorder) recordCalls(ctx context.Context) error {
	var list []history.Budget
	accounts := r.o.Budget().Accounts
	for _, a := range accounts {
		calls := a.Total - r.counted[nameOf(a)]
		if calls <= 0 {
			continue
		}
		b := history.Budget{Account: nameOf(a), Calls: calls, Remaining: -1}
		if a.Limit > 0 {
			b.Remaining, b.Limit = a.Left, a.Limit
		}
		list = append(list, b)
	}
	if len(list) == 0 {
		return nil
	}
	if err := r.o.History.RecordBudget(ctx, list); err != nil {
		return err
	}
	for _, a := range accounts {
		r.counted[nameOf(a)] = a.Total
	}
	return nil
}

// nameOf returns the name of an account in the history. The limit of the REST API is the one that
// matters most, and has the name of the account alone.
func nameOf(a budget.Account) string {
	if a.Resource == "core" {
		return a.Name
	}
	return a.Name + ", " + a.Resource
}
