package dashboard

import (
	"context"
	"sync"
	"time"

	"github.com/org/foreman-action/queue"
)

// A Health is the state of one part of the server.
type Health struct {
	Name   string
	OK     bool
	Detail string    // for people, such as the last error
	Since  time.Time // of the state; zero: not known
}

// A reader reads the queue for all open pages. It is safe for concurrent use.
type reader struct {
	queue  queue.Queue
	health func(ctx context.Context) []Health
	now    func() time.Time

	mu    sync.Mutex
	until time.Time // the counts below are used until then
	stats queue.Stats
	held  []queue.Info

	briefMu sync.Mutex
	briefs  map[briefKey]brief
}

// briefKey changes whenever the brief may.
type briefKey struct {
	id      string
	state   queue.State
	attempt int
	ended   time.Time
}

const (
	maxBriefs = 4000
	maxHeld   = 1000
	pageSize  = 50
	// freshFor is how long counts are used, at least: many pages may be open. They are also
	// used for costFactor times what counting took, so that open pages stay cheap.
	freshFor   = 500 * time.Millisecond
	costFactor = 20
)

func newReader(q queue.Queue, health func(ctx context.Context) []Health, now func() time.Time) *reader {
	if health == nil {
		health = func(context.Context) []Health { return nil }
	}
	return &reader{queue: q, health: health, now: now, briefs: map[briefKey]brief{}}
}

// A snapshot is what the first page shows of the queue and the server.
type snapshot struct {
	stats  queue.Stats
	held   []queue.Info // the newest pending tasks, if some are held back; at most maxHeld
	tasks  []queue.Info // at most pageSize
	briefs []brief      // of the tasks
	more   bool         // there are older tasks
	health []Health
}

// snapshot reads the tasks that match a filter and the state of the whole.
func (r *reader) snapshot(ctx context.Context, f queue.Filter) (s snapshot, err error) {
	if s.stats, s.held, err = r.counts(ctx); err != nil {
		return snapshot{}, err
	}
	f.Limit = pageSize + 1
	if s.tasks, err = r.queue.List(ctx, f); err != nil {
		return snapshot{}, err
	}
	if s.more = len(s.tasks) > pageSize; s.more {
		s.tasks = s.tasks[:pageSize]
	}
	for _, i := range s.tasks {
		s.briefs = append(s.briefs, r.brief(ctx, i))
	}
	s.health = r.health(ctx)
	return s, nil
}

// counts returns the counts, and the newest of the pending tasks if some are held back.
func (r *reader) counts(ctx context.Context) (queue.Stats, []queue.Info, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	begin := r.now()
	if begin.Before(r.until) && begin.Add(time.Minute).After(r.until) {
		return r.stats, r.held, nil
	}
	stats, err := r.queue.Stats(ctx)
	if err != nil {
		return queue.Stats{}, nil, err
	}
	var held []queue.Info
	if stats.Held > 0 {
		if held, err = r.queue.List(ctx, queue.Filter{State: queue.Pending, Limit: maxHeld}); err != nil {
			return queue.Stats{}, nil, err
		}
	}
	r.stats, r.held = stats, held
	r.until = r.now().Add(max(freshFor, min(costFactor*r.now().Sub(begin), 30*time.Second)))
	return stats, held, nil
}

// changed drops the counts after an operator changed a task.
func (r *reader) changed() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.until = time.Time{}
}

// brief returns the texts of a task in a list. Unreadable ones are empty: the page of the
// task shows them.
func (r *reader) brief(ctx context.Context, i queue.Info) brief {
	key := briefKey{i.ID, i.State, i.Attempt, i.Ended}
	r.briefMu.Lock()
	b, ok := r.briefs[key]
	r.briefMu.Unlock()
	if ok {
		return b
	}
	details, err := r.queue.Inspect(ctx, i.ID)
	if err != nil {
		return brief{}
	}
	b = newBrief(details)
	r.briefMu.Lock()
	defer r.briefMu.Unlock()
	if len(r.briefs) >= maxBriefs {
		clear(r.briefs)
	}
	r.briefs[key] = b
	return b
}
