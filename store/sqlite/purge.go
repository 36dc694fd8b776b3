package sqlite

import (
	"context"
	"time"

	"github.com/org/foreman-action/store/internal/sqlstore"
)

// Purge implements queue.Queue. It gives a part of the room that became free back to the
// file system; the rest is for tasks to come. The caller goes by the time of the day, which may
// have been set since the file's clock took it over: what counts is how long ago it is.
func (s *Store) Purge(ctx context.Context, before time.Time, limit int) (int, error) {
	n, err := s.Queue.Purge(ctx, before.Add(s.engine.ahead()), limit)
	if err != nil || n == 0 {
		return n, err
	}
	return n, s.engine.Write(ctx, func(tx sqlstore.Tx) error {
		_, err := tx.Exec("PRAGMA incremental_vacuum(200)")
		return err
	})
}
