package sqlite

import (
	"sync/atomic"
	"time"

	"github.com/org/foreman-action/store/internal/sqlstore"
)

// A clock tells the time of a file: it does not jump with that of the day, and all
// processes of a machine that use the file agree on it, whenever they were started. It
// counts from when the machine was started, and what the time of the day was then is kept
// in the file by whoever opens it first after that.
type clock struct {
	boot  string               // names this start of the machine; empty: nobody knows it
	since func() time.Duration // since then, or any other moment if nobody knows; sleep counts
	wall  func() time.Time
	start atomic.Int64 // the time of the day at that moment, in milliseconds
}

// A machine is what a clock is made of.
type machine struct {
	boot  string
	since func() time.Duration
	wall  func() time.Time
}

func newClock(m machine) *clock {
	if m.wall == nil {
		m.wall = time.Now
	}
	if m.since == nil {
		m.boot, m.since = sinceBoot()
	}
	c := &clock{boot: m.boot, since: m.since, wall: m.wall}
	c.start.Store(c.guess())
	return c
}

// sinceNow is a clock that goes on as the process does.
func sinceNow() func() time.Duration {
	start := time.Now()
	return func() time.Duration { return time.Since(start) }
}

// guess is the start by the time of the day as it is now.
func (c *clock) guess() int64 { return c.wall().UnixMilli() - c.since().Milliseconds() }

func (c *clock) now() int64 { return c.start.Load() + c.since().Milliseconds() }

// ahead is how far the clock is ahead of the time of the day, which may have been set. Less than
// a minute is nothing.
func (c *clock) ahead() time.Duration {
	d := time.Duration(c.now()-c.wall().UnixMilli()) * time.Millisecond
	if d.Abs() < time.Minute {
		return 0
	}
	return d
}

// maxLeft is how long a claim or a lease may last yet when a machine was started again:
// the time of the day may have been set back meanwhile.
const maxLeft = time.Hour

// maxLead is the same for who led then: it went with the machine.
const maxLead = time.Minute

// agree takes over the clock that other processes use on the file, or else says which one
// they are to use.
func (c *clock) agree(tx sqlstore.Tx) error {
	if c.boot == "" {
		return nil // each process has its own
	}
	_, err := tx.Exec("CREATE TABLE IF NOT EXISTS foreman_clock (id INTEGER PRIMARY KEY, boot TEXT NOT NULL, start INTEGER NOT NULL)")
	if err != nil {
		return err
	}
	var boot string
	var start int64
	err = tx.Query("SELECT boot, start FROM foreman_clock WHERE id = $1", func(r sqlstore.Row) error { return r.Scan(&boot, &start) }, int64(1))
	if err != nil {
		return err
	}
	if boot == c.boot {
		c.start.Store(start)
		return nil
	}
	c.start.Store(c.guess())
	_, err = tx.Exec(`INSERT INTO foreman_clock (id, boot, start) VALUES (1, $1, $2)
		ON CONFLICT (id) DO UPDATE SET boot = excluded.boot, start = excluded.start`, c.boot, c.start.Load())
	if err != nil {
		return err
	}
	_, err = tx.Exec("UPDATE task SET lease_until = $1 WHERE lease_until > $1", c.now()+maxLeft.Milliseconds())
	if err != nil {
		return err
	}
	_, err = tx.Exec("UPDATE leader SET until = $1 WHERE until > $1", c.now()+maxLead.Milliseconds())
	if err != nil {
		return err
	}
	return c.setBack(tx)
}

// setBack lets nothing wait longer because the time of the day was set back while the machine
// was off. What was noted later than now was noted just now, and what waits for a time that
// lies ahead does so for as much less.
func (c *clock) setBack(tx sqlstore.Tx) error {
	var seen int64
	err := tx.Query("SELECT max(coalesce((SELECT max(at) FROM poll_cursor), 0), coalesce((SELECT created_at FROM task ORDER BY seq DESC LIMIT 1), 0))",
		func(r sqlstore.Row) error { return r.Scan(&seen) })
	now := c.now()
	if err != nil || seen <= now {
		return err
	}
	for _, query := range []string{
		"UPDATE task SET run_at = max(run_at - $2, 1) WHERE run_at > $1",
		"UPDATE task SET slot = max(slot - $2, 1) WHERE slot > $1",
		"UPDATE task SET created_at = $1 WHERE created_at > $1",
		"UPDATE poll_cursor SET at = $1 WHERE at > $1",
	} {
		if _, err := tx.Exec(query, now, seen-now); err != nil {
			return err
		}
	}
	return nil
}
