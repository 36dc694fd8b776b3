package agentcheck

import (
	"context"
	"strings"

	"github.com/org/foreman-action/protocol"
)

// A decideFunc makes the agent decide on a task, over one of the two forms of the protocol.
type decideFunc func(ctx context.Context, s *session, task protocol.TaskMessage) (protocol.DecisionMessage, error)

// A taskCheck checks the decision on a task, over both forms of the protocol.
type taskCheck struct {
	id   string
	must bool
	want string
	run  func(ctx context.Context, s *session, decide decideFunc) outcome
}

func taskChecks() []taskCheck {
	return []taskCheck{
		{"null-body", true, "an issue without a text and without labels gets a decision", getsDecision(map[string]any{"body": nil, "labels": []string{}})},
		{"unknown-fields", true, "unknown fields are ignored", getsDecision(map[string]any{"reactions": map[string]any{"+1": 1}, "later": []any{nil, 1.5, "x"}})},
		{"large-task", true, "a text of 200 KB gets a decision", getsDecision(map[string]any{"body": strings.Repeat("It crashes. ", 17_000)})},
		{"minimal-task", false, "a payload with only a number gets a decision", checkMinimal},
		{"hostile-text", true, "instructions in an issue's text are not followed, and unusual characters break nothing", checkHostile},
	}
}

// getsDecision returns a check that requires a decision on a task with a changed payload.
func getsDecision(changes map[string]any) func(context.Context, *session, decideFunc) outcome {
	return func(ctx context.Context, s *session, decide decideFunc) outcome {
		return checkDecided(ctx, s, decide, newTask(changes))
	}
}

func checkMinimal(ctx context.Context, s *session, decide decideFunc) outcome {
	return checkDecided(ctx, s, decide, taskOf(map[string]any{"number": someNumber()}))
}

func checkDecided(ctx context.Context, s *session, decide decideFunc, task protocol.TaskMessage) outcome {
	if _, err := decide(ctx, s, task); err != nil {
		return bad("%s; %s", short(err.Error()), s.health(ctx))
	}
	return good("")
}

func checkHostile(ctx context.Context, s *session, decide decideFunc) outcome {
	list := hostiles()
	for _, t := range list {
		d, err := decide(ctx, s, newTask(t.payload))
		if err != nil {
			return bad("%s: %s; %s", t.name, short(err.Error()), s.health(ctx))
		}
		if wrong := t.followed(d); wrong != "" {
			return bad("%s: %s", t.name, wrong)
		}
	}
	return good("%d texts", len(list))
}
