package health

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/org/foreman-action/harness/observe"
	"github.com/org/foreman-action/internal/wait"
)

const (
	// MaxInterval is the longest time between two probes.
	MaxInterval = 5 * time.Minute
	// GiveUpAfter is how long an agent must fail, and a task must wait, before the task fails.
	GiveUpAfter = 24 * time.Hour
	// MaxConcurrency is the concurrency from which a recovered agent has no limit.
	MaxConcurrency = 64
)

// BreakerOptions configure a Breaker.
type BreakerOptions struct {
	// Agent is the agent's address. It is used in the log, and Cursors store the beginning of the
	// agent's failures under it.
	Agent string
	// Cursors store the beginning of the agent's failures, for other programs and over restarts. Nil:
	// it is not stored. See [Stored].
	Cursors Cursors
	// Notified means that the agent is notified of its tasks and claims them. Its outages do not count
	// if it is later sent whole tasks, which are given up after GiveUpAfter.
	Notified bool
	// Interval is the time from the beginning of one probe to the next. 0: the breaker waits after
	// the end of a probe, at first a second, and longer after each failure, up to MaxInterval.
	Interval time.Duration
	// BadTaskFailures is how often the agent must fail on a task again after a success on another
	// task, until the task counts as bad. It is not a threshold of the breaker, which the first
	// failure opens.
	BadTaskFailures int
	Now             func() time.Time // nil: time.Now
	Observe         observe.Func     // gets BreakerOpened and BreakerClosed
	Log             *slog.Logger     // must be set
}

// A Breaker is the circuit breaker in front of an agent. It limits the requests to an agent that
// fails, and distinguishes a bad agent from a bad task. It reports each opening and closing by a log
// line and an observation. Its methods are safe for concurrent use.
//
//	closed     requests pass; the first failure opens the breaker
//	open       no request passes until an interval is over; each failure doubles the interval
//	half-open  one request at a time passes as a probe; a success closes the breaker
//
// After the breaker has closed, the concurrency limit starts at 2 and doubles with each success.
//
// If the agent fails on a task but decides on others, the task is bad: its failures count as
// attempts. Failures of a bad agent do not count. But after the agent has failed for [GiveUpAfter],
// the tasks that have waited for that long fail. The beginning of the agent's failures is stored
// with the queue, so that it survives restarts.
//
// github.com/sony/gobreaker has the same states, and like a Breaker it ignores the results of
// requests from before a change of state. It is not used for three reasons: its open interval does
// not grow, its state cannot be restored, and it does not know tasks. Those parts are most of this
// package.
type Breaker struct {
	o    BreakerOptions
	down downtime

	mu         sync.Mutex // guards the fields below
	peer       Peer       // its failures are those that showed something new about the agent
	tasks      Items
	probing    bool   // the probe of a half-open breaker is in flight
	generation int    // number of all failures of peer
	inFlight   int    // permits that were not released
	limit      int    // maximum of inFlight since the breaker closed; 0: unlimited
	suspect    string // the only task that failed since opening; empty: several failed
}

// NewBreaker returns a closed Breaker.
func NewBreaker(o BreakerOptions) *Breaker {
	o.Now = wait.Clock(o.Now)
	return &Breaker{o: o, down: downtime{now: o.Now, cursors: o.Cursors, agent: o.Agent, notified: o.Notified, log: o.Log}}
}

// A Permit allows a request to the agent.
type Permit struct {
	Probe      bool // the breaker is half-open, so check the agent's health first, which is cheap
	generation int
	granted    time.Time
}

// State returns the current state.
func (b *Breaker) State() State {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.peer.State(b.o.Now())
}

// Peer returns the health of the agent.
func (b *Breaker) Peer() Peer {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.peer
}

// Allow permits up to n requests with one Permit, and returns their number. The caller releases the
// permit once for each request.
func (b *Breaker) Allow(n int) (Permit, int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	p := Permit{generation: b.generation, granted: b.o.Now()}
	switch state := b.peer.State(p.granted); {
	case state == Open, state == HalfOpen && b.probing:
		n = 0
	case state == HalfOpen:
		p.Probe, n = true, min(n, 1)
	case b.limit > 0:
		n = min(n, b.limit-b.inFlight)
	}
	n = max(n, 0)
	b.inFlight += n
	b.probing = b.probing || p.Probe && n > 0
	return p, n
}

// Release ends one request.
func (b *Breaker) Release(p Permit) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.inFlight--
	b.probing = b.probing && !p.Probe
}

// Success records that the agent handled a task, and closes the breaker.
func (b *Breaker) Success(ctx context.Context, task string) {
	b.mu.Lock()
	b.tasks.Succeed(task, b.o.Now())
	b.close(ctx)
	b.mu.Unlock()
	b.down.end(ctx)
}

// Trip records a failure of the agent that is not about a task, such as a failed health check or
// notification, and its cause for the log. It returns the time until the next probe.
func (b *Breaker) Trip(ctx context.Context, p Permit, why string) time.Duration {
	b.mu.Lock()
	b.suspect = ""
	pause := b.open(ctx, p, true, why)
	b.mu.Unlock()
	b.down.lasts(ctx, why)
	return pause
}

// Failure records that the agent gave no decision on a task, and returns the consequence for the
// task. why is the cause for the log.
func (b *Breaker) Failure(ctx context.Context, p Permit, task Task, cause Cause, why string) Verdict {
	v := b.failure(ctx, p, task.ID, cause, why)
	switch {
	case cause == Unusable:
		b.down.end(ctx)
	case !v.Counts:
		v.Expired = b.Expired(ctx, why) && b.o.Now().Sub(task.Enqueued) > GiveUpAfter
	}
	return v
}

// failure does the work of Failure, except for the stored beginning of the failures.
func (b *Breaker) failure(ctx context.Context, p Permit, id string, cause Cause, why string) (v Verdict) {
	b.mu.Lock()
	defer b.mu.Unlock()
	i := b.tasks.Fail(id, b.o.Now())
	if cause == Unusable {
		b.close(ctx)
		v.Wait, v.Counts = wait.Backoff(i.Failures, time.Second, maxUnusableWait), true
	} else {
		first := i.Failures == 1
		switch {
		case !b.peer.Open && first:
			b.suspect = id
		case b.suspect != id:
			b.suspect = ""
		}
		// If only one task has failed so far, another failure of it shows nothing new about the agent.
		interval := b.open(ctx, p, first || b.peer.Open && b.suspect == "", why)
		i.add(cause)
		v.Wait, v.Counts = i.wait(interval, len(b.tasks.failed)), i.bad(b.o.BadTaskFailures)
	}
	if v.Counts {
		i.attempts++
		v.Attempts = i.attempts
	}
	return v
}

// Expired reports whether the agent has failed for longer than GiveUpAfter. Call it only when the
// agent fails, because it starts the measurement if the agent did not fail before. why is the cause.
func (b *Breaker) Expired(ctx context.Context, why string) bool {
	return b.down.lasts(ctx, why) > GiveUpAfter
}

// Failed reports whether the agent has failed on a task, and has not handled it since.
func (b *Breaker) Failed(task string) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.tasks.failed[task] != nil
}

// Forget discards the failures of a task that the agent will not receive again.
func (b *Breaker) Forget(task string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.tasks.failed, task)
}

// close closes the breaker. The caller holds b.mu.
func (b *Breaker) close(ctx context.Context) {
	if b.limit *= 2; b.limit > MaxConcurrency {
		b.limit = 0
	}
	if before := b.peer.Succeed(); before.Open {
		lasted := b.o.Now().Sub(before.Since)
		b.o.Log.WarnContext(ctx, "circuit breaker of an agent closed; its tasks continue", "agent", b.o.Agent, "after", lasted)
		b.o.Observe.Report(observe.Observation{Event: observe.BreakerClosed, Agent: b.o.Agent, N: 1, Took: lasted})
	}
}

// open opens the breaker, and returns the time until the next probe, at least one second. news means
// that the result shows something new about the agent, and only then the interval grows. A request
// that began before an earlier failure shows nothing new. The caller holds b.mu.
func (b *Breaker) open(ctx context.Context, p Permit, news bool, why string) time.Duration {
	now := b.o.Now()
	if news = news && p.generation == b.generation; news {
		b.generation, b.limit = b.generation+1, 1
		if b.peer.Fail(now, now, why) {
			b.o.Log.WarnContext(ctx, "circuit breaker of an agent opened; its tasks wait until a probe succeeds", "agent", b.o.Agent, "cause", why)
			b.o.Observe.Report(observe.Observation{Event: observe.BreakerOpened, Agent: b.o.Agent, N: 1})
		}
	}
	switch {
	case !news && !p.Probe:
	case b.o.Interval > 0:
		b.peer.Probe = p.granted.Add(b.o.Interval)
	default:
		b.peer.Probe = now.Add(b.peer.Pause(time.Second, MaxInterval))
	}
	return max(b.peer.Probe.Sub(now), time.Second)
}
