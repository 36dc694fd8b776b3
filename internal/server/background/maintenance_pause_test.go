package background_test

import (
	"context"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/org/foreman-action/internal/server/maintenance"
	"github.com/org/foreman-action/queue"
)

// TestPauseEnds resumes without a report of the queue, as a command does: the services are woken once for
// each pause that ended.
func TestPauseEnds(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		q := queue.New(queue.Options{})
		var woken atomic.Int64
		m, err := maintenance.New(maintenance.Options{Queue: q, Cursors: &marks{}, Pauses: q, ClaimTimeout: time.Hour, Requeued: func() { woken.Add(1) }})
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan struct{})
		go func() {
			defer close(done)
			m.Run(ctx)
		}()
		everything, rules := queue.Scope{Kind: queue.ScopeEverything}, queue.Scope{Kind: queue.ScopeRules}
		steps := []struct {
			pause, resume []queue.Scope
			want          int64
		}{
			{nil, nil, 0},
			{[]queue.Scope{everything, rules}, nil, 0},
			{nil, []queue.Scope{rules}, 1},
			{nil, nil, 1},
			{[]queue.Scope{rules}, []queue.Scope{everything}, 2},
			{nil, []queue.Scope{rules}, 3},
		}
		for i, step := range steps {
			for _, s := range step.pause {
				if _, _, err := q.Pause(ctx, s, "ann", ""); err != nil {
					t.Error(err)
				}
			}
			for _, s := range step.resume {
				if _, _, err := q.Resume(ctx, s); err != nil {
					t.Error(err)
				}
			}
			time.Sleep(2 * time.Second)
			if got := woken.Load(); got != step.want {
				t.Errorf("step %d: woken %d times, want %d", i, got, step.want)
			}
		}
		cancel()
		<-done
	})
}
