package queuetest

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/org/foreman-action/queue"
)

// Stats implements queue.Queue.
func (q *Queue) Stats(ctx context.Context) (queue.Stats, error) {
	now, err := q.begin(ctx)
	if err != nil {
		return queue.Stats{}, err
	}
	defer q.mu.Unlock()
	s := queue.Stats{States: map[queue.State]int{}}
	agents := map[string]*queue.AgentStats{}
	for _, t := range q.tasks {
		s.States[t.State]++
		if t.held(now) {
			s.Held++
		}
		if t.Draining {
			s.Draining++
		}
		if t.State == queue.Pending && (s.Oldest.IsZero() || t.Enqueued.Before(s.Oldest)) {
			s.Oldest = t.Enqueued
		}
		t.count(agents, now)
	}
	for _, a := range agents {
		s.Agents = append(s.Agents, *a)
	}
	slices.SortFunc(s.Agents, func(a, b queue.AgentStats) int { return cmp.Compare(a.Agent, b.Agent) })
	return s, nil
}

// count counts a task among those of its agent.
func (t *task) count(agents map[string]*queue.AgentStats, now time.Time) {
	if t.State != queue.Pending && t.State != queue.Claimed {
		return
	}
	a := agents[t.Info.Agent]
	if a == nil {
		a = &queue.AgentStats{Agent: t.Info.Agent}
		agents[t.Info.Agent] = a
	}
	switch {
	case t.State == queue.Claimed:
		a.Claimed++
	case t.held(now):
		a.Held++
		a.Pending++
	default:
		a.Pending++
	}
}

// Backlog implements queue.Queue.
func (q *Queue) Backlog(ctx context.Context, n int) ([]queue.Backlog, error) {
	stats, err := q.Stats(ctx)
	if err != nil {
		return nil, err
	}
	now, err := q.begin(ctx)
	if err != nil {
		return nil, err
	}
	defer q.mu.Unlock()
	var list []queue.Backlog
	for _, a := range stats.Agents {
		waiting := q.waiting(a.Agent, now)
		if len(waiting) == 0 {
			continue
		}
		b := queue.Backlog{Agent: a.Agent, Pending: min(len(waiting), queue.MaxBacklog), Claimed: a.Claimed}
		for _, t := range waiting[:min(max(n, 0), len(waiting))] {
			b.IDs = append(b.IDs, t.id())
		}
		list = append(list, b)
	}
	return list, nil
}

// List implements queue.Queue.
func (q *Queue) List(ctx context.Context, f queue.Filter) ([]queue.Info, error) {
	now, err := q.begin(ctx)
	if err != nil {
		return nil, err
	}
	defer q.mu.Unlock()
	limit := min(f.Limit, 1000)
	if limit <= 0 {
		limit = 100
	}
	var list []queue.Info
	for _, t := range slices.Backward(q.tasks) {
		if matches(t.Info, f) && len(list) < limit {
			list = append(list, t.info(now))
		}
	}
	return list, nil
}

func matches(i queue.Info, f queue.Filter) bool {
	return (f.State == "" || i.State == f.State) && (f.Agent == "" || i.Agent == f.Agent) &&
		(f.Repo == "" || strings.EqualFold(i.Repo, f.Repo)) && (f.Issue == 0 || i.Issue == f.Issue) &&
		(f.Before == 0 || i.Seq < f.Before)
}

// info returns what is known of a task now.
func (t *task) info(now time.Time) queue.Info {
	i := t.Info
	i.Held = t.held(now)
	if i.Behind != "" {
		i.Reason, i.Ready = "waits for task "+i.Behind+" of the same issue", time.Time{}
	}
	return i
}

// Inspect implements queue.Queue.
func (q *Queue) Inspect(ctx context.Context, id string) (queue.Details, error) {
	now, err := q.begin(ctx)
	if err != nil {
		return queue.Details{}, err
	}
	defer q.mu.Unlock()
	t := q.byID(id)
	if t == nil {
		return queue.Details{}, queue.ErrNotFound
	}
	return queue.Details{
		Info: t.info(now), Message: slices.Clone(t.Message), Origin: slices.Clone(t.Origin),
		Result: slices.Clone(t.result), Report: slices.Clone(t.report), Log: slices.Clone(t.log),
	}, nil
}

// Retry implements queue.Queue.
func (q *Queue) Retry(ctx context.Context, id, by string) (queue.State, error) {
	now, err := q.begin(ctx)
	if err != nil {
		return "", err
	}
	defer q.mu.Unlock()
	t := q.byID(id)
	switch {
	case t == nil:
		return "", queue.ErrNotFound
	case t.held(now):
	case t.State != queue.Failed:
		return "", fmt.Errorf("%w: it is %s", queue.ErrState, t.State)
	case t.decided || t.Info.Agent == "":
		t.State = queue.Completed
	default:
		t.State = queue.Pending
	}
	failed := !t.Ended.IsZero()
	t.claims, t.Tries, t.Reason, t.report = 0, 0, "", nil
	t.Ended, t.Ready, t.Behind, t.followed = time.Time{}, time.Time{}, "", true
	if failed && t.State == queue.Pending && t.coalesces {
		q.line(t)
	}
	t.note(now, "retried", by, "")
	q.tell(t)
	return t.State, nil
}

// Cancel implements queue.Queue.
func (q *Queue) Cancel(ctx context.Context, id, by string) error {
	now, err := q.begin(ctx)
	if err != nil {
		return err
	}
	defer q.mu.Unlock()
	t := q.byID(id)
	switch {
	case t == nil:
		return queue.ErrNotFound
	case t.Draining:
		return fmt.Errorf("%w: it is being carried out", queue.ErrState)
	case t.State == queue.Done, t.State == queue.Failed:
		return fmt.Errorf("%w: it is %s", queue.ErrState, t.State)
	}
	q.fail(t, now, "cancelled by "+by)
	if t.Attempt == 0 {
		t.slot = time.Time{}
	}
	t.note(now, "cancelled", by, "")
	return nil
}

// Purge implements queue.Queue.
func (q *Queue) Purge(ctx context.Context, before time.Time, limit int) (int, error) {
	_, err := q.begin(ctx)
	if err != nil {
		return 0, err
	}
	defer q.mu.Unlock()
	n := 0
	q.tasks = slices.DeleteFunc(q.tasks, func(t *task) bool {
		if n >= limit || t.Ended.IsZero() || !t.Ended.Before(before) {
			return false
		}
		n++
		return true
	})
	return n, nil
}

// Watch implements queue.Queue. It tells of what other users of the queue do, too.
func (q *Queue) Watch() (changes <-chan queue.Change, stop func()) {
	q.mu.Lock()
	defer q.mu.Unlock()
	c := make(chan queue.Change, 64)
	q.watchers[c] = true
	return c, func() {
		q.mu.Lock()
		defer q.mu.Unlock()
		if q.watchers[c] {
			delete(q.watchers, c)
			close(c)
		}
	}
}

// tell tells the watchers of a task that may have become ready.
func (q *Queue) tell(t *task) {
	change := queue.Change{}
	if t.State == queue.Pending {
		change.Agent = t.Info.Agent
	}
	for c := range q.watchers {
		select {
		case c <- change:
		default: // it has enough to look at
		}
	}
}

// tellLane tells of the decisions that waited for the end of a task of their issue.
func (q *Queue) tellLane(ended *task) {
	waits := func(t *task) bool { return t.State == queue.Completed && !t.Draining && t.lane() == ended.lane() }
	if t := q.find(waits); t != nil && ended.lane() != "" {
		q.tell(t)
	}
}
