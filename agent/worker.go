package agent

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"sync"
	"time"

	"github.com/org/foreman-action/protocol"
)

// The defaults of WorkerOptions, and the lease and the heartbeat interval for a harness that
// sends none: those of the published harness.
const (
	DefaultPoll  = 30 * time.Second
	DefaultGrace = 10 * time.Second

	publishedLease = 300 * time.Second
	publishedBeat  = 25 * time.Second
)

// The bounds of the time between two calls that failed.
const (
	minBackoff = time.Second
	maxBackoff = 30 * time.Second
)

// A DecideFunc decides on a task. ctx ends when the claim is lost, with ErrLost as its
// cause, and when the agent stops. An error leaves the task to a later claim. The
// decision's task id may be empty. It is called concurrently, on different tasks.
type DecideFunc func(ctx context.Context, task protocol.TaskMessage) (protocol.DecisionMessage, error)

// WorkerOptions configure a Worker.
type WorkerOptions struct {
	Client *Client    // must be set
	Decide DecideFunc // must be set
	// Concurrency is the number of tasks that are worked on at the same time; 0 means 1.
	Concurrency int
	// Poll is how long the Worker waits for a nudge before it asks again by itself; 0
	// means DefaultPoll. With ClientOptions.Wait the harness answers sooner.
	Poll time.Duration
	// Grace is how long tasks may go on after the context of Run ended; 0 means
	// DefaultGrace, less than 0 not at all.
	Grace time.Duration
	// Drained is called once, when the harness has no more tasks for the first time; nil:
	// nothing is called.
	Drained func()
	// Log takes the events of the worker; nil discards. Texts from tasks do not get into it.
	Log *slog.Logger
	// Jitter returns a number from 0 to below 1, by which waiting times differ; nil
	// means math/rand.
	Jitter func() float64
}

// A Worker claims tasks, has them decided on, and hands the decisions in: at least once
// each. Its methods are safe for concurrent use.
type Worker struct {
	o     WorkerOptions
	nudge chan struct{} // holds one: claim again
	slots chan struct{} // one for each task that is worked on

	mu   sync.Mutex
	jobs map[string]*job // by task id
}

// NewWorker checks the options and returns a Worker, which does nothing before Run.
func NewWorker(o WorkerOptions) (*Worker, error) {
	switch {
	case o.Client == nil || o.Decide == nil:
		return nil, errors.New("worker: want a Client and a Decide")
	case o.Concurrency < 0:
		return nil, fmt.Errorf("worker: want a concurrency of at least 1, got %d", o.Concurrency)
	case o.Poll < 0:
		return nil, fmt.Errorf("worker: want a poll interval of more than 0, got %v", o.Poll)
	}
	o.Concurrency = cmp.Or(o.Concurrency, 1)
	o.Poll = cmp.Or(o.Poll, DefaultPoll)
	o.Grace = max(0, cmp.Or(o.Grace, DefaultGrace))
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Jitter == nil {
		o.Jitter = rand.Float64
	}
	if o.Drained == nil {
		o.Drained = func() {}
	}
	return &Worker{
		o: o, nudge: make(chan struct{}, 1), slots: make(chan struct{}, o.Concurrency), jobs: map[string]*job{},
	}, nil
}

// Nudge makes the Worker ask for a task soon. It does not block.
func (w *Worker) Nudge() {
	select {
	case w.nudge <- struct{}{}:
	default: // it will ask anyway, and then sees this task too
	}
}

// Run works until ctx ends, and then until the current tasks are done or Grace is over; other
// tasks are handed out again when their claims expire. It returns nil then. An error is one
// that waiting does not mend: the harness refuses the agent (status 401, 403 or 422). Run is
// called once.
func (w *Worker) Run(ctx context.Context) error {
	// Tasks outlive ctx by Grace.
	work, stop := context.WithCancelCause(context.WithoutCancel(ctx))
	defer stop(nil)
	var jobs sync.WaitGroup
	err := w.claim(ctx, func(task *protocol.TaskMessage) {
		jobs.Go(func() {
			defer func() { <-w.slots }()
			w.do(work, task)
		})
	})
	grace := time.AfterFunc(w.o.Grace, func() { stop(context.Canceled) })
	defer grace.Stop()
	jobs.Wait()
	return err
}

// claim gives tasks to start, which runs in a slot, until ctx ends.
func (w *Worker) claim(ctx context.Context, start func(*protocol.TaskMessage)) error {
	failures, again, drained := 0, 0, false // again: claims in a row of tasks that are at hand
	for {
		select {
		case w.slots <- struct{}{}:
		case <-ctx.Done():
			return nil
		}
		asked, wait := time.Now(), w.o.Client.wait
		if !drained {
			wait = 0 // whoever waits for this agent to be ready must not wait for a task
		}
		task, err := w.o.Client.next(ctx, wait)
		if task != nil && !w.adopt(task) {
			failures, again = 0, 0
			start(task)
			continue
		}
		<-w.slots
		if ctx.Err() != nil {
			return nil //nolint:nilerr // the call was broken off by the end of ctx
		}
		if err != nil {
			if refused(err) {
				return err
			}
			failures++
			pause := w.backoff(failures)
			w.o.Log.Warn("claiming a task failed; retrying", "error", err, "again_in", pause)
			w.pause(ctx, pause)
			continue
		}
		failures = 0
		if task != nil && again < cap(w.slots) {
			again++ // it was one of ours; behind it there may be others
			continue
		}
		again = 0
		if !drained && task == nil {
			drained = true
			w.o.Drained()
			if w.o.Client.wait > 0 {
				continue
			}
		}
		w.pace(ctx, asked, wait)
	}
}

// pace waits before the harness is asked again. One that waited for a task is asked at
// once; one that did not would be asked without end.
func (w *Worker) pace(ctx context.Context, asked time.Time, wait time.Duration) {
	if wait == 0 || time.Since(asked) < wait/2 {
		w.pause(ctx, w.o.Poll)
	}
}

// pause waits for a nudge, for d at most.
func (w *Worker) pause(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-w.nudge:
	case <-timer.C:
	case <-ctx.Done():
	}
}

// backoff returns how long to wait after so many failures in a row: twice as long each time, half
// of it random, so that the agents of a restarted harness do not all call at once.
func (w *Worker) backoff(failures int) time.Duration {
	d := min(maxBackoff, minBackoff<<min(failures-1, 10))
	return d/2 + time.Duration(w.o.Jitter()*float64(d/2))
}

// refused reports whether the harness wants nothing of this agent.
func refused(err error) bool {
	e, ok := errors.AsType[*ClientError](err)
	return ok && (e.Status == http.StatusUnauthorized || e.Status == http.StatusForbidden || e.Status == http.StatusUnprocessableEntity)
}
