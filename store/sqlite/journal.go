package sqlite

import (
	"fmt"
	"time"

	"github.com/org/foreman-action/store/internal/sqlstore"
)

// maxJournal is how many pages the journal has before they are moved into the file, by the
// one who then commits, while the others wait. A claim is three pages: every 2,700th one
// waits, and pages that were written often meanwhile are moved once.
const maxJournal = 8000

// tooLong is how many pages of the journal show that it did not begin anew by itself.
const tooLong = maxJournal * 5 / 4

// patience is how long those who write wait for those who read.
const patience = 100 * time.Millisecond

// A journal keeps the write-ahead journal of a file short, for the connection that writes.
// It is not safe for concurrent use.
type journal struct {
	conn     *conn
	longest  int64         // how many pages it may have
	patience time.Duration // how long it waits for those who read from it
	groups   int           // how many were committed
}

func newJournal(c *conn) journal {
	return journal{conn: c, longest: tooLong, patience: patience}
}

// shorten has the journal begin anew, if it could not do so by itself: while there is
// always somebody who reads from it, it grows without end. It waits for those who read, and
// if that takes long, as a backup does, it tries again when the journal has grown by as
// much. It is called after each group of operations.
func (j *journal) shorten() {
	if j.groups++; j.groups%16 != 0 {
		return // asking takes as long as half a claim
	}
	pages, err := j.move("NOOP")
	if err != nil || pages <= j.longest {
		return // an error of the medium comes back when something is to be kept
	}
	j.longest = pages + maxJournal
	if j.conn.once(fmt.Sprintf("PRAGMA busy_timeout = %d", j.patience.Milliseconds())) != nil {
		return
	}
	if _, err = j.move("RESTART"); err == nil {
		j.longest = tooLong
	}
	_ = j.conn.once("PRAGMA " + busy) // if not, those who write give up sooner
}

// move moves pages of the journal in one of SQLite's ways, and returns how many it
// has.
func (j *journal) move(how string) (pages int64, err error) {
	var hindered, moved int64
	_, err = j.conn.query("PRAGMA wal_checkpoint("+how+")", func(r sqlstore.Row) error { return r.Scan(&hindered, &pages, &moved) })
	if err == nil && hindered != 0 {
		err = fmt.Errorf("%d of %d pages were moved, for somebody reads", moved, pages)
	}
	return pages, err
}
