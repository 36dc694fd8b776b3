package intake

import (
	"slices"

	"github.com/org/foreman-action/protocol"
	"github.com/org/foreman-action/queue"
	"github.com/org/foreman-action/runner"
	"github.com/org/foreman-action/triage"
)

// joinable reports whether the event may share a task with another one. Joinable events only need a
// decision on the current state of the issue. Other events contain more, such as a comment.
func joinable(e triage.Delivery) bool { return priority(e) >= 0 }

// priority orders the joinable events; -1: not joinable.
func priority(e triage.Delivery) int {
	return slices.Index([]string{"issues.edited", "issues.reopened", "issues.opened"}, e.Key())
}

// neverJoin is a queue.Task.Join that keeps both tasks; the new one waits for the old one.
func neverJoin(_, _ queue.Body) (queue.Body, bool) { return queue.Body{}, false }

// join returns a queue.Task.Join that merges two tasks. The merged task has the event with the
// higher priority, or the later one if they are equal, and the newer state of the issue. If the
// event of the old task is not joinable, both tasks are kept.
func join(e triage.Delivery, spec runner.TaskSpec) func(old, new queue.Body) (queue.Body, bool) {
	return func(old, new queue.Body) (queue.Body, bool) {
		task, err := protocol.ParseTask(old.Message)
		if err != nil {
			return queue.Body{}, false
		}
		origin, err := queue.ParseOrigin(old.Origin)
		if err != nil {
			return queue.Body{}, false
		}
		earlier, err := triage.ParseEvent(triage.EventSource{Name: origin.Event, Repo: task.Repo, Payload: task.Payload})
		if err != nil || earlier.Issue == nil || !joinable(earlier) {
			return queue.Body{}, false
		}
		event, issue := e, e.Snapshot()
		if earlier.Issue.UpdatedAt.After(issue.UpdatedAt) {
			issue = earlier.Snapshot()
		}
		if priority(earlier) > priority(e) {
			event, new.Origin = earlier, old.Origin
		}
		spec := spec
		spec.ID = task.TaskID
		m, err := runner.Task(event.WithIssue(issue), spec)
		if err != nil {
			return queue.Body{}, false
		}
		new.Message, err = protocol.Encode(m)
		return new, err == nil
	}
}
