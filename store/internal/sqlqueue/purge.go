package sqlqueue

import (
	"context"
	"encoding/json"
	"time"

	"github.com/org/foreman-action/store/internal/sqlstore"
)

// purging are the statements that delete what is old.
type purging struct {
	purge, purgeAside string
	purgeTexts        [5]string
}

func newPurging(d sqlstore.Dialect) purging {
	p := purging{
		purge: d.Expand(`DELETE FROM task WHERE seq IN (
SELECT t.seq FROM task t WHERE t.state = $2 AND t.ended_at < $1 ORDER BY t.ended_at LIMIT $3{skip}) RETURNING seq`),
		purgeAside: "DELETE FROM memory_aside WHERE id > 0 AND at < $1", // all of them are few
	}
	for i, table := range []string{"task_body", "task_result", "task_report", "task_log", "task_also"} {
		p.purgeTexts[i] = "DELETE FROM " + table + " WHERE seq IN " + d.In("$1")
	}
	return p
}

// some deletes tasks that ended before a time, at most limit of them, and returns how many.
func (p *purging) some(ctx context.Context, e sqlstore.Engine, before time.Time, limit int) (int, error) {
	var gone []int64
	err := e.Write(ctx, func(tx sqlstore.Tx) error {
		gone = nil
		if _, err := tx.Exec(p.purgeAside, before.UnixMilli()); err != nil {
			return err
		}
		for _, state := range []int64{stateDone, stateFailed} {
			err := tx.Query(p.purge, func(r sqlstore.Row) error {
				var seq int64
				err := r.Scan(&seq)
				gone = append(gone, seq)
				return err
			}, before.UnixMilli(), state, int64(limit-len(gone)))
			if err != nil {
				return err
			}
		}
		if len(gone) == 0 {
			return nil
		}
		list, err := json.Marshal(gone)
		if err != nil {
			return err
		}
		for _, query := range p.purgeTexts {
			if _, err := tx.Exec(query, string(list)); err != nil {
				return err
			}
		}
		return nil
	})
	return len(gone), err
}
