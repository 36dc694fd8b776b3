package main

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/org/foreman-action/protocol"
	"github.com/org/foreman-action/queue"
)

const lease = time.Hour

// task returns the i-th task, of an issue of its own.
func task(i int) (queue.Task, error) {
	id, err := protocol.NewTaskID(rand.Reader)
	return queue.Task{ID: id, Agent: benchAgent, Repo: "octo/bench", Issue: i%1_000_000 + 1, Message: []byte(payload)}, err
}

// fill enqueues n tasks.
func fill(ctx context.Context, q queue.Queue, n int) error {
	_, err := each(ctx, 64, n, func(ctx context.Context, i int) error { return enqueue(ctx, q, i) })
	return err
}

func enqueue(ctx context.Context, q queue.Queue, i int) error {
	t, err := task(i)
	if err != nil {
		return err
	}
	_, err = q.Enqueue(ctx, t)
	return err
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

// finish carries one decision out, as far as the queue is concerned.
func finish(ctx context.Context, q queue.Queue) error {
	for {
		list, err := q.DrainCompleted(ctx, queue.DrainOptions{Owner: "bench", Lease: lease, Limit: 1})
		if err != nil {
			return err
		}
		if len(list) == 1 {
			return q.MarkDone(ctx, list[0].Hold, []byte(`{}`))
		}
	}
}

// ourCycles takes n tasks through all their states: enqueue, claim, complete, lease of
// the decision, done. Each is an answer of its own, and durable.
func ourCycles(ctx context.Context, q queue.Queue, clients, n int) (float64, error) {
	s, err := each(ctx, clients, n, func(ctx context.Context, i int) error {
		if err := enqueue(ctx, q, i); err != nil {
			return err
		}
		c, err := claim(ctx, q)
		for errors.Is(err, queue.ErrEmpty) { // there are as many tasks as clients
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
	return s.rate, err
}

// A verb is a call that ourVerbs measures, n times.
type verb struct {
	name string
	n    int
	call func(ctx context.Context, i int) error
}

// ourVerbs measures each verb by itself, with the backlog that the queue has, which has n
// tasks or more, and has as many in the end.
func ourVerbs(ctx context.Context, q queue.Queue, clients, n int, measured func(name string, s sample)) error {
	var mu sync.Mutex
	claims, ids := make([]queue.Claim, 0, n), make([]string, n)
	later := time.Now().Add(lease)
	verbs := []verb{
		{"enqueue", n, func(ctx context.Context, i int) error {
			t, err := task(i)
			if err != nil {
				return err
			}
			ids[i] = t.ID
			_, err = q.Enqueue(ctx, t)
			return err
		}},
		{"claim", n, func(ctx context.Context, _ int) error {
			c, err := claim(ctx, q)
			mu.Lock()
			claims = append(claims, c)
			mu.Unlock()
			return err
		}},
		{"heartbeat", n, func(ctx context.Context, i int) error {
			return q.Heartbeat(ctx, queue.Ref{ID: claims[i].ID, Attempt: claims[i].Attempt}, lease)
		}},
		{"complete", n, func(ctx context.Context, i int) error { return complete(ctx, q, claims[i]) }},
		{"drain+done", n, func(ctx context.Context, _ int) error { return finish(ctx, q) }},
		{"requeue+fail", n / 10, func(ctx context.Context, _ int) error {
			_, err := q.RequeueStale(ctx, queue.Limits{Claims: 3, Drains: 8})
			return err
		}},
		{"backlog", n / 10, func(ctx context.Context, _ int) error { _, err := q.Backlog(ctx, 8); return err }},
		{"stats", n / 10, func(ctx context.Context, _ int) error { _, err := q.Stats(ctx); return err }},
		{"list of 100", n / 10, func(ctx context.Context, _ int) error { _, err := q.List(ctx, queue.Filter{Limit: 100}); return err }},
		{"inspect", n, func(ctx context.Context, i int) error { _, err := q.Inspect(ctx, claims[i].ID); return err }},
		{"cancel", n, func(ctx context.Context, i int) error { return q.Cancel(ctx, ids[i], "bench") }},
		{"retry", n, func(ctx context.Context, i int) error { _, err := q.Retry(ctx, ids[i], "bench"); return err }},
		{"purge of one", n, func(ctx context.Context, _ int) error { _, err := q.Purge(ctx, later, 1); return err }},
	}
	for _, v := range verbs {
		s, err := each(ctx, clients, v.n, v.call)
		if err != nil {
			return fmt.Errorf("%s: %w", v.name, err)
		}
		measured(v.name, s)
	}
	return nil
}
