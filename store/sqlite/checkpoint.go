package sqlite

import (
	"fmt"
	"time"

	"github.com/org/foreman-action/store/internal/sqlstore"
)

// maxLog is the number of pages in the write-ahead log at which SQLite runs a checkpoint: it
// copies them into the database. The commit that reaches maxLog does this, while other writers
// wait. A claim writes three pages, so every 2,700th claim waits. A page that was written often
// is copied only once.
const maxLog = 8000

// tooLong is a number of pages that the log reaches only if SQLite could not restart it.
const tooLong = maxLog * 5 / 4

// patience is how long a restart of the log waits for readers, while writers wait.
const patience = 100 * time.Millisecond

// A checkpointer keeps the write-ahead log of a file short, for the connection that writes.
// It is not safe for concurrent use.
type checkpointer struct {
	conn     *conn
	longest  int64         // pages of the log at which shorten restarts it
	patience time.Duration // the time to wait for readers of the log
	groups   int           // number of calls of shorten
}

func newCheckpointer(c *conn) checkpointer {
	return checkpointer{conn: c, longest: tooLong, patience: patience}
}

// shorten restarts the log if SQLite could not. Under constant reads the log would otherwise grow
// without limit. It waits for the readers. If a reader takes too long, as a backup does, shorten
// tries again after 8,000 further pages. It is called after each group of operations.
func (c *checkpointer) shorten() {
	if c.groups++; c.groups%16 != 0 {
		return // the query takes half as long as a claim
	}
	pages, err := c.checkpoint("NOOP")
	if err != nil || pages <= c.longest {
		return // after an error, the next write fails, too
	}
	c.longest = pages + maxLog
	if c.conn.once(fmt.Sprintf("PRAGMA busy_timeout = %d", c.patience.Milliseconds())) != nil {
		return
	}
	if _, err = c.checkpoint("RESTART"); err == nil {
		c.longest = tooLong
	}
	_ = c.conn.once("PRAGMA " + busyTimeout) // if it fails, writers wait less for a lock
}

// checkpoint runs a checkpoint in a mode of SQLite, such as "RESTART". It returns the number of
// pages in the log.
func (c *checkpointer) checkpoint(how string) (pages int64, err error) {
	var hindered, moved int64
	_, err = c.conn.query("PRAGMA wal_checkpoint("+how+")", func(r sqlstore.Row) error { return r.Scan(&hindered, &pages, &moved) })
	if err == nil && hindered != 0 {
		err = fmt.Errorf("checkpoint blocked by a reader: copied %d of %d pages", moved, pages)
	}
	return pages, err
}
