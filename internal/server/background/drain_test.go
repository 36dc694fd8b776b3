package background_test

import (
	"net/http"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/org/foreman-action/internal/server/dispatch"
	"github.com/org/foreman-action/queue"
)

// TestDrain has a synchronous agent that is asked when the drain begins. Its answer is stored, and no
// other task is sent. The decision is carried out by this server only if it waits for all decisions.
func TestDrain(t *testing.T) {
	t.Parallel()
	for _, all := range []bool{true, false} {
		inBubble(t, func(r *rig) {
			d := &decider{takes: 30 * time.Second}
			r.host.set("agent:9001", d.serve)
			r.o.Dispatch.Agents = func(string) (dispatch.Agent, bool) { return dispatch.Agent{URL: agentURL, Sync: true}, true }
			s, _ := r.start()
			r.enqueue(1)
			time.Sleep(10 * time.Second)
			if asked, applying := s.InFlight(); asked != 1 || applying != 0 || d.asked() != 1 {
				t.Fatalf("asked %d, applying %d, the agent got %d tasks", asked, applying, d.asked())
			}
			s.Drain(all)
			r.enqueue(2)
			time.Sleep(2 * time.Minute)
			synctest.Wait()
			if asked, applying := s.InFlight(); asked != 0 || applying != 0 || d.asked() != 1 {
				t.Errorf("asked %d, applying %d, the agent got %d tasks", asked, applying, d.asked())
			}
			want := queue.Completed
			if all {
				want = queue.Done
			}
			r.is(1, want)
			r.is(2, queue.Pending)
		})
	}
}

// TestDrainNotifications checks that an agent is notified of no task after a drain began.
func TestDrainNotifications(t *testing.T) {
	t.Parallel()
	for _, draining := range []bool{false, true} {
		inBubble(t, func(r *rig) {
			var notified atomic.Int64
			r.host.set("agent:9001", func(http.ResponseWriter, *http.Request) { notified.Add(1) })
			s, _ := r.start()
			if draining {
				s.Drain(true)
			}
			r.enqueue(1)
			time.Sleep(time.Minute)
			if n := notified.Load(); (n == 0) != draining {
				t.Errorf("draining %t: notified %d times", draining, n)
			}
		})
	}
}
