package executor

import (
	"context"
	"time"

	"github.com/org/foreman-action/queue"
)

// pauseAge is the age of the list of pauses at which it is read again before a write.
const pauseAge = time.Second

// pauseTime is how long reading the pauses may take. Meanwhile all attempts wait.
const pauseTime = 3 * time.Second

// A pausedError stops an attempt whose decision a pause holds.
type pausedError struct{ pause queue.Pause }

func (e *pausedError) Error() string {
	text := "paused by " + e.pause.By + ": " + e.pause.Scope.String()
	if e.pause.Reason != "" {
		text += ": " + e.pause.Reason
	}
	return text
}

// pauses are the pauses as they were read last. The queue leases no decision that a pause holds, so they
// only stop decisions that were leased before. They are safe for concurrent use.
type pauses struct {
	source queue.Pauses // nil: none
	now    func() time.Time

	turn chan struct{} // semaphore for the fields below, so that one attempt reads for all that wait
	read time.Time     // when the last reading began, or when it failed; zero: never
	list []queue.Pause
}

func newPauses(source queue.Pauses, now func() time.Time) pauses {
	return pauses{source: source, now: now, turn: make(chan struct{}, 1)}
}

// check returns a *pausedError if a pause holds the decisions of an agent in a repository. A pause takes
// effect within pauseAge, and its end at once.
//
// If the pauses cannot be read, those that were read last count until the next reading. This stops no
// write by itself: a write also needs the lease, which is renewed in the same database. So an attempt
// writes nothing while the database is away for longer than half the lease.
func (p *pauses) check(ctx context.Context, agent, repo string) error {
	if p.source == nil {
		return nil
	}
	asked := p.now()
	select {
	case p.turn <- struct{}{}:
		defer func() { <-p.turn }()
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	_, held := queue.HeldBy(p.list, agent, repo)
	// Without a positive age, another attempt has read the list while this one waited.
	if age := asked.Sub(p.read); p.read.IsZero() || age >= pauseAge || held && age > 0 {
		p.refresh(ctx)
	}
	if by, held := queue.HeldBy(p.list, agent, repo); held {
		return &pausedError{by}
	}
	return nil
}

// refresh reads the pauses. The caller holds turn.
func (p *pauses) refresh(ctx context.Context) {
	bounded, cancel := context.WithTimeout(ctx, pauseTime)
	defer cancel()
	began := p.now()
	list, err := p.source.ListPauses(bounded, false)
	switch {
	case err == nil:
		p.list, p.read = list, began
	case ctx.Err() == nil: // else the attempt has ended, and the next one reads
		p.read = p.now()
	}
}
