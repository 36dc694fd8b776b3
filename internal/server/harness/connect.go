package harness

import (
	"context"
	"time"

	"github.com/org/foreman-action/internal/server/database"
	"github.com/org/foreman-action/internal/server/telemetry"
	"github.com/org/foreman-action/queue"
)

// connections are the services that the parts of a server use.
type connections struct {
	meter   *telemetry.Telemetry
	account *account
	stores  database.Stores
	queue   queue.Queue // that of stores, measured
}

// connect opens what the parts of a server use. polls reports how polling goes.
func connect(ctx context.Context, o Options, polls func() []telemetry.Poll, c *closers) (connections, error) {
	meter, err := telemetry.New(ctx, telemetry.Options{
		Version: o.Version, Endpoint: o.Settings.Telemetry.Endpoint, Polls: polls, Log: o.Log,
	})
	if err != nil {
		return connections{}, err
	}
	c.add(func() error {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
		defer cancel()
		return meter.Close(ctx)
	})
	account, err := newAccount(ctx, o, meter.Transport(nil))
	if err != nil {
		return connections{}, err
	}
	stores, err := database.OpenAll(ctx, o.Databases, o.Log)
	if err != nil {
		return connections{}, err
	}
	c.add(stores.Close)
	q, err := meter.Queue(stores.Queue)
	return connections{meter, account, stores, q}, err
}
