// Package health answers whether a peer of the server works, and if not, whether the peer or one of
// its items is bad. Peers are agents, GitHub, an account or a repository there.
//
//   - A [Peer] counts consecutive failures: it knows since when the peer fails, with which error, and
//     when it is tried again.
//   - [Items] record on which items, such as tasks, the peer fails. An item on which it fails while it
//     succeeds on others is bad.
//   - A [Breaker] limits the requests to an agent, by its Peer and its Items.
//
// Package outage has a Peer for GitHub and for each repository, package executor a Peer with Items for
// each identity, and package poll a Peer for each repository that it polls.
package health

import (
	"time"

	"github.com/org/foreman-action/internal/wait"
)

// A State is the state of a Peer.
type State int

// The states.
const (
	Closed   State = iota // the peer works, or has not failed enough to be open
	Open                  // it fails
	HalfOpen              // it fails, and is tried again now
)

// A Policy is the number of failures that open a Peer. The zero value means the first failure.
type Policy struct {
	Failures int           // minimum number of consecutive failures
	Lasting  time.Duration // minimum time from the beginning of the first to the end of the last
}

// A Peer is the health of one peer. The zero value is a peer that works. It is not safe for concurrent
// use.
type Peer struct {
	Policy   Policy
	Failures int       // since the last success
	Since    time.Time // when the first of them began
	Err      string    // of the last one; empty: there was none. It may contain untrusted text
	Open     bool      // the policy is fulfilled
	Probe    time.Time // when an open peer is tried again. The owner sets it after each failure
}

// State returns the state at a time.
func (p *Peer) State(now time.Time) State {
	switch {
	case !p.Open:
		return Closed
	case now.Before(p.Probe):
		return Open
	}
	return HalfOpen
}

// Fail records a request that failed, and reports whether the peer opened with it.
func (p *Peer) Fail(begin, end time.Time, err string) (opened bool) {
	if p.Failures == 0 {
		p.Since = begin
	}
	p.Failures++
	p.Err = err
	if p.Open || p.Failures < p.Policy.Failures || end.Sub(p.Since) < p.Policy.Lasting {
		return false
	}
	p.Open = true
	return true
}

// Succeed records a request that succeeded. It returns the peer as it was before.
func (p *Peer) Succeed() (before Peer) {
	before = *p
	*p = Peer{Policy: p.Policy}
	return before
}

// Pause returns how long to wait after the last failure: first after the first one, doubled by each
// further one, at most limit.
func (p *Peer) Pause(first, limit time.Duration) time.Duration {
	return wait.Backoff(p.Failures-1, first, limit)
}
