package background_test

import (
	"context"
	"io"
	"log/slog"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/org/foreman-action/agent"
	"github.com/org/foreman-action/internal/server/dispatch"
	"github.com/org/foreman-action/protocol"
	"github.com/org/foreman-action/queue"
)

// TestAgentPanics checks an agent that panics in every task: its tasks fail in the end, it is not
// asked all the time, and the tasks of another agent are done meanwhile.
func TestAgentPanics(t *testing.T) {
	t.Parallel()
	const tasks, healthy = 10, "http://healthy:9001"
	inBubble(t, func(r *rig) {
		var asked atomic.Int64 // the dispatcher asks for several tasks at once
		panics := agent.NewHandler(agent.HandlerOptions{
			Decide: func(context.Context, protocol.TaskMessage) (protocol.DecisionMessage, error) {
				asked.Add(1)
				panic("a defect of the agent")
			},
			Log: slog.New(slog.NewTextHandler(io.Discard, nil)),
		})
		other := &decider{}
		r.host.set("agent:9001", panics.ServeHTTP)
		r.host.set("healthy:9001", other.serve)
		r.o.Dispatch.Agents = func(address string) (dispatch.Agent, bool) { return dispatch.Agent{URL: address, Sync: true}, true }
		for n := 1; n <= tasks; n++ {
			r.enqueue(n)
			r.enqueue(tasks+n, func(t *queue.Task) { t.Agent = healthy })
		}
		r.start()
		time.Sleep(time.Minute)
		for n := 1; n <= tasks; n++ {
			r.is(tasks+n, queue.Done)
		}
		time.Sleep(12 * time.Hour)
		for n := 1; n <= tasks; n++ {
			r.is(n, queue.Failed)
		}
		if reason := r.task(1).Reason; !strings.Contains(reason, "500") {
			r.t.Errorf("got reason %q, want the agent's status", reason)
		}
		if got := len(r.writes()); got != tasks {
			r.t.Errorf("got %d writes, want those of the healthy agent, %d", got, tasks)
		}
		if got := asked.Load(); got > 400 { // about one probe in 5 minutes, and each task a few times
			r.t.Errorf("the agent was asked %d times", got)
		}
	})
}

// TestKeyOfAnother checks a decision whose idempotency key is that of another task: it is refused,
// and the other task is not affected.
func TestKeyOfAnother(t *testing.T) {
	t.Parallel()
	onBoth(t, func(r *rig) {
		r.enqueue(1)
		r.enqueue(2)
		r.decide(1, decision(2, protocol.LabelAndRespond, comment)) // the answer to task 1 names task 2
		r.start()
		time.Sleep(time.Hour)
		r.is(1, queue.Failed)
		r.is(2, queue.Pending)
		r.wrote()
		r.complete(2, comment)
		time.Sleep(time.Second)
		r.is(2, queue.Done)
		r.wrote(on(2, talkPost)...)
	})
}
