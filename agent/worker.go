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

	"github.com/org/foreman-action/internal/wait"
	"github.com/org/foreman-action/protocol"
)

// The defaults of WorkerOptions. publishedLease and publishedBeat are the lease and the heartbeat
// interval of the published harness, which are used if a harness sends none.
const (
	DefaultPoll  = 30 * time.Second
	DefaultGrace = 10 * time.Second

	publishedLease = 300 * time.Second
	publishedBeat  = 25 * time.Second
)

// The bounds of the wait after a failed call.
const (
	minBackoff = time.Second
	maxBackoff = 30 * time.Second
)

// A DecideFunc decides on a task. ctx ends when the agent stops, or when the claim is lost, with
// ErrLost as its cause. After an error the harness hands the task out again when its claim
// expires. The decision's task id may be empty: then it is that of the task. Another id is an error.
// A DecideFunc is called concurrently for different tasks. By its method Decide it is a
// [github.com/org/foreman-action/runner.Agent], without HTTP.
type DecideFunc func(ctx context.Context, task protocol.TaskMessage) (protocol.DecisionMessage, error)

// Decide calls f, and returns its decision with the task's id. A panic of f becomes an error.
func (f DecideFunc) Decide(ctx context.Context, task protocol.TaskMessage) (protocol.DecisionMessage, error) {
	d, err := safely(ctx, f, task)
	if err != nil {
		return protocol.DecisionMessage{}, err
	}
	return onTask(d, task.TaskID)
}

// errWrongTask means that a decision is on another task. It is the cause of ReasonWrongTask.
var errWrongTask = errors.New("the decision names another task")

// onTask returns the decision on a task with the task's id, or errWrongTask.
func onTask(d protocol.DecisionMessage, id string) (protocol.DecisionMessage, error) {
	if d.TaskID = cmp.Or(d.TaskID, id); d.TaskID != id {
		return protocol.DecisionMessage{}, errWrongTask
	}
	return d, nil
}

// WorkerOptions configure a Worker.
type WorkerOptions struct {
	Client *Client    // must be set
	Decide DecideFunc // must be set
	// Concurrency is the number of tasks that are worked on at the same time; 0 means 1.
	Concurrency int
	// Poll is how long the Worker waits for a nudge before it asks for a task again; 0 means
	// DefaultPoll. If the harness waits for ClientOptions.Wait, the Worker asks again at once.
	Poll time.Duration
	// Grace is how long tasks may continue after the context of Run has ended; 0 means
	// DefaultGrace, and a negative value no time.
	Grace time.Duration
	// Drained is called once, when the harness reports for the first time that it has no more
	// tasks; nil: not called.
	Drained func()
	// Log receives the events of the worker, among them each error and panic of Decide; nil means
	// [slog.Default]. Apart from those errors, they contain no texts from tasks.
	Log *slog.Logger
	// Jitter returns a number from 0 to below 1, by which waiting times differ; nil
	// means math/rand.
	Jitter func() float64
	// Now is the clock that measures claims and calls; nil means [time.Now].
	Now func() time.Time
}

// A Worker claims tasks, calls Decide, and sends the decisions. It sends each decision at least
// once. Its methods are safe for concurrent use.
type Worker struct {
	o     WorkerOptions
	nudge chan struct{} // has a capacity of one: claim again
	slots chan struct{} // one for each task that is being worked on

	mu   sync.Mutex
	jobs map[string]*job // by task id
}

// NewWorker checks the options and returns a Worker, which does nothing before Run.
func NewWorker(o WorkerOptions) (*Worker, error) {
	switch {
	case o.Client == nil || o.Decide == nil:
		return nil, errors.New("worker: the options Client and Decide must be set")
	case o.Concurrency < 0:
		return nil, fmt.Errorf("worker: want a concurrency of at least 1, got %d", o.Concurrency)
	case o.Poll < 0:
		return nil, fmt.Errorf("worker: want a poll interval of more than 0, got %v", o.Poll)
	}
	o.Concurrency = cmp.Or(o.Concurrency, 1)
	o.Poll = cmp.Or(o.Poll, DefaultPoll)
	o.Grace = max(0, cmp.Or(o.Grace, DefaultGrace))
	o.Log = cmp.Or(o.Log, slog.Default())
	o.Now = wait.Clock(o.Now)
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
	default: // it will ask anyway, and will get this task, too
	}
}

// Run works until ctx ends. Then it waits until the current tasks are done or Grace is over, and
// returns nil. The harness hands out unfinished tasks again when their claims expire. Run returns
// an error only if the harness rejects the agent (status 401, 403 or 422), because waiting would
// not help. Call Run once.
func (w *Worker) Run(ctx context.Context) error {
	// Tasks may continue for Grace after the end of ctx.
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

// claim claims tasks until ctx ends, and calls start for each. start must release the slot.
func (w *Worker) claim(ctx context.Context, start func(*protocol.TaskMessage)) error {
	// Again: successive claims of tasks that have a job already.
	failures, again, drained := 0, 0, false
	for {
		select {
		case w.slots <- struct{}{}:
		case <-ctx.Done():
			return nil
		}
		asked, wait := w.o.Now(), w.o.Client.wait
		if !drained {
			wait = 0 // the first answer must come at once, because someone may wait for Drained
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
			pause := w.pauseAfter(failures, err)
			if logged(failures) {
				w.o.Log.Warn("cannot claim a task; retrying", "error", err, "again_in", pause, "failures", failures)
			}
			w.pause(ctx, pause)
			continue
		}
		failures = 0
		if task != nil && again < cap(w.slots) {
			again++ // the task has a job already; other tasks may be waiting after it
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

// pace waits before the next request for a task. After a harness has waited (long polling), it
// does not wait. Otherwise it waits for Poll, so that the requests do not follow each other
// without a pause.
func (w *Worker) pace(ctx context.Context, asked time.Time, wait time.Duration) {
	if wait == 0 || w.o.Now().Sub(asked) < min(wait, time.Minute)/2 { // foremand waits for less than a minute
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

// logged reports whether the log gets the n-th successive failure: the 1st, 2nd, 4th, 8th and so on.
func logged(n int) bool { return n&(n-1) == 0 }

// pauseAfter returns how long to wait after a number of successive failures, of which err is the last:
// as long as the harness asks, at most 30 s, or else the backoff. Part of the time is random, so that
// the agents of a harness do not all call at once.
func (w *Worker) pauseAfter(failures int, err error) time.Duration {
	e, ok := errors.AsType[*ClientError](err)
	if !ok || e.RetryAfter == 0 {
		return w.backoff(failures)
	}
	d := min(maxBackoff, e.RetryAfter)
	return min(maxBackoff, d+time.Duration(w.o.Jitter()*float64(d/2)))
}

// backoff returns how long to wait after a number of successive failures. The time doubles with
// each failure, up to 30 s. Half of it is random, for the same reason.
func (w *Worker) backoff(failures int) time.Duration {
	d := wait.Backoff(failures-1, minBackoff, maxBackoff)
	return d/2 + time.Duration(w.o.Jitter()*float64(d/2))
}

// refused reports whether an error means that the harness rejects this agent.
func refused(err error) bool {
	e, ok := errors.AsType[*ClientError](err)
	return ok && (e.Status == http.StatusUnauthorized || e.Status == http.StatusForbidden || e.Status == http.StatusUnprocessableEntity)
}
