package queue_test

import (
	"context"
	"fmt"
	"time"

	"github.com/org/foreman-action/queue"
)

// One task passes all states. Here one program enqueues it, decides as the agent, and carries the
// decision out.
func ExampleNew() {
	ctx, q := context.Background(), queue.New(queue.Options{})
	const agent = "http://agent.example/"
	added, err := q.Enqueue(ctx, queue.Task{ID: "018f3c2e-7b1a-7c3d-9e4f-2a6b8c0d1e2f", Agent: agent, Message: []byte(`{"issue": 7}`)})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(added.Outcome)
	claim, err := q.ClaimNext(ctx, agent, queue.ClaimOptions{Lease: time.Minute})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%s\n", claim.Message)
	if _, err := q.Complete(ctx, queue.Ref{ID: claim.ID, Attempt: claim.Attempt}, []byte(`{"decision": "skip"}`)); err != nil {
		fmt.Println(err)
		return
	}
	decisions, err := q.LeaseDecisions(ctx, queue.DrainOptions{Owner: "example", Lease: time.Minute, Limit: 10})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, d := range decisions {
		fmt.Printf("%s\n", d.Result)
		if err := q.MarkDone(ctx, d.Lease, nil); err != nil {
			fmt.Println(err)
		}
	}
	_, err = q.ClaimNext(ctx, agent, queue.ClaimOptions{Lease: time.Minute})
	fmt.Println(err)
	// Output:
	// added
	// {"issue": 7}
	// {"decision": "skip"}
	// no task can be claimed
}
