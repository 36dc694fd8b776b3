package sqlqueue

import (
	"github.com/org/foreman-action/queue"
	"github.com/org/foreman-action/store/internal/sqlstore"
)

// A lane names the sequence of the tasks of one issue and agent.
type lane struct {
	agent, name string
	followed    int // 1: another task of the lane may wait for this task's end
}

// A taskRow contains the columns of a task that statements need to change it.
type taskRow struct {
	lane

	seq, epoch, issue        int64
	state, attempt, joinable int
	// Attempt at the last AskAgain: only later attempts may decide; -1: never asked again.
	askedAttempt int
	claimedBy    string
}

// enqueuedColumns are the columns of a queue.Enqueued. The last two are the time until which the
// task is held back, and the id of the task that it waits for.
const enqueuedColumns = "seq, task_id, CASE WHEN state IN (6, 8) AND run_at > {now} THEN run_at ELSE 0 END, CASE WHEN state = 12 THEN behind ELSE '' END"

// tasks are the statements that find, read and fail one task.
type tasks struct{ find, hold, fail, texts string }

func newTasks(d sqlstore.Dialect) tasks {
	const find = "SELECT seq, state, attempt, claimed_by, epoch, agent, issue, joinable, lane, followed, asked_attempt FROM task WHERE task_id = $1"
	return tasks{
		find: find,
		hold: d.Expand(find + "{lock}"),
		fail: d.Expand(failing + "reason = $3, hourly = CASE WHEN attempt > 0 THEN hourly END WHERE seq = $2"),
		texts: `SELECT b.origin, b.message, r.decision, p.report FROM task_body b
LEFT JOIN task_result r ON r.seq = b.seq LEFT JOIN task_report p ON p.seq = b.seq WHERE b.seq = $1`,
	}
}

// look finds a task. Error: queue.ErrNotFound.
func (p *tasks) look(tx sqlstore.Tx, id string) (taskRow, error) { return lookup(tx, p.find, id) }

// take finds a task and locks its row. Error: queue.ErrNotFound.
func (p *tasks) take(tx sqlstore.Tx, id string) (taskRow, error) { return lookup(tx, p.hold, id) }

// takeSeen is take for a task that a caller saw. Errors: queue.ErrNotFound, queue.ErrChanged.
func (p *tasks) takeSeen(tx sqlstore.Tx, seen queue.Seen) (taskRow, error) {
	t, err := p.take(tx, seen.ID)
	if err != nil {
		return t, err
	}
	return t, seen.Check(queue.Seen{ID: seen.ID, State: stateOf(t.state), Attempt: t.attempt, Epoch: t.epoch})
}

func lookup(tx sqlstore.Tx, query, id string) (t taskRow, err error) {
	if !queue.IsText(id) {
		return t, queue.ErrNotFound
	}
	found, err := sqlstore.One(tx, query, sqlstore.Into(&t.seq, &t.state, &t.attempt, &t.claimedBy, &t.epoch, &t.agent, &t.issue, &t.joinable, &t.name, &t.followed, &t.askedAttempt), id)
	if err == nil && !found {
		err = queue.ErrNotFound
	}
	return t, err
}

// end fails a task.
func (p *tasks) end(tx sqlstore.Tx, t taskRow, reason string) error {
	_, err := tx.Exec(p.fail, tx.Now(), t.seq, queue.CleanText(reason))
	return err
}

// A texts contains all texts of a task.
type texts struct{ origin, message, decision, report []byte }

// read reads the texts of a task. Texts that the task does not have are nil.
func (p *tasks) read(tx sqlstore.Tx, seq int64) (t texts, err error) {
	_, err = sqlstore.One(tx, p.texts, sqlstore.Into(&t.origin, &t.message, &t.decision, &t.report), seq)
	return t, err
}
