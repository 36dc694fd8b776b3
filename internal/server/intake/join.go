package intake

import (
	"encoding/json"
	"slices"

	"github.com/org/foreman-action/protocol"
	"github.com/org/foreman-action/queue"
	"github.com/org/foreman-action/runner"
	"github.com/org/foreman-action/triage"
)

// joinable reports whether a task of the event may tell of another event too, or the
// other way round. What such events tell is the issue as it is; each of the others tells
// something of its own, such as a comment.
func joinable(e triage.Delivery) bool { return strength(e) >= 0 }

// strength orders the events that may be joined; it is -1 for those that may not.
func strength(e triage.Delivery) int {
	return slices.Index([]string{"issues.edited", "issues.reopened", "issues.opened"}, e.Key())
}

// apart keeps tasks apart: the new one waits for the end of the old one.
func apart(_, _ queue.Told) (queue.Told, bool) { return queue.Told{}, false }

// join makes one task of two: it tells of the stronger event, and of the newer issue. Of
// equal ones the later delivery counts. ok is false when the task that waits is not one
// that may be joined to.
func join(e triage.Delivery, spec runner.TaskSpec) func(old, new queue.Told) (queue.Told, bool) {
	return func(old, new queue.Told) (queue.Told, bool) {
		before, err := protocol.ParseTask(old.Message)
		if err != nil {
			return queue.Told{}, false
		}
		var origin Origin
		if err := json.Unmarshal(old.Origin, &origin); err != nil {
			return queue.Told{}, false
		}
		was, err := triage.ParseEvent(triage.EventSource{Name: origin.Event, Repo: before.Repo, Payload: before.Payload})
		if err != nil || was.Issue == nil || !joinable(was) {
			return queue.Told{}, false
		}
		told, issue := e, e.Snapshot()
		if was.Issue.UpdatedAt.After(issue.UpdatedAt) {
			issue = was.Snapshot()
		}
		if strength(was) > strength(e) {
			told, new.Origin = was, old.Origin
		}
		spec := spec
		spec.ID = before.TaskID
		m, err := runner.Task(told.WithIssue(issue), spec)
		if err != nil {
			return queue.Told{}, false
		}
		new.Message, err = protocol.Encode(m)
		return new, err == nil
	}
}
