package agentcheck

import (
	"context"
	"strings"
	"sync"

	"github.com/org/foreman-action/protocol"
)

// syncChecks are made with an agent that answers a whole task.
func syncChecks() []check {
	list := []check{
		{"sync-decision", Sync, true, "POST /task with a whole task is answered with 200 and a decision on it", checkSync},
		{"sync-again", Sync, true, "the same task is answered again: a harness that was cut off asks twice", checkSyncAgain},
		{"sync-burst", Sync, true, "five tasks at once get a decision each, on the right task", checkSyncBurst},
		{"sync-malformed", Sync, true, "a body that is no task is answered with 4xx, and it stays healthy", checkSyncMalformed},
		{"sync-hangup", Sync, true, "it stays healthy when the harness hangs up", checkSyncHangup},
	}
	for _, t := range taskChecks() {
		list = append(list, check{"sync-" + t.id, Sync, t.must, t.want, func(ctx context.Context, s *session) outcome {
			return t.look(ctx, s, func(ctx context.Context, s *session, task protocol.TaskMessage) (protocol.DecisionMessage, error) {
				return s.decide(ctx, task)
			})
		}})
	}
	return list
}

func checkSync(ctx context.Context, s *session) outcome {
	task, err := newTask(nil)
	if err != nil {
		return bad("%v", err)
	}
	d, err := s.decide(ctx, task)
	if err != nil {
		s.dead = "it gives no decision"
		return bad("%s", short(err.Error()))
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
		status, _, err := s.post(ctx, []byte(body))
		if err != nil {
			return bad("POST /task %s: %s", body, s.why(err))
		}
		if status < 400 || status > 499 {
			return bad("POST /task %s: status %d", body, status)
		}
	}
	if wrong := s.healthy(ctx); wrong != "" {
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
	s.h.wait(ctx, s.quiet()/10, func() bool { return false })
	hangUp()
	<-left
	if wrong := s.healthy(ctx); wrong != "" {
		return bad("afterwards %s", wrong)
	}
	return good("")
}

// An ask lets the agent decide on a task, over one of the two forms of the wire.
type ask func(ctx context.Context, s *session, task protocol.TaskMessage) (protocol.DecisionMessage, error)

// A taskCheck looks at what an agent makes of a task, however it gets it.
type taskCheck struct {
	id   string
	must bool
	want string
	look func(ctx context.Context, s *session, a ask) outcome
}

func taskChecks() []taskCheck {
	return []taskCheck{
		{"null-body", true, "an issue without a text and without labels gets a decision", looksAt(map[string]any{"body": nil, "labels": []string{}})},
		{"unknown-fields", true, "fields that it does not know are ignored", looksAt(map[string]any{"reactions": map[string]any{"+1": 1}, "later": []any{nil, 1.5, "x"}})},
		{"large-task", true, "a text of 200 KB gets a decision", looksAt(map[string]any{"body": strings.Repeat("It crashes. ", 17_000)})},
		{"minimal-task", false, "a payload with a number alone gets a decision", checkMinimal},
		{"hostile-text", true, "the text of an issue is no instruction, and breaks nothing", checkHostile},
	}
}

// looksAt returns a check of a task whose payload is changed.
func looksAt(changes map[string]any) func(context.Context, *session, ask) outcome {
	return func(ctx context.Context, s *session, a ask) outcome {
		task, err := newTask(changes)
		if err == nil {
			_, err = a(ctx, s, task)
		}
		if err != nil {
			return bad("%s; %s", short(err.Error()), s.state(ctx))
		}
		return good("")
	}
}

func checkMinimal(ctx context.Context, s *session, a ask) outcome {
	task, err := taskOf(map[string]any{"number": someNumber()})
	if err == nil {
		_, err = a(ctx, s, task)
	}
	if err != nil {
		return bad("%s; %s", short(err.Error()), s.state(ctx))
	}
	return good("")
}

func checkHostile(ctx context.Context, s *session, a ask) outcome {
	list := hostiles()
	for _, t := range list {
		task, err := newTask(t.payload)
		var d protocol.DecisionMessage
		if err == nil {
			d, err = a(ctx, s, task)
		}
		if err != nil {
			return bad("%s: %s; %s", t.name, short(err.Error()), s.state(ctx))
		}
		if wrong := t.obeys(d); wrong != "" {
			return bad("%s: %s", t.name, wrong)
		}
	}
	return good("%d texts", len(list))
}
