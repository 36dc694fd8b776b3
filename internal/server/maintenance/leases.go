package maintenance

import (
	"context"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/org/foreman-action/internal/server/supervisor"
	"github.com/org/foreman-action/queue"
)

// A leaseWatch watches the leases on decisions that other servers have. A live server renews each
// lease long before its end.
type leaseWatch struct {
	loop *supervisor.Loop
	late time.Duration // if less time than this is left, the lease is overdue
	now  func() time.Time
	log  *slog.Logger

	mu   sync.Mutex // guards the fields below
	held []queue.ActiveLease
	seen time.Time // when held was read
}

// see receives the leases of other servers, and logs each overdue one once.
func (w *leaseWatch) see(ctx context.Context, others []queue.ActiveLease) {
	late := slices.DeleteFunc(slices.Clone(others), func(l queue.ActiveLease) bool { return l.Left >= w.late })
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, l := range late {
		if !slices.ContainsFunc(w.held, func(was queue.ActiveLease) bool { return was.Lease == l.Lease }) {
			w.log.WarnContext(ctx, "another server does not renew its lease of a decision; the decision is retried when the lease expires",
				"task", l.ID, "server", l.Owner, "lease_ends_in", l.Left.Round(time.Millisecond))
		}
	}
	w.held, w.seen = late, w.now()
}

// unrenewed returns the overdue leases with their remaining time, which is at least 0.
func (w *leaseWatch) unrenewed() []queue.ActiveLease {
	w.mu.Lock()
	defer w.mu.Unlock()
	list := slices.Clone(w.held)
	for i := range list {
		list[i].Left = max(0, list[i].Left-w.now().Sub(w.seen))
	}
	return list
}
