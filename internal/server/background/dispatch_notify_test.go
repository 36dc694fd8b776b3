package background_test

import (
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/org/foreman-action/harness/observe"
	"github.com/org/foreman-action/internal/server/dispatch"
	"github.com/org/foreman-action/internal/server/health"
	"github.com/org/foreman-action/queue"
)

// A listener is an agent that only records notifications.
type listener struct {
	mu     sync.Mutex
	heard  []string // bodies
	times  []time.Time
	status int // status of its answers; 0: 202
}

func (l *listener) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.heard = append(l.heard, r.Method+" "+r.URL.Path+" "+string(body))
	l.times = append(l.times, time.Now())
	if l.status == 0 {
		l.status = http.StatusAccepted
	}
	w.WriteHeader(l.status)
	_, _ = io.WriteString(w, "whatever")
}

// all returns the requests since the last call.
func (l *listener) all() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	heard := l.heard
	l.heard, l.times = nil, nil
	return heard
}

func (l *listener) answers(status int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.status = status
}

func nudge(issue int) string { return fmt.Sprintf(`POST /task {"task_id":%q}`, id(issue)) }

// heard fails the test unless the agent received exactly these requests since the last call.
func (r *rig) heard(l *listener, want ...string) {
	r.t.Helper()
	synctest.Wait()
	if got := l.all(); !slices.Equal(got, want) {
		r.t.Errorf("heard %q, want %q", got, want)
	}
}

// TestNudges checks the wire document's requirements for claims and nudges. Each case has the
// number of its check.
func TestNudges(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name string
		test func(r *rig, l *listener)
	}{
		{"27 a claim runs out", func(r *rig, _ *listener) {
			r.o.ClaimTimeout, r.o.Maintenance.RequeueInterval = 2*time.Second, time.Second
			r.start()
			r.enqueue(1)
			r.claim(2 * time.Second)
			time.Sleep(3100 * time.Millisecond)
			if task, attempt := r.claim(2 * time.Second); task != id(1) || attempt != 2 {
				r.t.Errorf("got %q, attempt %d", task, attempt)
			}
		}},
		{"28 a claim with heartbeats does not", func(r *rig, _ *listener) {
			r.o.ClaimTimeout, r.o.Maintenance.RequeueInterval = 2*time.Second, time.Second
			r.start()
			r.enqueue(1)
			r.claim(2 * time.Second)
			for range 6 {
				time.Sleep(time.Second)
				if err := r.q.Heartbeat(r.t.Context(), queue.Ref{ID: id(1)}, 2*time.Second); err != nil {
					r.t.Error(err)
				}
			}
			r.is(1, queue.Claimed)
		}},
		{"29 a task is handed out three times", func(r *rig, _ *listener) {
			r.start()
			r.enqueue(1)
			for n := 1; n <= 3; n++ {
				if task, _ := r.claim(5 * time.Minute); task != id(1) {
					r.t.Errorf("claim %d: got %q", n, task)
				}
				time.Sleep(7 * time.Minute)
			}
			r.is(1, queue.Failed)
			if task, _ := r.claim(time.Minute); task != "" {
				r.t.Errorf("got %s", task)
			}
			if n := r.observed(observe.Requeued, "failed"); n != 1 {
				r.t.Errorf("got %d failed", n)
			}
		}},
		{"30 a requeued task is announced", func(r *rig, l *listener) {
			r.start()
			synctest.Wait() // the start extends existing claims, so claim after it
			r.enqueue(1)
			r.claim(time.Minute)
			r.heard(l)
			time.Sleep(2*time.Minute + time.Second)
			if len(l.all()) == 0 {
				r.t.Error("heard nothing")
			}
		}},
		{"31 a lost nudge is repeated in five seconds", func(r *rig, l *listener) {
			l.answers(http.StatusInternalServerError)
			r.start()
			r.enqueue(1)
			time.Sleep(time.Minute)
			l.answers(http.StatusAccepted)
			l.all()
			time.Sleep(5 * time.Second)
			if len(l.all()) == 0 {
				r.t.Error("heard nothing")
			}
		}},
		{"31 a task that is not fetched is announced in five seconds", func(r *rig, l *listener) {
			r.enqueue(1) // before the start, because a check of an empty queue would delay the nudge
			r.start()
			r.heard(l, nudge(1))
			time.Sleep(4999 * time.Millisecond)
			r.heard(l, nudge(1))
			r.claim(time.Hour)
			time.Sleep(time.Minute)
			r.heard(l)
		}},
		{"31 a nudge is repeated in five seconds, though something else happens meanwhile", func(r *rig, l *listener) {
			r.enqueue(1) // before the start, because a check of an empty queue would delay the nudge
			r.start()
			r.heard(l, nudge(1))
			time.Sleep(3 * time.Second)
			r.enqueue(2)
			r.heard(l, nudge(2))
			time.Sleep(1999 * time.Millisecond)
			r.heard(l, nudge(1))
		}},
		{"34 a nudge is a post of the id, at once, and of nothing else", func(r *rig, l *listener) {
			r.start()
			time.Sleep(time.Minute)
			r.enqueue(1)
			r.heard(l, nudge(1))
		}},
		{"35 it can be claimed from within the nudge", func(r *rig, _ *listener) {
			r.host.set("agent:9001", func(w http.ResponseWriter, _ *http.Request) {
				if task, _ := r.claim(time.Hour); task != id(1) {
					r.t.Errorf("got %q", task)
				}
				w.WriteHeader(http.StatusAccepted)
			})
			r.start()
			r.enqueue(1)
			time.Sleep(time.Second)
			r.is(1, queue.Claimed)
		}},
		{"36 whatever the agent answers, the task waits", func(r *rig, l *listener) {
			r.start()
			r.enqueue(1)
			for _, status := range []int{404, 500, 301, 200} {
				l.answers(status)
				time.Sleep(time.Minute)
				r.is(1, queue.Pending)
			}
			r.host.set("agent:9001", nil)
			time.Sleep(time.Minute)
			r.is(1, queue.Pending)
			for status, least := range map[string]int{"status 404": 10, "status 500": 10, "status 301": 10, "ok": 10, "not reachable": 10} {
				if got := r.observed(observe.Notified, status); got < least {
					r.t.Errorf("%s: got %d times", status, got)
				}
			}
			for text, want := range map[string]int{`level=INFO msg="notified an agent of a task"`: 1, `level=WARN msg="could not notify an agent of a task"`: 4} {
				if n := strings.Count(r.log(), text); n != want {
					r.t.Errorf("logged %s %d times, want %d, once for each change:\n%s", text, n, want, r.log())
				}
			}
		}},
		{"an agent that was down for an hour gets all", func(r *rig, l *listener) {
			up := l.ServeHTTP
			r.host.set("agent:9001", nil)
			r.start()
			for n := 1; n <= 20; n++ {
				r.enqueue(n)
			}
			time.Sleep(time.Hour)
			if n := r.observed(observe.Notified, "not reachable"); n > 1000 {
				r.t.Errorf("it was tried %d times", n)
			}
			r.host.set("agent:9001", func(w http.ResponseWriter, req *http.Request) {
				up(w, req)
				r.claim(time.Hour)
			})
			time.Sleep(5 * time.Second)
			if got := len(l.all()); got != 8 {
				r.t.Errorf("heard %d times, want as many as it may have", got)
			}
			for n := 1; n <= 8; n++ {
				r.complete(n)
			}
			time.Sleep(time.Second)
			if got := len(l.all()); got != 8 {
				r.t.Errorf("heard %d times when it had room again", got)
			}
		}},
		{"one that does not answer gets one nudge in a round", func(r *rig, l *listener) {
			l.answers(http.StatusInternalServerError)
			r.start()
			for n := 1; n <= 20; n++ {
				r.enqueue(n)
			}
			time.Sleep(41 * time.Second)
			if got := len(l.all()); got < 9 || got > 13 {
				r.t.Errorf("heard %d times", got)
			}
		}},
		{"one that takes for ever delays no other", func(r *rig, l *listener) {
			r.host.set("hole:9001", func(_ http.ResponseWriter, req *http.Request) { <-req.Context().Done() })
			r.start()
			for n := 1; n <= 10; n++ {
				r.enqueue(n, func(task *queue.Task) { task.Agent = "http://hole:9001" })
			}
			time.Sleep(time.Second)
			r.enqueue(20)
			time.Sleep(100 * time.Millisecond)
			r.heard(l, nudge(20))
			time.Sleep(time.Minute)
			if got := r.observed(observe.Notified, "no answer within 5s"); got < 6 || got > 13 {
				r.t.Errorf("it was tried %d times", got)
			}
		}},
		{"one that claims nothing is an outage, until it claims", func(r *rig, _ *listener) {
			d, _ := r.start()
			r.enqueue(1)
			time.Sleep(time.Minute)
			if got := d.Outages(); len(got) != 0 {
				r.t.Errorf("got %v before the time", got)
			}
			time.Sleep(70 * time.Second)
			if got := d.Outages(); len(got) != 1 || got[0].Agent != agentURL || !strings.Contains(got[0].Reason, "protocol: sync") {
				r.t.Errorf("got %v", got)
			}
			if got := strings.Count(r.log(), "claims no task"); got != 1 {
				r.t.Errorf("warned %d times:\n%s", got, r.log())
			}
			r.claim(time.Hour)
			time.Sleep(5 * time.Second)
			if got := d.Outages(); len(got) != 0 {
				r.t.Errorf("got %v after a claim", got)
			}
		}},
		{"one that claims one task after the other is none", func(r *rig, _ *listener) {
			d, _ := r.start()
			for n := 1; n <= 10; n++ {
				r.enqueue(n)
			}
			for n := 1; n <= 10; n++ {
				time.Sleep(time.Minute)
				if got := d.Outages(); len(got) != 0 {
					r.t.Errorf("got %v", got)
				}
				r.claim(time.Hour)
				r.complete(n)
			}
		}},
		{"one whose claim runs out is none", func(r *rig, _ *listener) {
			r.o.Maintenance.RequeueInterval = time.Second
			d, _ := r.start()
			synctest.Wait() // the start extends existing claims, so claim after it
			r.enqueue(1)
			time.Sleep(time.Second)
			r.claim(3 * time.Minute)
			time.Sleep(3*time.Minute + 10*time.Second)
			if r.is(1, queue.Pending); len(d.Outages()) != 0 {
				r.t.Errorf("got %v", d.Outages())
			}
		}},
		{"one that claims again as many as it may have is none", func(r *rig, l *listener) {
			l.answers(http.StatusInternalServerError)
			d, _ := r.start()
			for n := 1; n <= 20; n++ {
				r.enqueue(n)
			}
			time.Sleep(10 * time.Second)
			if got := d.Outages(); len(got) != 1 {
				r.t.Errorf("got %v before the claims", got)
			}
			for range 8 {
				r.claim(time.Hour)
			}
			time.Sleep(10 * time.Second)
			if got := d.Outages(); len(got) != 0 {
				r.t.Errorf("got %v after the claims", got)
			}
		}},
		{"a refused nudge names the mend, and is stored", func(r *rig, l *listener) {
			kept := &marks{}
			r.o.Cursors = kept
			l.answers(http.StatusUnprocessableEntity)
			d, _ := r.start()
			r.enqueue(1)
			time.Sleep(10 * time.Second)
			if got := d.Outages(); len(got) != 1 || !strings.Contains(got[0].Reason, "status 422; an agent that answers whole tasks needs protocol: sync") {
				r.t.Errorf("got %v", got)
			}
			if since, why, err := health.Stored(r.t.Context(), kept, agentURL); since.IsZero() || !strings.HasPrefix(why, "status 422") || err != nil {
				r.t.Errorf("got %s %s %v", since, why, err)
			}
			l.answers(http.StatusAccepted)
			time.Sleep(5 * time.Second)
			if since, _, err := health.Stored(r.t.Context(), kept, agentURL); !since.IsZero() || len(d.Outages()) != 0 || err != nil {
				r.t.Errorf("got %s %v %v", since, d.Outages(), err)
			}
		}},
		{"nobody tells an agent that is not configured", func(r *rig, l *listener) {
			r.o.Dispatch.Agents = func(string) (dispatch.Agent, bool) { return dispatch.Agent{}, false }
			r.start()
			r.enqueue(1)
			time.Sleep(time.Minute)
			r.heard(l)
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			inBubble(t, func(r *rig) {
				l := &listener{}
				r.host.set("agent:9001", l.ServeHTTP)
				tt.test(r, l)
			})
		})
	}
}

// TestPassword checks that the userinfo of an agent's address is sent, and not logged.
func TestPassword(t *testing.T) {
	t.Parallel()
	tests := []struct {
		url  string
		want string // the Authorization header; empty: no header
	}{
		{"http://bot:hunter2@agent:9001", "Basic Ym90Omh1bnRlcjI="},
		{"http://bot:hunter2@agent:9001/task", "Basic Ym90Omh1bnRlcjI="},
		{"http://bot:hunter2@agent.example.com", ""},
		{"http://bot:hunter2@agent:9001?x=hunter2", ""},
	}
	for _, tt := range tests {
		for _, kind := range []string{"queue", "sync"} {
			t.Run(tt.url+" "+kind, func(t *testing.T) {
				t.Parallel()
				inBubble(t, func(r *rig) {
					got := ""
					answer := func(w http.ResponseWriter, req *http.Request) {
						got = req.Header.Get("Authorization")
						w.WriteHeader(http.StatusInternalServerError)
						_, _ = io.WriteString(w, "hunter2 is no good")
					}
					r.host.set("agent:9001", answer)
					r.host.set("agent.example.com", answer)
					r.o.Dispatch.Agents = func(string) (dispatch.Agent, bool) { return dispatch.Agent{URL: tt.url, Sync: kind == "sync"}, true }
					r.start()
					r.enqueue(1)
					time.Sleep(time.Minute)
					synctest.Wait()
					if strings.Contains(r.log(), "hunter2") || !strings.Contains(r.log(), "WARN") {
						t.Errorf("got log %s", r.log())
					}
					if sync := kind == "sync" && strings.Contains(tt.url, "?"); got != tt.want && !sync {
						t.Errorf("got %q, want %q", got, tt.want)
					}
				})
			})
		}
	}
}
