package sqlqueue

import (
	"context"
	"encoding/json"
	"time"

	"github.com/org/foreman-action/store/internal/sqlstore"
)

// purging are the statements of Purge.
type purging struct {
	purge, purgeAside string
	foldCounts        string // empty: no counts to fold
	purgeTexts        [5]string
}

func newPurging(d sqlstore.Dialect) purging {
	p := purging{
		purge: d.Expand(`DELETE FROM task WHERE seq IN (
SELECT t.seq FROM task t WHERE t.state = $2 AND t.ended_at < $1 ORDER BY t.ended_at LIMIT $3{skip}) RETURNING seq`),
		foldCounts: d.FoldCounts,
		purgeAside: "DELETE FROM memory_aside WHERE id > 0 AND at < $1", // a small table
	}
	for i, table := range []string{"task_body", "task_result", "task_report", "task_log", "task_also"} {
		p.purgeTexts[i] = "DELETE FROM " + table + " WHERE seq IN " + d.In("$1")
	}
	return p
}

// some deletes tasks that ended before a time, at most limit of them, and returns how many.
func (p *purging) some(ctx context.Context, e sqlstore.Engine, before time.Time, limit int) (int, error) {
	return sqlstore.Value(ctx, e.Write, func(tx sqlstore.Tx) (int, error) {
		if _, err := tx.Exec(p.purgeAside, before.UnixMilli()); err != nil {
			return 0, err
		}
		if p.foldCounts != "" {
			if _, err := tx.Exec(p.foldCounts); err != nil {
				return 0, err
			}
		}
		var gone []int64
		for _, state := range []int64{stateDone, stateFailed} {
			list, err := sqlstore.All(tx, p.purge, sqlstore.Column[int64], before.UnixMilli(), state, int64(limit-len(gone)))
			if err != nil {
				return 0, err
			}
			gone = append(gone, list...)
		}
		if len(gone) == 0 {
			return 0, nil
		}
		list, err := json.Marshal(gone)
		if err != nil {
			return 0, err
		}
		for _, query := range p.purgeTexts {
			if _, err := tx.Exec(query, string(list)); err != nil {
				return 0, err
			}
		}
		return len(gone), nil
	})
}
