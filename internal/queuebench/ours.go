package main

import (
	"context"
	"crypto/rand"
	"errors"
	"strings"
	"sync"
	"time"

	"github.com/org/foreman-action/protocol"
	"github.com/org/foreman-action/queue"
)

const (
	benchAgent = "http://agent.example:9001" // of all tasks
	lease      = time.Hour
	manyTasks  = 100_000 // number of pending tasks
	fewTasks   = 1_000   // number of pending tasks
)

// payload is the data that every queue stores for a task: about 1 KiB of JSON.
var payload = `{"task_id":"00000000-0000-4000-8000-000000000000","text":"` + strings.Repeat("x", 960) + `"}`

// cycles takes tasks through all their states: enqueue, claim, complete, lease of the decision,
// done. Each step is a separate call, and its result is on the disk when the call returns.
func cycles(ctx context.Context, q queue.Queue, l load) (sample, error) {
	s, err := measure(ctx, l, func(ctx context.Context, i int) error {
		if _, err := enqueue(ctx, q, i); err != nil {
			return err
		}
		c, err := claim(ctx, q)
		for errors.Is(err, queue.ErrEmpty) { // there are only as many tasks as clients
			c, err = claim(ctx, q)
		}
		if err != nil {
			return err
		}
		if err := complete(ctx, q, c); err != nil {
			return err
		}
		return finish(ctx, q)
	})
	return sample{rate: s.rate}, err
}

// claims claims tasks from a queue that has more of them.
func claims(ctx context.Context, q queue.Queue, l load) (sample, error) {
	if err := fill(ctx, q, l.n+fewTasks); err != nil {
		return sample{}, err
	}
	return measure(ctx, l, func(ctx context.Context, _ int) error {
		_, err := claim(ctx, q)
		return err
	})
}

// A verb is one kind of call, made n times.
type verb struct {
	name string
	n    int
	call func(ctx context.Context, i int) error
}

// verbs returns calls of a queue with at least n pending tasks. The order matters, because later
// calls use the tasks that earlier calls added and claimed. At the end, the number of pending
// tasks is the same as before.
func verbs(q queue.Queue, n int) []verb {
	var mu sync.Mutex
	claimed, added := make([]queue.Claim, 0, n), make([]string, n)
	later := time.Now().Add(lease)
	return []verb{
		{"enqueue", n, func(ctx context.Context, i int) (err error) { added[i], err = enqueue(ctx, q, i); return err }},
		{"claim", n, func(ctx context.Context, _ int) error {
			c, err := claim(ctx, q)
			mu.Lock()
			claimed = append(claimed, c)
			mu.Unlock()
			return err
		}},
		{"heartbeat", n, func(ctx context.Context, i int) error {
			return q.Heartbeat(ctx, queue.Ref{ID: claimed[i].ID, Attempt: claimed[i].Attempt}, lease)
		}},
		{"complete", n, func(ctx context.Context, i int) error { return complete(ctx, q, claimed[i]) }},
		{"drain+done", n, func(ctx context.Context, _ int) error { return finish(ctx, q) }},
		{"requeue+fail", n / 10, func(ctx context.Context, _ int) error {
			_, err := q.RequeueStale(ctx, queue.Limits{Claims: 3, Drains: 8})
			return err
		}},
		{"backlog", n / 10, func(ctx context.Context, _ int) error { _, err := q.Backlog(ctx, 8); return err }},
		{"stats", n / 10, func(ctx context.Context, _ int) error { _, err := q.Stats(ctx); return err }},
		{"list of 100", n / 10, func(ctx context.Context, _ int) error {
			_, err := queue.List(ctx, q, queue.Filter{Limit: 100})
			return err
		}},
		{"inspect", n, func(ctx context.Context, i int) error { _, err := q.Inspect(ctx, claimed[i].ID); return err }},
		{"cancel", n, func(ctx context.Context, i int) error { return q.Cancel(ctx, queue.Seen{ID: added[i]}, "bench") }},
		{"retry", n, func(ctx context.Context, i int) error {
			_, err := q.Retry(ctx, queue.Seen{ID: added[i]}, "bench")
			return err
		}},
		{"purge of one", n, func(ctx context.Context, _ int) error { _, err := q.Purge(ctx, later, 1); return err }},
	}
}

// fill enqueues n tasks.
func fill(ctx context.Context, q queue.Queue, n int) error {
	_, err := measure(ctx, load{64, n}, func(ctx context.Context, i int) error { _, err := enqueue(ctx, q, i); return err })
	return err
}

// enqueue adds the i-th task and returns its ID. Each task belongs to another issue.
func enqueue(ctx context.Context, q queue.Queue, i int) (string, error) {
	id, err := protocol.NewTaskID(rand.Reader)
	if err != nil {
		return "", err
	}
	_, err = q.Enqueue(ctx, queue.Task{ID: id, Agent: benchAgent, Repo: "octo/bench", Issue: i%1_000_000 + 1, Message: []byte(payload)})
	return id, err
}

func claim(ctx context.Context, q queue.Queue) (queue.Claim, error) {
	return q.ClaimNext(ctx, benchAgent, queue.ClaimOptions{Lease: lease})
}

func complete(ctx context.Context, q queue.Queue, c queue.Claim) error {
	r, err := q.Complete(ctx, queue.Ref{ID: c.ID, Attempt: c.Attempt}, []byte(payload))
	if err == nil && !r.Accepted {
		err = errors.New(r.Reason)
	}
	return err
}

// finish waits for the next decision, leases it, and marks its task as done.
func finish(ctx context.Context, q queue.Queue) error {
	for {
		list, err := q.LeaseDecisions(ctx, queue.DrainOptions{Owner: "bench", Lease: lease, Limit: 1})
		if err != nil {
			return err
		}
		if len(list) == 1 {
			return q.MarkDone(ctx, list[0].Lease, []byte(`{}`))
		}
	}
}
