package background_test

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/org/foreman-action/queue"
)

// A tally records when GitHub received writes.
type tally struct {
	mu    sync.Mutex
	times []time.Time
}

func (y *tally) note(*http.Request) error {
	y.mu.Lock()
	defer y.mu.Unlock()
	y.times = append(y.times, time.Now())
	return nil
}

// within checks the number of writes in every minute and every hour, and their total.
func (y *tally) within(t *testing.T, perMinute, perHour, all int) {
	t.Helper()
	y.mu.Lock()
	defer y.mu.Unlock()
	for i, at := range y.times {
		if i >= perMinute && at.Sub(y.times[i-perMinute]) < time.Minute || i >= perHour && at.Sub(y.times[i-perHour]) < time.Hour {
			t.Errorf("write %d came too early: %s", i+1, at)
		}
	}
	if len(y.times) != all {
		t.Errorf("got %d writes, want %d", len(y.times), all)
	}
}

// TestRateShared checks that two servers share the writes of their account.
func TestRateShared(t *testing.T) {
	t.Parallel()
	onAll(t, func(r *rig) {
		var y tally
		r.onWrite = y.note
		r.o.Executor.PerMinute, r.o.Executor.PerHour, r.o.Executor.Concurrency = 5, 20, 4
		for n := 1; n <= 40; n++ {
			r.enqueue(n)
			r.complete(n, comment)
		}
		r.start()
		r.start()
		time.Sleep(3 * time.Hour)
		y.within(r.t, 5, 20, 40)
		for n := 1; n <= 40; n++ {
			if got := r.task(n); got.State != queue.Done || got.Tries != 0 {
				r.t.Errorf("issue %d: got %s after %d tries", n, got.State, got.Tries)
			}
		}
	})
}

// TestRateRestart checks that writes before a restart count against the rate after it.
func TestRateRestart(t *testing.T) {
	t.Parallel()
	onAll(t, func(r *rig) {
		var y tally
		r.onWrite = y.note
		r.o.Executor.PerMinute, r.o.Executor.PerHour = 5, 8
		for n := 1; n <= 16; n++ {
			r.enqueue(n)
			r.complete(n, comment)
			_, stop := r.start()
			time.Sleep(time.Second)
			stop()
		}
		r.start()
		time.Sleep(4 * time.Hour)
		y.within(r.t, 5, 8, 16)
	})
}

// cutSlots are slots that are unavailable while cut returns true.
type cutSlots struct {
	queue.Slots
	cut   func() bool
	asked atomic.Int64
}

func (s *cutSlots) TakeSlot(ctx context.Context, r queue.SlotRequest) (time.Duration, bool, error) {
	s.asked.Add(1)
	if s.cut() {
		<-ctx.Done()
		return 0, false, errors.Join(queue.ErrUnavailable, ctx.Err())
	}
	return s.Slots.TakeSlot(ctx, r)
}

// TestRateCutOff checks that a server applies the rate by its own count while the database
// does not answer, and that its writes of that time are recorded later.
func TestRateCutOff(t *testing.T) {
	t.Parallel()
	onBoth(t, func(r *rig) {
		start := time.Now()
		var y tally
		r.onWrite = y.note
		r.o.Executor.PerMinute, r.o.Executor.PerHour, r.o.Executor.Concurrency = 5, 20, 4
		slots := r.o.Executor.Slots
		r.o.Executor.Slots = &cutSlots{Slots: slots, cut: func() bool { return time.Since(start) < 3*time.Minute }}
		for n := 1; n <= 10; n++ {
			r.enqueue(n)
			r.complete(n, comment)
		}
		_, stop := r.start()
		time.Sleep(170 * time.Second)
		y.within(r.t, 5, 20, 10)
		time.Sleep(20 * time.Second)
		r.enqueue(11)
		r.complete(11, comment)
		synctest.Wait()
		r.is(11, queue.Done)
		stop()
		// The next server counts all eleven.
		r.o.Executor.Slots = slots
		for n := 12; n <= 30; n++ {
			r.enqueue(n)
			r.complete(n, comment)
		}
		r.start()
		time.Sleep(35 * time.Minute)
		y.within(r.t, 5, 20, 20)
		time.Sleep(2 * time.Hour)
		y.within(r.t, 5, 20, 30)
		if n := strings.Count(r.log(), "counting writes in the database failed"); n != 1 {
			r.t.Errorf("it was said %d times\n%s", n, r.log())
		}
		if n := strings.Count(r.log(), "rate limit of writes is shared with other servers again"); n != 1 {
			r.t.Errorf("the end was said %d times", n)
		}
	})
}

// TestRateOfRequests checks that only writes to GitHub take a slot, one transaction each. Reads,
// and actions that only write to the memory, take none.
func TestRateOfRequests(t *testing.T) {
	t.Parallel()
	onBoth(t, func(r *rig) {
		r.config = "policy: {allow_close: true, limits: {never_again: 3}}\nagent: {may: [add_label, never_again, close_issue, comment]}\n"
		r.o.Executor.PerMinute, r.o.Executor.PerHour = 2, 2
		slots := &cutSlots{Slots: r.o.Executor.Slots, cut: func() bool { return false }}
		r.o.Executor.Slots = slots
		never := func(label string) string { return `{"type":"never_again","label":"` + label + `"}` }
		r.enqueue(1)
		r.complete(1, never("a"), never("b"), never("c"), addLabel, comment)
		r.enqueue(2)
		r.complete(2, never("a"))
		r.start()
		synctest.Wait()
		r.is(1, queue.Done)
		r.wrote(on(1, labelPost, talkPost)...)
		if rep := r.report(1); rep.Executed != 5 || slots.asked.Load() != 2 {
			r.t.Errorf("executed %d, asked %d times\n%+v", rep.Executed, slots.asked.Load(), rep.Actions)
		}
		r.is(2, queue.Done) // needs no slot, and none is left
		if slots.asked.Load() != 2 {
			r.t.Errorf("asked %d times", slots.asked.Load())
		}
	})
}
