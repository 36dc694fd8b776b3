package background_test

import (
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/org/foreman-action/agent"
	"github.com/org/foreman-action/harness/observe"
	"github.com/org/foreman-action/internal/server/dispatch"
	"github.com/org/foreman-action/internal/server/health"
	"github.com/org/foreman-action/protocol"
	"github.com/org/foreman-action/queue"
)

// A patient is a synchronous agent with configurable faults.
type patient struct {
	mu     sync.Mutex
	health int                   // status of GET /health; 0: 404
	sick   func(task string) int // status of POST /task for a task; 0: a decision
	busy   int                   // how many tasks it accepts at a time, others get 429; 0: any number
	takes  time.Duration
	fails  time.Duration  // how long a failure takes
	now    int            // tasks in progress
	asks   map[string]int // number of requests by task
}

func (p *patient) is(health int, sick func(task string) int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.health, p.sick = health, sick
}

// asked returns how many requests there were about tasks.
func (p *patient) asked() (n int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, asks := range p.asks {
		n += asks
	}
	return n
}

// requests returns the number of requests by task.
func (p *patient) requests() map[string]int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return maps.Clone(p.asks)
}

// begin accepts a task, or returns the status with which it refuses it.
func (p *patient) begin(task string) (status int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.asks[task]++
	if p.sick != nil {
		status = p.sick(task)
	}
	if p.busy > 0 && p.now >= p.busy {
		status = http.StatusTooManyRequests
	}
	p.now++
	return status
}

func (p *patient) serve(w http.ResponseWriter, r *http.Request) {
	if r.Method == http.MethodGet {
		p.mu.Lock()
		defer p.mu.Unlock()
		if p.health == 0 {
			p.health = http.StatusNotFound
		}
		w.WriteHeader(p.health)
		return
	}
	body, _ := io.ReadAll(r.Body)
	task, err := protocol.ParseTask(body)
	if err != nil {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	status := p.begin(task.TaskID)
	defer func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.now--
	}()
	switch status {
	case 0:
	case page:
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		_, _ = io.WriteString(w, "<!DOCTYPE html>\n<title>Down for maintenance</title>")
		return
	case otherJSON:
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{"status":"maintenance"}`)
		return
	case mistaken:
		w.Header().Set("Content-Type", "application/json")
		_, _ = fmt.Fprintf(w, `{"task_id":%q,"decision":"label\u001b[31m","rationale":"so","actions":[]}`, task.TaskID)
		return
	case largePage:
		_, _ = io.WriteString(w, "<!DOCTYPE html>"+strings.Repeat(" ", agent.DefaultMaxBytes))
		return
	case cached:
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{"task_id":"11111111-2222-4333-8444-555555555555","decision":"skip","rationale":"so","actions":[]}`)
		return
	default:
		time.Sleep(p.fails)
		w.WriteHeader(status)
		return
	}
	select {
	case <-time.After(p.takes):
	case <-r.Context().Done():
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_, _ = fmt.Fprintf(w, `{"task_id":%q,"decision":"skip","rationale":"so","actions":[]}`, task.TaskID)
}

// onPatient runs a test on a rig with a patient as its agent.
func onPatient(t *testing.T, test func(r *rig, p *patient)) {
	t.Helper()
	inBubble(t, func(r *rig) {
		p := &patient{asks: map[string]int{}}
		r.host.set("agent:9001", p.serve)
		r.o.Dispatch.Agents = func(a string) (dispatch.Agent, bool) {
			return dispatch.Agent{URL: a, Sync: true, Timeout: 55 * time.Second}, true
		}
		test(r, p)
	})
}

// enqueueTo adds the tasks about issues 1 to n.
func (r *rig) enqueueTo(n int) {
	r.t.Helper()
	for i := 1; i <= n; i++ {
		r.enqueue(i)
	}
}

// Negative values select an answer with status 200 that is not a decision by the agent.
const (
	page      = -1 // HTML
	otherJSON = -2
	largePage = -3
	cached    = -4 // the decision on another task
	mistaken  = -5 // a decision on the task, with a mistake
)

func always(status int) func(string) int { return func(string) int { return status } }

// TestAgentOutage checks that no task fails while an agent, or the proxy before it, is
// unavailable for an hour.
func TestAgentOutage(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name   string
		health int
		status int
		most   int           // maximum number of requests during the outage
		late   time.Duration // maximum delay of the last task after the outage
	}{
		{"behind a proxy", 502, 502, 8, 6 * time.Minute},
		{"being started", 503, 503, 8, 6 * time.Minute},
		{"behind a proxy that gives up", 504, 504, 8, 6 * time.Minute},
		{"well, by its own account", 200, 503, 40, 30 * time.Minute},
		{"without a page of its health", 404, 500, 40, 30 * time.Minute},
		{"that only answers posts", 405, 500, 40, 30 * time.Minute},
		{"limited", 200, 429, 40, 30 * time.Minute},
		{"moved", 200, 302, 40, 30 * time.Minute},
		{"behind a maintenance page", 503, page, 8, 6 * time.Minute},
		{"behind a maintenance page for every path", 200, page, 40, 30 * time.Minute},
		{"behind a proxy with other JSON", 200, otherJSON, 40, 30 * time.Minute},
		{"behind a large maintenance page", 200, largePage, 40, 30 * time.Minute},
		{"behind a cache", 200, cached, 40, 30 * time.Minute},
		{"behind a proxy that does not know it", 404, 404, 40, 30 * time.Minute},
		{"behind a proxy that wants another secret", 401, 401, 40, 30 * time.Minute},
		{"forbidden", 403, 403, 40, 30 * time.Minute},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			onPatient(t, func(r *rig, p *patient) {
				p.is(tt.health, always(tt.status))
				r.enqueueTo(20)
				r.start()
				time.Sleep(time.Hour)
				for n := 1; n <= 20; n++ {
					r.is(n, queue.Pending)
				}
				if got := p.asked(); got > tt.most {
					t.Errorf("it was asked %d times", got)
				}
				p.is(0, nil)
				time.Sleep(tt.late)
				for n := 1; n <= 20; n++ {
					r.is(n, queue.Done)
				}
				for text, want := range map[string]int{"breaker of an agent opened": 1, "breaker of an agent closed": 1} {
					if got := strings.Count(r.log(), text); got != want {
						t.Errorf("logged %q %d times, want %d\n%s", text, got, want, r.log())
					}
				}
				if opened, closed := r.observed(observe.BreakerOpened, ""), r.observed(observe.BreakerClosed, ""); opened != 1 || closed != 1 {
					t.Errorf("observed %d and %d changes of the circuit breaker", opened, closed)
				}
			})
		})
	}
}

// TestMaintenancePage checks that an answer that is not a decision is logged in one line.
func TestMaintenancePage(t *testing.T) {
	t.Parallel()
	onPatient(t, func(r *rig, p *patient) {
		p.is(404, always(page))
		r.enqueue(1)
		r.start()
		time.Sleep(time.Second / 2)
		for line := range strings.Lines(r.log()) {
			if strings.Contains(line, "breaker of an agent opened") {
				if want := `(text/html; charset=utf-8) starts \"<!DOCTYPE html> <title>Down for maintenance</title>`; !strings.Contains(line, want) {
					t.Errorf("got %s, want %s in it", line, want)
				}
				return
			}
		}
		t.Errorf("nothing was logged:\n%s", r.log())
	})
}

// TestAgentHangs checks that a time-out counts as an outage.
func TestAgentHangs(t *testing.T) {
	t.Parallel()
	onPatient(t, func(r *rig, p *patient) {
		p.takes = time.Hour
		r.enqueueTo(5)
		r.start()
		time.Sleep(2 * time.Hour)
		for n := 1; n <= 5; n++ {
			r.is(n, queue.Pending)
		}
	})
}

// TestPoison checks that tasks on which the agent always fails end as failed, and that the agent
// decides on the others.
func TestPoison(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name   string
		tasks  int // number of failing tasks, which are the oldest
		status int
		most   int // maximum number of requests about the first task
		within time.Duration
		fails  time.Duration // how long a failure takes
	}{
		{"wrong for this task", 1, 400, 3, 5 * time.Minute, 0},
		{"the agent falls over", 1, 500, 15, time.Hour, 0},
		{"a page for this task", 1, page, 15, time.Hour, 0},
		{"a refusal for this task", 1, 403, 15, time.Hour, 0},
		{"three", 3, 500, 20, 4 * time.Hour, 0},
		{"three that fail after the others", 3, 500, 20, 4 * time.Hour, time.Second},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			onPatient(t, func(r *rig, p *patient) {
				poison := map[string]int{}
				for n := 1; n <= tt.tasks; n++ {
					poison[id(n)] = tt.status
				}
				p.is(200, func(task string) int { return poison[task] })
				p.fails = tt.fails
				r.enqueueTo(20)
				r.start()
				time.Sleep(10 * time.Minute)
				for n := tt.tasks + 1; n <= 20; n++ {
					r.is(n, queue.Done)
				}
				for n := 21; n <= 50; n++ { // more tasks arrive
					r.enqueue(n)
					time.Sleep(tt.within / 30)
					r.is(n, queue.Done)
				}
				for n := 1; n <= tt.tasks; n++ {
					r.is(n, queue.Failed)
				}
				if got := p.requests()[id(1)]; got < 3 || got > tt.most {
					t.Errorf("asked %d times\n%s", got, r.log())
				}
			})
		})
	}
}

// TestManyPoison checks that tasks are decided even behind more failing tasks than an agent gets at
// a time. The failing tasks must fail in the end.
func TestManyPoison(t *testing.T) {
	t.Parallel()
	for _, status := range []int{500, 504, page} {
		t.Run(fmt.Sprint(status), func(t *testing.T) {
			t.Parallel()
			onPatient(t, func(r *rig, p *patient) {
				poison := map[string]int{}
				for n := 1; n <= 10; n++ {
					poison[id(n)] = status
				}
				p.is(200, func(task string) int { return poison[task] })
				r.enqueueTo(15)
				r.start()
				time.Sleep(5 * time.Hour)
				for n := 11; n <= 15; n++ {
					r.is(n, queue.Done)
				}
				for n := 16; n <= 40; n++ { // more tasks arrive
					r.enqueue(n)
					time.Sleep(20 * time.Minute)
					r.is(n, queue.Done)
				}
				for n := 1; n <= 10; n++ {
					r.is(n, queue.Failed)
				}
			})
		})
	}
}

// TestFarBehindPoison checks that a probe uses a task on which the agent has not failed, even behind
// many on which it has failed. A probe must not claim tasks that it does not send.
func TestFarBehindPoison(t *testing.T) {
	t.Parallel()
	onPatient(t, func(r *rig, p *patient) {
		const bad = 40
		p.is(200, func(task string) int {
			if task == id(bad+1) {
				return 0
			}
			return 502
		})
		r.enqueueTo(bad)
		r.start()
		time.Sleep(150 * time.Minute)
		if got := len(p.requests()); got != bad {
			t.Fatalf("the agent was asked about %d tasks, want %d", got, bad)
		}
		r.enqueue(bad + 1)
		list, err := r.q.Backlog(t.Context(), 2*bad)
		if err != nil || slices.Index(list[0].IDs, id(bad+1)) < bad/2 {
			t.Fatalf("got %+v, %v, want many tasks before the new one", list, err)
		}
		time.Sleep(health.MaxInterval + time.Second)
		r.is(bad+1, queue.Done)
		requests := p.requests()
		for n := 1; n <= bad; n++ {
			task, released := r.task(n), 0
			for _, e := range task.Log {
				if e.What == "released" {
					released++
				}
			}
			if asks := requests[id(n)]; task.Attempt != asks || released > asks {
				t.Errorf("issue %d: claimed %d times and released %d times; the agent was asked %d times", n, task.Attempt, released, asks)
			}
		}
	})
}

// TestProbeTaken checks that a probe uses the next task if another server claims the chosen one
// during the health check.
func TestProbeTaken(t *testing.T) {
	t.Parallel()
	onPatient(t, func(r *rig, p *patient) {
		p.is(200, always(502))
		var take sync.Once
		r.host.set("agent:9001", func(w http.ResponseWriter, req *http.Request) {
			if req.Method == http.MethodGet {
				take.Do(func() {
					o := queue.ClaimOptions{By: "another", Lease: time.Hour, Task: id(2)}
					if _, err := r.q.ClaimNext(t.Context(), agentURL, o); err != nil {
						t.Error(err)
					}
				})
			}
			p.serve(w, req)
		})
		r.enqueue(1)
		r.start()
		time.Sleep(time.Second / 2)
		p.is(200, nil)
		r.enqueue(2)
		time.Sleep(5 * time.Second / 2) // less than the interval between two rounds
		r.is(1, queue.Done)
		r.is(2, queue.Claimed)
		if got := p.requests(); got[id(1)] != 2 || got[id(2)] != 0 {
			t.Errorf("the agent was asked %v", got)
		}
	})
}

// TestAbsenceAhead checks that a task fails in the end although the clock was set back since
// the agent's outage began.
func TestAbsenceAhead(t *testing.T) {
	t.Parallel()
	onPatient(t, func(r *rig, p *patient) {
		r.o.Cursors = &marks{kept: map[string]string{"agent " + agentURL: time.Now().AddDate(1, 0, 0).UTC().Format(time.RFC3339Nano)}}
		p.is(404, always(503))
		r.enqueue(1)
		r.start()
		time.Sleep(25 * time.Hour)
		r.is(1, queue.Failed)
	})
}

// TestBusy checks an agent that accepts fewer tasks at a time than it is sent.
func TestBusy(t *testing.T) {
	t.Parallel()
	onPatient(t, func(r *rig, p *patient) {
		p.busy, p.takes = 2, 5*time.Second
		r.enqueueTo(60)
		r.start()
		time.Sleep(30 * time.Minute)
		for n := 1; n <= 60; n++ {
			r.is(n, queue.Done)
		}
	})
}

// TestLoneTask checks that the only task of a failing agent fails in the end, with the agent's last
// answer as its reason. Until then, an outage of the agent uses up no attempt.
func TestLoneTask(t *testing.T) {
	t.Parallel()
	refused := func(r *rig, _ *patient) { r.host.set("agent:9001", nil) }
	says := func(health, status int) func(*rig, *patient) {
		return func(_ *rig, p *patient) { p.is(health, always(status)) }
	}
	tests := []struct {
		name    string
		set     func(*rig, *patient)
		pending time.Duration // the task is pending at least until this time
		failed  time.Duration // the task has failed by this time
		reason  string
	}{
		{"it falls over", says(200, 500), 50 * time.Minute, 2 * time.Hour, "no decision after 3 failed attempts; last error: status 500 Internal Server Error"},
		{"it falls over, and is not well", says(500, 500), 23 * time.Hour, 25 * time.Hour, "no decision after 24 hours; last error: status 500"},
		{"it has too much to do", says(404, 503), 23 * time.Hour, 25 * time.Hour, "no decision after 24 hours; last error: status 503"},
		{"a proxy", says(502, 502), 23 * time.Hour, 25 * time.Hour, "no decision after 24 hours; last error: status 502"},
		{"limited", says(200, 429), 23 * time.Hour, 25 * time.Hour, "no decision after 24 hours; last error: status 429"},
		{"a maintenance page", says(200, page), 23 * time.Hour, 25 * time.Hour, "no decision after 24 hours; last error: not_json"},
		{"not there", refused, 23 * time.Hour, 25 * time.Hour, "no decision after 24 hours; last error: not reachable"},
		{"no answer", func(_ *rig, p *patient) { p.takes = time.Hour }, 23 * time.Hour, 25 * time.Hour, "no decision after 24 hours; last error: timeout"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			onPatient(t, func(r *rig, p *patient) {
				tt.set(r, p)
				r.enqueue(1)
				r.start()
				time.Sleep(tt.pending)
				r.is(1, queue.Pending)
				r.enqueue(2)
				time.Sleep(tt.failed - tt.pending)
				r.is(1, queue.Failed)
				if got := r.task(1).Reason; got != tt.reason {
					t.Errorf("got reason %q, want %q\n%s", got, tt.reason, r.log())
				}
				// Task 2 is younger and must not fail. After the outage, tasks 1 and 2 are decided.
				r.is(2, queue.Pending)
				p.is(0, nil)
				p.takes = 0
				r.host.set("agent:9001", p.serve)
				if _, err := r.q.Retry(r.t.Context(), queue.Seen{ID: id(1)}, "ada"); err != nil {
					t.Fatal(err)
				}
				time.Sleep(30 * time.Minute)
				r.is(1, queue.Done)
				r.is(2, queue.Done)
			})
		})
	}
}

// TestLastAnswer checks that the reason of a task that the agent answered wrongly contains the
// details of the last answer, on one line and without control characters.
func TestLastAnswer(t *testing.T) {
	t.Parallel()
	onPatient(t, func(r *rig, p *patient) {
		p.is(404, always(mistaken))
		r.enqueue(1)
		r.start()
		time.Sleep(2 * time.Hour)
		r.is(1, queue.Failed)
		const want = `no decision after 3 failed attempts; last error: invalid: decode decision: decision: want 'label_and_respond', 'close', 'escalate' or 'skip', got "label\x1b[31m"`
		if got := r.task(1).Reason; got != want {
			t.Errorf("got reason %q, want %q\n%s", got, want, r.log())
		}
	})
}

// TestAbsenceKept checks that the duration of an agent's outage is counted over restarts,
// and ends with the outage.
func TestAbsenceKept(t *testing.T) {
	t.Parallel()
	onPatient(t, func(r *rig, p *patient) {
		r.o.Cursors = &marks{}
		p.is(404, always(503))
		r.enqueue(1)
		for range 24 {
			_, stop := r.start()
			time.Sleep(time.Hour)
			stop()
		}
		r.is(1, queue.Pending)
		_, stop := r.start()
		time.Sleep(time.Hour)
		r.is(1, queue.Failed)
		stop()
		// The agent recovers while no server runs. A task that waits for more than a day does not
		// fail because of a short outage on the next day.
		p.is(404, nil)
		r.enqueue(2)
		r.enqueue(3, func(task *queue.Task) { task.Wait = 30 * time.Hour })
		_, stop = r.start()
		time.Sleep(29 * time.Hour)
		r.is(2, queue.Done)
		stop()
		p.is(404, always(503))
		r.start()
		time.Sleep(90 * time.Minute)
		r.is(3, queue.Pending)
		p.is(404, nil)
		time.Sleep(30 * time.Minute)
		r.is(3, queue.Done)
	})
}
