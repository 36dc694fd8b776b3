package drain

import (
	"context"
	"fmt"
	"log/slog"
	"runtime/debug"
	"sync"
	"time"

	"github.com/org/foreman-action/internal/wait"
)

// A Health says how a loop does.
type Health struct {
	Loop   string
	OK     bool
	Reason string    // why it is not; empty if it is. For people who run the server.
	Last   time.Time // when it last came along; zero: never
}

const (
	patience   = time.Minute // that a loop may be late, or a pass take without a beat
	maxRest    = time.Minute // after failures
	downAfter  = 2           // failures in a row
	notRunning = "it is not running"
)

// A loop makes passes: at once, when it is woken, and when a time has gone by.
type loop struct {
	name  string
	every time.Duration
	gap   time.Duration // that is kept between passes that were asked for
	// blocks says that a pass takes as long as all goes well.
	blocks bool
	pass   func(context.Context) error

	wakes chan struct{}
	log   *slog.Logger
	fell  func(name string) // a pass failed

	mu       sync.Mutex // guards what follows
	running  bool
	last     time.Time
	failures int
	err      error
}

// wake asks for a pass. It never waits.
func (l *loop) wake() {
	select {
	case l.wakes <- struct{}{}:
	default: // one is asked for already
	}
}

// maxGap is the longest pause between two passes that is due to how long they take.
const maxGap = time.Second

// run makes passes until ctx ends.
func (l *loop) run(ctx context.Context) {
	l.set(func() { l.running = true })
	defer l.set(func() { l.running = false })
	for ctx.Err() == nil {
		start := time.Now()
		err := l.once(ctx)
		if ctx.Err() != nil {
			return
		}
		l.note(err)
		if err == nil {
			// The longer a pass takes, the rarer it is: a long queue must not keep the
			// database busy with being counted. The condition of the loop looks at ctx.
			if l.gap > 0 {
				_ = wait.For(ctx, min(max(l.gap, 10*time.Since(start)), maxGap))
			}
			l.rest(ctx)
			continue
		}
		l.fell(l.name)
		rest := backoff(l.failed()-1, maxRest)
		l.log.ErrorContext(ctx, "loop failed; it goes on", "loop", l.name, "error", err, "in", rest)
		_ = wait.For(ctx, rest)
	}
}

// once makes a pass. A panic is an error of it.
func (l *loop) once(ctx context.Context) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = panicked(p)
		}
	}()
	l.beat()
	return l.pass(ctx)
}

// panicked makes an error of what recover returned; where it happened goes to the log.
func panicked(p any) error { return fmt.Errorf("panic: %v\n%s", p, debug.Stack()) }

// rest waits for the next pass.
func (l *loop) rest(ctx context.Context) {
	t := time.NewTimer(l.every)
	defer t.Stop()
	select {
	case <-ctx.Done():
	case <-t.C:
	case <-l.wakes:
	}
}

// backoff is how long is waited after n failures before: a second, and twice as long each
// time.
func backoff(n int, most time.Duration) time.Duration {
	if n > 30 {
		return most
	}
	return min(time.Second<<max(n, 0), most)
}

// beat says that the pass makes progress.
func (l *loop) beat() { l.set(func() { l.last = time.Now() }) }

func (l *loop) set(change func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	change()
}

func (l *loop) note(err error) {
	l.set(func() {
		l.last, l.err = time.Now(), err
		if l.failures++; err == nil {
			l.failures = 0
		}
	})
}

func (l *loop) failed() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.failures
}

// health says how the loop does.
func (l *loop) health() Health {
	l.mu.Lock()
	defer l.mu.Unlock()
	h := Health{Loop: l.name, Last: l.last}
	late := time.Since(l.last) - l.every
	switch {
	case !l.running:
		h.Reason = notRunning
	case l.failures >= downAfter:
		h.Reason = fmt.Sprintf("it failed %d times in a row: %s", l.failures, firstLine(l.err.Error()))
	case !l.blocks && late > patience:
		h.Reason = fmt.Sprintf("it made no progress for %s", time.Since(l.last).Round(time.Second))
	default:
		h.OK = true
	}
	return h
}
