package executor

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/org/foreman-action/queue"
)

// hanging are pauses in a database that answers after a while, or not at all.
type hanging struct {
	queue.Pauses

	wait  time.Duration // 0: it answers at once; negative: not before the call is canceled
	calls int
}

func (h *hanging) ListPauses(ctx context.Context, count bool) ([]queue.Pause, error) {
	h.calls++
	var answer <-chan time.Time
	if h.wait >= 0 {
		answer = time.After(h.wait)
	}
	select {
	case <-answer:
		return h.Pauses.ListPauses(ctx, count)
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// TestPausesSlow checks that many attempts wait together while the pauses are read, and not one after
// another, and that the pauses that were read before count while they cannot be read.
func TestPausesSlow(t *testing.T) {
	t.Parallel()
	const attempts = 16
	for name, tt := range map[string]struct {
		wait, took time.Duration
	}{
		"a slow answer": {pauseTime - time.Second, pauseTime - time.Second},
		"no answer":     {-1, pauseTime},
	} {
		for _, paused := range []bool{false, true} {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				synctest.Test(t, func(t *testing.T) {
					h := &hanging{Pauses: queue.New(queue.Options{Now: time.Now})}
					if paused {
						if _, _, err := h.Pause(t.Context(), queue.Scope{Kind: queue.ScopeEverything}, "person", ""); err != nil {
							t.Fatal(err)
						}
					}
					p := newPauses(h, time.Now)
					check := func(ctx context.Context) {
						err := p.check(ctx, "http://a/", "o/r")
						if _, held := errors.AsType[*pausedError](err); held != paused || (err != nil) != paused {
							t.Errorf("got %v, want a pause: %v", err, paused)
						}
					}
					check(t.Context())
					time.Sleep(2 * pauseAge)
					h.wait, h.calls = tt.wait, 0
					began := time.Now()
					var all sync.WaitGroup
					for range attempts {
						all.Go(func() { check(t.Context()) })
					}
					all.Wait()
					if took := time.Since(began); took != tt.took || h.calls != 1 {
						t.Errorf("the attempts waited for %v and %d calls, want %v and 1", took, h.calls, tt.took)
					}
				})
			})
		}
	}
}

// TestPausesEnded checks that an attempt that ends while it reads the pauses does not keep others from
// reading them.
func TestPausesEnded(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := &hanging{Pauses: queue.New(queue.Options{Now: time.Now}), wait: -1}
		p := newPauses(h, time.Now)
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		_ = p.check(ctx, "http://a/", "o/r") // it may have seen the end before
		if _, _, err := h.Pause(t.Context(), queue.Scope{Kind: queue.ScopeEverything}, "person", ""); err != nil {
			t.Fatal(err)
		}
		h.wait = 0
		if err := p.check(t.Context(), "http://a/", "o/r"); err == nil {
			t.Error("the pause was not read")
		}
	})
}
