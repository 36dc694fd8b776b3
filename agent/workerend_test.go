package agent_test

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/org/foreman-action/agent"
	"github.com/org/foreman-action/internal/wait"
	"github.com/org/foreman-action/protocol"
)

// TestStop checks what happens to the current task when the worker stops.
func TestStop(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name  string
		grace time.Duration
		takes time.Duration
		after time.Duration // until Run returns
		want  []string
	}{
		{"finishes", 0, 5 * time.Second, 4 * time.Second, []string{"a"}},
		{"gives up", 0, time.Hour, agent.DefaultGrace, nil},
		{"at once", -1, 5 * time.Second, 0, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				h := newHarness("a", "b")
				r := run(t, h, agent.WorkerOptions{Decide: skipAfter(tt.takes), Grace: tt.grace}, agent.ClientOptions{})
				pass(time.Second)
				start := time.Now()
				r.end(t)
				if got := time.Since(start); got != tt.after {
					t.Errorf("Run returned after %v, want %v", got, tt.after)
				}
				wantDecided(t, h, tt.want...)
				if h.tasks[1].attempt != 0 {
					t.Error("another task was claimed")
				}
			})
		})
	}
}

// TestBadDecide checks that an error, a panic or a wrong decision does not end the worker, and
// that no decision is sent then.
func TestBadDecide(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := newHarness("error", "panic", "wrong", "good")
		decide := func(_ context.Context, task protocol.TaskMessage) (protocol.DecisionMessage, error) {
			d := protocol.DecisionMessage{Decision: protocol.Skip}
			switch task.TaskID {
			case "error":
				return d, errors.New("no idea")
			case "panic":
				panic("no idea at all")
			case "wrong":
				d.TaskID = "good"
			}
			return d, nil
		}
		r := run(t, h, agent.WorkerOptions{Decide: decide}, agent.ClientOptions{})
		pass(time.Second)
		wantDecided(t, h, "good")
		r.end(t)
	})
}

// TestEnds checks what the worker logs about the end of a task, and how often it sends the decision.
func TestEnds(t *testing.T) {
	t.Parallel()
	const lost, open = `level=WARN msg="task lost; dropping its decision"`, `level=ERROR msg="task not decided; it is requeued when its claim expires"`
	requeue := func(h *harness, attempts int) { // the harness can hand the task out again, or has given it to another agent
		h.tasks[0].attempt += attempts
		h.tasks[0].until = time.Now().Add(time.Duration(attempts) * time.Hour)
	}
	tests := []struct {
		name  string
		takes time.Duration                 // of Decide
		fault func(*harness, string) int    // as in harness
		hold  func(*harness, *agent.Worker) // called at the first try to send the decision
		want  string                        // a log line
		sent  int                           // decisions that reached the harness
		after time.Duration                 // when the end is in the log; 0: 20 s
	}{
		{"decided", time.Second, nil, nil, "level=INFO msg=decided", 1, 0},
		{"lost", 15 * time.Second, func(h *harness, path string) int {
			if path == "/queue/heartbeat" {
				requeue(h, 1)
			}
			return 0
		}, nil, lost, 0, 0},
		{"lost when decided", time.Second, func(h *harness, path string) int {
			if path == "/queue/complete" {
				requeue(h, 1)
			}
			return 0
		}, nil, lost, 1, 0},
		{"claimed again", time.Second, nil, func(h *harness, w *agent.Worker) {
			h.locked(func() { requeue(h, 0) })
			w.Nudge()
			time.Sleep(time.Second)
		}, "level=INFO msg=decided", 2, 0},
		{"claim expires", time.Second, func(h *harness, path string) int {
			if path == "/queue/next" && h.tasks[0].attempt == 0 {
				return 0
			}
			return 503
		}, nil, open, 0, 2 * time.Hour},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				h, log := newHarness("a"), new(bytes.Buffer)
				started := make(chan *agent.Worker, 1)
				if tt.fault != nil {
					h.fault = func(path string) int { return tt.fault(h, path) }
				}
				var once sync.Once
				h.hold = func(_ context.Context, path string) error {
					if path == "/queue/complete" && tt.hold != nil {
						once.Do(func() { tt.hold(h, <-started) })
					}
					return nil
				}
				decide := func(ctx context.Context, _ protocol.TaskMessage) (protocol.DecisionMessage, error) {
					_ = wait.For(ctx, tt.takes)
					return protocol.DecisionMessage{Decision: protocol.Skip}, nil
				}
				r := run(t, h, agent.WorkerOptions{Decide: decide, Concurrency: 2, Log: slog.New(slog.NewTextHandler(log, nil))}, agent.ClientOptions{})
				started <- r.Worker
				pass(cmp.Or(tt.after, 20*time.Second))
				if n := h.count("/queue/complete"); n != tt.sent || !strings.Contains(log.String(), tt.want) {
					t.Errorf("the decision was sent %d times, want %d, and this in the log: %s; got:\n%s", n, tt.sent, tt.want, log)
				}
				r.end(t)
			})
		})
	}
}

// TestStopLog checks what the worker logs when it is stopped.
func TestStopLog(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name  string
		tasks []string
		want  string
	}{
		{"while it asks for a task", nil, ""},
		{"while it works", []string{"a"}, `level=WARN msg="task abandoned; it is requeued when its claim expires" task_id=a`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				h, log := newHarness(tt.tasks...), new(bytes.Buffer)
				h.hold = func(ctx context.Context, path string) error {
					if path == "/queue/next" && len(tt.tasks) == 0 {
						<-ctx.Done()
					}
					return ctx.Err()
				}
				decide := func(ctx context.Context, _ protocol.TaskMessage) (protocol.DecisionMessage, error) {
					<-ctx.Done()
					return protocol.DecisionMessage{Decision: protocol.Skip}, nil
				}
				r := run(t, h, agent.WorkerOptions{Decide: decide, Log: slog.New(slog.NewTextHandler(log, nil))}, agent.ClientOptions{})
				pass(time.Second)
				r.end(t)
				if got := log.String(); !strings.Contains(got, tt.want) || tt.want == "" && got != "" {
					t.Errorf("got the log %q, want %q", got, tt.want)
				}
			})
		})
	}
}

// TestDefaultLog checks that a worker without a log reports errors and panics of Decide to the
// program's default log, with the task and the stack.
//
//nolint:paralleltest // it replaces the default log
func TestDefaultLog(t *testing.T) {
	before, log := slog.Default(), new(bytes.Buffer)
	slog.SetDefault(slog.New(slog.NewTextHandler(log, nil)))
	defer slog.SetDefault(before)
	synctest.Test(t, func(t *testing.T) {
		decide := func(_ context.Context, task protocol.TaskMessage) (protocol.DecisionMessage, error) {
			if task.TaskID == "panics" {
				panic("no idea at all")
			}
			return protocol.DecisionMessage{}, errors.New("no idea")
		}
		r := run(t, newHarness("fails", "panics"), agent.WorkerOptions{Decide: decide}, agent.ClientOptions{})
		pass(time.Second)
		r.end(t)
	})
	for _, want := range []string{`task_id=fails error="no idea"`, "task_id=panics", "no idea at all", "workerend_test.go"} {
		if !strings.Contains(log.String(), want) {
			t.Errorf("the log has no %q:\n%s", want, log)
		}
	}
}

// TestLongPoll checks that a worker asks a harness with long polling again at once. It waits
// before it asks a harness without long polling again.
func TestLongPoll(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := newHarness()
		waits, drained := true, time.Duration(-1)
		start := time.Now()
		var mu sync.Mutex
		h.hold = func(ctx context.Context, path string) error {
			mu.Lock()
			d := time.Duration(0)
			if waits && path == "/queue/next?wait=30s" { // the first request has no wait
				d = 30 * time.Second
			}
			mu.Unlock()
			select {
			case <-time.After(d):
				return nil
			case <-ctx.Done():
				return ctx.Err()
			}
		}
		r := run(t, h, agent.WorkerOptions{Decide: skipAfter(0), Drained: func() { drained = time.Since(start) }}, agent.ClientOptions{Wait: 30 * time.Second})
		pass(10*time.Minute + time.Second)
		if n := h.count("/queue/next"); n != 21 || drained != 0 {
			t.Errorf("asked %d times in ten minutes, want 21; drained after %v", n, drained)
		}
		mu.Lock()
		waits = false
		mu.Unlock()
		pass(10 * time.Minute)
		if n := h.count("/queue/next"); n > 45 {
			t.Errorf("asked %d times in twenty minutes", n)
		}
		r.end(t)
	})
}

func TestNewWorkerErrors(t *testing.T) {
	t.Parallel()
	c := newClient(t, agent.ClientOptions{})
	tests := []agent.WorkerOptions{
		{}, {Client: c}, {Decide: skipAfter(0)},
		{Client: c, Decide: skipAfter(0), Concurrency: -1},
		{Client: c, Decide: skipAfter(0), Poll: -1},
	}
	for i, o := range tests {
		if _, err := agent.NewWorker(o); err == nil {
			t.Errorf("options %d: got no error", i)
		}
	}
}

// TestLongPollCapped checks that a worker asks again at once after a harness has waited for less time
// than the worker wants, as foremand does.
func TestLongPollCapped(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := newHarness()
		h.hold = func(ctx context.Context, path string) error {
			if path == "/queue/next" {
				return nil // the first request has no wait
			}
			select {
			case <-time.After(50 * time.Second):
				return nil
			case <-ctx.Done():
				return ctx.Err()
			}
		}
		r := run(t, h, agent.WorkerOptions{Decide: skipAfter(0)}, agent.ClientOptions{Wait: 5 * time.Minute})
		pass(10*time.Minute + time.Second)
		if n := h.count("/queue/next"); n != 13 {
			t.Errorf("asked %d times in ten minutes, want 13", n)
		}
		r.end(t)
	})
}
