package dashboard

import (
	"context"
	"sync"
	"time"

	"github.com/org/foreman-action/queue"
)

// A reader reads the queue for all open pages.
type reader struct {
	queue  queue.Queue
	now    func() time.Time
	health func(ctx context.Context) []Health

	mu    sync.Mutex
	until time.Time // so long the counts below serve
	stats queue.Stats
	held  []queue.Info

	briefMu sync.Mutex
	briefs  map[briefKey]brief
}

// A brief is what a list shows of a task's texts.
type brief struct {
	title    string
	decision string
	outcome  string
}

// briefKey changes with what a brief tells.
type briefKey struct {
	id      string
	state   queue.State
	attempt int
	ended   time.Time
}

// The bounds of what is read for a page.
const (
	maxBriefs = 4000
	maxHeld   = 1000
	pageSize  = 50
	// freshFor is how long counts serve, at least: many pages may be open. They also serve
	// for costFactor times what counting took, so that watching stays cheap.
	freshFor   = 500 * time.Millisecond
	costFactor = 20
)

func newReader(o Options) *reader {
	r := &reader{queue: o.Queue, now: o.Now, health: o.Health, briefs: map[briefKey]brief{}}
	if r.health == nil {
		r.health = func(context.Context) []Health { return nil }
	}
	return r
}

// counts returns the counts, and the newest of the pending tasks when some are held.
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

// changed makes the next look a new one: somebody pressed a button.
func (r *reader) changed() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.until = time.Time{}
}

// brief returns what a list shows of a task's texts. What cannot be read is left empty:
// the page of the task itself says more.
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
	b = makeBrief(details)
	r.briefMu.Lock()
	defer r.briefMu.Unlock()
	if len(r.briefs) >= maxBriefs {
		clear(r.briefs)
	}
	r.briefs[key] = b
	return b
}

func makeBrief(details queue.Details) brief {
	title := readMessage(details.Message).Title
	rep, _ := readReport(details.Report)
	if title == "" {
		title = rep.Title
	}
	b := brief{title: line(title, maxTitle), decision: word(rep.Decision), outcome: word(rep.Status)}
	if b.decision == "" {
		dec, _ := readDecision(details.Result)
		b.decision = word(dec.Decision)
	}
	return b
}
