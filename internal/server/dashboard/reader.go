package dashboard

import (
	"cmp"
	"context"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/org/foreman-action/internal/server/budget"
	"github.com/org/foreman-action/internal/server/proposals"
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
	// waiting is as in Options, and log must be set with it.
	waiting func(ctx context.Context) ([]proposals.Waiting, error)
	log     *slog.Logger
	budget  func() budget.Report // nil: none

	mu    sync.Mutex
	until time.Time // until then, the counts below are up to date
	last  counts

	briefMu sync.Mutex
	briefs  map[briefKey]brief
}

// briefKey changes whenever the brief of a task may change.
type briefKey struct {
	id      string
	state   queue.State
	attempt int
	ended   time.Time
}

const (
	maxBriefs = 4000
	maxHeld   = 1000
	maxRecent = 500
	pageSize  = 50
	// freshFor is how long counts are reused at least, because many pages may be open. If counting is
	// slow, they are reused for costFactor times its duration, so that open pages cost little.
	freshFor   = 500 * time.Millisecond
	costFactor = 20
)

func newReader(q queue.Queue, health func(ctx context.Context) []Health, now func() time.Time) *reader {
	if health == nil {
		health = func(context.Context) []Health { return nil }
	}
	return &reader{queue: q, health: health, now: now, briefs: map[briefKey]brief{}}
}

// A snapshot is the data of the queue and the server for the first page.
type snapshot struct {
	counts

	tasks  []queue.Info // at most pageSize
	briefs []brief      // of the tasks
	// next and examined are those of the queue.Page.
	next     int64
	examined int
	health   []Health
	// waiting are the proposals that wait for people. lost means that they cannot be read.
	waiting []proposals.Waiting
	lost    bool
	budget  budget.Report
}

// counts are the numbers on every page.
type counts struct {
	stats  queue.Stats
	held   []queue.Info // the newest pending tasks, if some are delayed; at most maxHeld
	recent []queue.Info // the newest tasks that ended; at most maxRecent
}

// snapshot reads the tasks that match a filter, and the state of the queue and the server.
func (r *reader) snapshot(ctx context.Context, f queue.Filter) (s snapshot, err error) {
	if s.counts, err = r.counts(ctx); err != nil {
		return snapshot{}, err
	}
	f.Limit = pageSize
	page, err := r.queue.Search(ctx, f)
	if err != nil {
		return snapshot{}, err
	}
	s.tasks, s.next, s.examined = page.Tasks, page.Next, page.Examined
	for _, i := range s.tasks {
		s.briefs = append(s.briefs, r.brief(ctx, i))
	}
	s.health = r.health(ctx)
	if r.budget != nil {
		s.budget = r.budget()
	}
	if r.waiting != nil {
		// The queue is shown without them, because the memory may be another database.
		if s.waiting, err = r.waiting(ctx); err != nil && ctx.Err() == nil {
			r.log.WarnContext(ctx, "reading the proposals for the dashboard failed", "error", err)
			s.lost = true
		}
	}
	return s, nil
}

// counts returns the counts. If they are too old, it first counts again.
func (r *reader) counts(ctx context.Context) (counts, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	begin := r.now()
	if begin.Before(r.until) && begin.Add(time.Minute).After(r.until) {
		return r.last, nil
	}
	c, err := r.count(ctx)
	if err != nil {
		return counts{}, err
	}
	r.last = c
	r.until = r.now().Add(max(freshFor, min(costFactor*r.now().Sub(begin), 30*time.Second)))
	return c, nil
}

func (r *reader) count(ctx context.Context) (c counts, err error) {
	if c.stats, err = r.queue.Stats(ctx); err != nil {
		return counts{}, err
	}
	if c.stats.Held > 0 {
		if c.held, err = queue.List(ctx, r.queue, queue.Filter{State: queue.Pending, Limit: maxHeld}); err != nil {
			return counts{}, err
		}
	}
	// Keep only the newest maxRecent tasks of both states together. Among older tasks, one state
	// could be missing because its list ended.
	for _, state := range []queue.State{queue.Done, queue.Failed} {
		if c.stats.States[state] == 0 {
			continue
		}
		list, err := queue.List(ctx, r.queue, queue.Filter{State: state, Limit: maxRecent})
		if err != nil {
			return counts{}, err
		}
		c.recent = append(c.recent, list...)
	}
	slices.SortFunc(c.recent, func(a, b queue.Info) int { return cmp.Compare(b.Seq, a.Seq) })
	c.recent = c.recent[:min(len(c.recent), maxRecent)]
	return c, nil
}

// changed drops the counts after an operator changed a task.
func (r *reader) changed() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.until = time.Time{}
}

// brief returns the texts of a task for the list. A text that cannot be decoded is empty, and the
// page of the task shows it.
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
	b = parse(details).brief()
	r.briefMu.Lock()
	defer r.briefMu.Unlock()
	if len(r.briefs) >= maxBriefs {
		clear(r.briefs)
	}
	r.briefs[key] = b
	return b
}
