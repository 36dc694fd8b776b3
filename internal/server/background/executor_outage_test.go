package background_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/org/foreman-action/internal/github/githubtest"
	"github.com/org/foreman-action/internal/server/executor"
	"github.com/org/foreman-action/queue"
)

// TestOutage checks that no decision fails during an outage of GitHub, and that all are
// carried out soon after it. A decision that fails while others succeed uses up its tries.
func TestOutage(t *testing.T) {
	t.Parallel()
	const one, every = "/repos/*/*/issues/1", "/repos/*/*/issues/*"
	fault := func(f githubtest.Fault) func(*rig) {
		return func(r *rig) {
			if r.gh.Fault(f); f.Path != "" {
				f.Path += "/timeline"
				r.gh.Fault(f)
			}
		}
	}
	tests := []struct {
		name  string
		fault func(*rig)
		tasks int
		state queue.State // of task 1 after three hours of outage, with a new task every ten minutes
		most  int         // maximum number of calls in these three hours
	}{
		{"GitHub is down", fault(githubtest.Fault{Status: 503}), 10, queue.Completed, 2500},
		{"GitHub is down for the only one", fault(githubtest.Fault{Status: 500, Path: every}), 1, queue.Completed, 2500},
		{"GitHub cannot be reached", fault(githubtest.Fault{CutBefore: true}), 3, queue.Completed, 2500},
		{"the token is not good any more", fault(githubtest.Fault{Status: 401}), 3, queue.Completed, 1000},
		{"one issue cannot be read", fault(githubtest.Fault{Status: 500, Path: one}), 3, queue.Failed, 500},
		{"the settings cannot be had", func(r *rig) {
			r.o.Executor.Settings = func(context.Context, string, string) (executor.Settings, error) {
				return executor.Settings{}, errors.New("no token today")
			}
		}, 3, queue.Completed, 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			inBubble(t, func(r *rig) {
				tt.fault(r)
				var mended atomic.Bool
				settings := r.o.Executor.Settings
				r.o.Executor.Settings = func(ctx context.Context, name, agent string) (executor.Settings, error) {
					if settings != nil && !mended.Load() {
						return settings(ctx, name, agent)
					}
					return r.settings(ctx, name, agent)
				}
				for n := 1; n <= tt.tasks; n++ {
					r.enqueue(n)
					r.complete(n, comment)
				}
				r.start()
				for n := 31; n <= 48; n++ {
					time.Sleep(10 * time.Minute)
					r.enqueue(n)
					r.complete(n, comment)
				}
				r.is(1, tt.state)
				if got := len(r.gh.Log()); got > tt.most {
					t.Errorf("got %d calls", got)
				}
				if tt.state == queue.Failed {
					r.is(31, queue.Done)
					return
				}
				if strings.Contains(r.log(), "decision executed") {
					t.Errorf("an attempt that failed was logged as a success:\n%s", r.log())
				}
				r.gh.ClearFaults()
				mended.Store(true)
				time.Sleep(6 * time.Minute)
				for n := 1; n <= tt.tasks; n++ {
					r.is(n, queue.Done)
				}
			})
		})
	}
}

// TestOutageEnds checks that a decision whose issue can never be read fails in the end.
func TestOutageEnds(t *testing.T) {
	t.Parallel()
	inBubble(t, func(r *rig) {
		for _, path := range []string{"", "/timeline"} {
			r.gh.Fault(githubtest.Fault{Status: 500, Path: fmt.Sprintf("/repos/%s/issues/1%s", repo, path)})
		}
		r.enqueue(1)
		r.complete(1, comment)
		r.start()
		time.Sleep(23 * time.Hour)
		r.is(1, queue.Completed)
		time.Sleep(2 * time.Hour)
		r.is(1, queue.Failed)
	})
}
