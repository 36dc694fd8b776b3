package state

import "time"

// A Clock returns times and new ids.
type Clock struct {
	now      func() time.Time
	ahead    time.Duration
	lastID   int64
	lastOpen int64
}

// NewClock returns a clock with the time of now, and with ids from 1001.
func NewClock(now func() time.Time) *Clock { return &Clock{now: now, lastID: 1000} }

// Now returns the time in whole seconds, like GitHub.
func (c *Clock) Now() time.Time { return c.now().Add(c.ahead).UTC().Truncate(time.Second) }

// Advance moves the clock forward by d, in addition to earlier calls.
func (c *Clock) Advance(d time.Duration) { c.ahead += d }

// ID returns a new id.
func (c *Clock) ID() int64 {
	c.lastID++
	return c.lastID
}

// openID returns a new id for an event of an issue's opening. These ids have a separate sequence,
// from 1, so that the number of labels at the opening does not change other ids.
func (c *Clock) openID() int64 {
	c.lastOpen++
	return c.lastOpen
}
