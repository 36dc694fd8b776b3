package dispatch

import (
	"slices"
	"sync"
	"time"

	"github.com/org/foreman-action/internal/server/health"
)

// A peer is the state of one agent.
type peer struct {
	address string
	sync    bool // it receives whole tasks, not notifications
	breaker *health.Breaker
	tasks   semaphore // of a synchronous agent
	now     func() time.Time

	mu       sync.Mutex           // guards the fields below
	busy     bool                 // a round is in progress
	missed   bool                 // another round was requested in the meantime
	notified map[string]time.Time // time of the last notification, by task
	ignoring time.Time            // since when notifications are accepted without a claim; zero: it claims
	status   string               // last logged status
	pending  bool                 // a task may have become pending since the last takeChange
}

// change records that a task of a synchronous agent may have become pending.
func (p *peer) change() {
	p.tasks.add()
	p.mu.Lock()
	defer p.mu.Unlock()
	p.pending = true
}

// takeChange reports whether change was called since the last time.
func (p *peer) takeChange() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	pending := p.pending
	p.pending = false
	return pending
}

// A turn permits a request to a synchronous agent.
type turn struct {
	place  place
	permit health.Permit
	first  string // id of the task to claim, if it is still pending; empty: the next one
	stale  bool   // there is no turn until the backlog is checked
}

// turn acquires a turn, which the caller ends.
func (p *peer) turn() (t turn, ok bool) {
	t.place, ok, t.stale = p.tasks.acquire()
	if !ok {
		return t, false
	}
	var n int
	if t.permit, n = p.breaker.Allow(1); n == 0 {
		p.tasks.abandon(t.place)
		p.tasks.release()
	}
	return t, n == 1
}

// endTurn ends a turn.
func (p *peer) endTurn(t turn) {
	p.breaker.Release(t.permit)
	p.tasks.release()
}

// begin begins a round, unless one is under way.
func (p *peer) begin() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.busy {
		p.missed = true
		return false
	}
	p.busy = true
	return true
}

// end ends a round, and reports whether another one was requested in the meantime.
func (p *peer) end() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	missed := p.missed
	p.busy, p.missed = false, false
	return missed
}

// maxIgnored is how long an agent may accept notifications without claiming a task. Published agents
// ask for a task at the latest 30 s after the last time.
const maxIgnored = 2 * time.Minute

// due returns at most room pending tasks whose notification is due, and marks them as notified now. It
// forgets all tasks that are not in pending. claimed is the number of tasks that the agent works on.
// works means that the agent claimed tasks of which it was notified, and works on some now.
func (p *peer) due(pending []string, room, claimed int) (list []string, works bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	gone := false
	for id := range p.notified {
		gone = gone || !slices.Contains(pending, id)
	}
	if gone || claimed > 0 {
		p.ignoring = time.Time{}
	}
	notified := make(map[string]time.Time, len(pending))
	now := p.now()
	for i, id := range pending {
		at, known := p.notified[id]
		if i < room && (!known || now.Sub(at) >= renotify) {
			list = append(list, id)
			at, known = now, true
		}
		if known {
			notified[id] = at
		}
	}
	p.notified = notified
	return list, gone && claimed > 0
}

// answered records whether the agent accepted a notification. It reports whether the agent has
// accepted notifications for maxIgnored, and claimed no task.
func (p *peer) answered(accepted bool) (ignored bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	now := p.now()
	switch {
	case !accepted:
		p.ignoring = time.Time{}
		return false
	case p.ignoring.IsZero():
		p.ignoring = now
	}
	return now.Sub(p.ignoring) >= maxIgnored
}

// changed reports whether a status is not that of the last call.
func (p *peer) changed(status string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	changed := p.status != status
	p.status = status
	return changed
}
