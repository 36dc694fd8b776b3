// Package supervisor keeps the server's background work going: loops that continue after
// errors and panics and report their health, and calls to the queue that are retried.
package supervisor

import (
	"context"
	"fmt"
	"log/slog"
	"runtime/debug"
	"strings"
	"sync"
	"time"

	"github.com/org/foreman-action/internal/server/observe"
	"github.com/org/foreman-action/internal/text"
	"github.com/org/foreman-action/internal/wait"
)

const (
	maxLate        = time.Minute // by which a healthy loop may be late
	maxErrorPause  = time.Minute // after a pass that failed
	maxGap         = time.Second // after a long pass
	unhealthyAfter = 2           // failures in a row
	maxReason      = 4000        // characters of an error in Health.Reason
)

// Health is the state of a loop.
type Health struct {
	Loop   string
	OK     bool
	Reason string    // why it is not OK, for people who run the server; empty if it is
	Last   time.Time // of the last sign of progress; zero: there was none
}

// LoopOptions configure a Loop.
type LoopOptions struct {
	Name     string
	Interval time.Duration // between passes without a wake-up
	// Gap is the least pause after a pass, so that one pass answers a burst of wake-ups. The
	// longer a pass takes the longer is the pause, up to a second: a long queue must not keep
	// the database busy with counting it. 0: no pause.
	Gap time.Duration
	// Blocks means that a pass goes on as long as all is well, so it is never late.
	Blocks  bool
	Observe observe.Func
	Log     *slog.Logger // must be set
}

// A Loop repeats a pass: at once, when it is woken, and when its interval has passed.
// Its methods are safe for concurrent use.
type Loop struct {
	o     LoopOptions
	wakes chan struct{}

	mu       sync.Mutex // guards the fields below
	running  bool
	last     time.Time // of a sign of progress
	failures int       // in a row
	err      error     // of the last pass
}

// NewLoop returns a Loop that does not run yet.
func NewLoop(o LoopOptions) *Loop { return &Loop{o: o, wakes: make(chan struct{}, 1)} }

// Run makes passes until ctx ends. After an error or a panic it logs, waits and goes on.
func (l *Loop) Run(ctx context.Context, pass func(context.Context) error) {
	l.setRunning(true)
	defer l.setRunning(false)
	for ctx.Err() == nil {
		start := time.Now()
		err := l.protect(ctx, pass)
		if ctx.Err() != nil {
			return
		}
		failures := l.record(err)
		if err != nil {
			l.o.Observe.Report(observe.Observation{Event: observe.LoopFailed, Status: l.o.Name, N: 1})
			pause := wait.Backoff(failures-1, time.Second, maxErrorPause)
			l.o.Log.ErrorContext(ctx, "loop failed; it is restarted", "loop", l.o.Name, "error", err, "in", pause)
			_ = wait.For(ctx, pause) // the loop's condition checks ctx, here and below
			continue
		}
		if l.o.Gap > 0 {
			_ = wait.For(ctx, min(max(l.o.Gap, 10*time.Since(start)), maxGap))
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
	default: // a pass is requested already
	}
}

// Beat records that the pass makes progress.
func (l *Loop) Beat() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.last = time.Now()
}

func (l *Loop) setRunning(running bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.running = running
}

// record notes the result of a pass and returns the number of failures in a row.
func (l *Loop) record(err error) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.last, l.err = time.Now(), err
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
	silence := time.Since(l.last)
	switch {
	case !l.running:
		h.Reason = "it is not running"
	case l.failures >= unhealthyAfter:
		line, _, _ := strings.Cut(l.err.Error(), "\n")
		h.Reason = fmt.Sprintf("it failed %d times in a row: %s", l.failures, text.Clip(line, maxReason))
	case !l.o.Blocks && silence-l.o.Interval > maxLate:
		h.Reason = fmt.Sprintf("it made no progress for %s", silence.Round(time.Second))
	default:
		h.OK = true
	}
	return h
}

// PanicError makes an error of a value that recover returned. The stack follows the first line,
// for the log.
func PanicError(value any) error { return fmt.Errorf("panic: %v\n%s", value, debug.Stack()) }
