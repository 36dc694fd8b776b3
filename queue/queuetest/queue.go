package queuetest

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/org/foreman-action/queue"
)

// Options say how a Queue works. The zero value goes by the clock of the machine.
type Options struct {
	Now func() time.Time // nil: time.Now
}

// A Queue is a queue.Queue that lives as long as the process. It is for tests, and looks
// at each of its tasks again and again.
type Queue struct {
	mu       sync.Mutex
	now      func() time.Time
	seq      int64
	tasks    []*task // by seq
	watchers map[chan queue.Change]bool
	slots    map[string][]time.Time // by account
	broken   error
}

var _ queue.Queue = (*Queue)(nil)

// task is what is kept of a task.
type task struct {
	queue.Info
	queue.Task

	coalesces bool     // was enqueued with Coalesce
	keys      []string // its Dedup, and those of tasks that were coalesced into it
	followed  bool     // others may wait for its end
	waited    bool     // it was held back behind others
	claimedBy string   // of the last claim
	claims    int      // since the last Retry
	epoch     int64
	slot      time.Time // when it counts towards the hourly limit; zero: it does not
	decided   bool
	result    []byte
	report    []byte
	log       []queue.Entry
}

// New returns an empty queue.
func New(o Options) *Queue {
	if o.Now == nil {
		o.Now = time.Now
	}
	return &Queue{now: o.Now, watchers: map[chan queue.Change]bool{}}
}

// Break makes every method that may fail return err from now on, and do nothing; nil
// mends it.
func (q *Queue) Break(err error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.broken = err
}

// begin locks the queue for a method; the caller unlocks it if there is no error.
func (q *Queue) begin(ctx context.Context) (time.Time, error) {
	if err := ctx.Err(); err != nil {
		return time.Time{}, err
	}
	q.mu.Lock()
	if q.broken != nil {
		defer q.mu.Unlock()
		return time.Time{}, q.broken
	}
	return q.now().UTC().Truncate(time.Millisecond), nil
}

// find returns a task; nil: there is none.
func (q *Queue) find(match func(*task) bool) *task {
	if i := slices.IndexFunc(q.tasks, match); i >= 0 {
		return q.tasks[i]
	}
	return nil
}

// last is find from the newest one on.
func (q *Queue) last(match func(*task) bool) *task {
	for _, t := range slices.Backward(q.tasks) {
		if match(t) {
			return t
		}
	}
	return nil
}

func (q *Queue) byID(id string) *task {
	return q.find(func(t *task) bool { return t.id() == id })
}

func (t *task) id() string { return t.Info.ID }

// held reports whether a task that waits is held back.
func (t *task) held(now time.Time) bool {
	waits := t.State == queue.Pending || t.State == queue.Completed && !t.Draining
	return waits && (t.Ready.After(now) || t.Behind != "")
}

// note puts a line into the log of a task, which keeps the first and the newest ones.
func (t *task) note(now time.Time, what, who, text string) {
	if len(t.log) == queue.MaxLogs {
		t.log = slices.Delete(t.log, queue.MaxLogs/2, queue.MaxLogs/2+1)
	}
	t.log = append(t.log, queue.Entry{At: now, What: what, Who: queue.CleanText(who), Text: queue.CleanText(text)})
}

// Enqueue implements queue.Queue.
func (q *Queue) Enqueue(ctx context.Context, in queue.Task) (queue.Enqueued, error) {
	if err := in.Check(); err != nil {
		return queue.Enqueued{}, fmt.Errorf("enqueue a task: %w", err)
	}
	now, err := q.begin(ctx)
	if err != nil {
		return queue.Enqueued{}, err
	}
	defer q.mu.Unlock()
	if old := q.find(func(t *task) bool { return t.id() == in.ID || in.Dedup != "" && slices.Contains(t.keys, in.Dedup) }); old != nil {
		return old.stands(queue.Duplicate, now), nil
	}
	in.Message, in.Origin = slices.Clone(in.Message), slices.Clone(in.Origin)
	if old := q.last(func(t *task) bool { return joins(t, in) }); old != nil && old.join(in) {
		return old.stands(queue.Coalesced, now), nil
	}
	t := q.add(in, now)
	if in.Coalesce && in.Agent != "" {
		q.line(t)
	}
	q.tell(t)
	return t.stands(queue.Added, now), nil
}

// stands tells of the task that stands for one that was enqueued.
func (t *task) stands(how queue.How, now time.Time) queue.Enqueued {
	e := queue.Enqueued{How: how, ID: t.id(), Behind: t.Behind}
	if t.held(now) && t.Behind == "" {
		e.Ready = t.Ready
	}
	return e
}

// joins reports whether t takes over what a new task has to say.
func joins(t *task, in queue.Task) bool {
	return in.Coalesce && t.coalesces && in.Issue > 0 &&
		t.State == queue.Pending && t.Attempt == 0 &&
		t.Info.Agent == in.Agent && t.Info.Issue == in.Issue && strings.EqualFold(t.Info.Repo, in.Repo)
}

// join lets t tell of a new task too, and reports whether it does.
func (t *task) join(in queue.Task) bool {
	got, ok := in.Joins(t.id(), queue.Told{Message: slices.Clone(t.Message), Origin: slices.Clone(t.Origin)})
	if !ok {
		return false
	}
	t.Message, t.Origin, t.keys = slices.Clone(got.Message), slices.Clone(got.Origin), append(t.keys, in.Dedup)
	t.Info.Priority = max(t.Info.Priority, in.Priority)
	return true
}

func (q *Queue) add(in queue.Task, now time.Time) *task {
	q.seq++
	t := &task{Task: in, coalesces: in.Coalesce, keys: []string{in.Dedup}, Info: queue.Info{
		Seq: q.seq, ID: in.ID, Agent: in.Agent, Repo: in.Repo, Issue: in.Issue,
		State: queue.Pending, Priority: in.Priority, Enqueued: now,
	}}
	if in.Agent == "" {
		t.State, t.Completed = queue.Completed, now
	}
	ready := now.Add(in.Wait)
	if in.HourlyLimit > 0 {
		if turn := q.turn(in); turn.After(ready) {
			ready = turn
			t.Reason = fmt.Sprintf("held back: %d tasks of %s within an hour", in.HourlyLimit, in.Repo)
		}
		t.slot = ready
	}
	if ready.After(now) {
		t.Ready = ready
	}
	q.tasks = append(q.tasks, t)
	return t
}

// turn returns when the hourly limit lets a task go; the zero time: at once.
func (q *Queue) turn(in queue.Task) time.Time {
	var slots []time.Time
	for _, t := range q.tasks {
		if !t.slot.IsZero() && strings.EqualFold(t.Info.Repo, in.Repo) {
			slots = append(slots, t.slot)
		}
	}
	if len(slots) < in.HourlyLimit {
		return time.Time{}
	}
	slices.SortFunc(slots, func(a, b time.Time) int { return b.Compare(a) })
	return slots[in.HourlyLimit-1].Add(time.Hour)
}
