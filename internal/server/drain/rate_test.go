package drain_test

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/org/foreman-action/internal/github/githubtest"
	"github.com/org/foreman-action/internal/server/drain"
	"github.com/org/foreman-action/queue"
)

// TestTurned spreads those who have to come back over an hour, and not beyond.
func TestTurned(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		list := drain.Turned(t.Context(), 20000, 80, 500)
		if len(list) != 20000 || list[0] != time.Minute || list[80] != 2*time.Minute {
			t.Fatalf("got %d, the first %s, %s", len(list), list[0], list[80])
		}
		for i, wait := range list {
			if wait > time.Hour || i > 0 && wait < list[i-1] {
				t.Fatalf("number %d is to wait for %s, the one before for %s", i, wait, list[i-1])
			}
		}
	})
}

// early notes what the log says before a decision is given back.
type early struct {
	queue.Queue
	r    *rig
	said bool
}

func (q *early) Release(ctx context.Context, h queue.Hold, p queue.Postponement) error {
	q.said = q.said || strings.Contains(q.r.log(), "decision carried out")
	return q.Queue.Release(ctx, h, p)
}

// TestLogAfter says that a decision is tried again when that is durable.
func TestLogAfter(t *testing.T) {
	t.Parallel()
	inBubble(t, func(r *rig) {
		q := &early{Queue: r.q, r: r}
		r.q = q
		r.gh.Fault(githubtest.Fault{Method: "POST", Status: 500, Times: 3})
		r.enqueue(1)
		r.complete(1, comment)
		_, stop := r.start()
		time.Sleep(10 * time.Second)
		stop()
		if q.said || !strings.Contains(r.log(), "status=again") {
			t.Errorf("got %s", r.log())
		}
	})
}
