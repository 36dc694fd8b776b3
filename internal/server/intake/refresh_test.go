package intake_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/org/foreman-action/internal/server/intake"
	"github.com/org/foreman-action/memory"
	"github.com/org/foreman-action/protocol"
	"github.com/org/foreman-action/queue"
	"github.com/org/foreman-action/queue/queuetest"
	"github.com/org/foreman-action/triage"
)

const (
	was = `{"task_id":"first","type":"issue.triage","repo":"o/r","payload":{"number":7},"context":{"llm_backend":{"provider":"none","model":"none"},"memory_summary":"old"}}`
	is  = `"Issue #7: labelled 'bug' on 2026-04-10 (agent). No further actions."`
)

// labelled returns a record of an added label.
func labelled() memory.Record {
	return memory.Record{Repo: "o/r", Issue: 7, Tasks: []memory.Task{{
		ID: "0a0a0a0a-0000-4000-8000-000000000001", At: time.Date(2026, 4, 10, 8, 0, 0, 0, time.UTC), Event: "issues.opened",
		Decision: protocol.LabelAndRespond, By: "http://a",
		Actions: []memory.Action{{Type: protocol.ActionAddLabel, Values: []string{"bug"}, Result: triage.Done}},
	}}}
}

// counted is a memory that counts how often it is read.
type counted struct {
	intake.Memory

	n int
}

func (c *counted) Load(ctx context.Context, repo string, issue int) (memory.Record, error) {
	c.n++
	return c.Memory.Load(ctx, repo, issue)
}

// TestRefresh claims a task in several ways, and compares the messages.
func TestRefresh(t *testing.T) {
	t.Parallel()
	renewed := strings.Replace(was, `"old"`, is, 1)
	tests := []struct {
		name    string
		message string // "": was
		memory  intake.Memory
		then    func(t *testing.T, q queue.Queue, c *queuetest.Clock) // called before the claim
		want    string
		reads   int
		log     string
	}{
		{name: "at once", memory: records{record: labelled()}, want: was},
		{name: "after a while", memory: records{record: labelled()}, then: later, want: renewed, reads: 1},
		{name: "again", memory: records{record: labelled()}, then: lost, want: renewed, reads: 1},
		{name: "behind another one", memory: records{record: labelled()}, then: waited, want: strings.Replace(renewed, "first", "second", 1), reads: 1},
		{name: "no record", memory: records{err: memory.ErrNotFound}, then: later, want: was, reads: 1},
		{name: "nothing done", memory: records{record: memory.Record{Repo: "o/r", Issue: 7}}, then: later, want: strings.Replace(was, `"old"`, "null", 1), reads: 1},
		{name: "the same", message: renewed, memory: records{record: labelled()}, then: later, want: renewed, reads: 1},
		{name: "broken", memory: records{err: errors.New("the disk smokes")}, then: later, want: was, reads: 1, log: "the disk smokes"},
		{
			name: "another writer's", memory: records{record: labelled()}, then: later, reads: 1,
			message: " { \"context\" : {}, \"repo\" : \"o/r\", \"payload\" : {\"number\" : 7, \"context\" : {\"memory_summary\" : 1}} ,\n \"context\" : { \"memory_summary\" :  null , \"x\" : [1, 2] } , \"y\" : 1e3 } ",
			want:    " { \"context\" : {}, \"repo\" : \"o/r\", \"payload\" : {\"number\" : 7, \"context\" : {\"memory_summary\" : 1}} ,\n \"context\" : { \"memory_summary\" :  " + is + " , \"x\" : [1, 2] } , \"y\" : 1e3 } ",
		},
		{name: "without a context", message: `{"repo":"o/r","payload":{"number":7}}`, memory: records{record: labelled()}, then: later, want: `{"repo":"o/r","payload":{"number":7}}`, reads: 1, log: `no \"context\"`},
		{name: "without an issue", message: `{"repo":"o/r","payload":{}}`, memory: records{record: labelled()}, then: later, want: `{"repo":"o/r","payload":{}}`},
		{name: "unreadable", message: `{"repo":7}`, memory: records{record: labelled()}, then: later, want: `{"repo":7}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if tt.message == "" {
				tt.message = was
			}
			clock, m := queuetest.NewClock(), &counted{Memory: tt.memory}
			var log bytes.Buffer
			q := refreshingQueue(t, clock, intake.Options{Memory: m, Log: logger(&log)})
			task := queue.Task{ID: "first", Agent: "http://a", Repo: "o/r", Issue: 7, Message: []byte(tt.message), Coalesce: true}
			if _, err := q.Enqueue(t.Context(), task); err != nil {
				t.Fatal(err)
			}
			if tt.then != nil {
				tt.then(t, q, clock)
			}
			m.n = 0
			if got := claimed(t, q).Message; string(got) != tt.want {
				t.Errorf("got  %s\nwant %s", got, tt.want)
			}
			if m.n != tt.reads {
				t.Errorf("the memory was read %d times, want %d", m.n, tt.reads)
			}
			if !strings.Contains(log.String(), tt.log) || (tt.log == "") != (log.Len() == 0) {
				t.Errorf("logged %q, want %q", log.String(), tt.log)
			}
		})
	}
}

func refreshingQueue(t testing.TB, clock *queuetest.Clock, o intake.Options) queue.Queue {
	t.Helper()
	q := queue.New(queue.Options{Now: clock.Now})
	o.Queue, o.Now = q, clock.Now
	in, err := intake.New(o)
	if err != nil {
		t.Fatal(err)
	}
	return in.RefreshSummaries(q)
}

func claimed(t testing.TB, q queue.Queue) queue.Claim {
	t.Helper()
	c, err := q.ClaimNext(t.Context(), "http://a", queue.ClaimOptions{Lease: time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func later(_ *testing.T, _ queue.Queue, c *queuetest.Clock) { c.Advance(1001 * time.Millisecond) }

// lost claims a task and releases it at once.
func lost(t *testing.T, q queue.Queue, _ *queuetest.Clock) {
	t.Helper()
	if err := q.ReleaseClaim(t.Context(), queue.Ref{ID: claimed(t, q).ID}, 0); err != nil {
		t.Fatal(err)
	}
}

// waited enqueues a task that waits for the first one, and then ends the first one.
func waited(t *testing.T, q queue.Queue, _ *queuetest.Clock) {
	t.Helper()
	c := claimed(t, q)
	second := queue.Task{ID: "second", Agent: "http://a", Repo: "o/r", Issue: 7, Message: bytes.Replace([]byte(was), []byte("first"), []byte("second"), 1), Coalesce: true}
	if got, err := q.Enqueue(t.Context(), second); err != nil || got.Behind != c.ID {
		t.Fatalf("got %+v, %v, want it behind %s", got, err, c.ID)
	}
	if err := q.Cancel(t.Context(), queue.Seen{ID: c.ID}, "person"); err != nil {
		t.Fatal(err)
	}
}

// silent is a memory that does not answer.
type silent struct{}

func (silent) Load(ctx context.Context, _ string, _ int) (memory.Record, error) {
	<-ctx.Done()
	return memory.Record{}, ctx.Err()
}

// TestRefreshSilent claims a task while the memory does not answer.
func TestRefreshSilent(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		clock := queuetest.NewClock()
		q := refreshingQueue(t, clock, intake.Options{Memory: silent{}})
		if _, err := q.Enqueue(t.Context(), queue.Task{ID: "first", Agent: "http://a", Message: []byte(was)}); err != nil {
			t.Fatal(err)
		}
		clock.Advance(time.Hour)
		start := time.Now()
		if c := claimed(t, q); string(c.Message) != was || time.Since(start) > 2*time.Second {
			t.Errorf("after %s: got %s, want the message as it was enqueued", time.Since(start), c.Message)
		}
	})
}

// TestRefreshWithout checks an intake without a memory.
func TestRefreshWithout(t *testing.T) {
	t.Parallel()
	q := queue.New(queue.Options{})
	in, err := intake.New(intake.Options{Queue: q})
	if err != nil {
		t.Fatal(err)
	}
	if got := in.RefreshSummaries(q); got != q {
		t.Errorf("got %T, want the queue itself", got)
	}
}

// always is a queue that hands out the same task at every claim.
type always struct {
	queue.Queue

	claim queue.Claim
}

func (a always) ClaimNext(context.Context, string, queue.ClaimOptions) (queue.Claim, error) {
	return a.claim, nil
}

// BenchmarkRefresh measures the cost that the summary adds to a claim: for a new task, and for a
// task that waited, with and without a change of the summary.
func BenchmarkRefresh(b *testing.B) {
	now := time.Now()
	for name, waited := range map[string]bool{"new": false, "waited": true} {
		b.Run(name, func(b *testing.B) {
			message := bytes.Replace([]byte(was), []byte(`{"number":7}`), fmt.Appendf(nil, `{"number":7,"body":%q}`, strings.Repeat("x", 1700)), 1)
			q := always{claim: queue.Claim{ID: "first", Message: message, Attempt: 1, Until: now.Add(time.Minute), Enqueued: now, Waited: waited}}
			in, err := intake.New(intake.Options{Queue: queue.New(queue.Options{}), Memory: records{record: labelled()}})
			if err != nil {
				b.Fatal(err)
			}
			f := in.RefreshSummaries(q)
			for b.Loop() {
				claimed(b, f)
			}
		})
	}
}
