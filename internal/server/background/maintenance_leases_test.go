package background_test

import (
	"context"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/org/foreman-action/queue"
)

// shared is a queue on which another server has a lease.
type shared struct {
	queue.Queue
	left func() time.Duration // of the lease; 0: it has ended
}

func (s shared) RequeueLeases(ctx context.Context, drains int) (queue.LeaseCheck, error) {
	got, err := s.Queue.RequeueLeases(ctx, drains)
	if left := s.left(); left > 0 {
		got.Others = append(got.Others, queue.ActiveLease{Lease: queue.Lease{ID: id(1), Epoch: 1}, Owner: "there", Left: left})
	}
	return got, err
}

// TestUnrenewed checks that only a lease of another server that is not renewed is reported.
func TestUnrenewed(t *testing.T) {
	t.Parallel()
	inBubble(t, func(r *rig) {
		start := time.Now()
		renewed := 20 * time.Second // not renewed after this time
		r.q = shared{r.q, func() time.Duration {
			at := time.Since(start)
			if at < renewed {
				return queue.DefaultLease - at%(queue.DefaultLease/3)
			}
			return queue.DefaultLease - (at - renewed)
		}}
		d, _ := r.start()
		time.Sleep(renewed)
		synctest.Wait()
		if got := d.Unrenewed(); len(got) > 0 || strings.Contains(r.log(), "does not renew") {
			t.Errorf("while it is renewed: got %+v\n%s", got, r.log())
		}
		time.Sleep(6*time.Second + time.Millisecond)
		synctest.Wait()
		if got := d.Unrenewed(); len(got) != 1 || got[0].Owner != "there" || got[0].Left < time.Second || got[0].Left > 2*time.Second {
			t.Errorf("6 s later: got %+v, want a lease that ends in 2 s", got)
		}
		if log := r.log(); strings.Count(log, "does not renew") != 1 || !strings.Contains(log, "server=there lease_ends_in=3") {
			t.Errorf("got the log %s", log)
		}
		time.Sleep(3 * time.Second)
		synctest.Wait()
		if got := d.Unrenewed(); len(got) > 0 {
			t.Errorf("when it has ended: got %+v", got)
		}
	})
}

// asked is a queue that records for how long decisions are leased.
type asked struct {
	queue.Queue
	lease *atomic.Int64
}

func (a asked) LeaseDecisions(ctx context.Context, o queue.DrainOptions) ([]queue.Decision, error) {
	a.lease.Store(int64(o.Lease))
	return a.Queue.LeaseDecisions(ctx, o)
}

// TestLeaseDuration checks that one option sets the duration of leases, for taking them and for
// judging those of other servers.
func TestLeaseDuration(t *testing.T) {
	t.Parallel()
	inBubble(t, func(r *rig) {
		var lease atomic.Int64
		r.o.Lease = time.Minute
		r.q = shared{asked{r.q, &lease}, func() time.Duration { return 20 * time.Second }}
		d, _ := r.start()
		time.Sleep(2 * time.Second)
		synctest.Wait()
		if got := time.Duration(lease.Load()); got != time.Minute {
			t.Errorf("decisions are leased for %s, want 1m", got)
		}
		if got := d.Unrenewed(); len(got) != 1 {
			t.Errorf("a lease of 1m that ends in 20s: got %+v, want it to be overdue", got)
		}
	})
}

// TestLeaseLost checks that a server stops writing when another one has leased its decision
// early, although its own lease has not expired.
func TestLeaseLost(t *testing.T) {
	t.Parallel()
	inBubble(t, func(r *rig) {
		whole := r.q
		early := &stolen{Queue: whole}
		r.q = early
		r.enqueue(1)
		r.complete(1, addLabel, comment)
		begun := make(chan struct{}, 1)
		r.slow = 100 * time.Millisecond
		r.journal = &pausing{Journal: r.journal, at: 1, stand: func() { early.lost.Store(true); begun <- struct{}{} }}
		r.start()
		<-begun
		time.Sleep(time.Second)
		r.wrote(on(1, labelPost)...)
		if log := r.log(); !strings.Contains(log, "status=lost") {
			t.Errorf("got the log %s", log)
		}
	})
}

// A stolen queue acts as if another server had leased the decision, once lost is set.
type stolen struct {
	queue.Queue
	lost atomic.Bool
}

func (s *stolen) Renew(ctx context.Context, l queue.Lease, d time.Duration) (time.Time, error) {
	if s.lost.Load() {
		return time.Time{}, queue.ErrLost
	}
	return s.Queue.Renew(ctx, l, d)
}
