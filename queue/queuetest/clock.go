package queuetest

import (
	"sync"
	"time"
)

// A Clock is a clock that moves only by Advance. It is safe for concurrent use.
type Clock struct {
	mu  sync.Mutex
	now time.Time
}

// NewClock returns a clock that shows a full second.
func NewClock() *Clock {
	return &Clock{now: time.Date(2026, 4, 10, 8, 30, 0, 0, time.UTC)}
}

// Now returns the time of the clock.
func (c *Clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

// Advance moves the clock forward by d, or back if d is negative.
func (c *Clock) Advance(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}
