package executor

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"time"

	"github.com/org/foreman-action/config"
	"github.com/org/foreman-action/harness/observe"
	"github.com/org/foreman-action/internal/wait"
	"github.com/org/foreman-action/memory"
	"github.com/org/foreman-action/queue"
	"github.com/org/foreman-action/runner"
)

// ErrUnknownRepo is returned by Options.Settings for a repository that is not configured:
// its decisions fail.
var ErrUnknownRepo = errors.New("the repository is not configured")

// Settings are the configuration for the decisions on a repository's issues.
type Settings struct {
	// Config has the policy, and the rules if there are any. AllowClose of its policy is that
	// of the agent that decided.
	Config *config.Config
	Host   runner.Host // without Issues only in mode shadow, where nothing is read; its Guard is set
	// Identity names the account that writes. All writes under one name share one rate, because
	// GitHub limits the writes of each account.
	Identity string
}

// Queue has the calls of queue.Queue that an Executor makes.
type Queue interface {
	LeaseDecisions(ctx context.Context, o queue.DrainOptions) ([]queue.Decision, error)
	Renew(ctx context.Context, h queue.Lease, d time.Duration) (time.Time, error)
	MarkDone(ctx context.Context, h queue.Lease, report []byte) error
	Fail(ctx context.Context, h queue.Lease, reason string, report []byte) error
	ReleaseLease(ctx context.Context, h queue.Lease, p queue.Postponement) error
}

// Options configure an Executor. The zero value of a field is usable, except where its
// comment requires a value.
type Options struct {
	Queue Queue // must be set
	// Owner names this process in the queue's log; must be set.
	Owner string
	// Settings returns the settings of a repository for the decision of an agent; must be set. agent
	// is empty if the server's rules decided. The error is ErrUnknownRepo or a temporary one.
	Settings func(ctx context.Context, repo, agent string) (Settings, error)
	Memory   memory.Store   // as in runner.Options
	Journal  memory.Journal // as in runner.Options
	// Slots count the writes of each identity for all servers on one queue. Nil: each process counts
	// its own writes, and loses the count at its end.
	Slots   queue.Slots
	Actions []runner.Action // as in runner.Options

	Concurrency int           // decisions that are executed at a time; 0: 16
	Interval    time.Duration // between checks of the queue without a wake-up; 0: 10 s
	Lease       time.Duration // of a decision, from each renewal on; 0: queue.DefaultLease
	MaxTries    int           // maximum number of counted tries of a decision; 0: 8
	PerMinute   int           // writes of one identity; 0: 80
	PerHour     int           // 0: 500
	// StopTime is how long a stop waits for the writes in progress; 0: 10 s.
	StopTime time.Duration

	Now     func() time.Time // nil: time.Now
	Random  func() float64   // from 0 up to 1, for the jitter of retries; nil: math/rand
	Observe observe.Func
	// Span begins a span for an attempt, as part of the trace of parent, a W3C traceparent or
	// empty; end finishes it. Nil: no traces.
	Span func(ctx context.Context, parent, task string) (_ context.Context, end func(error))
	Log  *slog.Logger // nil discards
}

// withDefaults returns the options with every field set, or an error that names the field
// that is wrong.
func (o Options) withDefaults() (Options, error) {
	switch {
	case o.Queue == nil:
		return o, errors.New("executor: Queue is not set")
	case o.Settings == nil:
		return o, errors.New("executor: Settings is not set")
	case o.Owner == "":
		return o, errors.New("executor: Owner is not set")
	}
	o.Concurrency = cmp.Or(o.Concurrency, 16)
	o.Interval = cmp.Or(o.Interval, 10*time.Second)
	o.Lease = cmp.Or(o.Lease, queue.DefaultLease)
	o.MaxTries = cmp.Or(o.MaxTries, 8)
	o.PerMinute = cmp.Or(o.PerMinute, 80)
	o.PerHour = cmp.Or(o.PerHour, 500)
	o.StopTime = cmp.Or(o.StopTime, 10*time.Second)
	o.Log = cmp.Or(o.Log, slog.New(slog.DiscardHandler))
	o.Now = wait.Clock(o.Now)
	if o.Random == nil {
		o.Random = rand.Float64
	}
	if o.Span == nil {
		o.Span = func(ctx context.Context, _, _ string) (context.Context, func(error)) { return ctx, func(error) {} }
	}
	for _, f := range []struct {
		name string
		n    int64
	}{
		{"Concurrency", int64(o.Concurrency)},
		{"Interval", int64(o.Interval)},
		{"MaxTries", int64(o.MaxTries)},
		{"PerMinute", int64(o.PerMinute)},
		{"PerHour", int64(o.PerHour)},
		{"StopTime", int64(o.StopTime)},
	} {
		if f.n <= 0 {
			return o, fmt.Errorf("executor: %s: want more than 0", f.name)
		}
	}
	if o.Lease < time.Second {
		return o, fmt.Errorf("executor: Lease: want at least a second, got %s", o.Lease)
	}
	return o, nil
}
