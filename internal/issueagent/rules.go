package issueagent

import (
	"context"
	"errors"
	"fmt"

	"github.com/org/foreman-action/protocol"
	"github.com/org/foreman-action/rules"
	"github.com/org/foreman-action/runner"
)

// byRules asks the rules. What they cannot decide on is left to people, with the reason:
// another try would come to the same.
func (a *Agent) byRules(_ context.Context, task protocol.TaskMessage, i issue) (protocol.DecisionMessage, error) {
	e, err := eventOf(task)
	if err != nil {
		return decided(task, protocol.Escalate, fmt.Sprintf("the task holds no event: %v", err)), nil
	}
	facts, err := runner.Replay(a.o.Rules, e, nil, a.o.Now().UTC())
	if err != nil {
		return protocol.DecisionMessage{}, err
	}
	res, err := a.o.Rules.Rules.Decide(facts)
	if err != nil {
		if _, ok := errors.AsType[*rules.EvalError](err); ok {
			err = fmt.Errorf("%w (an agent cannot look up what the event does not tell)", err)
		}
		return decided(task, protocol.Escalate, err.Error()), nil
	}
	d := res.Message
	d.Actions = keepPermitted(&d, i)
	if d.Decision.Writes() && len(d.Actions) == 0 {
		d.Decision = protocol.Skip
	}
	return d, nil
}

// keepPermitted leaves out closing where the harness would not close.
func keepPermitted(d *protocol.DecisionMessage, i issue) []protocol.ActionItem {
	list := []protocol.ActionItem{}
	for _, item := range d.Actions {
		if item.Type == protocol.ActionCloseIssue && !i.Close {
			d.Rationale += "; left out: close_issue, which is not allowed"
			continue
		}
		list = append(list, item)
	}
	return list
}

// eventOf returns the event that a task is about: the one that its payload holds, or else
// an issue that was opened, as harnesses tell it that poll.
func eventOf(task protocol.TaskMessage) (runner.Event, error) {
	e, err := runner.ParseEvent(runner.EventSource{Repo: task.Repo, Payload: task.Payload})
	if err == nil && e.Issue != nil {
		return e, nil
	}
	issue, bad := runner.ParseIssue(task.Payload)
	if bad != nil {
		return runner.Event{}, bad
	}
	if err == nil {
		return e.WithIssue(issue), nil
	}
	payload, err := protocol.Encode(map[string]any{
		"action": "opened", "issue": task.Payload,
		"repository": map[string]string{"full_name": task.Repo},
		"sender":     map[string]string{"login": issue.Author, "type": "User"},
	})
	if err != nil {
		return runner.Event{}, err
	}
	return runner.ParseEvent(runner.EventSource{Name: runner.EventIssues, Repo: task.Repo, Payload: payload})
}
