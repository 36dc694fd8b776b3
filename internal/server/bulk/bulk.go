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

// maxNamed limits the skipped tasks, and the failed ones, that a Result names.
const maxNamed = 10

// A Queue has the calls of queue.Queue that a bulk act makes.
type Queue interface {
	Search(ctx context.Context, f queue.Filter) (queue.Page, error)
	Retry(ctx context.Context, t queue.Seen, by string) (queue.State, error)
	AskAgain(ctx context.Context, t queue.Seen, by, reason string) (queue.State, error)
	Cancel(ctx context.Context, t queue.Seen, by string) error
	ReleaseClaim(ctx context.Context, ref queue.Ref, wait time.Duration) error
}

// An Act is a bulk act.
type Act struct {
	Verb Verb
	// Filter selects the tasks. Its State must be one of Verb.States; empty: the first of them, except
	// that Cancel needs a state. Before is the Next of the last result. Limit has no meaning.
	Filter queue.Filter
	// Tasks are the only tasks to change, as the caller saw them; at most MaxTasks. Nil: those of Filter,
	// which has no meaning otherwise.
	Tasks  []queue.Seen
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
	last, err := q.Search(ctx, queue.Filter{Limit: 1})
	if err != nil {
		return f, err
	}
	for _, t := range last.Tasks {
		f.Before = t.Seq + 1
	}
	return f, nil
}

// A Result is the result of an act.
type Result struct {
	Changed int // tasks that were changed
	Skipped int // tasks that have changed, whose state does not allow it, or that were purged
	Failed  int // tasks that could not be changed
	// Skips and Failures are the first skipped and failed tasks with their errors.
	Skips, Failures []Failure
	// Next is the Filter.Before with which the act continues; 0: there are no more tasks.
	Next int64
}

// A Failure is a task that was not changed.
type Failure struct {
	ID  string
	Err error
}

// Add adds the numbers of the next part of an act, and continues with its Next.
func (r Result) Add(next Result) Result {
	r.Changed, r.Skipped, r.Failed, r.Next = r.Changed+next.Changed, r.Skipped+next.Skipped, r.Failed+next.Failed, next.Next
	r.Skips, r.Failures = first(r.Skips, next.Skips), first(r.Failures, next.Failures)
	return r
}

// first returns the first maxNamed elements of both lists.
func first(list, more []Failure) []Failure {
	return append(slices.Clone(list), more[:min(len(more), maxNamed-len(list))]...)
}

// Check returns the act with its defaults, or why it is invalid.
func (a Act) Check() (Act, error) {
	states := a.Verb.States()
	if states == nil {
		return a, fmt.Errorf("want one of the verbs %s, got %q", names(verbs()), string(a.Verb))
	}
	if a.Limit < 0 || a.Limit > MaxTasks || len(a.Tasks) > MaxTasks {
		return a, fmt.Errorf("want a limit of at most %d tasks", MaxTasks)
	}
	a.Limit = cmp.Or(a.Limit, MaxTasks)
	if a.Tasks != nil {
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
	if a.Tasks != nil {
		_, err = r.change(ctx, a.Tasks)
		return r.result, err
	}
	f := a.Filter
	for left := a.Limit; left > 0; {
		f.Limit = min(left, 200) // progress can be counted, and a stopped act loses little
		page, err := q.Search(ctx, f)
		if err != nil {
			r.result.Next = cmp.Or(f.Before, newest)
			return r.result, err
		}
		var list []queue.Seen
		for _, t := range page.Tasks {
			list = append(list, t.Seen())
		}
		done, err := r.change(ctx, list)
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

// newest is the Filter.Before of the newest task.
const newest = 1 << 62

// A runner is the state of Run.
type runner struct {
	Act

	queue  Queue
	result Result
	mu     sync.Mutex // guards halt
	halt   error      // why the act stops; nil: it goes on
}

// change changes tasks in their order, several at the same time. It stops if the context ends or the
// queue is unavailable. Then done is the number of tasks before the first one that was not changed;
// some after it may be changed.
func (r *runner) change(ctx context.Context, list []queue.Seen) (done int, err error) {
	var group sync.WaitGroup
	permits := make(chan struct{}, parallel)
	left := make([]bool, len(list)) // whether each task was left unchanged by a stop
	errs := make([]error, len(list))
	tried := 0
	for i, t := range list {
		permits <- struct{}{}
		if left[i] = r.stop(ctx) != nil; left[i] {
			break
		}
		tried++
		group.Go(func() {
			defer func() { <-permits }()
			_, errs[i] = r.Change(ctx, r.queue, t)
			left[i] = r.stops(ctx, errs[i])
		})
	}
	group.Wait()
	for i, err := range errs[:tried] { // in the order of the tasks
		if !left[i] {
			r.count(list[i].ID, err)
		}
	}
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

// stops reports whether the error of a task stops the act, and remembers it.
func (r *runner) stops(ctx context.Context, err error) bool {
	if err == nil || Skips(err) || ctx.Err() == nil && !errors.Is(err, queue.ErrUnavailable) {
		return false
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.halt = cmp.Or(r.halt, err)
	return true
}

// count counts the result of one task.
func (r *runner) count(id string, err error) {
	switch {
	case err == nil:
		r.result.Changed++
	case Skips(err):
		r.result.Skipped++
		r.result.Skips = first(r.result.Skips, []Failure{{id, err}})
	default:
		r.result.Failed++
		r.result.Failures = first(r.result.Failures, []Failure{{id, err}})
	}
}

// Skips reports whether an error of the queue means that a task is not one to change any more.
func Skips(err error) bool {
	return errors.Is(err, queue.ErrChanged) || errors.Is(err, queue.ErrState) || errors.Is(err, queue.ErrNotFound) || errors.Is(err, queue.ErrLost)
}

// Why returns the reason for which a task was skipped, for people.
func Why(err error) string {
	switch {
	case errors.Is(err, queue.ErrChanged):
		return "it has changed meanwhile"
	case errors.Is(err, queue.ErrNotFound):
		return "it does not exist; it may have been purged"
	case errors.Is(err, queue.ErrLost):
		return "the claim has ended"
	}
	return "its state does not allow it"
}

// Change changes one task, unless it has changed since the caller saw it: an agent may have decided on it
// in the meantime, and the decision must not be lost. It returns the new state. a.Filter and a.Tasks have
// no meaning. Errors: those of the queue, after which the state has no meaning.
func (a Act) Change(ctx context.Context, q Queue, t queue.Seen) (queue.State, error) {
	switch a.Verb {
	case Retry:
		return q.Retry(ctx, t, a.By)
	case AskAgain:
		return q.AskAgain(ctx, t, a.By, a.Reason)
	case Cancel:
		return queue.Failed, q.Cancel(ctx, t, a.By)
	case Release:
		if t.State != "" && t.State != queue.Claimed {
			return "", fmt.Errorf("%w: it was %s", queue.ErrState, t.State)
		}
		// The attempt identifies the claim: a later one, by this agent or another, is not ended.
		return queue.Pending, q.ReleaseClaim(ctx, queue.Ref{ID: t.ID, Attempt: t.Attempt}, 0)
	}
	_, err := a.Check()
	return "", err
}
