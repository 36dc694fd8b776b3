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

// A leaseWatch watches the leases that other servers have on decisions. A server that lives
// renews each long before its end.
type leaseWatch struct {
	loop *supervisor.Loop
	late time.Duration // less than this is left: it should have been renewed
	log  *slog.Logger

	mu   sync.Mutex // guards the fields below
	held []queue.ActiveLease
	seen time.Time // when held was read
}

// see takes the leases of other servers, and logs those that were not renewed, once each.
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
	w.held, w.seen = late, time.Now()
}

// unrenewed returns the leases that were not renewed, as they are now.
func (w *leaseWatch) unrenewed() []queue.ActiveLease {
	w.mu.Lock()
	defer w.mu.Unlock()
	list := slices.Clone(w.held)
	for i := range list {
		list[i].Left = max(0, list[i].Left-time.Since(w.seen))
	}
	return list
}
