package drain_test

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/org/foreman-action/internal/server/drain"
	"github.com/org/foreman-action/queue"
)

// A rig is a server with work that a test changes.
type rig struct {
	asked, applying atomic.Int64
	broken          atomic.Bool
	queue           *queue.InMemory
	begun           []bool // the arguments of Begin
	stopped         time.Duration
	log             strings.Builder
}

// Stats implements drain.Queue.
func (r *rig) Stats(ctx context.Context) (queue.Stats, error) {
	if r.broken.Load() {
		return queue.Stats{}, errors.New("the disk smokes")
	}
	return r.queue.Stats(ctx)
}

const agent = "http://a:9001"

func (r *rig) enqueue(t *testing.T) {
	t.Helper()
	if _, err := r.queue.Enqueue(t.Context(), queue.Task{ID: "00000000-0000-4000-8000-000000000001", Agent: agent, Repo: "o/r", Issue: 1, Message: []byte("{}")}); err != nil {
		t.Fatal(err)
	}
}

// claim claims a task, and complete decides on it.
func (r *rig) claim(t *testing.T) (complete func()) {
	t.Helper()
	r.enqueue(t)
	c, err := r.queue.ClaimNext(t.Context(), agent, queue.ClaimOptions{By: "a", Lease: time.Hour})
	if err != nil {
		t.Fatal(err)
	}
	return func() {
		if _, err := r.queue.Complete(t.Context(), queue.Ref{ID: c.ID, Attempt: c.Attempt, By: "a"}, []byte("{}")); err != nil {
			t.Error(err)
		}
	}
}

// TestDrain has work that ends, or that does not. The server stops when nothing is in flight, and at the
// latest after the time of the request.
func TestDrain(t *testing.T) {
	t.Parallel()
	yes, no := true, false
	tests := []struct {
		name    string
		all     bool // default
		request drain.Request
		work    func(t *testing.T, r *rig) // runs while the server drains; the time begins with the request
		want    time.Duration
		log     string
	}{
		{"nothing", false, drain.Request{}, func(*testing.T, *rig) {}, 0, "drained; stopping"},
		{"an agent answers", false, drain.Request{}, func(_ *testing.T, r *rig) { r.asked.Store(1); time.Sleep(time.Minute); r.asked.Store(0) }, time.Minute, "drained; stopping"},
		{"a decision ends", false, drain.Request{}, func(_ *testing.T, r *rig) { r.applying.Store(3); time.Sleep(time.Minute); r.applying.Store(0) }, time.Minute, "drained; stopping"},
		{"an agent never answers", false, drain.Request{}, func(_ *testing.T, r *rig) { r.asked.Store(1) }, 10 * time.Minute, "took too long"},
		{"a bound", false, drain.Request{Timeout: time.Second}, func(_ *testing.T, r *rig) { r.applying.Store(1) }, time.Second, "took too long"},
		{"a pending task", true, drain.Request{}, func(t *testing.T, r *rig) { t.Helper(); r.enqueue(t) }, 0, "drained; stopping"},
		{"other servers' claims", false, drain.Request{}, func(t *testing.T, r *rig) { t.Helper(); r.claim(t) }, 0, "drained; stopping"},
		{"all claims", false, drain.Request{All: &yes}, func(t *testing.T, r *rig) { t.Helper(); r.claim(t) }, 10 * time.Minute, "took too long"},
		{"not all claims", true, drain.Request{All: &no}, func(t *testing.T, r *rig) { t.Helper(); r.claim(t) }, 0, "drained; stopping"},
		{"a decision that nobody carries out", true, drain.Request{Timeout: time.Hour}, func(t *testing.T, r *rig) { t.Helper(); r.claim(t)() }, time.Hour, "took too long"},
		{"a decision that a pause holds", true, drain.Request{}, func(t *testing.T, r *rig) {
			t.Helper()
			r.claim(t)()
			if _, _, err := r.queue.Pause(t.Context(), queue.Scope{Kind: queue.ScopeEverything}, "ann", ""); err != nil {
				t.Error(err)
			}
		}, 0, "drained; stopping"},
		{"a database that fails", true, drain.Request{}, func(_ *testing.T, r *rig) { r.broken.Store(true); time.Sleep(time.Minute); r.broken.Store(false) }, time.Minute, "drained; stopping"},
		{"a database that fails for ever", true, drain.Request{}, func(_ *testing.T, r *rig) { r.broken.Store(true) }, 10 * time.Minute, "the database does not answer"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				r := &rig{queue: queue.New(queue.Options{})}
				ctx, stop := context.WithCancel(t.Context())
				began := time.Now()
				d := drain.New(drain.Options{
					Begin: func(all bool) { r.begun = append(r.begun, all) }, InFlight: func() (int, int) { return int(r.asked.Load()), int(r.applying.Load()) },
					Queue: r, Pauses: r.queue, All: tt.all, Stop: func() { r.stopped = time.Since(began); stop() }, Log: slog.New(slog.NewTextHandler(&r.log, nil)),
				})
				if d.Progress(ctx) != nil {
					t.Error("the server drains without a request")
				}
				go tt.work(t, r)
				synctest.Wait()
				d.Start(ctx, tt.request)
				first := d.Start(ctx, drain.Request{Timeout: time.Millisecond, By: "another one"}) // changes nothing
				if err := d.Run(ctx); err != nil {
					t.Error(err)
				}
				// A tick lies between the end of the work and the look at it.
				if late := r.stopped - tt.want; late < 0 || late > time.Second/4 || len(r.begun) != 1 || r.begun[0] != first.All || first.By != "" {
					t.Errorf("stopped after %s, want %s; begun %v; %+v", r.stopped, tt.want, r.begun, first)
				}
				if !strings.Contains(r.log.String(), tt.log) {
					t.Errorf("log: %s", r.log.String())
				}
				if n := strings.Count(r.log.String(), "\n"); n > 4 {
					t.Errorf("%d lines of the log", n)
				}
			})
		})
	}
}

// TestStopped stops a server that drains, and one that does not.
func TestStopped(t *testing.T) {
	t.Parallel()
	for _, draining := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			d := drain.New(drain.Options{Begin: func(bool) {}, InFlight: func() (int, int) { return 1, 0 }, Stop: func() { t.Error("Stop was called") }})
			if draining {
				d.Start(t.Context(), drain.Request{})
			}
			ctx, stop := context.WithCancel(t.Context())
			time.AfterFunc(time.Second, stop)
			if err := d.Run(ctx); err != nil {
				t.Error(err)
			}
		})
	}
}
