package api_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/org/foreman-action/internal/server/access"
	"github.com/org/foreman-action/internal/server/api"
	"github.com/org/foreman-action/queue"
	"github.com/org/foreman-action/store/sqlite"
)

// A poll is a request that waits for a task.
type poll struct {
	*httptest.ResponseRecorder
	started time.Time
	took    time.Duration
	done    chan struct{}
}

// startPoll sends a request in a goroutine, inside of a bubble of package synctest.
func startPoll(ctx context.Context, h http.Handler, wait string) *poll {
	p := &poll{ResponseRecorder: httptest.NewRecorder(), started: time.Now(), done: make(chan struct{})}
	r := httptest.NewRequestWithContext(ctx, http.MethodPost, "http://localhost/queue/next?wait="+wait, strings.NewReader(`{"agent_url":"http://a:9001"}`))
	r.Header.Set("Content-Type", "application/json")
	go func() {
		defer close(p.done)
		h.ServeHTTP(p, r)
		p.took = time.Since(p.started)
	}()
	synctest.Wait()
	return p
}

func (p *poll) want(t *testing.T, status int, took time.Duration) {
	t.Helper()
	<-p.done
	if p.Code != status || p.took != took {
		t.Errorf("got %d after %v, want %d after %v: %s", p.Code, p.took, status, took, p.Body)
	}
}

func enqueue(t *testing.T, q queue.Queue, n int, wait time.Duration) {
	t.Helper()
	id := taskID(n)
	if _, err := q.Enqueue(t.Context(), queue.Task{ID: id, Agent: "http://a:9001", Repo: "o/r", Issue: n, Message: message(id, n, 0), Wait: wait}); err != nil {
		t.Fatal(err)
	}
}

// deaf is a queue that reports no changes.
type deaf struct{ queue.Queue }

func (deaf) Watch() (<-chan queue.Change, func()) { return make(chan queue.Change), func() {} }

func TestWait(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name string
		deaf bool
		test func(t *testing.T, s *api.Server, q queue.Queue)
	}{
		{"there is a task", false, func(t *testing.T, s *api.Server, q queue.Queue) {
			enqueue(t, q, 1, 0)
			startPoll(t.Context(), s, "30s").want(t, http.StatusOK, 0)
		}},
		{"a task comes", false, func(t *testing.T, s *api.Server, q queue.Queue) {
			p := startPoll(t.Context(), s, "30s")
			time.Sleep(700 * time.Millisecond)
			enqueue(t, q, 1, 0)
			p.want(t, http.StatusOK, 700*time.Millisecond)
		}},
		{"none comes", false, func(t *testing.T, s *api.Server, _ queue.Queue) {
			startPoll(t.Context(), s, "30s").want(t, http.StatusNoContent, 30*time.Second)
		}},
		{"longer than the limit", false, func(t *testing.T, s *api.Server, _ queue.Queue) {
			startPoll(t.Context(), s, "1h").want(t, http.StatusNoContent, 50*time.Second) // less than the minute of proxies
		}},
		{"not at all", false, func(t *testing.T, s *api.Server, _ queue.Queue) {
			startPoll(t.Context(), s, "0s").want(t, http.StatusNoContent, 0)
		}},
		{"a change is missed", true, func(t *testing.T, s *api.Server, q queue.Queue) {
			p := startPoll(t.Context(), s, "30s")
			time.Sleep(300 * time.Millisecond)
			enqueue(t, q, 1, 0)
			p.want(t, http.StatusOK, time.Second)
		}},
		{"several changes are missed", true, func(t *testing.T, s *api.Server, q queue.Queue) {
			one, other := startPoll(t.Context(), s, "30s"), startPoll(t.Context(), s, "30s")
			enqueue(t, q, 1, 0)
			enqueue(t, q, 2, 0)
			one.want(t, http.StatusOK, time.Second)
			other.want(t, http.StatusOK, time.Second)
		}},
		{"one that is held back", false, func(t *testing.T, s *api.Server, q queue.Queue) {
			p := startPoll(t.Context(), s, "30s")
			enqueue(t, q, 1, 2500*time.Millisecond)
			p.want(t, http.StatusOK, 3*time.Second)
		}},
		{"as many as wait, at once", false, func(t *testing.T, s *api.Server, q queue.Queue) {
			polls := make([]*poll, 5)
			for i := range polls {
				polls[i] = startPoll(t.Context(), s, "30s")
			}
			for i := range polls {
				enqueue(t, q, i+1, 0)
			}
			seen := map[string]bool{}
			for _, p := range polls {
				p.want(t, http.StatusOK, 0)
				seen[p.Body.String()] = true
			}
			if len(seen) != len(polls) {
				t.Errorf("got %d tasks, want %d", len(seen), len(polls))
			}
		}},
		{"the client goes", false, func(t *testing.T, s *api.Server, q queue.Queue) {
			ctx, cancel := context.WithCancel(t.Context())
			gone, stays := startPoll(ctx, s, "30s"), startPoll(t.Context(), s, "30s")
			cancel()
			<-gone.done
			enqueue(t, q, 1, 0)
			stays.want(t, http.StatusOK, 0)
		}},
		{"the server stops", false, func(t *testing.T, s *api.Server, _ queue.Queue) {
			p, other := startPoll(t.Context(), s, "30s"), startPoll(t.Context(), s, "30s")
			time.Sleep(time.Second)
			s.Stop()
			p.want(t, http.StatusNoContent, time.Second)
			other.want(t, http.StatusNoContent, time.Second)
			startPoll(t.Context(), s, "30s").want(t, http.StatusNoContent, 0)
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				var q queue.Queue = queue.New(queue.Options{})
				if tt.deaf {
					q = deaf{q}
				}
				s, err := api.New(api.Options{Queue: q})
				if err != nil {
					t.Fatal(err)
				}
				tt.test(t, s, q)
				synctest.Wait() // the bubble fails the test if a goroutine is left
			})
		})
	}
}

// TestClaimOnce has 50 agents that claim one task through two servers, which share a queue in
// memory or a file. Only one agent must get the task.
func TestClaimOnce(t *testing.T) {
	t.Parallel()
	memory := queue.New(queue.Options{})
	path := filepath.Join(t.TempDir(), "queue.db")
	for name, queues := range map[string][]queue.Queue{"memory": {memory, memory}, "sqlite": {openFile(t, path), openFile(t, path)}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			enqueue(t, queues[0], 1, 0)
			var servers []*api.Server
			for _, q := range queues {
				s, err := api.New(api.Options{Queue: q})
				if err != nil {
					t.Fatal(err)
				}
				servers = append(servers, s)
			}
			var mu sync.Mutex
			got := map[int]int{}
			var all sync.WaitGroup
			for i := range 50 {
				all.Go(func() {
					w := httptest.NewRecorder()
					servers[i%2].ServeHTTP(w, post("/queue/next", `{"agent_url":"http://a:9001"}`))
					mu.Lock()
					defer mu.Unlock()
					got[w.Code]++
				})
			}
			all.Wait()
			if fmt.Sprint(got) != "map[200:1 204:49]" {
				t.Errorf("got %v", got)
			}
		})
	}
}

func openFile(t *testing.T, path string) queue.Queue {
	t.Helper()
	q, err := sqlite.Open(t.Context(), path, sqlite.Options{Now: time.Now})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = q.Close() })
	return q.Queue()
}

func post(path, body string) *http.Request {
	r := httptest.NewRequest(http.MethodPost, "http://localhost"+path, strings.NewReader(body))
	r.Header.Set("Content-Type", "application/json")
	return r
}

// leaves is a queue whose caller disconnects while a task is claimed.
type leaves struct {
	queue.Queue

	leave context.CancelFunc
}

func (l leaves) ClaimNext(ctx context.Context, agent string, o queue.ClaimOptions) (queue.Claim, error) {
	l.leave()
	return l.Queue.ClaimNext(context.WithoutCancel(ctx), agent, o)
}

// TestGone checks that the task of a client that disconnected before the answer is released.
func TestGone(t *testing.T) {
	t.Parallel()
	q := queue.New(queue.Options{})
	enqueue(t, q, 1, 0)
	ctx, leave := context.WithCancel(t.Context())
	s, err := api.New(api.Options{Queue: leaves{q, leave}})
	if err != nil {
		t.Fatal(err)
	}
	w := httptest.NewRecorder()
	s.ServeHTTP(w, post("/queue/next", `{"agent_url":"http://a:9001"}`).WithContext(ctx))
	if w.Code != http.StatusServiceUnavailable {
		t.Errorf("got %d: %s", w.Code, w.Body)
	}
	d, err := q.Inspect(t.Context(), taskID(1))
	if err != nil || d.State != queue.Pending {
		t.Errorf("got %s, %v, want it pending as before", d.State, err)
	}
}

// TestDrain ends the handing out of tasks while agents wait. A later poll waits for a few seconds, so
// that an agent does not ask again at once.
func TestDrain(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		q := queue.New(queue.Options{})
		s, err := api.NewAgents(api.AgentOptions{Queue: q, Authorize: func(*http.Request) (access.Caller, error) { return access.Caller{}, nil }})
		if err != nil {
			t.Fatal(err)
		}
		enqueue(t, q, 1, 0)
		startPoll(t.Context(), s, "30s").want(t, http.StatusOK, 0)
		waits := startPoll(t.Context(), s, "30s")
		time.Sleep(time.Second)
		s.Drain()
		enqueue(t, q, 2, 0)
		waits.want(t, http.StatusNoContent, time.Second)
		startPoll(t.Context(), s, "30s").want(t, http.StatusNoContent, 5*time.Second)
		startPoll(t.Context(), s, "1s").want(t, http.StatusNoContent, time.Second)
		last := startPoll(t.Context(), s, "0s")
		last.want(t, http.StatusNoContent, 0)
		if got := last.Header().Get("Connection"); got != "close" {
			t.Errorf("Connection: %q, want close", got)
		}
		complete := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "http://localhost/queue/complete", strings.NewReader(`{"task_id":"`+taskID(1)+`","decision":"skip","rationale":"so","actions":[]}`))
		complete.Header.Set("Content-Type", "application/json")
		w := httptest.NewRecorder()
		if s.ServeHTTP(w, complete); w.Code != http.StatusAccepted {
			t.Errorf("complete: %d %s", w.Code, w.Body)
		}
		s.Drain() // changes nothing
		held := startPoll(t.Context(), s, "30s")
		s.Stop()
		held.want(t, http.StatusNoContent, 0)
	})
}
