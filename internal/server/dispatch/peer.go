package dispatch

import (
	"sync"
	"time"

	"github.com/org/foreman-action/internal/server/dispatch/breaker"
)

// A peer is the state of one agent.
type peer struct {
	address string
	breaker *breaker.Breaker

	mu       sync.Mutex           // guards the fields below
	busy     bool                 // a round is under way
	missed   bool                 // another one was due meanwhile
	notified map[string]time.Time // when, by task
	status   string               // that was logged last
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

// end ends a round, and reports whether another one was due meanwhile.
func (p *peer) end() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	missed := p.missed
	p.busy, p.missed = false, false
	return missed
}

// due returns those of the pending tasks whose notification is due, and counts them as
// notified now. All tasks that are not pending are forgotten.
func (p *peer) due(pending []string) []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	notified := make(map[string]time.Time, len(pending))
	var list []string
	for _, id := range pending {
		at, known := p.notified[id]
		if !known || time.Since(at) >= renotify {
			list = append(list, id)
			at = time.Now()
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
