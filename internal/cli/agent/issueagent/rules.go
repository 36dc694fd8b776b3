package issueagent

import (
	"context"
	"errors"
	"fmt"

	"github.com/org/foreman-action/protocol"
	"github.com/org/foreman-action/rules"
	"github.com/org/foreman-action/runner"
	"github.com/org/foreman-action/triage"
)

// byRules decides by the rules. If they fail, the issue is escalated with the reason, because
// another try would fail in the same way.
func (a *Agent) byRules(ctx context.Context, task protocol.TaskMessage, i issue) (protocol.DecisionMessage, error) {
	e, err := eventOf(task)
	if err != nil {
		return decided(task, protocol.Escalate, fmt.Sprintf("the task contains no event: %v", err)), nil
	}
	facts, err := runner.Replay(a.o.Rules, e, nil, a.o.Now().UTC())
	if err != nil {
		return protocol.DecisionMessage{}, err
	}
	res, err := a.o.Rules.Rules.Decide(ctx, facts)
	if err != nil { // an agent cannot report that the other rules decided
		if _, ok := errors.AsType[*rules.EvalError](err); ok {
			err = fmt.Errorf("%w (an agent can use only the data of the event)", err)
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

// keepPermitted returns the actions without close_issue, unless the payload permits closing.
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

// eventOf returns the event in a task's payload. Harnesses that poll send an issue instead of an
// event; then it returns the opening of that issue.
func eventOf(task protocol.TaskMessage) (triage.Delivery, error) {
	e, err := triage.ParseEvent(triage.EventSource{Repo: task.Repo, Payload: task.Payload})
	if err == nil && e.Issue != nil {
		return e, nil
	}
	issue, bad := triage.ParseIssue(task.Payload)
	if bad != nil {
		return triage.Delivery{}, bad
	}
	if err == nil {
		return e.WithIssue(issue), nil
	}
	owner, name, ok := protocol.SplitRepo(task.Repo)
	if !ok {
		return triage.Delivery{}, fmt.Errorf("the task names no repository (want owner/name, got %q)", task.Repo)
	}
	return triage.NewIssueEvent("opened", triage.Repo{Owner: owner, Name: name}, issue, triage.Actor{Login: issue.Author, Type: "User"})
}
