package queue

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/org/foreman-action/internal/text"
)

// tasks are all tasks, the oldest first.
type tasks []*task

// find returns the oldest task that matches, or nil.
func (l tasks) find(match func(*task) bool) *task {
	if i := slices.IndexFunc(l, match); i >= 0 {
		return l[i]
	}
	return nil
}

func (l tasks) byID(id string) *task {
	return l.find(func(t *task) bool { return t.ID == id })
}

// seen returns the task that a caller saw. Errors: ErrNotFound, ErrChanged.
func (l tasks) seen(s Seen) (*task, error) {
	t := l.byID(s.ID)
	if t == nil {
		return nil, ErrNotFound
	}
	return t, s.Check(t.Seen())
}

// duplicate returns the task that has the id or the dedup key of a new task, or nil.
func (l tasks) duplicate(in Task) *task {
	return l.find(func(t *task) bool { return t.ID == in.ID || in.Dedup != "" && slices.Contains(t.dedup, in.Dedup) })
}

// joinable returns the newest task that a new task may be coalesced into, or nil.
func (l tasks) joinable(in Task) *task {
	for _, t := range slices.Backward(l) {
		if in.Coalesce && t.coalesces && in.Issue > 0 && t.State == Pending && t.Attempt == 0 &&
			t.Agent == in.Agent && t.lane() == lane(in.Repo, in.Issue) {
			return t
		}
	}
	return nil
}

// turn returns the time at which the hourly limit lets a new task become ready. Zero: at once.
func (l tasks) turn(in Task) time.Time {
	var slots []time.Time
	for _, t := range l {
		if !t.slot.IsZero() && strings.EqualFold(t.Repo, in.Repo) {
			slots = append(slots, t.slot)
		}
	}
	if in.HourlyLimit == 0 || len(slots) < in.HourlyLimit {
		return time.Time{}
	}
	slices.SortFunc(slots, func(a, b time.Time) int { return b.Compare(a) })
	return slots[in.HourlyLimit-1].Add(time.Hour)
}

// claimable returns the tasks that an agent may claim, in the order in which they are claimed.
func (q *InMemory) claimable(agent string, now time.Time) tasks {
	var list tasks
	for _, t := range q.tasks {
		if t.State == Pending && t.Agent == agent && t.ready(now) && !q.paused(t) {
			list = append(list, t)
		}
	}
	slices.SortStableFunc(list, func(a, b *task) int { return cmp.Compare(b.Priority, a.Priority) })
	return list
}

// next returns the claimable task of an agent that a claim hands out: the one with the id, or the
// first one if the id is empty. It returns nil if there is none.
func (q *InMemory) next(agent, id string, now time.Time) *task {
	return q.claimable(agent, now).find(func(t *task) bool { return id == "" || t.ID == id })
}

// sameIssue returns the matching other tasks that have the same issue and agent as t.
func (l tasks) sameIssue(t *task, match func(*task) bool) tasks {
	var list tasks
	for _, other := range l {
		if other != t && t.Issue > 0 && other.Agent == t.Agent && other.lane() == t.lane() && match(other) {
			list = append(list, other)
		}
	}
	return list
}

// holdBehind holds a task back behind the tasks of its issue and agent that have not ended.
func (l tasks) holdBehind(t *task) {
	for _, other := range l.sameIssue(t, func(other *task) bool { return !other.ended() }) {
		other.followed = true
		if t.Behind == "" || other.Behind == "" && l.byID(t.Behind).Behind != "" { // prefer a task that is not held back itself
			t.Behind, t.waited = other.ID, true
		}
	}
}

// releaseBehind is called after a task ended. Of the tasks held back behind it, it releases the
// oldest and returns it. It returns nil if there is none, or if the oldest waits for another task,
// too.
func (l tasks) releaseBehind(over *task) *task {
	behind := func(t *task) bool { return t.State == Pending && t.Behind != "" }
	waiting := l.sameIssue(over, behind)
	if !over.followed || len(waiting) == 0 {
		return nil
	}
	first := waiting[0]
	if ahead := l.sameIssue(first, func(t *task) bool { return !t.ended() && t.followed && !behind(t) }); len(ahead) > 0 {
		waiting.setBehind(ahead[0].ID)
		return nil
	}
	waiting.setBehind(first.ID)
	first.Behind = ""
	return first
}

func (l tasks) setBehind(id string) {
	for _, t := range l {
		t.Behind = id
	}
}

// selected reports whether an index of a store would have the task: see [Filter.Scans].
func (f Filter) selected(t *task) bool {
	repo := f.Repo == "" || strings.EqualFold(t.Repo, f.Repo) && (f.Issue == 0 || t.Issue == f.Issue)
	agent := f.Agent == "" || f.Repo != "" && f.Issue == 0 || t.Agent == f.Agent
	return repo && agent && (f.State == "" || t.State == f.State) && (f.Before <= 0 || t.Seq < f.Before)
}

// matches reports whether a selected task matches the whole filter.
func (f Filter) matches(t *task, now time.Time) bool {
	return (f.Agent == "" || t.Agent == f.Agent) && (f.Issue == 0 || t.Issue == f.Issue) &&
		(f.ID == "" || t.ID == f.ID || slices.Contains(t.deliveries, f.ID)) &&
		!slices.ContainsFunc(f.Words(), func(word string) bool { return !strings.Contains(t.title, word) }) &&
		strings.Contains(text.LowerASCII(t.info(now).Reason), text.LowerASCII(f.Reason)) &&
		(f.From.IsZero() || t.Enqueued.UnixMilli() >= f.From.UnixMilli()) && (f.To.IsZero() || t.Enqueued.UnixMilli() < f.To.UnixMilli())
}

// search calls found with the tasks that match, the newest first, until it returns false. It compares at
// most most tasks (0: any number), and returns their number, and the last of them if there may be older ones; 0:
// there are none.
func (l tasks) search(f Filter, now time.Time, most int, found func(t *task) bool) (examined int, next int64) {
	if !f.Texts() {
		return 0, 0
	}
	if t := l.byID(f.ID); f.ID != "" && t != nil && f.selected(t) && f.matches(t, now) {
		found(t)
		return 0, 0
	}
	for _, t := range slices.Backward(l) {
		if !f.selected(t) {
			continue
		}
		if examined++; f.matches(t, now) && !found(t) || examined == most {
			return examined, t.Seq
		}
	}
	return examined, 0
}

// stats counts the tasks.
func (l tasks) stats(now time.Time) Stats {
	s := Stats{States: map[State]int{}}
	agents := map[string]AgentStats{}
	for _, t := range l {
		s.States[t.State]++
		s.Held += count(t.held(now))
		s.Draining += count(t.Draining)
		if t.State == Pending && (s.Oldest.IsZero() || t.Enqueued.Before(s.Oldest)) {
			s.Oldest = t.Enqueued
		}
		if t.State == Claimed && (s.OldestClaim.IsZero() || t.Claimed.Before(s.OldestClaim)) {
			s.OldestClaim = t.Claimed
		}
		if t.State == Pending || t.State == Claimed {
			a := agents[t.Agent]
			a.Agent = t.Agent
			a.Claimed += count(t.State == Claimed)
			a.Pending += count(t.State == Pending)
			a.Held += count(t.held(now))
			agents[t.Agent] = a
		}
	}
	for _, a := range agents {
		s.Agents = append(s.Agents, a)
	}
	slices.SortFunc(s.Agents, func(a, b AgentStats) int { return cmp.Compare(a.Agent, b.Agent) })
	return s
}

// count returns 1 for true.
func count(b bool) int {
	if b {
		return 1
	}
	return 0
}
