package dispatch_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/org/foreman-action/harness/observe"
	"github.com/org/foreman-action/internal/server/dispatch"
	"github.com/org/foreman-action/protocol"
	"github.com/org/foreman-action/queue"
)

// A counted queue counts the calls with which a dispatcher looks for tasks.
type counted struct {
	queue.Queue
	onComplete func() // called by Complete; nil: nothing is called
	onEmpty    func() // called once, by the next ClaimNext without a task

	mu             sync.Mutex
	backlogs       int
	claimed, empty int   // calls of ClaimNext with and without a task
	broken         error // of ClaimNext
}

func (q *counted) Backlog(ctx context.Context, n int) ([]queue.Backlog, error) {
	q.mu.Lock()
	q.backlogs++
	q.mu.Unlock()
	return q.Queue.Backlog(ctx, n)
}

func (q *counted) ClaimNext(ctx context.Context, agent string, o queue.ClaimOptions) (queue.Claim, error) {
	q.mu.Lock()
	err := q.broken
	q.mu.Unlock()
	var c queue.Claim
	if err == nil {
		c, err = q.Queue.ClaimNext(ctx, agent, o)
	}
	q.mu.Lock()
	f := q.onEmpty
	if err == nil {
		q.claimed++
		f = nil
	} else {
		q.empty++
		q.onEmpty = nil
	}
	q.mu.Unlock()
	if f != nil {
		f()
	}
	return c, err
}

func (q *counted) Complete(ctx context.Context, ref queue.Ref, decision []byte) (queue.Receipt, error) {
	r, err := q.Queue.Complete(ctx, ref, decision)
	if q.onComplete != nil {
		q.onComplete()
	}
	return r, err
}

// counts returns the numbers of calls so far, and begins again with 0.
func (q *counted) counts() (backlogs, claimed, empty int) {
	q.mu.Lock()
	defer q.mu.Unlock()
	backlogs, claimed, empty = q.backlogs, q.claimed, q.empty
	q.backlogs, q.claimed, q.empty = 0, 0, 0
	return backlogs, claimed, empty
}

// breakClaims makes ClaimNext fail; nil ends that.
func (q *counted) breakClaims(err error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.broken = err
}

// agents are synchronous agents, which record when they were asked.
type agents struct {
	mu     sync.Mutex
	takes  map[string]time.Duration // by host
	vary   bool                     // tasks take between 150 and 250 ms
	status int                      // of every answer; 0: a decision
	now    map[string]int           // requests in progress, by host
	most   map[string]int           // maximum of now
	asked  map[string]time.Time     // when a task was last asked for, by its id
	times  int                      // number of requests
}

func newAgents() *agents {
	return &agents{takes: map[string]time.Duration{}, now: map[string]int{}, most: map[string]int{}, asked: map[string]time.Time{}}
}

// RoundTrip answers a request without a network.
func (a *agents) RoundTrip(r *http.Request) (*http.Response, error) {
	w := httptest.NewRecorder()
	if r.Method == http.MethodGet {
		w.WriteHeader(http.StatusOK)
		return w.Result(), nil
	}
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	task, err := protocol.ParseTask(body)
	if err != nil {
		return nil, err
	}
	host := r.URL.Hostname()
	a.mu.Lock()
	a.times++
	a.asked[task.TaskID] = time.Now()
	a.now[host]++
	a.most[host] = max(a.most[host], a.now[host])
	takes, status := a.takes[host], a.status
	if a.vary {
		takes = time.Duration(150+37*a.times%101) * time.Millisecond
	}
	a.mu.Unlock()
	defer func() {
		a.mu.Lock()
		a.now[host]--
		a.mu.Unlock()
	}()
	select {
	case <-time.After(takes):
	case <-r.Context().Done():
		return nil, r.Context().Err()
	}
	if status != 0 {
		w.WriteHeader(status)
		return w.Result(), nil
	}
	answer(w, task)
	return w.Result(), nil
}

func answer(w http.ResponseWriter, task protocol.TaskMessage) {
	w.Header().Set("Content-Type", "application/json")
	_, _ = fmt.Fprintf(w, `{"task_id":%q,"decision":"skip","rationale":"so","actions":[]}`, task.TaskID)
}

// answerWith makes all further answers have a status; 0: they are decisions.
func (a *agents) answerWith(status int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.status = status
}

// peak returns the most requests that an agent had at a time, and begins to count again.
func (a *agents) peak(host string) int {
	a.mu.Lock()
	defer a.mu.Unlock()
	most := a.most[host]
	a.most[host] = 0
	return most
}

// requests returns the number of requests, and begins to count again.
func (a *agents) requests() int {
	a.mu.Lock()
	defer a.mu.Unlock()
	times := a.times
	a.times = 0
	return times
}

// last returns when the last task was asked for.
func (a *agents) last() time.Time {
	a.mu.Lock()
	defer a.mu.Unlock()
	return slices.MaxFunc(slices.Collect(maps.Values(a.asked)), time.Time.Compare)
}

// run runs a dispatcher until the test ends.
func run(t *testing.T, q queue.Queue, o dispatch.Options) {
	t.Helper()
	o.Queue, o.ClaimTimeout, o.MaxClaims, o.Requeue = q, time.Hour, 3, func() {}
	d, err := dispatch.New(o)
	if err != nil {
		t.Fatal(err)
	}
	changes, stop := q.Watch()
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	var done sync.WaitGroup
	done.Go(func() { d.Run(ctx) })
	done.Go(func() {
		for c := range changes {
			d.Changed(c)
		}
	})
	t.Cleanup(func() {
		cancel()
		stop()
		done.Wait()
	})
}

// limitedTo returns the options of agents with a limit.
func limitedTo(most int) func(string) (dispatch.Agent, bool) {
	return func(address string) (dispatch.Agent, bool) {
		return dispatch.Agent{URL: address, Sync: true, Cap: most}, true
	}
}

// enqueue adds the tasks with the numbers from first to last for an agent.
func enqueue(t *testing.T, q queue.Queue, agent string, first, last int) {
	t.Helper()
	for n := first; n <= last; n++ {
		m, err := protocol.Encode(protocol.TaskMessage{TaskID: number(n), Type: protocol.TypeIssueTriage, Repo: "octo/hello"})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := q.Enqueue(t.Context(), queue.Task{ID: number(n), Agent: agent, Repo: "octo/hello", Issue: n, Message: m}); err != nil {
			t.Fatal(err)
		}
	}
}

func number(n int) string { return fmt.Sprintf("00000000-0000-4000-8000-%012d", n) }

const (
	quick = "http://quick:9001"
	slow  = "http://slow:9001"
)

// TestRefill checks when the tasks of synchronous agents are asked for, and how often the queue is asked
// for tasks meanwhile.
func TestRefill(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name string
		test func(t *testing.T, q *counted, a *agents)
	}{
		{"a free place is taken at once", func(t *testing.T, q *counted, a *agents) {
			a.takes["quick"] = 10 * time.Millisecond
			begin := time.Now()
			enqueue(t, q, quick, 1, 400)
			time.Sleep(time.Minute)
			// 4 at a time take a second. The first ones wait for the gap after the first check.
			if took := a.last().Sub(begin); took > 50*time.Millisecond+990*time.Millisecond || a.peak("quick") != 4 {
				t.Errorf("the last of 400 tasks was asked for after %s, at most %d at a time", took, a.peak("quick"))
			}
		}},
		{"an idle agent gets a task at once", func(t *testing.T, q *counted, a *agents) {
			a.takes["quick"] = 3 * time.Millisecond
			time.Sleep(time.Second)
			for n := 1; n <= 100; n++ {
				begin := time.Now()
				enqueue(t, q, quick, n, n)
				time.Sleep(7 * time.Millisecond)
				if at := a.last(); !at.Equal(begin) {
					t.Errorf("task %d was asked for after %s", n, at.Sub(begin))
				}
			}
			backlogs, claimed, empty := q.counts()
			if claimed != 100 || empty > 100 || backlogs > 5 {
				t.Errorf("%d claims, %d without a task, and %d checks of the backlog for 100 tasks in 0.7 s", claimed, empty, backlogs)
			}
		}},
		{"an empty queue is left alone", func(t *testing.T, q *counted, a *agents) {
			enqueue(t, q, quick, 1, 20)
			time.Sleep(time.Second)
			q.counts()
			time.Sleep(40 * time.Second)
			if backlogs, claimed, empty := q.counts(); backlogs > 11 || claimed+empty > 0 {
				t.Errorf("%d claims and %d checks of the backlog in 40 s", claimed+empty, backlogs)
			}
		}},
		{"a full agent causes no claims", func(t *testing.T, q *counted, a *agents) {
			a.takes["quick"] = time.Minute
			enqueue(t, q, quick, 1, 4)
			time.Sleep(time.Second)
			q.counts()
			for n := 5; n <= 204; n++ {
				enqueue(t, q, quick, n, n)
				time.Sleep(5 * time.Millisecond)
			}
			if backlogs, claimed, empty := q.counts(); backlogs > 20 || claimed+empty > 0 {
				t.Errorf("%d claims and %d checks of the backlog for 200 tasks in a second", claimed+empty, backlogs)
			}
		}},
		{"a burst for an idle agent", func(t *testing.T, q *counted, a *agents) {
			a.takes["quick"] = time.Second
			enqueue(t, q, quick, 1, 1)
			time.Sleep(1100 * time.Millisecond)
			enqueue(t, q, quick, 2, 2) // makes the dispatcher check the backlog, so that the next ones do not wait for it
			time.Sleep(100 * time.Millisecond)
			begin := time.Now()
			enqueue(t, q, quick, 3, 5)
			time.Sleep(time.Millisecond)
			if at := a.last(); !at.Equal(begin) || a.peak("quick") != 4 {
				t.Errorf("the last one was asked for after %s, %d at a time", at.Sub(begin), a.peak("quick"))
			}
		}},
		{"an agent that refuses its tasks gets no more of them", func(t *testing.T, q *counted, a *agents) {
			a.answerWith(http.StatusBadRequest)
			enqueue(t, q, quick, 1, 1000)
			time.Sleep(900 * time.Millisecond) // until the claims end that have to wait for the second try
			if n := a.requests(); n > 8 {
				t.Errorf("asked %d times", n)
			}
		}},
		{"an agent that fails is probed", func(t *testing.T, q *counted, a *agents) {
			a.answerWith(http.StatusServiceUnavailable)
			enqueue(t, q, quick, 1, 1000)
			time.Sleep(10 * time.Minute)
			if n := a.requests(); n < 5 || n > 20 {
				t.Errorf("asked %d times", n)
			}
			a.answerWith(0)
			time.Sleep(20 * time.Minute)
			if n := a.requests(); n < 980 {
				t.Errorf("asked for only %d tasks after the agent's return", n)
			}
		}},
		{"an agent with too much work", func(t *testing.T, q *counted, a *agents) {
			a.answerWith(http.StatusTooManyRequests)
			enqueue(t, q, quick, 1, 1000)
			time.Sleep(10 * time.Minute)
			if n := a.requests(); n < 5 || n > 20 {
				t.Errorf("asked %d times", n)
			}
		}},
		{"a claim fails", func(t *testing.T, q *counted, a *agents) {
			enqueue(t, q, quick, 1, 1)
			time.Sleep(100 * time.Millisecond)
			q.breakClaims(errors.New("the disk is full"))
			q.counts()
			for n := 2; n <= 201; n++ {
				enqueue(t, q, quick, n, n)
				time.Sleep(100 * time.Millisecond)
			}
			if _, _, empty := q.counts(); empty < 20 || empty > 100 { // 4 at a time, each second
				t.Errorf("%d tries in 20 s", empty)
			}
			q.breakClaims(nil)
			time.Sleep(2 * time.Second)
			if _, claimed, _ := q.counts(); claimed != 200 {
				t.Errorf("%d of 200 tasks were claimed", claimed)
			}
		}},
		{"a task is added during a search", func(t *testing.T, q *counted, a *agents) {
			enqueue(t, q, quick, 1, 1)
			time.Sleep(time.Second)
			enqueue(t, q, quick, 2, 2)
			time.Sleep(100 * time.Millisecond)
			var begin time.Time
			q.mu.Lock()
			q.onEmpty = func() {
				begin = time.Now()
				enqueue(t, q, quick, 4, 4)
				time.Sleep(time.Millisecond) // the dispatcher gets the change before the search ends
			}
			q.mu.Unlock()
			enqueue(t, q, quick, 3, 3)
			time.Sleep(10 * time.Millisecond)
			if at := a.last(); begin.IsZero() || !at.Equal(begin.Add(time.Millisecond)) {
				t.Errorf("the task was asked for after %s", at.Sub(begin))
			}
		}},
		{"a busy agent does not delay another one", func(t *testing.T, q *counted, a *agents) {
			a.takes["slow"] = time.Minute
			enqueue(t, q, quick, 1, 1)
			enqueue(t, q, slow, 2, 500)
			time.Sleep(90 * time.Second)
			enqueue(t, q, quick, 501, 501) // may wait for a check of the backlog
			time.Sleep(100 * time.Millisecond)
			begin := time.Now()
			enqueue(t, q, quick, 502, 502)
			time.Sleep(time.Millisecond)
			if at := a.last(); !at.Equal(begin) {
				t.Errorf("the quick agent waited for %s", time.Since(begin))
			}
			if n := a.peak("slow"); n != 4 {
				t.Errorf("the slow agent got %d tasks at a time", n)
			}
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				q, a := &counted{Queue: queue.New(queue.Options{})}, newAgents()
				run(t, q, dispatch.Options{Owner: "here", Agents: limitedTo(4), Transport: a})
				tt.test(t, q, a)
			})
		})
	}
}

// TestRefillOfTwoServers checks that two servers together keep the limit of an agent.
func TestRefillOfTwoServers(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		q, a := queue.New(queue.Options{}), newAgents()
		a.vary = true
		for _, owner := range []string{"here", "there"} {
			run(t, q, dispatch.Options{Owner: owner, Agents: limitedTo(4), Transport: a})
		}
		enqueue(t, q, quick, 1, 1000)
		time.Sleep(2 * time.Second) // both claimed tasks at the same moment
		a.peak("quick")
		a.requests()
		time.Sleep(20 * time.Second)
		if n := a.peak("quick"); n > 6 { // a check can see a place that its server takes again at the same moment
			t.Errorf("the agent got %d tasks at a time", n)
		}
		if n := a.requests(); n < 350 { // 400 if no place was ever free
			t.Errorf("the agent got %d tasks in 20 s", n)
		}
	})
}

// TestConnections checks that connections to a synchronous agent are used again, and that a connection
// that the agent closes without notice does not count as its failure.
func TestConnections(t *testing.T) {
	t.Parallel()
	const (
		most  = 6
		tasks = 30 * most
	)
	tests := []struct {
		name   string
		closes bool // the agent closes each connection after its answer
		want   int  // maximum number of connections
	}{
		// A request that begins while an answer ends may open a connection of its own.
		{"it keeps its connections", false, 2 * most},
		{"it closes its connections without notice", true, 2 * tasks},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			var mu sync.Mutex
			connections, asked, all := 0, map[string]int{}, make(chan struct{})
			srv := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				body, _ := io.ReadAll(r.Body)
				task, err := protocol.ParseTask(body)
				if err != nil {
					w.WriteHeader(http.StatusBadRequest)
					return
				}
				mu.Lock()
				asked[task.TaskID]++
				mu.Unlock()
				answer(w, task)
			}))
			srv.Config.ConnState = func(c net.Conn, s http.ConnState) {
				if s == http.StateNew {
					mu.Lock()
					connections++
					mu.Unlock()
				}
				if s == http.StateIdle && tt.closes {
					_ = c.Close()
				}
			}
			srv.Start()
			t.Cleanup(srv.Close)
			completed, done := 0, make(chan struct{})
			q := &counted{Queue: queue.New(queue.Options{}), onComplete: func() {
				mu.Lock()
				completed++
				here := all
				if completed%most == 0 {
					close(all)
					all = make(chan struct{})
				}
				if completed == tasks {
					close(done)
				}
				mu.Unlock()
				<-here // so that all connections are unused at the same time
			}}
			enqueue(t, q, srv.URL, 1, tasks)
			run(t, q, dispatch.Options{Agents: limitedTo(most), Observe: func(o observe.Observation) {
				if o.Event == observe.Notified && o.Status != "ok" || o.Event == observe.BreakerOpened {
					t.Errorf("got %v %s", o.Event, o.Status)
				}
			}})
			<-done
			mu.Lock()
			defer mu.Unlock()
			if connections > tt.want || len(asked) != tasks {
				t.Errorf("%d tasks over %d connections, want %d tasks over at most %d", len(asked), connections, tasks, tt.want)
			}
			for id, n := range asked {
				if n != 1 {
					t.Errorf("task %s was asked for %d times", id, n)
				}
			}
		})
	}
}
