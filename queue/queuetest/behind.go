package queuetest

import (
	"strings"
	"time"

	"github.com/org/foreman-action/queue"
)

// ended reports whether a task is done or failed.
func (t *task) ended() bool { return t.State == queue.Done || t.State == queue.Failed }

// beside reports whether another task is about the same issue, by the same agent.
func (t *task) beside(other *task) bool {
	return t != other && t.Info.Issue > 0 && t.Info.Issue == other.Info.Issue && t.Info.Agent == other.Info.Agent &&
		strings.EqualFold(t.Info.Repo, other.Info.Repo)
}

// line holds a task back behind those of its issue and agent that have not ended.
func (q *Queue) line(t *task) {
	for _, other := range q.tasks {
		if !t.beside(other) || other.ended() {
			continue
		}
		other.followed = true
		if t.Behind == "" || other.Behind == "" && q.byID(t.Behind).Behind != "" { // rather one that does not wait itself
			t.Behind, t.waited = other.id(), true
		}
	}
}

// free lets the task go that waited for the end of another one, if it need not wait for yet
// another one.
func (q *Queue) free(over *task, now time.Time) {
	if !over.followed {
		return
	}
	waits := func(t *task) bool { return t.beside(over) && t.State == queue.Pending && t.Behind != "" }
	first := q.find(waits)
	if first == nil {
		return
	}
	ahead := q.find(func(t *task) bool { return t.beside(first) && !t.ended() && t.followed && !waits(t) })
	if ahead == nil {
		ahead, first.Behind = first, ""
		if !first.held(now) {
			q.tell(first)
		}
	}
	for _, t := range q.tasks {
		if waits(t) {
			t.Behind = ahead.id()
		}
	}
}
