package sqlite

import (
	"context"
	"time"

	"github.com/org/foreman-action/store/internal/sqlqueue"
	"github.com/org/foreman-action/store/internal/sqlstore"
)

// tasks are the queue in a file.
type tasks struct {
	*sqlqueue.Queue

	engine *engine
}

// Purge implements queue.Queue. It returns a part of the freed space to the file system, and the
// file reuses the rest. before is a time of day. The time of day may have been set since the
// file's clock started, so Purge converts before to that clock.
func (t *tasks) Purge(ctx context.Context, before time.Time, limit int) (int, error) {
	n, err := t.Queue.Purge(ctx, before.Add(t.engine.ahead()), limit)
	if err != nil || n == 0 {
		return n, err
	}
	return n, t.engine.Write(ctx, func(tx sqlstore.Tx) error {
		_, err := tx.Exec("PRAGMA incremental_vacuum(200)")
		return err
	})
}
