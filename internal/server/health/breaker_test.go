package health_test

import (
	"context"
	"fmt"
	"log/slog"
	"testing"
	"testing/synctest"
	"time"

	"github.com/org/foreman-action/internal/server/health"
)

// cursors keep cursors in memory.
type cursors map[string][]byte

func (c cursors) Cursor(_ context.Context, name string) ([]byte, error) { return c[name], nil }

func (c cursors) SaveCursor(_ context.Context, name string, data []byte) error {
	c[name] = data
	return nil
}

// A rig is a breaker with its options.
type rig struct {
	*health.Breaker

	t *testing.T
	o health.BreakerOptions
}

// allow requests n permits, and fails the test unless want are granted.
func (r rig) allow(n, want int) health.Permit {
	r.t.Helper()
	p, got := r.Allow(n)
	if got != want {
		r.t.Errorf("%d of %d requests were granted, want %d", got, n, want)
	}
	return p
}

func (r rig) is(want health.State) {
	r.t.Helper()
	if got := r.State(); got != want {
		r.t.Errorf("got state %d, want %d", got, want)
	}
}

// fail waits until the breaker allows a request about a task, and records its failure.
func (r rig) fail(task string, cause health.Cause) health.Verdict {
	r.t.Helper()
	for r.State() == health.Open {
		time.Sleep(time.Second)
	}
	p := r.allow(1, 1)
	defer r.Release(p)
	return r.Failure(r.t.Context(), p, health.Task{ID: task, Enqueued: time.Now().AddDate(0, 0, -2)}, cause, "")
}

func TestBreaker(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name string
		test func(r rig)
	}{
		{"closed, open, half-open, closed", func(r rig) {
			r.is(health.Closed)
			r.fail("a", health.Unavailable)
			r.is(health.Open)
			r.allow(5, 0)
			time.Sleep(time.Second)
			r.is(health.HalfOpen)
			p := r.allow(5, 1)
			if r.allow(5, 0); !p.Probe {
				r.t.Error("the request is no probe")
			}
			r.Success(r.t.Context(), "a")
			r.Release(p)
			r.is(health.Closed)
		}},
		{"a probe without a result makes way for another one", func(r rig) {
			r.Trip(r.t.Context(), r.allow(1, 1), "")
			time.Sleep(time.Second)
			r.Release(r.allow(1, 1))
			r.Release(r.allow(1, 1))
		}},
		{"the interval doubles, up to five minutes", func(r rig) {
			for n, seconds := range []int{1, 2, 4, 8, 16, 32, 64, 128, 256, 300, 300} {
				p := r.allow(1, 1)
				r.Release(p)
				want := time.Duration(seconds) * time.Second
				if got := r.Trip(r.t.Context(), p, ""); got != want {
					r.t.Errorf("interval %d: got %s, want %s", n, got, want)
				}
				time.Sleep(want)
			}
		}},
		{"a fixed interval counts from the beginning of the probe", func(r rig) {
			r.o.Interval = 10 * time.Second
			r.Breaker = health.NewBreaker(r.o)
			for range 3 {
				p := r.allow(1, 1)
				time.Sleep(4 * time.Second)
				r.Release(p)
				r.Trip(r.t.Context(), p, "")
				time.Sleep(6*time.Second - time.Nanosecond)
				r.is(health.Open)
				time.Sleep(time.Nanosecond)
			}
		}},
		{"requests from before the failure are no news", func(r rig) {
			p := r.allow(3, 3)
			for n := range 3 {
				r.Failure(r.t.Context(), p, health.Task{ID: fmt.Sprint(n)}, health.Unavailable, "")
				r.Release(p)
			}
			time.Sleep(time.Second)
			r.is(health.HalfOpen)
		}},
		{"concurrency grows again", func(r rig) {
			r.Trip(r.t.Context(), r.allow(0, 0), "")
			time.Sleep(time.Second)
			for _, limit := range []int{1, 2, 4, 8, 16, 32, 64, 1000} {
				p := r.allow(1000, limit)
				for range limit {
					r.Release(p)
				}
				r.Success(r.t.Context(), "")
			}
		}},
		{"a task is bad on which an agent fails that succeeds on others", func(r rig) {
			for n, counts := range []bool{false, false, false, true, true} { // the first failure blames no task
				if v := r.fail("bad", health.Unavailable); v.Counts != counts || v.Attempts != max(n-2, 0) || v.Expired {
					r.t.Errorf("failure %d: got %+v", n, v)
				}
				r.Success(r.t.Context(), "good")
			}
			r.Forget("bad")
			if v := r.fail("bad", health.Unavailable); v.Counts {
				r.t.Errorf("it was not forgotten: %+v", v)
			}
		}},
		{"a busy agent blames no task", func(r rig) {
			for range 10 {
				if v := r.fail("a", health.Overloaded); v.Counts {
					r.t.Errorf("got %+v", v)
				}
				r.Success(r.t.Context(), "b")
			}
		}},
		{"an agent that crashes on its only task for an hour blames it", func(r rig) {
			start := time.Now()
			for !r.fail("a", health.Crashed).Counts {
				time.Sleep(time.Minute)
			}
			if took := time.Since(start); took < time.Hour || took > 70*time.Minute {
				r.t.Errorf("it took %s", took)
			}
		}},
		{"an unusable answer counts, and the agent works", func(r rig) {
			for n, seconds := range []int{2, 4, 8} {
				if v := r.fail("a", health.Unusable); v.Wait != time.Duration(seconds)*time.Second || v.Attempts != n+1 {
					r.t.Errorf("got %+v", v)
				}
				r.is(health.Closed)
			}
		}},
		{"after a day old tasks expire, over a restart too", func(r rig) {
			if r.fail("a", health.Unavailable).Expired {
				r.t.Error("it expired at once")
			}
			time.Sleep(25 * time.Hour)
			r.Breaker = health.NewBreaker(r.o)
			if v := r.fail("a", health.Unavailable); !v.Expired || v.Counts {
				r.t.Errorf("got %+v", v)
			}
			r.Success(r.t.Context(), "b")
			if r.Expired(r.t.Context(), "so") {
				r.t.Error("the success was not recorded")
			}
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				o := health.BreakerOptions{Agent: "http://agent", Cursors: cursors{}, BadTaskFailures: 3, Log: slog.New(slog.DiscardHandler)}
				tt.test(rig{health.NewBreaker(o), t, o})
			})
		})
	}
}

// A countedCursors counts what it stores.
type countedCursors struct {
	cursors

	saved int
}

func (c *countedCursors) SaveCursor(ctx context.Context, name string, data []byte) error {
	c.saved++
	return c.cursors.SaveCursor(ctx, name, data)
}

// TestStoredCause checks that the newest cause of an outage is stored, each only once, with the
// beginning of the outage.
func TestStoredCause(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		kept, start := &countedCursors{cursors: cursors{}}, time.Now()
		o := health.BreakerOptions{Agent: "http://agent", Cursors: kept, Log: slog.New(slog.DiscardHandler)}
		b := health.NewBreaker(o)
		for _, why := range []string{"connection refused", "connection refused", "status 501", "status 501"} {
			b.Trip(t.Context(), health.Permit{}, why)
			time.Sleep(time.Minute)
		}
		b = health.NewBreaker(o) // a restarted server
		b.Trip(t.Context(), health.Permit{}, "status 501")
		since, why, err := health.Stored(t.Context(), kept, o.Agent)
		if !since.Equal(start) || why != "status 501" || err != nil {
			t.Errorf("got %s, %q, %v", since, why, err)
		}
		if kept.saved != 2 {
			t.Errorf("stored %d times, want 2", kept.saved)
		}
		b.Success(t.Context(), "")
		if since, why, err := health.Stored(t.Context(), kept, o.Agent); !since.IsZero() || why != "" || err != nil {
			t.Errorf("after the outage: got %s, %q, %v", since, why, err)
		}
	})
}

// TestNotifiedOutage checks that the outage of an agent that was notified of its tasks does not count
// when it is sent whole ones.
func TestNotifiedOutage(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		kept := cursors{}
		o := health.BreakerOptions{Agent: "http://agent", Cursors: kept, Notified: true, Log: slog.New(slog.DiscardHandler)}
		health.NewBreaker(o).Trip(t.Context(), health.Permit{}, "status 422")
		if since, why, err := health.Stored(t.Context(), kept, o.Agent); !since.Equal(time.Now()) || why != "status 422" || err != nil {
			t.Errorf("got %s, %q, %v", since, why, err)
		}
		time.Sleep(2 * health.GiveUpAfter)
		if !health.NewBreaker(o).Expired(t.Context(), "status 422") {
			t.Error("the outage ended with the server")
		}
		o.Notified = false
		if health.NewBreaker(o).Expired(t.Context(), "timeout") {
			t.Error("the earlier outage counts")
		}
		if since, why, err := health.Stored(t.Context(), kept, o.Agent); !since.Equal(time.Now()) || why != "timeout" || err != nil {
			t.Errorf("got %s, %q, %v", since, why, err)
		}
	})
}
