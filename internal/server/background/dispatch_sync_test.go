package background_test

import (
	"fmt"
	"io"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/org/foreman-action/internal/server/dispatch"
	"github.com/org/foreman-action/internal/testkit/brokenqueue"
	"github.com/org/foreman-action/protocol"
	"github.com/org/foreman-action/queue"
)

// A decider is an agent that receives whole tasks, without notifications.
type decider struct {
	mu     sync.Mutex
	tasks  []protocol.TaskMessage
	status int
	takes  time.Duration
}

func (d *decider) serve(w http.ResponseWriter, r *http.Request) {
	if r.Method == http.MethodGet {
		w.WriteHeader(http.StatusNotFound)
		return
	}
	body, _ := io.ReadAll(r.Body)
	task, err := protocol.ParseTask(body)
	if err != nil {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	d.mu.Lock()
	d.tasks = append(d.tasks, task)
	status, takes := d.status, d.takes
	d.mu.Unlock()
	select {
	case <-time.After(takes):
	case <-r.Context().Done():
		return
	}
	if status != 0 {
		w.WriteHeader(status)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_, _ = fmt.Fprintf(w, `{"task_id":%q,"decision":"label_and_respond","rationale":"so","actions":[%s]}`, task.TaskID, comment)
}

func (d *decider) asked() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return len(d.tasks)
}

// TestSync is check 41: an agent whose response to a task is the decision.
func TestSync(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name string
		test func(r *rig, d *decider)
	}{
		{"it decides", func(r *rig, d *decider) {
			r.start()
			r.enqueue(1)
			time.Sleep(time.Second)
			r.is(1, queue.Done)
			r.wrote(on(1, talkPost)...)
			if d.asked() != 1 || d.tasks[0].TaskID != id(1) || d.tasks[0].Repo != repo || len(d.tasks[0].Payload) < 100 {
				r.t.Errorf("got %+v", d.tasks)
			}
		}},
		{"it takes longer than a claim", func(r *rig, d *decider) {
			r.o.ClaimTimeout, r.o.Maintenance.RequeueInterval = 10*time.Second, time.Second
			d.takes = 50 * time.Second
			r.start()
			r.enqueue(1)
			time.Sleep(51 * time.Second)
			r.is(1, queue.Done)
			if d.asked() != 1 {
				r.t.Errorf("asked %d times", d.asked())
			}
		}},
		{"it has only as many as it may", func(r *rig, d *decider) {
			d.takes = 30 * time.Second
			r.start()
			for n := 1; n <= 20; n++ {
				r.enqueue(n)
			}
			time.Sleep(20 * time.Second)
			if d.asked() != 3 {
				r.t.Errorf("asked %d times", d.asked())
			}
			time.Sleep(time.Hour)
			for n := 1; n <= 20; n++ {
				r.is(n, queue.Done)
			}
		}},
		{"it fails twice", func(r *rig, d *decider) {
			d.status = http.StatusInternalServerError
			r.start()
			r.enqueue(1)
			time.Sleep(2 * time.Second)
			for d.asked() < 2 {
				time.Sleep(time.Second)
			}
			d.mu.Lock()
			d.status = 0
			d.mu.Unlock()
			time.Sleep(2 * time.Minute)
			r.is(1, queue.Done)
			if d.asked() != 3 {
				r.t.Errorf("asked %d times", d.asked())
			}
		}},
		{"it is down for an hour", func(r *rig, d *decider) {
			r.host.set("agent:9001", nil)
			r.start()
			for n := 1; n <= 5; n++ {
				r.enqueue(n)
			}
			time.Sleep(time.Hour)
			r.host.set("agent:9001", d.serve)
			time.Sleep(5 * time.Minute)
			for n := 1; n <= 5; n++ {
				r.is(n, queue.Done)
			}
		}},
		{"the database is away when it has decided", func(r *rig, d *decider) {
			q := brokenqueue.New(r.q)
			r.q = q
			d.takes = 5 * time.Second
			r.start()
			r.enqueue(1)
			time.Sleep(time.Second)
			q.Break(queue.ErrUnavailable)
			time.Sleep(2 * time.Minute)
			q.Break(nil)
			time.Sleep(10 * time.Minute)
			r.is(1, queue.Done)
			if d.asked() != 1 {
				r.t.Errorf("asked %d times", d.asked())
			}
		}},
		{"we stop meanwhile", func(r *rig, d *decider) {
			d.takes = 30 * time.Second
			_, stop := r.start()
			r.enqueue(1)
			time.Sleep(time.Second)
			start := time.Now()
			stop()
			if took := time.Since(start); took > time.Second {
				r.t.Errorf("it took %s", took)
			}
			r.start()
			time.Sleep(7 * time.Minute)
			r.is(1, queue.Done)
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			inBubble(t, func(r *rig) {
				d := &decider{}
				r.host.set("agent:9001", d.serve)
				r.o.Dispatch.Agents = func(a string) (dispatch.Agent, bool) {
					return dispatch.Agent{URL: a, Sync: true, Cap: 3, Timeout: 55 * time.Second}, true
				}
				tt.test(r, d)
			})
		})
	}
}

// A deafQueue sends only the changes in its channel.
type deafQueue struct {
	queue.Queue
	changes chan queue.Change
}

func (q deafQueue) Watch() (changes <-chan queue.Change, stop func()) { return q.changes, func() {} }

// TestLostChanges checks that tasks and decisions do not wait for the next check if their changes were
// lost, because the channel of changes was full.
func TestLostChanges(t *testing.T) {
	t.Parallel()
	inBubble(t, func(r *rig) {
		const other = "http://other:9001"
		d, changes := &decider{}, make(chan queue.Change, 1)
		r.host.set("agent:9001", d.serve)
		r.host.set("other:9001", d.serve)
		r.o.Dispatch.Agents = func(a string) (dispatch.Agent, bool) { return dispatch.Agent{URL: a, Sync: true}, true }
		r.q = deafQueue{r.q, changes}
		r.enqueue(1, func(t *queue.Task) { t.Agent = other })
		r.start()
		time.Sleep(time.Second)
		changes <- queue.Change{} // its decision; this also fills the channel
		time.Sleep(10 * time.Second)
		r.is(1, queue.Done)
		time.Sleep(time.Second)
		r.enqueue(2)
		changes <- queue.Change{Agent: other}
		time.Sleep(100 * time.Millisecond)
		if d.asked() != 2 {
			r.t.Errorf("asked for %d tasks", d.asked())
		}
		changes <- queue.Change{Agent: other}
		time.Sleep(100 * time.Millisecond)
		r.is(2, queue.Done)
	})
}
