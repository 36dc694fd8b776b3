package bulk

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/org/foreman-action/harness/observe"
	"github.com/org/foreman-action/internal/sanitize"
	"github.com/org/foreman-action/internal/server/filter"
)

// stepTime limits the time of one step. The rest of the act is another step.
const stepTime = 20 * time.Second

// errNotChanged is the outcome of tasks that an act did not change.
var errNotChanged = errors.New("not changed")

// An Operator runs acts for the people who use the server. Each step gets one line in the log, and is
// counted.
type Operator struct {
	Queue   Queue
	Observe observe.Func // gets OperatorChanged; nil discards
	Log     *slog.Logger
}

// Step is Run for at most 20 seconds. If the time runs out, Step returns no error and sets Next.
func (o Operator) Step(ctx context.Context, a Act) (Result, error) {
	limited, cancel := context.WithTimeout(ctx, stepTime)
	defer cancel()
	r, err := Run(limited, o.Queue, a)
	o.Observe.Report(observe.Observation{Event: observe.OperatorChanged, Status: string(a.Verb), N: r.Changed})
	if n := r.Skipped + r.Failed; n > 0 {
		o.Observe.Report(observe.Observation{Event: observe.OperatorChanged, Status: string(a.Verb), N: n, Err: errNotChanged})
	}
	if r.Changed+r.Skipped+r.Failed > 0 {
		attrs := []slog.Attr{
			slog.String("verb", string(a.Verb)), slog.String("filter", sanitize.NamePart(filter.Values(a.Filter).Encode(), 300)),
			slog.Int("changed", r.Changed), slog.Int("skipped", r.Skipped), slog.Int("failed", r.Failed), slog.String("by", a.By),
		}
		for _, f := range r.Skips[:min(len(r.Skips), 1)] {
			attrs = append(attrs, slog.String("skipped_task", sanitize.NamePart(f.ID, 80)), slog.String("skipped_because", Why(f.Err)))
		}
		for _, f := range r.Failures[:min(len(r.Failures), 1)] {
			attrs = append(attrs, slog.String("task", sanitize.NamePart(f.ID, 80)), slog.Any("error", f.Err))
		}
		o.Log.LogAttrs(ctx, slog.LevelInfo, "tasks changed by an operator", attrs...)
	}
	if ctx.Err() == nil && errors.Is(err, context.DeadlineExceeded) && r.Next > 0 {
		err = nil
	}
	return r, err
}
