package assembly

import (
	"context"
	"log/slog"
	"time"

	"github.com/org/foreman-action/internal/config/serverconfig"
	"github.com/org/foreman-action/internal/github"
	"github.com/org/foreman-action/internal/logpart"
	"github.com/org/foreman-action/internal/server/maintenance"
)

const (
	// webhookPath is the end of the addresses to which GitHub delivers events for this server.
	webhookPath = "/github/webhook"
	// keptDeliveries is how long GitHub can repeat a delivery.
	keptDeliveries = 3 * 24 * time.Hour
	// overlap is longer than the time between two records of a server's presence, and longer than
	// GitHub waits for an answer.
	overlap = 3 * time.Minute
)

// A backfill asks GitHub to repeat the deliveries that failed while no server ran. GitHub does not
// repeat them by itself. The webhook recognizes repeated deliveries whose first try did arrive.
type backfill struct {
	account *account
	repos   []serverconfig.Repo
	since   time.Time // zero: no server ran before
	log     *slog.Logger
}

// newBackfill returns the backfill of a server that begins now; nil: the server has no webhook, or
// no account.
func newBackfill(ctx context.Context, o Options, c connections) (*backfill, error) {
	if o.Settings.Offline() || len(o.Settings.Server.WebhookSecrets) == 0 {
		return nil, nil //nolint:nilnil // as documented
	}
	last, err := maintenance.LastPresence(ctx, c.store)
	if err != nil {
		return nil, err
	}
	if oldest := o.Now().Add(-keptDeliveries); !last.IsZero() && last.Before(oldest) {
		last = oldest
	}
	return &backfill{c.account, o.Settings.Repos, last, logpart.Of(o.Log, logpart.GitHub)}, nil
}

// run asks once. Without the permission it logs that once, because polling may be in use.
func (b *backfill) run(ctx context.Context) {
	if b == nil || b.since.IsZero() {
		return
	}
	hooks, err := b.hooks(ctx)
	repeated := 0
	for _, h := range hooks {
		ids, failed := h.Failed(ctx, b.since.Add(-overlap))
		for _, id := range ids {
			if failed = h.Redeliver(ctx, id); failed != nil {
				break
			}
			repeated++
		}
		if err == nil {
			err = failed
		}
	}
	if repeated > 0 {
		b.log.InfoContext(ctx, "asked GitHub to repeat deliveries that failed", "deliveries", repeated, "since", b.since)
	}
	if err != nil && ctx.Err() == nil {
		b.log.InfoContext(ctx, "GitHub did not list all deliveries that failed while no server ran; repeat them in the settings of the webhook", "since", b.since, "error", err)
	}
}

// hooks returns the webhook of the App, or those of the repositories. The error is the first one.
func (b *backfill) hooks(ctx context.Context) (list []github.Deliveries, first error) {
	if b.account.app != nil {
		return []github.Deliveries{b.account.app.Deliveries()}, nil
	}
	for _, r := range b.repos {
		of, err := github.RepositoryDeliveries(ctx, b.account.shared, r.Full(), webhookPath)
		if err != nil && first == nil {
			first = err
		}
		list = append(list, of...)
	}
	return list, first
}
