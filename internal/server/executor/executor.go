package executor

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"

	"github.com/org/foreman-action/config"
	"github.com/org/foreman-action/harness/observe"
	"github.com/org/foreman-action/internal/server/executor/ratelimit"
	"github.com/org/foreman-action/internal/server/supervisor"
	"github.com/org/foreman-action/internal/wait"
	"github.com/org/foreman-action/memory"
	"github.com/org/foreman-action/queue"
	"github.com/org/foreman-action/runner"
	"github.com/org/foreman-action/store"
)

// An Executor carries out decisions. Its methods are safe for concurrent use.
type Executor struct {
	o       Options
	limiter *ratelimit.Limiter
	outages outages
	pauses  pauses
	panels  runner.Panels
	slots   chan struct{} // holds an element for each decision that is being executed
	busy    atomic.Int64  // calls that lease decisions, and decisions that are being executed
	drained atomic.Bool   // no further decisions are leased
	full    atomic.Bool   // a pass found no free slot, so the end of an execution wakes the loop
	loop    *supervisor.Loop
	running sync.WaitGroup
}

// New returns an Executor. The error names the option that is wrong.
func New(o Options) (*Executor, error) {
	o, err := o.withDefaults()
	if err != nil {
		return nil, err
	}
	return &Executor{
		o:       o,
		limiter: ratelimit.New(ratelimit.Options{PerMinute: o.PerMinute, PerHour: o.PerHour, Now: o.Now, Log: o.Log}),
		outages: outages{known: map[string]*access{}},
		pauses:  newPauses(o.Pauses, o.Now),
		slots:   make(chan struct{}, o.Concurrency),
		loop:    supervisor.NewLoop(supervisor.LoopOptions{Name: "decisions", Interval: o.Interval, Now: o.Now, Observe: o.Observe, Log: o.Log}),
	}, nil
}

// Run executes decisions until ctx ends. Then the writes in progress are finished within
// Options.StopTime, and the decisions that are not done are released.
func (e *Executor) Run(ctx context.Context) {
	work, cancel := context.WithCancelCause(context.WithoutCancel(ctx))
	defer cancel(nil)
	context.AfterFunc(ctx, func() {
		_ = wait.For(work, e.o.StopTime)
		cancel(errStopping)
	})
	e.loop.Run(ctx, func(ctx context.Context) error {
		return e.fetch(ctx, func(dec queue.Decision, leased time.Time) { newAttempt(e, dec, leased, ctx.Done()).run(work) })
	})
	e.running.Wait()
}

// Drain ends the leasing of further decisions. Those that are being executed go on.
func (e *Executor) Drain() { e.drained.Store(true) }

// Executing returns how many decisions are being executed, and at most one more. After Drain it is never
// too small.
func (e *Executor) Executing() int { return int(e.busy.Load()) }

// Wake makes the Executor look for decisions. It never blocks.
func (e *Executor) Wake() { e.loop.Wake() }

// Health returns the state of the loop.
func (e *Executor) Health() supervisor.Health { return e.loop.Health() }

// fetch leases decisions while there are some and slots are free, and executes each in a
// goroutine of its own.
func (e *Executor) fetch(ctx context.Context, execute func(queue.Decision, time.Time)) error {
	for {
		free := e.takeSlots()
		if free == 0 {
			e.full.Store(true)
			if free = e.takeSlots(); free == 0 {
				return nil
			}
		}
		leased, err := e.fetchUpTo(ctx, free, execute)
		if err != nil || leased < free {
			return err
		}
	}
}

// takeSlots takes all free slots and returns their number.
func (e *Executor) takeSlots() int {
	for n := 0; ; n++ {
		select {
		case e.slots <- struct{}{}:
		default:
			return n
		}
	}
}

// fetchUpTo leases at most n decisions, for which the caller has taken slots. It returns their
// number.
func (e *Executor) fetchUpTo(ctx context.Context, n int, execute func(queue.Decision, time.Time)) (leased int, err error) {
	defer func() { // release unused slots, even after a panic
		for range n - leased {
			<-e.slots
		}
	}()
	e.busy.Add(1) // before the look at drained, so that no lease is missed
	defer e.busy.Add(-1)
	if e.drained.Load() {
		return 0, nil
	}
	start := e.o.Now()
	list, err := e.o.Queue.LeaseDecisions(ctx, queue.DrainOptions{Owner: e.o.Owner, Lease: e.o.Lease, Limit: n})
	if err != nil {
		return 0, err
	}
	for _, dec := range list {
		leased++
		e.busy.Add(1)
		e.running.Go(func() {
			defer func() {
				e.busy.Add(-1)
				<-e.slots
				if e.full.Swap(false) {
					e.loop.Wake() // the queue reports the next decision on the issue itself
				}
			}()
			execute(dec, start)
		})
	}
	return leased, nil
}

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
	// AgentName is the name of the agent in track records; empty: its actions have none.
	AgentName string
	// NoBoxes and AcceptedClose are as in runner.Options.
	NoBoxes, AcceptedClose bool
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
	Agenda   memory.Agenda  // as in runner.Options; usually that of Memory
	Journal  memory.Journal // as in runner.Options
	// Slots count the writes of each identity for all servers on one queue. Nil: each process counts
	// its own writes, and loses the count at its end.
	Slots queue.Slots
	// Progress stores the steps of a decision in the database that has Queue, Memory, Journal and Slots,
	// each in one transaction. Nil: the parts of a step are stored separately.
	Progress store.Progress
	Actions  []runner.Action // as in runner.Options
	// Pauses are those of Queue. A decision that is being carried out when it is paused makes no further
	// write, and continues after the pause. Nil: only Queue enforces them, when decisions are leased.
	Pauses queue.Pauses

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
	if o.Progress == nil {
		o.Progress = store.Parts{Queue: o.Queue, Slots: o.Slots, Journal: o.Journal, Memory: o.Memory}
	}
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
