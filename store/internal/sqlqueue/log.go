package sqlqueue

import (
	"github.com/org/foreman-action/queue"
	"github.com/org/foreman-action/store/internal/sqlstore"
)

// firstLogs is the number of first entries that a task's log keeps. The other entries are the
// newest.
const firstLogs = queue.MaxLogs / 2

// A logbook keeps the logs of tasks.
type logbook struct{ log, trim string }

func newLogbook(d sqlstore.Dialect) logbook {
	return logbook{
		log: d.Expand(`INSERT INTO task_log (seq, n, at, what, who, text)
SELECT $2, coalesce(max(n), 0) + 1, {now}, $3, $4, $5 FROM task_log WHERE seq = $2 RETURNING n`),
		trim: "DELETE FROM task_log WHERE seq = $1 AND n > $2 AND n <= $3",
	}
}

// note adds an entry to the log of a task; its time is now.
func (l *logbook) note(tx sqlstore.Tx, seq int64, e queue.Entry) error {
	var n int64
	_, err := sqlstore.One(tx, l.log, sqlstore.Into(&n),
		tx.Now(), seq, e.What, queue.CleanText(e.Who), queue.CleanText(e.Text))
	if err == nil && n > queue.MaxLogs {
		_, err = tx.Exec(l.trim, seq, int64(firstLogs), n-(queue.MaxLogs-firstLogs))
	}
	return err
}
