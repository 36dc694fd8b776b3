package postgres

import (
	"context"

	"github.com/org/foreman-action/store/internal/sqlqueue"
	"github.com/org/foreman-action/store/internal/sqlstore"
)

// holderLock names the lock that a process has for life, by the connection that listens. The
// server drops it with the session, and so when the process ends, however it ends. When a
// whole machine vanishes, the session may stay for long, and leases have to expire.
const holderLock = "hashtextextended('foreman holder ' || current_schema() || ' ' || $1, 0)"

// holders are the processes that lease decisions from one database. Behind a pooler, which
// shares sessions, no process has a lock.
type holders struct{ engine *engine }

var _ sqlqueue.Holders = holders{}

// Own implements sqlqueue.Holders.
func (h holders) Own() (id string, provable bool) {
	return h.engine.notifier.id, h.engine.notifier.alive.Load()
}

// Ended implements sqlqueue.Holders. A lock that can be had is one that no session has.
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
