package queuetest

import (
	"errors"
	"sync"

	"github.com/org/foreman-action/queue"
	"github.com/org/foreman-action/queue/internal/script"
)

// executor carries decisions out, and checks that at most one decision per issue is leased at a
// time.
type executor struct {
	*store

	mu   sync.Mutex
	busy map[int]string  // by issue: the id of the leased task
	done map[string]bool // by id: whether the task was carried out
}

// begin records that a task was leased.
func (e *executor) begin(issue int, id string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.busy[issue] != "" || e.done[id] {
		e.Errorf("%s was handed out twice, or beside %q of the same issue", id, e.busy[issue])
	}
	e.busy[issue] = id
}

// finish records that a task is done. It is called before MarkDone, after which another task of the
// issue can be leased.
func (e *executor) finish(issue int, id string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.done[id] {
		e.Errorf("%s is carried out twice", id)
	}
	e.busy[issue], e.done[id] = "", true
}

// drain carries out the completed decisions. It calls begin for each lease, unless begin is nil.
func (e *executor) drain(q queue.Queue, begin func(issue int, id string)) error {
	list, err := q.LeaseDecisions(e.Context(), queue.DrainOptions{Lease: script.Lease, Limit: 3})
	if begin != nil {
		for _, d := range list {
			begin(d.Issue, d.ID)
		}
	}
	for _, d := range list {
		e.finish(d.Issue, d.ID)
		err = errors.Join(err, q.MarkDone(e.Context(), d.Lease, []byte("{}")))
	}
	return err
}
