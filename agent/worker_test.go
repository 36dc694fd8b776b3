package agent_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/org/foreman-action/agent"
	"github.com/org/foreman-action/protocol"
)

// skipAfter returns a DecideFunc that decides to skip after some time, or returns an error if ctx
// ends first.
func skipAfter(d time.Duration) agent.DecideFunc {
	return func(ctx context.Context, _ protocol.TaskMessage) (protocol.DecisionMessage, error) {
		select {
		case <-time.After(d):
			return protocol.DecisionMessage{Decision: protocol.Skip}, nil
		case <-ctx.Done():
			return protocol.DecisionMessage{}, context.Cause(ctx)
		}
	}
}

// pass lets time pass in a synctest bubble, and waits until every goroutine is blocked.
func pass(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}

// A running is a running worker in a synctest bubble.
type running struct {
	*agent.Worker
	stop context.CancelFunc
	done chan error
}

// run starts a worker with the harness. It must be called in a synctest bubble. The caller must
// call stop and receive from done before the bubble ends.
func run(t *testing.T, h *harness, o agent.WorkerOptions, c agent.ClientOptions) running {
	t.Helper()
	c.Transport = h
	o.Client = newClient(t, c)
	if o.Jitter == nil {
		o.Jitter = func() float64 { return 1 }
	}
	w, err := agent.NewWorker(o)
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	r := running{w, stop, make(chan error, 1)}
	go func() { r.done <- w.Run(ctx) }()
	return r
}

func (r running) end(t *testing.T) {
	t.Helper()
	r.stop()
	if err := <-r.done; err != nil {
		t.Errorf("Run: %v", err)
	}
}

func wantDecided(t *testing.T, h *harness, ids ...string) {
	t.Helper()
	if got := h.decided(); !slices.Equal(got, ids) {
		t.Errorf("got decisions on %v, want %v", got, ids)
	}
}

// TestDrain checks that a worker takes all waiting tasks at its start and calls Drained once. A
// nudge wakes it before its next poll.
func TestDrain(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := newHarness("a", "b", "c")
		drained := 0
		r := run(t, h, agent.WorkerOptions{Decide: skipAfter(time.Second), Drained: func() { drained++ }}, agent.ClientOptions{})
		pass(4 * time.Second)
		wantDecided(t, h, "a", "b", "c")
		if drained != 1 {
			t.Errorf("Drained was called %d times", drained)
		}
		h.add("d")
		r.Nudge()
		pass(2 * time.Second)
		wantDecided(t, h, "a", "b", "c", "d")
		h.add("e") // its nudge got lost
		pass(agent.DefaultPoll + 2*time.Second)
		wantDecided(t, h, "a", "b", "c", "d", "e")
		r.end(t)
		if n := h.count("/harness/result"); n != 5 || drained != 1 {
			t.Errorf("got %d results, drained %d times", n, drained)
		}
	})
}

// TestConcurrency checks that three tasks are worked on at the same time, and not more.
func TestConcurrency(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := newHarness("a", "b", "c", "d", "e", "f")
		var now, most atomic.Int32
		decide := func(ctx context.Context, task protocol.TaskMessage) (protocol.DecisionMessage, error) {
			most.Store(max(most.Load(), now.Add(1)))
			defer now.Add(-1)
			return skipAfter(time.Second)(ctx, task)
		}
		r := run(t, h, agent.WorkerOptions{Decide: decide, Concurrency: 3}, agent.ClientOptions{})
		pass(2500 * time.Millisecond)
		wantDecided(t, h, "a", "b", "c", "d", "e", "f")
		if most.Load() != 3 {
			t.Errorf("got %d at a time, want 3", most.Load())
		}
		r.end(t)
	})
}

// TestHeartbeats checks that a slow task keeps its claim, even if some heartbeats fail. The
// worker sends a heartbeat every 25 s, or every third of a shorter lease.
func TestHeartbeats(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name      string
		published bool
		lease     time.Duration // 0: that of newHarness
		lose      int           // number of failing heartbeats of three
		least     int
	}{
		{"short lease", false, 0, 0, 10},
		{"lossy", false, 0, 2, 8},
		{"lease", false, 300 * time.Second, 0, 4},
		{"published", true, 300 * time.Second, 0, 4},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				h := newHarness("a")
				h.published = tt.published
				h.lease = cmp.Or(tt.lease, h.lease)
				beats := 0
				h.fault = func(path string) int {
					if path != "/queue/heartbeat" {
						return 0
					}
					beats++
					if beats%3 < tt.lose {
						return -1
					}
					return 0
				}
				r := run(t, h, agent.WorkerOptions{Decide: skipAfter(104 * time.Second)}, agent.ClientOptions{})
				pass(105 * time.Second)
				wantDecided(t, h, "a")
				if n := h.tasks[0].attempt; n != 1 {
					t.Errorf("the task was handed out %d times", n)
				}
				if n := h.count("/queue/heartbeat"); n < tt.least {
					t.Errorf("got %d heartbeats, want %d", n, tt.least)
				}
				r.end(t)
			})
		})
	}
}

// TestLongLease uses a claim that expires later than a time.Time can represent.
func TestLongLease(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := newHarness("a")
		h.seconds = math.MaxInt
		r := run(t, h, agent.WorkerOptions{Decide: skipAfter(time.Hour)}, agent.ClientOptions{})
		pass(2 * time.Hour)
		wantDecided(t, h, "a")
		if n := h.count("/queue/heartbeat"); n > 144 {
			t.Errorf("%d heartbeats were sent in an hour, want one every 25 s", n)
		}
		r.end(t)
	})
}

// TestLost checks that work on a task ends when the claim is lost, and that no decision is sent.
func TestLost(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := newHarness("a")
		causes := make(chan error, 1)
		decide := func(ctx context.Context, _ protocol.TaskMessage) (protocol.DecisionMessage, error) {
			<-ctx.Done()
			causes <- context.Cause(ctx)
			return protocol.DecisionMessage{Decision: protocol.Skip}, nil
		}
		r := run(t, h, agent.WorkerOptions{Decide: decide}, agent.ClientOptions{})
		synctest.Wait()
		h.mu.Lock()
		h.tasks[0].attempt++ // another agent has it now
		h.tasks[0].until = time.Now().Add(time.Hour)
		h.mu.Unlock()
		if err := <-causes; !errors.Is(err, agent.ErrLost) {
			t.Errorf("got cause %v, want ErrLost", err)
		}
		r.end(t)
		if n := h.count("/queue/complete"); n != 0 {
			t.Errorf("%d decisions were handed in", n)
		}
	})
}

// TestAdopt checks that a worker that claims a task again while it works on it does not start the
// work again. The work continues with the new claim.
func TestAdopt(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := newHarness("a")
		down := true
		h.fault = func(path string) int {
			if down && path == "/queue/heartbeat" {
				return 503
			}
			return 0
		}
		calls := 0
		decide := func(ctx context.Context, task protocol.TaskMessage) (protocol.DecisionMessage, error) {
			calls++
			return skipAfter(100*time.Second)(ctx, task)
		}
		r := run(t, h, agent.WorkerOptions{Decide: decide, Concurrency: 2}, agent.ClientOptions{})
		pass(50 * time.Second)
		h.locked(func() { down = false })
		pass(60 * time.Second)
		wantDecided(t, h, "a")
		if h.tasks[0].attempt < 2 || calls != 1 {
			t.Errorf("claimed %d times and decided %d times, want 2 or more and 1", h.tasks[0].attempt, calls)
		}
		r.end(t)
	})
}

// TestAdoptAtStart checks a worker that claims a task which it works on already. It does not
// conclude that the queue is empty: it claims the next task at once, and calls Drained only
// afterwards.
func TestAdoptAtStart(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := newHarness("a", "b")
		asked := 0
		h.fault = func(path string) int {
			if path == "/queue/next" {
				if asked++; asked == 2 {
					h.tasks[0].until = time.Time{} // the harness hands it out again
				}
			}
			return 0
		}
		left := -1
		r := run(t, h, agent.WorkerOptions{Decide: skipAfter(time.Second), Concurrency: 2, Drained: func() {
			left = 0
			for _, q := range h.tasks {
				if q.attempt == 0 {
					left++
				}
			}
		}}, agent.ClientOptions{})
		pass(2 * time.Second)
		wantDecided(t, h, "a", "b")
		if left != 0 || h.tasks[0].attempt != 2 {
			t.Errorf("%d tasks were left when the agent was ready, want 0; the first was claimed %d times, want 2", left, h.tasks[0].attempt)
		}
		r.end(t)
	})
}

// TestTransient checks that a decision is sent again as long as the claim is valid, and that a
// lost answer does no harm.
func TestTransient(t *testing.T) {
	t.Parallel()
	for _, status := range []int{-1, 500, 503, 429, 404} {
		t.Run(fmt.Sprint(status), func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				h := newHarness("a")
				tries := 0
				h.fault = func(path string) int {
					if path != "/queue/complete" {
						return 0
					}
					if tries++; tries < 5 {
						return status
					}
					return 0
				}
				calls := 0
				r := run(t, h, agent.WorkerOptions{Decide: func(ctx context.Context, task protocol.TaskMessage) (protocol.DecisionMessage, error) {
					calls++
					return skipAfter(time.Second)(ctx, task)
				}}, agent.ClientOptions{})
				pass(time.Minute)
				wantDecided(t, h, "a")
				if calls != 1 || tries != 5 || h.tasks[0].attempt != 1 {
					t.Errorf("decided %d times, handed in %d times, claimed %d times", calls, tries, h.tasks[0].attempt)
				}
				r.end(t)
			})
		})
	}
}

// TestLateDecision checks that a decision survives an outage of the harness that is longer than the
// claim: it is sent afterwards, and the task is not decided again. Without a number of the claim a
// harness could not refuse it, so it is sent in time only.
func TestLateDecision(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name      string
		published bool
		lasts     time.Duration
		decided   int // calls of Decide
	}{
		{"longer than the claim", false, 10 * time.Minute, 1},
		{"very long", false, 2 * time.Hour, 2},
		{"a harness that does not count claims", true, 10 * time.Minute, 2},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				h, begin, calls := newHarness("a"), time.Now(), 0
				h.published = tt.published
				h.fault = func(string) int {
					if since := time.Since(begin); since > time.Second && since < tt.lasts {
						return http.StatusServiceUnavailable
					}
					return 0
				}
				r := run(t, h, agent.WorkerOptions{Decide: func(ctx context.Context, task protocol.TaskMessage) (protocol.DecisionMessage, error) {
					calls++
					return skipAfter(2*time.Second)(ctx, task)
				}}, agent.ClientOptions{})
				pass(tt.lasts + time.Minute)
				wantDecided(t, h, "a")
				if calls != tt.decided {
					t.Errorf("decided %d times, want %d", calls, tt.decided)
				}
				r.end(t)
			})
		})
	}
}

// TestDown checks that a worker asks a harness that is down less and less often. When the harness
// is up again, the worker takes its tasks, at once after a nudge.
func TestDown(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := newHarness("a")
		asked, down := 0, true
		h.fault = func(string) int {
			asked++
			if down {
				return -1
			}
			return 0
		}
		r := run(t, h, agent.WorkerOptions{Decide: skipAfter(0)}, agent.ClientOptions{})
		pass(time.Hour)
		if asked < 100 || asked > 130 { // after 1, 2, 4, 8, 16, then every 30 s
			t.Errorf("asked %d times in an hour", asked)
		}
		h.locked(func() { down = false })
		r.Nudge()
		synctest.Wait()
		pass(time.Millisecond)
		wantDecided(t, h, "a")
		r.end(t)
	})
}

// TestRetryAfter checks that a worker asks a harness again when it says, so that it does not idle for
// half a minute after the outage, and that a long outage makes few lines in the log.
func TestRetryAfter(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name   string
		header func() string
		times  int // requests in the hour of the outage, with the longest jitter
	}{
		{"seconds", func() string { return "1" }, 2400},
		{"a date", func() string { return time.Now().Add(10 * time.Second).UTC().Format(http.TimeFormat) }, 240},
		{"longer than the longest backoff", func() string { return "3600" }, 120},
		{"out of range", func() string { return "99999999999999999999" }, 124}, // the backoff
		{"nonsense", func() string { return "soon" }, 124},
		{"negative", func() string { return "-1" }, 124},
		{"a date in the past", func() string { return "Thu, 01 Jan 1970 00:00:00 GMT" }, 124},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				h := newHarness("a")
				asked, down := 0, true
				h.fault = func(string) int {
					if !down {
						return 0
					}
					asked++
					return http.StatusServiceUnavailable
				}
				h.faultHeader = func() http.Header { return http.Header{"Retry-After": {tt.header()}} }
				var log strings.Builder
				r := run(t, h, agent.WorkerOptions{Decide: skipAfter(0), Log: slog.New(slog.NewTextHandler(&log, nil))}, agent.ClientOptions{})
				pass(time.Hour - time.Millisecond)
				if asked != tt.times {
					t.Errorf("asked %d times in an hour, want %d", asked, tt.times)
				}
				if n := strings.Count(log.String(), "cannot claim a task"); n > 12 {
					t.Errorf("got %d lines in the log", n)
				}
				h.locked(func() { down = false })
				pass(30 * time.Second)
				wantDecided(t, h, "a")
				r.end(t)
			})
		})
	}
}

// TestRefused checks that a worker ends when the harness rejects it.
func TestRefused(t *testing.T) {
	t.Parallel()
	for _, status := range []int{401, 403, 422} {
		synctest.Test(t, func(t *testing.T) {
			h := newHarness()
			h.fault = func(string) int { return status }
			r := run(t, h, agent.WorkerOptions{Decide: skipAfter(0)}, agent.ClientOptions{})
			e, ok := errors.AsType[*agent.ClientError](<-r.done)
			if !ok || e.Status != status || e.Retryable() {
				t.Errorf("got %v, want status %d", e, status)
			}
			r.stop()
		})
	}
}
