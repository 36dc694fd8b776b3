package assembly

import (
	"context"
	"net/http"
	"time"

	"github.com/org/foreman-action/harness/observe"
	"github.com/org/foreman-action/internal/logpart"
	"github.com/org/foreman-action/internal/roundtrip"
	"github.com/org/foreman-action/internal/server/database"
	"github.com/org/foreman-action/internal/server/outage"
	"github.com/org/foreman-action/internal/server/proposals"
	"github.com/org/foreman-action/internal/server/telemetry"
	"github.com/org/foreman-action/queue"
)

// connections are the services that the parts of a server use.
type connections struct {
	meter   *telemetry.Telemetry
	github  *outage.Monitor // nil: GitHub is never called
	limits  *Limits
	account *account
	store   database.Store
	copies  database.Copies
	queue   queue.Queue // store, wrapped for metrics
	waiting *proposals.List
}

// observe reports what the loops do to telemetry, and to the counts of the budget.
func (c connections) observe(o observe.Observation) {
	c.meter.Observe(o)
	c.limits.budget.Observe(o)
}

// connect opens the services that the parts of a server use. polls returns the state of polling.
func connect(ctx context.Context, o Options, polls func() []telemetry.Poll, c *closers) (connections, error) {
	limits := o.Limits
	if limits == nil {
		limits = NewLimits(logpart.Of(o.Log, logpart.GitHub))
	}
	var waiting *proposals.List // this and store are set before anything is served
	var store database.Store
	meter, err := telemetry.New(ctx, telemetry.Options{
		Version: o.Version, Endpoint: o.Settings.Telemetry.Endpoint, Getenv: o.Getenv, Polls: polls, Log: logpart.Of(o.Log, logpart.Telemetry), Now: o.Now,
		Model:  telemetry.Model{Provider: o.Settings.LLM.Provider, Name: o.Settings.LLM.Model},
		Limits: func() []telemetry.Limit { return limits.list(o.Now()) }, Budget: limits.budget.Report,
		Pauses: func(ctx context.Context) ([]queue.Pause, error) { return store.ListPauses(ctx, true) },
		Proposals: func(ctx context.Context) (int, error) {
			list, err := waiting.All(ctx)
			return len(list), err
		},
	})
	if err != nil {
		return connections{}, err
	}
	c.add(func() error {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
		defer cancel()
		return meter.Close(ctx)
	})
	var monitor *outage.Monitor
	if !o.Settings.Offline() {
		monitor = outage.New(outage.Options{Now: o.Now, Observe: meter.Observe, Log: logpart.Of(o.Log, logpart.GitHub)})
	}
	hub := gitHubTransport()
	c.add(func() error {
		hub.CloseIdleConnections()
		return nil
	})
	measured := limits.budget.Transport(meter.Transport(hub))
	account, err := newAccount(ctx, o, limits, func(repo string) http.RoundTripper { return monitor.Transport(measured, repo) })
	if err != nil {
		return connections{}, err
	}
	var copies database.Copies
	store, copies, err = database.OpenServer(ctx, o.Databases, logpart.Of(o.Log, logpart.Storage))
	if err != nil {
		return connections{}, err
	}
	c.add(store.Close)
	_, repos := agents(o.Settings)
	waiting = proposals.NewList(store, repos, o.Now)
	q, err := meter.Queue(store)
	return connections{meter, monitor, limits, account, store, copies, q, waiting}, err
}

// gitHubConnections is how many unused connections to a GitHub that speaks HTTP/1.1 are kept: one for
// each decision that is carried out at a time.
const gitHubConnections = 16

// gitHubTransport returns the transport for requests to GitHub.
func gitHubTransport() *http.Transport {
	t := roundtrip.New()
	t.MaxIdleConnsPerHost = gitHubConnections
	return t
}
