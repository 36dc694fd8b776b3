// Package supervisor keeps the server's background work running. It contains loops that continue
// after errors and panics and report their health, and retries of calls to the queue.
package supervisor

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/org/foreman-action/harness/observe"
	"github.com/org/foreman-action/internal/text"
	"github.com/org/foreman-action/internal/wait"
	"github.com/org/foreman-action/queue"
)

const (
	maxLate       = time.Minute // how late a healthy loop may be
	maxErrorPause = time.Minute // maximum pause after a failed pass
	// unavailablePause is the pause while the database does not answer. It is short, because a try
	// costs little then, and the loop should soon notice that the database answers again.
	unavailablePause = 250 * time.Millisecond
	maxGap           = time.Second // maximum pause after long passes
	unhealthyAfter   = 2           // consecutive failures
	maxReason        = 4000        // characters of an error in Health.Reason
)

// Health is the state of a loop.
type Health struct {
	Loop  string
	OK    bool
	Stuck bool // it makes no progress, neither with an error nor without one
	// Optional means that tasks do not need the loop: the server is ready without it.
	Optional bool
	Reason   string    // why it is not OK, for operators; empty if it is OK
	Last     time.Time // time of the last progress; zero: none yet
}

// LoopOptions configure a Loop.
type LoopOptions struct {
	Name     string
	Interval time.Duration // between passes without a wake-up
	// Gap is the minimum pause after a pass, so that one pass serves a burst of wake-ups. After four
	// long passes in a row the pause is longer, up to a second, so that counting a long queue does
	// not keep the database busy. Fewer than four long passes do not count: the first passes after a
	// restart of the database are long, too, and tasks wait for them. 0: no pause.
	Gap time.Duration
	// Blocks means that a healthy pass does not end, so that it is never late.
	Blocks  bool
	Now     func() time.Time // nil: time.Now
	Observe observe.Func
	Log     *slog.Logger // must be set
}

// A Loop repeats a pass: at the start, after each wake-up, and after each interval. Its methods are
// safe for concurrent use.
type Loop struct {
	o     LoopOptions
	wakes chan struct{}

	mu       sync.Mutex // guards the fields below
	running  bool
	last     time.Time // time of the last progress
	failures int       // consecutive failures
	err      error     // of the last pass
}

// NewLoop returns a Loop that does not run yet.
func NewLoop(o LoopOptions) *Loop {
	o.Now = wait.Clock(o.Now)
	return &Loop{o: o, wakes: make(chan struct{}, 1)}
}

// Run makes passes until ctx ends. After an error or a panic it logs, waits and goes on.
func (l *Loop) Run(ctx context.Context, pass func(context.Context) error) {
	l.setRunning(true)
	defer l.setRunning(false)
	var took [4]time.Duration // by the last passes; 0: none since the start or the last failure
	for ctx.Err() == nil {
		start := l.o.Now()
		err := l.protect(ctx, pass)
		copy(took[1:], took[:])
		took[0] = l.o.Now().Sub(start)
		if ctx.Err() != nil {
			return
		}
		failures := l.record(err)
		if err != nil {
			pause := wait.Backoff(failures-1, time.Second, maxErrorPause)
			if errors.Is(err, queue.ErrUnavailable) {
				pause = unavailablePause
			}
			if failures&(failures-1) == 0 || pause > unavailablePause { // with short pauses, log the 1st, 2nd, 4th, 8th …
				l.o.Observe.Report(observe.Observation{Event: observe.LoopFailed, Status: l.o.Name, N: 1})
				l.o.Log.ErrorContext(ctx, "loop failed; restarting", "loop", l.o.Name, "error", err, "in", pause, "failures", failures)
			}
			_ = wait.For(ctx, pause) // the loop's condition checks ctx, also for the waits below
			clear(took[:])
			continue
		}
		if l.o.Gap > 0 {
			_ = wait.For(ctx, min(max(l.o.Gap, 10*slices.Min(took[:])), maxGap))
		}
		l.rest(ctx)
	}
}

// protect makes a pass. A panic becomes its error.
func (l *Loop) protect(ctx context.Context, pass func(context.Context) error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = PanicError(p)
		}
	}()
	l.Beat()
	return pass(ctx)
}

// rest waits for the next pass.
func (l *Loop) rest(ctx context.Context) {
	t := time.NewTimer(l.o.Interval)
	defer t.Stop()
	select {
	case <-ctx.Done():
	case <-t.C:
	case <-l.wakes:
	}
}

// Wake requests a pass. It never blocks.
func (l *Loop) Wake() {
	select {
	case l.wakes <- struct{}{}:
	default: // a wake-up is already pending
	}
}

// Beat records that the pass makes progress.
func (l *Loop) Beat() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.last = l.o.Now()
}

func (l *Loop) setRunning(running bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.running = running
}

// record records the result of a pass and returns the number of consecutive failures.
func (l *Loop) record(err error) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.last, l.err = l.o.Now(), err
	if l.failures++; err == nil {
		l.failures = 0
	}
	return l.failures
}

// Health returns the state of the loop.
func (l *Loop) Health() Health {
	l.mu.Lock()
	defer l.mu.Unlock()
	h := Health{Loop: l.o.Name, Last: l.last}
	silence := l.o.Now().Sub(l.last)
	switch {
	case !l.running:
		h.Reason = "it is not running"
	case l.failures >= unhealthyAfter:
		line, _, _ := strings.Cut(l.err.Error(), "\n")
		h.Reason = fmt.Sprintf("it failed %d times in a row: %s", l.failures, text.Shorten(line, maxReason))
	case !l.o.Blocks && silence-l.o.Interval > maxLate:
		h.Stuck = true
		h.Reason = fmt.Sprintf("it made no progress for %s", silence.Round(time.Second))
	default:
		h.OK = true
	}
	return h
}

// PanicError converts a value that recover returned to an error. Its text contains the stack after
// the first line, for the log.
func PanicError(value any) error { return fmt.Errorf("panic: %v\n%s", value, debug.Stack()) }
