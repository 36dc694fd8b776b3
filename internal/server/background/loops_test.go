package background_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/org/foreman-action/harness/observe"
	"github.com/org/foreman-action/internal/server/background"
	"github.com/org/foreman-action/queue"
)

// An odd queue lets a test replace or extend some of its methods.
type odd struct {
	queue.Queue
	drain, stale, backlog func() error // called first; nil: no call
	purged                func(before time.Time, limit int) int
	watch                 func() (<-chan queue.Change, func())
}

func do(f func() error) error {
	if f == nil {
		return nil
	}
	return f()
}

func (o odd) LeaseDecisions(ctx context.Context, opt queue.DrainOptions) ([]queue.Decision, error) {
	if err := do(o.drain); err != nil {
		return nil, err
	}
	return o.Queue.LeaseDecisions(ctx, opt)
}

func (o odd) RequeueStale(ctx context.Context, l queue.Limits) ([]queue.Requeued, error) {
	if err := do(o.stale); err != nil {
		return nil, err
	}
	return o.Queue.RequeueStale(ctx, l)
}

func (o odd) Backlog(ctx context.Context, n int) ([]queue.Backlog, error) {
	if err := do(o.backlog); err != nil {
		return nil, err
	}
	return o.Queue.Backlog(ctx, n)
}

func (o odd) Purge(ctx context.Context, before time.Time, limit int) (int, error) {
	if o.purged == nil {
		return o.Queue.Purge(ctx, before, limit)
	}
	return o.purged(before, limit), nil
}

func (o odd) Watch() (<-chan queue.Change, func()) {
	if o.watch == nil {
		return o.Queue.Watch()
	}
	return o.watch()
}

// unhealthy lists the unhealthy loops and their reasons.
func unhealthy(d *background.Services) string {
	var list []string
	for _, h := range d.Health() {
		if !h.OK {
			list = append(list, h.Loop+": "+h.Reason)
		}
	}
	return strings.Join(list, "; ")
}

// TestLoops: a loop logs an error or a panic under its own name, and continues.
func TestLoops(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name string
		set  func(*odd, func() error)
	}{
		{"decisions", func(o *odd, f func() error) { o.drain = f }},
		{"requeue", func(o *odd, f func() error) { o.stale = f }},
		{"nudges", func(o *odd, f func() error) { o.backlog = f }},
	}
	faults := map[string]func() error{
		"an error": func() error { return errors.New("boom") },
		"a panic":  func() error { panic("boom") },
	}
	for _, tt := range tests {
		for what, fault := range faults {
			t.Run(tt.name+", "+what, func(t *testing.T) {
				t.Parallel()
				inBubble(t, func(r *rig) {
					o := &odd{Queue: r.q}
					var mended atomic.Bool
					tt.set(o, func() error {
						if !mended.Load() {
							return fault()
						}
						return nil
					})
					r.q = o
					d, _ := r.start()
					time.Sleep(5 * time.Minute)
					got := unhealthy(d)
					if !strings.HasPrefix(got, tt.name+": it failed ") || !strings.HasSuffix(got, "boom") || strings.Contains(got, ";") {
						t.Errorf("got %q", got)
					}
					if n := r.observed(observe.LoopFailed, tt.name); n < 5 || n > 20 {
						t.Errorf("it failed %d times", n)
					}
					mended.Store(true)
					time.Sleep(2 * time.Minute)
					if got := unhealthy(d); got != "" {
						t.Errorf("got %q", got)
					}
					r.enqueue(1)
					r.complete(1, comment)
					synctest.Wait()
					r.is(1, queue.Done)
				})
			})
		}
	}
}

// TestLoopHangs checks that a loop without progress is reported as unhealthy.
func TestLoopHangs(t *testing.T) {
	t.Parallel()
	inBubble(t, func(r *rig) {
		goOn := make(chan struct{})
		r.q = &odd{Queue: r.q, drain: func() error { <-goOn; return nil }}
		d, _ := r.start()
		time.Sleep(30 * time.Second)
		if got := unhealthy(d); got != "" {
			t.Errorf("got %q", got)
		}
		time.Sleep(time.Minute)
		if got := unhealthy(d); !strings.HasPrefix(got, "decisions: it made no progress for 1m30s") {
			t.Errorf("got %q", got)
		}
		close(goOn)
		synctest.Wait()
		if got := unhealthy(d); got != "" {
			t.Errorf("got %q", got)
		}
	})
}

// TestWithoutWatch checks that the loops find work without change notifications.
func TestWithoutWatch(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name  string
		watch func() (<-chan queue.Change, func())
		sick  string
	}{
		{"nothing is heard", func() (<-chan queue.Change, func()) { return make(chan queue.Change), func() {} }, ""},
		{"the line is dead", func() (<-chan queue.Change, func()) {
			c := make(chan queue.Change)
			close(c)
			return c, func() {}
		}, "changes: it failed"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			inBubble(t, func(r *rig) {
				l := &listener{}
				r.host.set("agent:9001", l.ServeHTTP)
				r.q = &odd{Queue: r.q, watch: tt.watch}
				d, _ := r.start()
				time.Sleep(time.Minute)
				r.enqueue(1)
				time.Sleep(5 * time.Second)
				if len(l.all()) == 0 {
					t.Error("heard nothing")
				}
				r.complete(1, comment)
				time.Sleep(10 * time.Second)
				r.is(1, queue.Done)
				r.enqueue(2)
				r.complete(2, comment)
				d.Wake()
				synctest.Wait()
				r.is(2, queue.Done)
				if got := unhealthy(d); !strings.HasPrefix(got, tt.sick) || got != "" && tt.sick == "" {
					t.Errorf("got %q", got)
				}
			})
		})
	}
}

// TestPurge checks that old tasks are deleted in batches, once an hour.
func TestPurge(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name      string
		retention time.Duration
		age       time.Duration // minimum age of deleted tasks
		calls     int           // number of calls in an hour and a half
	}{
		{"by default", 0, 30 * 24 * time.Hour, 14},
		{"after a day", 24 * time.Hour, 24 * time.Hour, 14},
		{"never", -1, 0, 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			inBubble(t, func(r *rig) {
				left, calls := 1200, 0
				r.o.Maintenance.Retention = tt.retention
				r.q = &odd{Queue: r.q, purged: func(before time.Time, limit int) int {
					calls++
					if limit != 100 || time.Since(before) != tt.age {
						t.Errorf("limit %d, age %s", limit, time.Since(before))
					}
					n := min(left, limit)
					left -= n
					return n
				}}
				r.start()
				time.Sleep(90 * time.Minute)
				synctest.Wait()
				if calls != tt.calls || r.observed(observe.Purged, "") != 1200 && tt.calls > 0 {
					t.Errorf("got %d calls, %d purged", calls, r.observed(observe.Purged, ""))
				}
			})
		})
	}
}

// TestPurgePauses checks that after each batch, the purge pauses as long as the batch took.
func TestPurgePauses(t *testing.T) {
	t.Parallel()
	inBubble(t, func(r *rig) {
		var began []time.Duration
		start := time.Now()
		r.q = &odd{Queue: r.q, purged: func(_ time.Time, limit int) int {
			began = append(began, time.Since(start))
			time.Sleep(3 * time.Second)
			if len(began) == 4 {
				return limit - 1
			}
			return limit
		}}
		r.start()
		time.Sleep(time.Minute)
		synctest.Wait()
		if want := []time.Duration{0, 6 * time.Second, 12 * time.Second, 18 * time.Second}; !slices.Equal(began, want) {
			t.Errorf("it deleted at %s, want %s", began, want)
		}
	})
}
