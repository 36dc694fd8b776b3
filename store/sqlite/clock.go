package sqlite

import (
	"time"

	"github.com/org/foreman-action/internal/wait"
	"github.com/org/foreman-action/store/internal/sqlstore"
)

// A clock is the clock of one process. It starts with the time of day, and does not jump when the
// time of day is set. So no lease of a running process moves.
type clock struct {
	since func() time.Duration // time since a fixed moment, sleep of the machine included where the system counts it
	wall  func() time.Time
	start int64 // the time of day at that moment, in milliseconds
}

// A machine supplies the parts of a clock.
type machine struct {
	since func() time.Duration
	wall  func() time.Time
}

func newClock(m machine) clock {
	m.wall = wait.Clock(m.wall)
	if m.since == nil {
		m.since = elapsed()
	}
	return clock{m.since, m.wall, m.wall().UnixMilli() - m.since().Milliseconds()}
}

func (c clock) now() int64 { return c.start + c.since().Milliseconds() }

// ahead returns how far the clock is ahead of the time of day. They differ after the time of day
// was set. Differences below a minute count as zero.
func (c clock) ahead() time.Duration {
	d := time.Duration(c.now()-c.wall().UnixMilli()) * time.Millisecond
	if d.Abs() < time.Minute {
		return 0
	}
	return d
}

// maxLead is longer than the lease of any leader.
const maxLead = time.Minute

// setBack corrects the stored times if the time of day was set back since they were written. It is
// called before a process uses the file, unless another process still uses it with the earlier
// time of day. Without the correction a task would stay leased or delayed until the clock shows
// the earlier times again.
//
// A leader's lease that ends too late has expired. The latest stored time of an event shows by how
// much the clock was set back. Times that tasks wait for, and ends of leases, are reduced by that
// difference. Times of events that are in the future become now.
func setBack(tx sqlstore.Tx, now int64) error {
	if _, err := tx.Exec("UPDATE leader SET until = $1 WHERE until > $2", now, now+maxLead.Milliseconds()); err != nil {
		return err
	}
	var seen int64
	err := tx.Query(`SELECT max(coalesce((SELECT max(at) FROM poll_cursor), 0),
  coalesce((SELECT created_at FROM task ORDER BY seq DESC LIMIT 1), 0),
  coalesce((SELECT max(claimed_at) FROM task WHERE lease_until IS NOT NULL), 0))`,
		func(r sqlstore.Row) error { return r.Scan(&seen) })
	if err != nil || seen <= now {
		return err
	}
	for _, query := range []string{
		"UPDATE task SET lease_until = max(lease_until - $2, 1) WHERE lease_until > $1",
		"UPDATE task SET run_at = max(run_at - $2, 1) WHERE run_at > $1",
		"UPDATE task SET slot = max(slot - $2, 1) WHERE slot > $1",
		"UPDATE task SET created_at = $1 WHERE created_at > $1",
		"UPDATE task SET claimed_at = $1 WHERE claimed_at > $1 AND lease_until IS NOT NULL",
		"UPDATE poll_cursor SET at = $1 WHERE at > $1",
	} {
		if _, err := tx.Exec(query, now, seen-now); err != nil {
			return err
		}
	}
	return nil
}
