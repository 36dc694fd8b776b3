package executor

import (
	"context"
	"sync"
	"time"

	"github.com/org/foreman-action/queue"
)

// pauseAge is the age of the list of pauses at which it is read again before a write.
const pauseAge = time.Second

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

	mu   sync.Mutex
	read time.Time // when the list was read; zero: never
	list []queue.Pause
}

// check returns a *pausedError if a pause holds the decisions of an agent in a repository. A pause takes
// effect within pauseAge, and its end at once. If the pauses cannot be read, those that were read last
// count.
func (p *pauses) check(ctx context.Context, agent, repo string) error {
	if p.source == nil {
		return nil
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	now := p.now()
	_, held := queue.HeldBy(p.list, agent, repo)
	if age := now.Sub(p.read); held || p.read.IsZero() || age >= pauseAge || age < 0 {
		if list, err := p.source.ListPauses(ctx); err == nil {
			p.list, p.read = list, now
		}
	}
	if by, held := queue.HeldBy(p.list, agent, repo); held {
		return &pausedError{by}
	}
	return nil
}
