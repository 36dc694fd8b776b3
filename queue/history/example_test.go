package history_test

import (
	"fmt"
	"time"

	"github.com/org/foreman-action/queue"
	"github.com/org/foreman-action/queue/history"
)

// The facts about a task that waited a minute for its agent.
func Example() {
	start := time.Date(2026, 4, 10, 8, 30, 0, 0, time.UTC)
	task := history.Ended{Info: queue.Info{
		State: queue.Done, Enqueued: start, Claimed: start.Add(time.Minute), Completed: start.Add(70 * time.Second), Ended: start.Add(72 * time.Second),
	}, Report: []byte(`{"status":"applied"}`)}
	var sum history.Counts
	for _, fact := range task.Facts() {
		sum.Add(fact.Counts)
	}
	fmt.Println(sum.Decided, "decided,", sum.Outcomes[history.Applied], "applied")
	fmt.Println("waiting", sum.Waiting.Percentile(0.5).Round(time.Second))
	// Output:
	// 1 decided, 1 applied
	// waiting 1m2s
}
