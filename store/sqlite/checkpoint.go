package sqlite

import (
	"fmt"
	"time"

	"github.com/org/foreman-action/store/internal/sqlstore"
)

// maxLog is the number of pages in the write-ahead log at which SQLite copies them into the
// file (a checkpoint), in the commit that reaches it, while the others wait. A claim is
// three pages: every 2,700th one waits, and a page that was written often is copied once.
const maxLog = 8000

// tooLong is a number of pages which shows that the log was not restarted by SQLite.
const tooLong = maxLog * 5 / 4

// patience is how long writers wait for readers.
const patience = 100 * time.Millisecond

// A checkpointer keeps the write-ahead log of a file short, for the connection that writes.
// It is not safe for concurrent use.
type checkpointer struct {
	conn     *conn
	longest  int64         // pages that the log may have
	patience time.Duration // the time to wait for readers of the log
	groups   int           // that were committed
}

func newCheckpointer(c *conn) checkpointer {
	return checkpointer{conn: c, longest: tooLong, patience: patience}
}

// shorten restarts the log if SQLite could not: under constant reads it grows without end.
// It waits for the readers. If that takes long, as with a backup, it tries again when the
// log has grown by as much. It is called after each group of operations.
func (c *checkpointer) shorten() {
	if c.groups++; c.groups%16 != 0 {
		return // asking takes as long as half a claim
	}
	pages, err := c.checkpoint("NOOP")
	if err != nil || pages <= c.longest {
		return // an error of the medium occurs again at the next write
	}
	c.longest = pages + maxLog
	if c.conn.once(fmt.Sprintf("PRAGMA busy_timeout = %d", c.patience.Milliseconds())) != nil {
		return
	}
	if _, err = c.checkpoint("RESTART"); err == nil {
		c.longest = tooLong
	}
	_ = c.conn.once("PRAGMA " + busyTimeout) // if it fails, writers give up sooner
}

// checkpoint runs a checkpoint in one of the modes of SQLite, and returns the number of
// pages in the log.
func (c *checkpointer) checkpoint(how string) (pages int64, err error) {
	var hindered, moved int64
	_, err = c.conn.query("PRAGMA wal_checkpoint("+how+")", func(r sqlstore.Row) error { return r.Scan(&hindered, &pages, &moved) })
	if err == nil && hindered != 0 {
		err = fmt.Errorf("%d of %d pages were moved, because of a reader", moved, pages)
	}
	return pages, err
}
