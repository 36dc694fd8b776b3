package agentcheck

import (
	"cmp"
	"context"
	"sync"

	"github.com/org/foreman-action/internal/wait"
	"github.com/org/foreman-action/protocol"
)

// syncChecks returns the checks for an agent that answers whole tasks.
func syncChecks() []check {
	list := []check{
		{"sync-decision", Sync, true, "POST /task with a whole task is answered with 200 and a decision on it", checkSyncDecision},
		{"sync-again", Sync, true, "the same task is answered again, because a harness whose connection broke asks twice", checkSyncAgain},
		{"sync-burst", Sync, true, "five tasks at once get a decision each, on the right task", checkSyncBurst},
		{"sync-malformed", Sync, true, "a body that is not a task is answered with 4xx, and the agent stays healthy", checkSyncMalformed},
		{"sync-hangup", Sync, true, "the agent stays healthy when the harness closes the connection", checkSyncHangup},
	}
	for _, t := range taskChecks() {
		list = append(list, check{"sync-" + t.id, Sync, t.must, t.want, func(ctx context.Context, s *session) outcome { return t.run(ctx, s, decideSync) }})
	}
	return list
}

func checkSyncDecision(ctx context.Context, s *session) outcome {
	d, err := s.decide(ctx, newTask(nil))
	if err != nil {
		return bad("%s", short(err.Error())).stopping("it sends no decision")
	}
	if wrong := wrongAction(d); wrong != "" {
		return bad("%s", wrong)
	}
	return good("%s", d.Decision)
}

func checkSyncAgain(ctx context.Context, s *session) outcome {
	task := newTask(nil)
	for range 2 {
		if _, err := s.decide(ctx, task); err != nil {
			return bad("%s", short(err.Error()))
		}
	}
	return good("")
}

func checkSyncBurst(ctx context.Context, s *session) outcome {
	errs := make([]error, 5)
	var all sync.WaitGroup
	for i := range errs {
		all.Go(func() { _, errs[i] = s.decide(ctx, newTask(nil)) })
	}
	all.Wait()
	if err := cmp.Or(errs...); err != nil {
		return bad("%s", short(err.Error()))
	}
	return good("")
}

func checkSyncMalformed(ctx context.Context, s *session) outcome {
	if wrong := s.rejects(ctx, `[]`, `null`, `{"payload":{}}`, `{"task_id":7,"payload":{}}`, `{"task_id":`, ``); wrong != "" {
		return bad("%s", wrong)
	}
	return s.stillHealthy(ctx)
}

func checkSyncHangup(ctx context.Context, s *session) outcome {
	request, hangUp := context.WithCancel(ctx)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_, _ = s.decide(request, newTask(nil))
	}()
	_ = wait.For(ctx, s.quiet()/10)
	hangUp()
	<-ended
	return s.stillHealthy(ctx)
}

// decideSync sends the agent a whole task.
func decideSync(ctx context.Context, s *session, task protocol.TaskMessage) (protocol.DecisionMessage, error) {
	return s.decide(ctx, task)
}
