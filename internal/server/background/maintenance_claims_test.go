package background_test

import (
	"errors"
	"testing"
	"time"

	"github.com/org/foreman-action/queue"
)

// TestLongestClaim checks that an agent that sends heartbeats for ever loses its task after
// Options.MaxClaim.
func TestLongestClaim(t *testing.T) {
	t.Parallel()
	onBoth(t, func(r *rig) {
		r.o.MaxClaim = 2 * time.Hour
		r.enqueue(1)
		task, attempt := r.claim(queue.DefaultClaim)
		r.start()
		begin := time.Now()
		for {
			time.Sleep(time.Minute)
			err := r.q.Heartbeat(r.t.Context(), queue.Ref{ID: task, Attempt: attempt}, queue.DefaultClaim)
			if errors.Is(err, queue.ErrLost) {
				break
			}
			if err != nil || time.Since(begin) > 3*time.Hour {
				r.t.Fatalf("got %v after %s, want the claim to be lost", err, time.Since(begin))
			}
		}
		if took := time.Since(begin); took < 2*time.Hour || took > 2*time.Hour+2*time.Minute {
			r.t.Errorf("the claim was lost after %s, want 2 h", took)
		}
		r.is(1, queue.Pending)
	})
}
