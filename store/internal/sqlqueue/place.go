package sqlqueue

import (
	"github.com/org/foreman-action/queue"
	"github.com/org/foreman-action/store/internal/sqlstore"
)

// A lane is where a task stands among those of its issue and agent.
type lane struct {
	agent, name string
	followed    int // 1: others may wait for its end
}

// A place is where a task stands, as far as those need to know who change it.
type place struct {
	lane

	seq, epoch, issue        int64
	state, attempt, joinable int
	claimedBy                string
}

// standing is what is read of a task that stands for one which is enqueued; the last columns
// are until when it is held back, and behind which one.
const standing = "seq, task_id, CASE WHEN state IN (6, 8) AND run_at > {now} THEN run_at ELSE 0 END, CASE WHEN state = 12 THEN behind ELSE '' END"

// places are the statements that find one task, read it, and fail it.
type places struct{ find, hold, fail, texts string }

func newPlaces(d sqlstore.Dialect) places {
	const find = "SELECT seq, state, attempt, claimed_by, epoch, agent, issue, joinable, lane, followed FROM task WHERE task_id = $1"
	return places{
		find: find,
		hold: d.Expand(find + "{lock}"),
		fail: d.Expand(failing + "reason = $3, hourly = CASE WHEN attempt > 0 THEN hourly END WHERE seq = $2"),
		texts: `SELECT b.origin, b.message, r.decision, p.report FROM task_body b
LEFT JOIN task_result r ON r.seq = b.seq LEFT JOIN task_report p ON p.seq = b.seq WHERE b.seq = $1`,
	}
}

// look finds a task. Error: queue.ErrNotFound.
func (p *places) look(tx sqlstore.Tx, id string) (place, error) { return lookup(tx, p.find, id) }

// take finds a task and holds it, where others write too. Error: queue.ErrNotFound.
func (p *places) take(tx sqlstore.Tx, id string) (place, error) { return lookup(tx, p.hold, id) }

func lookup(tx sqlstore.Tx, query, id string) (t place, err error) {
	if !queue.IsText(id) {
		return t, queue.ErrNotFound
	}
	found, err := sqlstore.One(tx, query, func(r sqlstore.Row) error {
		return r.Scan(&t.seq, &t.state, &t.attempt, &t.claimedBy, &t.epoch, &t.agent, &t.issue, &t.joinable, &t.name, &t.followed)
	}, id)
	if err == nil && !found {
		err = queue.ErrNotFound
	}
	return t, err
}

// end fails a task.
func (p *places) end(tx sqlstore.Tx, t place, reason string) error {
	_, err := tx.Exec(p.fail, tx.Now(), t.seq, queue.CleanText(reason))
	return err
}

// texts are all texts of a task.
type texts struct{ origin, message, decision, report []byte }

// read reads the texts of a task; those that it does not have are nil.
func (p *places) read(tx sqlstore.Tx, seq int64) (t texts, err error) {
	_, err = sqlstore.One(tx, p.texts, func(r sqlstore.Row) error { return r.Scan(&t.origin, &t.message, &t.decision, &t.report) }, seq)
	return t, err
}
