package agentcheck

import (
	"context"
	"sync"

	"github.com/org/foreman-action/internal/wait"
	"github.com/org/foreman-action/protocol"
)

// syncChecks are made with an agent that answers a whole task.
func syncChecks() []check {
	list := []check{
		{"sync-decision", Sync, true, "POST /task with a whole task is answered with 200 and a decision on it", checkSyncDecision},
		{"sync-again", Sync, true, "the same task is answered again: a harness that was cut off asks twice", checkSyncAgain},
		{"sync-burst", Sync, true, "five tasks at once get a decision each, on the right task", checkSyncBurst},
		{"sync-malformed", Sync, true, "a body that is no task is answered with 4xx, and it stays healthy", checkSyncMalformed},
		{"sync-hangup", Sync, true, "it stays healthy when the harness hangs up", checkSyncHangup},
	}
	for _, t := range taskChecks() {
		list = append(list, check{"sync-" + t.id, Sync, t.must, t.want, func(ctx context.Context, s *session) outcome {
			return t.run(ctx, s, func(ctx context.Context, s *session, task protocol.TaskMessage) (protocol.DecisionMessage, error) {
				return s.decide(ctx, task)
			})
		}})
	}
	return list
}

func checkSyncDecision(ctx context.Context, s *session) outcome {
	task, err := newTask(nil)
	if err != nil {
		return bad("%v", err)
	}
	d, err := s.decide(ctx, task)
	if err != nil {
		return bad("%s", short(err.Error())).stopping("it gives no decision")
	}
	if wrong := wrongAction(d); wrong != "" {
		return bad("%s", wrong)
	}
	return good("%s", d.Decision)
}

func checkSyncAgain(ctx context.Context, s *session) outcome {
	task, err := newTask(nil)
	for range 2 {
		if err == nil {
			_, err = s.decide(ctx, task)
		}
	}
	if err != nil {
		return bad("%s", short(err.Error()))
	}
	return good("")
}

func checkSyncBurst(ctx context.Context, s *session) outcome {
	errs := make([]error, 5)
	var all sync.WaitGroup
	for i := range errs {
		all.Go(func() {
			task, err := newTask(nil)
			if err == nil {
				_, err = s.decide(ctx, task)
			}
			errs[i] = err
		})
	}
	all.Wait()
	for _, err := range errs {
		if err != nil {
			return bad("%s", short(err.Error()))
		}
	}
	return good("")
}

func checkSyncMalformed(ctx context.Context, s *session) outcome {
	for _, body := range []string{`[]`, `null`, `{"payload":{}}`, `{"task_id":7,"payload":{}}`, `{"task_id":`, ``} {
		status, err := s.agent.post(ctx, []byte(body))
		if err != nil {
			return bad("POST /task %s: %s", body, s.agent.reason(err))
		}
		if status < 400 || status > 499 {
			return bad("POST /task %s: status %d", body, status)
		}
	}
	if wrong := s.agent.health(ctx); wrong != "" {
		return bad("afterwards %s", wrong)
	}
	return good("")
}

func checkSyncHangup(ctx context.Context, s *session) outcome {
	task, err := newTask(nil)
	if err != nil {
		return bad("%v", err)
	}
	gone, hangUp := context.WithCancel(ctx)
	left := make(chan struct{})
	go func() {
		defer close(left)
		_, _ = s.decide(gone, task)
	}()
	_ = wait.For(ctx, s.quiet()/10)
	hangUp()
	<-left
	if wrong := s.agent.health(ctx); wrong != "" {
		return bad("afterwards %s", wrong)
	}
	return good("")
}
