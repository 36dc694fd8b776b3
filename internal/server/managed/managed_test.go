package managed_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/org/foreman-action/internal/secret"
	"github.com/org/foreman-action/internal/server/managed"
)

// An engine is a fake. It ends each container after the container's time in lives.
type engine struct {
	mu      sync.Mutex
	lives   []time.Duration // lifetimes of the containers, in order; further ones do not exit
	fail    int             // how many calls of Start fail; -1: all
	loses   []error         // errors of Wait, one per call; nil: it waits
	down    int             // how many calls of Ping and RemoveAll fail
	downAt  int             // number of the failing call of Ping or RemoveAll, from 1; 0: none
	asked   int
	left    []string
	waits   int
	started int
	removed []string
}

func (e *engine) Ping(context.Context) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.asked++; e.down > 0 || e.asked == e.downAt {
		e.down--
		return errors.New("no socket")
	}
	return nil
}

func (e *engine) RemoveAll(ctx context.Context, _ string) ([]string, error) {
	return e.left, e.Ping(ctx)
}

func (e *engine) Start(_ context.Context, owner string, a managed.Agent) (string, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.fail != 0 {
		e.fail--
		return "", errors.New("no such image")
	}
	e.started++
	return fmt.Sprintf("%s-%s-%d", owner, a.Name, e.started), nil
}

func (e *engine) Wait(ctx context.Context, _ string) (int64, string, error) {
	e.mu.Lock()
	if e.waits++; e.waits <= len(e.loses) && e.loses[e.waits-1] != nil {
		e.mu.Unlock()
		return 0, "", e.loses[e.waits-1]
	}
	life := time.Duration(1<<62 - 1)
	if e.started <= len(e.lives) {
		life = e.lives[e.started-1]
	}
	e.mu.Unlock()
	select {
	case <-ctx.Done():
		return 0, "", ctx.Err()
	case <-time.After(life):
		return 3, "bye, hunter2", nil
	}
}

func (e *engine) Remove(ctx context.Context, id string) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.removed = append(e.removed, id)
	return ctx.Err()
}

// States with their reasons, as in the log.
const (
	ended = "unhealthy: it ended with exit code 3: bye, ***"
	again = "starting: it ended with exit code 3: bye, ***; restarting"
	lost  = "waiting: it ended while the engine did not answer, or another program removed it"
)

// A journal is a log that reports the states of agents.
type journal struct {
	slog.Handler
	told func(state, reason string)
}

// newJournal returns a log that calls told for each logged change of an agent's state.
func newJournal(told func(state, reason string)) *slog.Logger {
	return slog.New(journal{slog.DiscardHandler, told})
}

// Enabled implements slog.Handler.
func (journal) Enabled(context.Context, slog.Level) bool { return true }

// Handle implements slog.Handler.
func (j journal) Handle(_ context.Context, r slog.Record) error {
	of := map[string]string{}
	r.Attrs(func(a slog.Attr) bool { of[a.Key] = a.Value.String(); return true })
	if r.Message == "managed agent" {
		j.told(of["state"], of["reason"])
	}
	return nil
}

const forever = 100 * time.Hour

func TestSupervisor(t *testing.T) {
	t.Parallel()
	well := func(context.Context, string) error { return nil }
	errDown := errors.New("no socket")
	tests := []struct {
		name   string
		engine *engine
		health func(context.Context, string) error
		run    time.Duration
		want   []string // sequence of logged states
		states managed.State
		starts int
	}{
		{"runs", &engine{lives: []time.Duration{forever}}, well, time.Hour, []string{"healthy"}, managed.Healthy, 1},
		{"restarted once after the engine was", &engine{lives: []time.Duration{time.Minute, time.Minute, forever}, downAt: 2}, well, time.Hour,
			[]string{"healthy", ended, "waiting: the engine does not answer: no socket", "starting: the engine started it", "healthy", ended, again, "healthy"}, managed.Healthy, 3},
		{"restarted once", &engine{lives: []time.Duration{time.Minute, forever}}, well, time.Hour,
			[]string{"healthy", ended, again, "healthy"}, managed.Healthy, 2},
		{"failed the second time", &engine{lives: []time.Duration{time.Minute, time.Minute}}, well, time.Hour,
			[]string{"healthy", ended, again, "healthy", ended, "failed" + strings.TrimPrefix(ended, "unhealthy")}, managed.Failed, 2},
		{"the image comes later", &engine{fail: 9}, well, time.Hour,
			[]string{"waiting: no such image", "starting: the engine started it", "healthy"}, managed.Healthy, 1},
		{"the image never comes", &engine{fail: -1}, well, 10 * time.Hour, []string{"waiting: no such image"}, managed.Waiting, 0},
		{"the engine comes later", &engine{down: 3}, well, time.Hour,
			[]string{"waiting: the containers of an earlier run cannot be removed: no socket", "starting: the engine started it", "healthy"}, managed.Healthy, 1},
		{"the engine lost it, and it runs", &engine{loses: []error{errDown, errDown}}, well, time.Hour, []string{"healthy"}, managed.Healthy, 1},
		{"it ended with the engine", &engine{loses: []error{errDown}, lives: []time.Duration{0}}, well, time.Hour,
			[]string{"healthy", lost, "starting: the engine started it", "healthy"}, managed.Healthy, 2},
		{"it is gone", &engine{loses: []error{errDown, managed.ErrNotFound}}, well, time.Hour,
			[]string{"healthy", lost, "starting: the engine started it", "healthy"}, managed.Healthy, 2},
		{"slow to start", &engine{}, after(29 * time.Second), time.Hour, []string{"healthy"}, managed.Healthy, 1},
		{"too slow to start", &engine{}, after(10 * time.Minute), time.Hour, []string{"unhealthy: not well", "healthy"}, managed.Healthy, 1},
		{"still starting", &engine{}, after(forever), 10 * time.Second, nil, managed.Starting, 1},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				var went []string
				f, err := managed.New(managed.Options{
					Engine: tt.engine, Owner: "me", Health: tt.health,
					Agents: []managed.Agent{{Name: "a", Port: 9001, HarnessURL: "http://x:hunter2@h", Env: map[string]secret.Text{"K": "hunter2"}}},
					Log: newJournal(func(state, reason string) {
						went = append(went, strings.TrimSuffix(state+": "+reason, ": "))
					}),
				})
				if err != nil {
					t.Fatal(err)
				}
				ctx, stop := context.WithCancel(t.Context())
				done := make(chan error)
				go func() { done <- f.Run(ctx) }()
				time.Sleep(tt.run)
				synctest.Wait()
				if got := f.Statuses()[0].State; got != tt.states {
					t.Errorf("state %s, want %s", got, tt.states)
				}
				select {
				case err := <-done:
					t.Fatalf("the supervisor ended before the server: %v", err)
				default:
				}
				if diff := cmp.Diff(tt.want, went); diff != "" {
					t.Errorf("states (-want +got):\n%s", diff)
				}
				stop()
				if err := <-done; err != nil {
					t.Error(err)
				}
				if tt.engine.started != tt.starts || len(tt.engine.removed) != tt.starts {
					t.Errorf("%d started and %v removed, want %d", tt.engine.started, tt.engine.removed, tt.starts)
				}
			})
		})
	}
}

// after returns a health check that succeeds after a while.
func after(d time.Duration) func(context.Context, string) error {
	var once sync.Once
	var from time.Time
	return func(context.Context, string) error {
		once.Do(func() { from = time.Now() })
		if time.Since(from) < d {
			return errors.New("not well")
		}
		return nil
	}
}

func TestNewNeedsAnEngine(t *testing.T) {
	t.Parallel()
	if _, err := managed.New(managed.Options{}); err == nil {
		t.Error("no engine is no error")
	}
}
