// Package breaker is the circuit breaker in front of an agent. It limits the requests to an agent
// that fails, and distinguishes a bad agent from a bad task.
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
// github.com/sony/gobreaker has the same states, and like this package it ignores the results of
// requests from before a change of state. It is not used for three reasons: its open interval does
// not grow, its state cannot be restored, and it does not know tasks. Those parts are most of this
// package.
package breaker

import (
	"context"
	"log/slog"
	"sync"
	"time"

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

// A State is the state of a Breaker.
type State int

// The states.
const (
	Closed State = iota
	Open
	HalfOpen
)

// Options configure a Breaker.
type Options struct {
	// Agent is the agent's address. It is used in the log, and Cursors store the beginning of the
	// agent's failures under it.
	Agent string
	// Cursors store the beginning of the agent's failures over restarts. Nil: it is not stored.
	Cursors Cursors
	// Interval is the time from the beginning of one probe to the next. 0: the breaker waits after
	// the end of a probe, at first a second, and longer after each failure, up to MaxInterval.
	Interval time.Duration
	// BadTaskFailures is how often the agent must fail on a task again after a success on another
	// task, until the task counts as bad. It is not a threshold of the breaker, which the first
	// failure opens.
	BadTaskFailures int
	Now             func() time.Time // nil: time.Now
	Log             *slog.Logger     // must be set
}

// A Breaker is the circuit breaker of one agent. Its methods are safe for concurrent use.
type Breaker struct {
	o    Options
	down downtime

	mu         sync.Mutex // guards the fields below
	failures   int        // consecutive failures that opened the breaker; 0: closed
	openUntil  time.Time  // when an open breaker becomes half-open
	probing    bool       // the probe of a half-open breaker is in flight
	generation int        // counts the failures that opened it
	inFlight   int        // permits that were not released
	limit      int        // maximum of inFlight since the breaker closed; 0: unlimited
	successes  int
	suspect    string // the only task that failed since opening; empty: several failed
	tasks      map[string]*record
}

// New returns a closed Breaker.
func New(o Options) *Breaker {
	o.Now = wait.Clock(o.Now)
	return &Breaker{o: o, down: downtime{now: o.Now, cursors: o.Cursors, agent: o.Agent, log: o.Log}, tasks: map[string]*record{}}
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
	return b.state()
}

// state is State for a caller that holds b.mu.
func (b *Breaker) state() State {
	switch {
	case b.failures == 0:
		return Closed
	case !b.probing && b.o.Now().Before(b.openUntil):
		return Open
	}
	return HalfOpen
}

// Allow permits up to n requests with one Permit, and returns their number. The caller releases the
// permit once for each request.
func (b *Breaker) Allow(n int) (Permit, int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	p := Permit{generation: b.generation, granted: b.o.Now()}
	switch state := b.state(); {
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
	b.successes++
	b.close()
	delete(b.tasks, task)
	for id, r := range b.tasks {
		if b.o.Now().Sub(r.last) > GiveUpAfter {
			delete(b.tasks, id)
		}
	}
	b.mu.Unlock()
	b.down.end(ctx)
}

// Trip records a failure of the agent that is not about a task, such as a failed health check or
// notification. It returns the time until the next probe.
func (b *Breaker) Trip(p Permit) time.Duration {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.suspect = ""
	b.open(p, true)
	return b.interval()
}

// Failure records that the agent gave no decision on a task, and returns the consequence for the
// task.
func (b *Breaker) Failure(ctx context.Context, p Permit, task Task, cause Cause) Verdict {
	v := b.failure(p, task.ID, cause)
	switch {
	case cause == Unusable:
		b.down.end(ctx)
	case !v.Counts:
		v.Expired = b.Expired(ctx) && b.o.Now().Sub(task.Enqueued) > GiveUpAfter
	}
	return v
}

// failure does the work of Failure, except for the stored beginning of the failures.
func (b *Breaker) failure(p Permit, id string, cause Cause) Verdict {
	b.mu.Lock()
	defer b.mu.Unlock()
	r, v := b.recordOf(id), Verdict{}
	if cause == Unusable {
		r.failures++
		b.close()
		v.Wait, v.Counts = wait.Backoff(r.failures, time.Second, maxUnusableWait), true
	} else {
		first := r.failures == 0
		switch {
		case b.failures == 0 && first:
			b.suspect = id
		case b.suspect != id:
			b.suspect = ""
		}
		// If only one task has failed so far, another failure of it shows nothing new about the agent.
		b.open(p, first || b.failures > 0 && b.suspect == "")
		r.add(cause, b.successes)
		v.Wait, v.Counts = r.wait(b.interval(), len(b.tasks)), r.bad(b.o.BadTaskFailures)
	}
	if v.Counts {
		r.attempts++
		v.Attempts = r.attempts
	}
	return v
}

// Expired reports whether the agent has failed for longer than GiveUpAfter. Call it only when the
// agent fails, because it starts the measurement if the agent did not fail before.
func (b *Breaker) Expired(ctx context.Context) bool { return b.down.lasts(ctx) > GiveUpAfter }

// Failed reports whether the agent has failed on a task, and has not handled it since.
func (b *Breaker) Failed(task string) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.tasks[task] != nil
}

// Forget discards the failures of a task that the agent will not receive again.
func (b *Breaker) Forget(task string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.tasks, task)
}

// close closes the breaker. The caller holds b.mu.
func (b *Breaker) close() {
	b.failures = 0
	if b.limit *= 2; b.limit > MaxConcurrency {
		b.limit = 0
	}
}

// open opens the breaker. news means that the result shows something new about the agent, and only
// then the interval grows. A request that began before an earlier failure shows nothing new. The
// caller holds b.mu.
func (b *Breaker) open(p Permit, news bool) {
	if news && p.generation == b.generation {
		b.failures, b.generation, b.limit = b.failures+1, b.generation+1, 1
	} else if !p.Probe {
		return
	}
	if b.o.Interval > 0 {
		b.openUntil = p.granted.Add(b.o.Interval)
	} else {
		b.openUntil = b.o.Now().Add(wait.Backoff(b.failures-1, time.Second, MaxInterval))
	}
}

// interval returns the time until the next probe, at least one second. The caller holds b.mu.
func (b *Breaker) interval() time.Duration { return max(b.openUntil.Sub(b.o.Now()), time.Second) }
