package poll

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/org/foreman-action/memory"
	"github.com/org/foreman-action/queue"
	"github.com/org/foreman-action/triage"
)

const maxTasks = 20 // maximum number of tasks of an issue that are read, the newest first

// Tasks contains the methods of queue.Queue that a history calls.
type Tasks interface {
	Search(ctx context.Context, f queue.Filter) (queue.Page, error)
	Inspect(ctx context.Context, id string) (queue.Details, error)
}

// A Memory contains the methods of memory.Store that a history calls.
type Memory interface {
	Load(ctx context.Context, repo string, issue int) (memory.Record, error)
}

// A history reads Foreman's earlier tasks and writes on the issues of one repository.
type history struct {
	tasks  Tasks
	memory Memory // may be nil
	repo   string
}

// A taskSnapshot is the state of an issue in the message of its newest task.
type taskSnapshot struct {
	exists      bool  // the issue has a task
	at          int64 // time of the issue's last change; 0: unknown
	title, body string
}

// newestTask returns the snapshot of an issue's newest task, or reports that a task is in
// flight.
func (h history) newestTask(ctx context.Context, issue int) (last taskSnapshot, inFlight bool, err error) {
	list, err := queue.List(ctx, h.tasks, queue.Filter{Repo: h.repo, Issue: issue, Limit: maxTasks})
	if err != nil {
		return taskSnapshot{}, false, fmt.Errorf("look for tasks of issue %d: %w", issue, err)
	}
	for _, t := range list {
		if t.State != queue.Done && t.State != queue.Failed {
			return taskSnapshot{}, true, nil
		}
	}
	if len(list) == 0 {
		return taskSnapshot{}, false, nil
	}
	for _, t := range list {
		d, err := h.tasks.Inspect(ctx, t.ID)
		if errors.Is(err, queue.ErrNotFound) { // it was purged in the meantime
			return taskSnapshot{}, false, nil
		}
		if err != nil {
			return taskSnapshot{}, false, fmt.Errorf("read the last task of issue %d: %w", issue, err)
		}
		// A task without an event does not contain the issue. Other programs' origins may not be JSON.
		if from, _ := queue.ParseOrigin(d.Origin); from.Source != queue.SourceProposals {
			return parseSnapshot(d.Message), false, nil
		}
	}
	return taskSnapshot{exists: true}, false, nil
}

// parseSnapshot decodes the message of a task. If that fails, it only reports that there is a task.
func parseSnapshot(message []byte) taskSnapshot {
	var m struct {
		Payload struct {
			Title string  `json:"title"`
			Body  *string `json:"body"`
			Issue struct {
				UpdatedAt time.Time `json:"updated_at"`
			} `json:"issue"`
		} `json:"payload"`
	}
	s := taskSnapshot{exists: true}
	if json.Unmarshal(message, &m) != nil {
		return s
	}
	if at := m.Payload.Issue.UpdatedAt; !at.IsZero() {
		s.at = max(at.Unix(), 0)
	}
	s.title = m.Payload.Title
	if m.Payload.Body != nil {
		s.body = *m.Payload.Body
	}
	return s
}

// wrote reports whether Foreman may have written to an issue or proposed something there, and when it last
// decided on it.
func (h history) wrote(ctx context.Context, issue int, last taskSnapshot) (bool, time.Time) {
	if h.memory == nil {
		return last.exists, time.Time{}
	}
	r, err := h.memory.Load(ctx, h.repo, issue)
	if err != nil {
		// If the memory cannot be read, the timeline decides.
		return !errors.Is(err, memory.ErrNotFound), time.Time{}
	}
	var decided time.Time
	wrote := r.Earlier != nil && len(r.Earlier.Done) > 0 || len(r.Proposals) > 0 || r.ProposalComment != 0
	for _, t := range r.Tasks {
		decided = t.At
		wrote = wrote || slices.ContainsFunc(t.Actions, func(a memory.Action) bool { return a.Result == triage.Done })
	}
	return wrote, decided
}
