package store_test

import (
	"context"
	"fmt"
	"time"

	"github.com/org/foreman-action/memory"
	"github.com/org/foreman-action/queue"
	"github.com/org/foreman-action/store"
)

// A step of a decision that is stored in parts: the lease is renewed, and a slot for a write is taken.
func ExampleParts() {
	ctx := context.Background()
	q := queue.New(queue.Options{})
	parts := store.Parts{Queue: q, Slots: queue.NewSlots(queue.Options{}), Journal: memory.NewJournal(), Memory: memory.New()}

	task := queue.Task{ID: "a3f8c2d1-4b5e-4f6a-8c9d-0e1f2a3b4c5d", Repo: "org/repo", Issue: 7, Message: []byte(`{}`)}
	if _, err := q.Enqueue(ctx, task); err != nil {
		panic(err)
	}
	decisions, err := q.LeaseDecisions(ctx, queue.DrainOptions{Owner: "here", Lease: time.Minute, Limit: 1})
	if err != nil {
		panic(err)
	}
	out, err := parts.Advance(ctx, store.Step{
		Lease: decisions[0].Lease, For: time.Minute,
		Slot: &queue.SlotRequest{Identity: "bot", PerMinute: 80, PerHour: 500},
	})
	if err != nil {
		panic(err)
	}
	fmt.Println("write now:", out.Slot.Taken && out.Slot.Wait == 0)
	// Output: write now: true
}
