package postgres

import (
	"context"

	"github.com/org/foreman-action/store/internal/sqlqueue"
	"github.com/org/foreman-action/store/internal/sqlstore"
)

// holderLock is the advisory lock that shows that a process is alive. The connection that listens
// takes it. The server releases the lock when the session ends, which it does when the process
// ends in any way. When a whole machine vanishes, the server may keep the session for long, so
// the leases have to expire.
const holderLock = "hashtextextended('foreman holder ' || current_schema() || ' ' || $1, 0)"

// holders detects whether processes that lease decisions from a database are alive. Behind a
// pooler, which shares sessions, no process has a lock.
type holders struct{ engine *engine }

var _ sqlqueue.Holders = holders{}

// Own implements sqlqueue.Holders.
func (h holders) Own() (id string, provable bool) {
	return h.engine.notifier.id, h.engine.notifier.alive.Load()
}

// Ended implements sqlqueue.Holders. If the lock of a process is free, its session has ended.
func (h holders) Ended(ctx context.Context, ids []string) (ended []string, err error) {
	for _, id := range ids {
		var free int64
		_, err := sqlstore.Value(ctx, h.engine.ReadOne, func(tx sqlstore.Tx) (bool, error) {
			return sqlstore.One(tx, "SELECT CASE WHEN pg_try_advisory_xact_lock("+holderLock+") THEN 1 ELSE 0 END::bigint", sqlstore.Into(&free), id)
		})
		if err != nil {
			return nil, err
		}
		if free == 1 {
			ended = append(ended, id)
		}
	}
	return ended, nil
}
