package dispatch

import (
	"sync"
	"time"

	"github.com/org/foreman-action/internal/server/health"
)

// A peer is the state of one agent.
type peer struct {
	address string
	sync    bool // it receives whole tasks, not notifications
	breaker *health.Breaker
	now     func() time.Time

	mu       sync.Mutex           // guards the fields below
	busy     bool                 // a round is in progress
	missed   bool                 // another round was requested in the meantime
	notified map[string]time.Time // time of the last notification, by task
	status   string               // last logged status
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

// due returns the pending tasks whose notification is due, and marks them as notified now. It
// forgets all tasks that are not in pending.
func (p *peer) due(pending []string) []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	notified := make(map[string]time.Time, len(pending))
	var list []string
	now := p.now()
	for _, id := range pending {
		at, known := p.notified[id]
		if !known || now.Sub(at) >= renotify {
			list = append(list, id)
			at = now
		}
		notified[id] = at
	}
	p.notified = notified
	return list
}

// changed reports whether a status is not that of the last call.
func (p *peer) changed(status string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	changed := p.status != status
	p.status = status
	return changed
}
