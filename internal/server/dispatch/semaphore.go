package dispatch

import (
	"math"
	"sync"
	"time"

	"github.com/org/foreman-action/queue"
)

// A semaphore limits how many tasks of a synchronous agent this server has at a time: the agent's
// limit without the claims of other servers. Claims are counted by a check of the backlog. After
// maxAge without a check there are no permits, because other servers may have claimed tasks.
//
// A semaphore also avoids claims that would find no task. A permit is for a task that the last check
// found, or it is a search for further tasks. There is one search at a time, and none after a search
// without success until another task is added.
type semaphore struct {
	now func() time.Time

	mu      sync.Mutex // guards the fields below
	used    int        // acquired permits
	peak    int        // maximum of used since the last check began
	limit   int        // of used
	checked time.Time  // when limit was set; zero: it must be set again
	limited bool       // other servers' claims kept tasks from this one at the last check
	pending int        // tasks that the last check found, without those for which there was a permit
	search  bool       // a search is in progress
	empty   bool       // the last search found no task, and none was added since then
	added   int        // number of calls of add
	failed  time.Time  // when a claim has failed; zero: there is no failure to wait for
}

const (
	maxAge     = 10 * gap    // how long the limit of a semaphore is valid
	claimPause = time.Second // without permits, after a claim that failed

	// many is how many tasks are pending if they could not be counted. abandon adds to it.
	many = math.MaxInt / 2
)

// A place is a permit of a semaphore.
type place struct {
	search bool // there may be no task
	added  int  // semaphore.added when the permit was acquired
}

// begin begins a check of the backlog.
func (s *semaphore) begin() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.peak = s.used
}

// end ends a check: the agent has claimed tasks of all servers, and pending ones. most is its limit.
// The result is how many of the pending tasks this server may claim.
func (s *semaphore) end(most, claimed, pending int) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	// claimed contains at most peak claims of this server. Some can have ended before the tasks were
	// counted. Then others is too small until the next check, but it is never too large.
	others := max(claimed-s.peak, 0)
	s.limit, s.checked, s.pending, s.empty = most-others, s.now(), pending, false
	s.limited = others > 0 && pending > s.limit-s.used
	if pending >= queue.MaxBacklog { // there may be more
		s.pending = many
	}
	return max(min(s.limit-s.used, pending), 0)
}

// acquire acquires a permit, which the caller releases. Without a permit, stale reports that the
// backlog must be checked first.
func (s *semaphore) acquire() (p place, ok, stale bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.now()
	if now.Sub(s.failed) >= claimPause {
		s.failed = time.Time{}
	}
	known := s.pending > 0
	switch {
	case !s.failed.IsZero(), !known && (s.empty || s.search):
		return p, false, false
	case s.checked.IsZero() || now.Sub(s.checked) >= maxAge:
		return p, false, true
	case s.used >= s.limit:
		return p, false, false
	}
	if known {
		s.pending--
	} else {
		s.search = true
	}
	s.used++
	s.peak = max(s.peak, s.used)
	return place{!known, s.added}, true, false
}

// found records the result of the claim for which a permit was acquired.
func (s *semaphore) found(p place, task bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if p.search {
		s.search = false
	}
	if !task {
		// If a task was added meanwhile, another claim may find it.
		s.pending, s.empty = 0, s.added == p.added
	}
}

// fail records that the claim for which a permit was acquired has failed. again reports whether the
// caller has to try again after claimPause; otherwise another caller does.
func (s *semaphore) fail(p place) (again bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if p.search {
		s.search = false
	}
	again = s.failed.IsZero()
	s.failed = s.now()
	return again
}

// abandon records that no claim was made for an acquired permit.
func (s *semaphore) abandon(p place) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if p.search {
		s.search = false
	} else {
		s.pending++
	}
}

// release releases a permit.
func (s *semaphore) release() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.used--
}

// add records that a task may have become pending.
func (s *semaphore) add() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.added++
	s.empty = false
}

// expire demands another check before the next permit.
func (s *semaphore) expire() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.checked = time.Time{}
}

// waits reports whether the end of another server's claim can give this server a permit that it needs.
func (s *semaphore) waits() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.limited
}
