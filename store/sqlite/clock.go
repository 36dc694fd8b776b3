package sqlite

import (
	"sync/atomic"
	"time"

	"github.com/org/foreman-action/internal/wait"
	"github.com/org/foreman-action/store/internal/sqlstore"
)

// A clock is the clock of a file. It does not jump when the time of day is set, and all processes
// of a machine agree on it. It adds the time since the machine's boot to the time of day of that
// boot. The first process that opens the file after a boot stores this time of day in the file.
type clock struct {
	boot string // id of this boot of the machine; empty: unknown
	// Time since the boot, or since another moment if boot is empty; includes sleep.
	since func() time.Duration
	wall  func() time.Time
	start atomic.Int64 // the time of day at that moment, in milliseconds
}

// A machine supplies the parts of a clock.
type machine struct {
	boot  string
	since func() time.Duration
	wall  func() time.Time
}

func newClock(m machine) *clock {
	m.wall = wait.Clock(m.wall)
	if m.since == nil {
		m.boot, m.since = sinceBoot()
	}
	c := &clock{boot: m.boot, since: m.since, wall: m.wall}
	c.start.Store(c.guess())
	return c
}

// sinceNow returns a clock that starts with the process.
func sinceNow() func() time.Duration {
	start := time.Now()
	return func() time.Duration { return time.Since(start) }
}

// guess calculates start from the current time of day.
func (c *clock) guess() int64 { return c.wall().UnixMilli() - c.since().Milliseconds() }

func (c *clock) now() int64 { return c.start.Load() + c.since().Milliseconds() }

// ahead returns how far the clock is ahead of the time of day. They differ after the time of day
// was set. Differences below a minute count as zero.
func (c *clock) ahead() time.Duration {
	d := time.Duration(c.now()-c.wall().UnixMilli()) * time.Millisecond
	if d.Abs() < time.Minute {
		return 0
	}
	return d
}

// maxLeft limits how long a claim or lease is valid after a boot, because the time of day may
// have been set back meanwhile.
const maxLeft = time.Hour

// maxLead limits how long a leader's lease is valid after a boot, because the leader ended with
// the machine.
const maxLead = time.Minute

// agree adopts the clock that the file contains for this boot. If there is none, it stores this
// clock.
func (c *clock) agree(tx sqlstore.Tx) error {
	if c.boot == "" {
		return nil // each process has its own clock
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

// setBack corrects the stored times if the time of day was set back while the machine was off.
// Times of past events that are in the future become now. Times that tasks wait for are reduced
// by the same difference.
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
