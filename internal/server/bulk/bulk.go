// Package bulk changes all tasks that a filter selects, with the operations that change one task.
//
// An act goes from the newest task to older ones, and never back. So it changes each task at most once,
// and no task that was enqueued after its start. It can be stopped after any task. Then it can be
// continued with Result.Next, or from the start: changed tasks have another state and no longer match.
package bulk

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/org/foreman-action/queue"
)

// A Verb is an operation on tasks.
type Verb string

// The verbs. They are also the names in addresses and metrics.
const (
	Retry    Verb = "retry"     // queue.Queue.Retry
	AskAgain Verb = "ask-again" // queue.Queue.AskAgain
	Cancel   Verb = "cancel"    // queue.Queue.Cancel
	Release  Verb = "release"   // queue.Queue.ReleaseClaim
)

func verbs() []Verb { return []Verb{Retry, AskAgain, Cancel, Release} }

// States returns the states that the verb can change, the usual one first.
func (v Verb) States() []queue.State {
	switch v {
	case Retry: // in the last two it releases tasks that are held back
		return []queue.State{queue.Failed, queue.Pending, queue.Completed}
	case AskAgain:
		return []queue.State{queue.Failed, queue.Done}
	case Cancel:
		return []queue.State{queue.Pending, queue.Claimed, queue.Completed}
	case Release:
		return []queue.State{queue.Claimed}
	}
	return nil
}

// MaxTasks is how many tasks one call of Run changes at most.
const MaxTasks = 1000

// parallel is how many tasks are changed at the same time, so that they share transactions.
const parallel = 16

// maxFailures limits the tasks that a Result names.
const maxFailures = 10

// A Queue has the calls of queue.Queue that a bulk act makes.
type Queue interface {
	Search(ctx context.Context, f queue.Filter) (queue.Page, error)
	Inspect(ctx context.Context, id string) (queue.Details, error)
	Retry(ctx context.Context, id, by string) (queue.State, error)
	AskAgain(ctx context.Context, id, by, reason string) (queue.State, error)
	Cancel(ctx context.Context, id, by string) error
	ReleaseClaim(ctx context.Context, ref queue.Ref, wait time.Duration) error
}

// An Act is a bulk act.
type Act struct {
	Verb Verb
	// Filter selects the tasks. Its State must be one of Verb.States; empty: the first of them, except
	// that Cancel needs a state. Before is the Next of the last result. Limit has no meaning.
	Filter queue.Filter
	// IDs are the ids of the only tasks to change; at most MaxTasks. Nil: those of Filter, which has no
	// meaning otherwise.
	IDs    []string
	Limit  int    // maximum number of tasks to change or to skip, at most MaxTasks; 0 means MaxTasks
	By     string // who changes the tasks; for their logs
	Reason string // of AskAgain; for the log of each task
}

// Bounded returns the filter of an act that changes no task which is enqueued later: a filter without
// Before gets one after the newest task. So a count and the act that follows it have the same tasks.
func Bounded(ctx context.Context, q Queue, f queue.Filter) (queue.Filter, error) {
	if f.Before != 0 {
		return f, nil
	}
	newest, err := q.Search(ctx, queue.Filter{Limit: 1})
	if err != nil {
		return f, err
	}
	for _, t := range newest.Tasks {
		f.Before = t.Seq + 1
	}
	return f, nil
}

// A Result is the result of an act.
type Result struct {
	Changed int // tasks that were changed
	Skipped int // tasks whose state no longer allowed it, or that were purged
	Failed  int // tasks that could not be changed
	// Failures are the first failed tasks with their errors.
	Failures []Failure
	// Next is the Filter.Before with which the act continues; 0: there are no more tasks.
	Next int64
}

// A Failure is a task that could not be changed.
type Failure struct {
	ID  string
	Err error
}

// Add adds the numbers of the next part of an act, and continues with its Next.
func (r Result) Add(next Result) Result {
	r.Changed, r.Skipped, r.Failed, r.Next = r.Changed+next.Changed, r.Skipped+next.Skipped, r.Failed+next.Failed, next.Next
	r.Failures = append(slices.Clone(r.Failures), next.Failures[:min(len(next.Failures), maxFailures-len(r.Failures))]...)
	return r
}

// Check returns the act with its defaults, or why it is invalid.
func (a Act) Check() (Act, error) {
	states := a.Verb.States()
	if states == nil {
		return a, fmt.Errorf("want one of the verbs %s, got %q", names(verbs()), string(a.Verb))
	}
	if a.Limit < 0 || a.Limit > MaxTasks || len(a.IDs) > MaxTasks {
		return a, fmt.Errorf("want a limit of at most %d tasks", MaxTasks)
	}
	a.Limit = cmp.Or(a.Limit, MaxTasks)
	if a.IDs != nil {
		return a, nil
	}
	if a.Filter.State == "" && a.Verb != Cancel {
		a.Filter.State = states[0]
	}
	if !slices.Contains(states, a.Filter.State) {
		return a, fmt.Errorf("%s changes tasks in the state %s; name one of them", a.Verb, names(states))
	}
	return a, nil
}

func names[T ~string](list []T) string {
	var out []string
	for _, name := range list {
		out = append(out, string(name))
	}
	return strings.Join(out, ", ")
}

// Run changes tasks, until it has come to a.Limit tasks or has examined as many as one call of Search
// does. The result counts what was done, also with an error. Errors: those of Check, of the context, and
// of a queue that cannot be read or written.
func Run(ctx context.Context, q Queue, a Act) (Result, error) {
	a, err := a.Check()
	if err != nil {
		return Result{}, err
	}
	r := runner{Act: a, queue: q}
	if a.IDs != nil {
		list, err := r.named(ctx)
		if err != nil {
			return Result{}, err
		}
		_, err = r.change(ctx, list)
		return r.result, err
	}
	f := a.Filter
	for left := a.Limit; left > 0; {
		f.Limit = min(left, 200) // progress can be counted, and a stopped act loses little
		page, err := q.Search(ctx, f)
		if err != nil {
			r.result.Next = cmp.Or(f.Before, first)
			return r.result, err
		}
		done, err := r.change(ctx, page.Tasks)
		if done < len(page.Tasks) {
			r.result.Next = page.Tasks[done].Seq + 1
			return r.result, err
		}
		left -= done
		r.result.Next, f.Before = page.Next, page.Next
		if page.Next == 0 || done < f.Limit {
			break
		}
	}
	return r.result, nil
}

// first is the Filter.Before of the newest task.
const first = 1 << 62

// A runner is the state of Run.
type runner struct {
	Act

	queue  Queue
	mu     sync.Mutex // guards the following fields
	result Result
	halt   error // why the act stops; nil: it goes on
}

// named returns the tasks with the ids of the act. It counts unknown ones as skipped.
func (r *runner) named(ctx context.Context) ([]queue.Info, error) {
	var list []queue.Info
	for _, id := range r.IDs {
		d, err := r.queue.Inspect(ctx, id)
		switch {
		case errors.Is(err, queue.ErrNotFound):
			r.result.Skipped++
		case err != nil:
			return nil, err
		default:
			list = append(list, d.Info)
		}
	}
	return list, nil
}

// change changes tasks in their order, several at the same time. It stops if the context ends or the
// queue is unavailable. Then done is the number of tasks before the first one that was not changed;
// some after it may be changed.
func (r *runner) change(ctx context.Context, list []queue.Info) (done int, err error) {
	var group sync.WaitGroup
	permits := make(chan struct{}, parallel)
	left := make([]bool, len(list)) // whether each task was left unchanged by a stop
	for i, t := range list {
		permits <- struct{}{}
		if left[i] = r.stop(ctx) != nil; left[i] {
			break
		}
		group.Go(func() {
			defer func() { <-permits }()
			left[i] = !r.count(ctx, t.ID, r.one(ctx, t))
		})
	}
	group.Wait()
	if i := slices.Index(left, true); i >= 0 {
		return i, r.stop(ctx)
	}
	return len(list), nil
}

// stop returns why no further task is changed; nil: nothing stops the act.
func (r *runner) stop(ctx context.Context) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return cmp.Or(r.halt, ctx.Err())
}

// count counts the result of one task. It returns false if the error stops the act.
func (r *runner) count(ctx context.Context, id string, err error) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case err == nil:
		r.result.Changed++
	case errors.Is(err, queue.ErrState), errors.Is(err, queue.ErrNotFound), errors.Is(err, queue.ErrLost):
		r.result.Skipped++
	case ctx.Err() != nil || errors.Is(err, queue.ErrUnavailable):
		r.halt = cmp.Or(r.halt, err)
		return false
	default:
		r.result.Failed++
		if len(r.result.Failures) < maxFailures {
			r.result.Failures = append(r.result.Failures, Failure{id, err})
		}
	}
	return true
}

// one changes one task, unless its state has changed since it was listed: an agent may have decided on
// it in the meantime, and the decision must not be lost.
func (r *runner) one(ctx context.Context, t queue.Info) error {
	now, err := r.queue.Inspect(ctx, t.ID)
	switch {
	case err != nil:
		return err
	case now.State != t.State:
		return queue.ErrState
	}
	switch r.Verb {
	case Retry:
		_, err = r.queue.Retry(ctx, t.ID, r.By)
	case AskAgain:
		_, err = r.queue.AskAgain(ctx, t.ID, r.By, r.Reason)
	case Cancel:
		err = r.queue.Cancel(ctx, t.ID, r.By)
	case Release:
		// A later claim by another agent is not ended.
		err = r.queue.ReleaseClaim(ctx, queue.Ref{ID: t.ID, Attempt: t.Attempt}, 0)
	}
	return err
}
