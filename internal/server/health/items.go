package health

import "time"

// forgetAfter is the time after its last failure when an item is forgotten, longer than the time
// between two tries of any item.
const forgetAfter = 24 * time.Hour

// Items are the items on which a peer has failed, and not succeeded since. The zero value has none. It
// is not safe for concurrent use.
type Items struct {
	failed    map[string]*Item
	successes int
}

// An Item has the failures of a peer on one item.
type Item struct {
	Failures int
	First    time.Time // time of the first failure
	Last     time.Time // time of the last failure
	// Blamed means that the peer succeeded on another item between the last two failures. So the last
	// failure was caused by this item, not by the peer.
	Blamed bool

	successes int // of the peer at the last failure

	// The rest is for a Breaker.
	charges  int       // failures that were Blamed
	attempts int       // failures that counted
	crashing time.Time // since when every failure was a crash; zero: the last one was not
}

// Fail records a failure on an item.
func (s *Items) Fail(id string, now time.Time) *Item {
	i := s.failed[id]
	if i == nil {
		if s.failed == nil {
			s.failed = map[string]*Item{}
		}
		i = &Item{First: now}
		s.failed[id] = i
	}
	i.Blamed = i.Failures > 0 && s.successes > i.successes
	i.Failures, i.Last, i.successes = i.Failures+1, now, s.successes
	return i
}

// Succeed records a success on an item.
func (s *Items) Succeed(id string, now time.Time) {
	s.successes++
	delete(s.failed, id)
	for other, i := range s.failed {
		if now.Sub(i.Last) > forgetAfter {
			delete(s.failed, other)
		}
	}
}
