// Package harness assembles the server from its configuration: it opens databases, clients
// for GitHub and listeners, makes the parts that use them, and runs these until the server
// is to stop.
package harness

import (
	"cmp"
	"context"
	"errors"

	"github.com/org/foreman-action/config"
	"github.com/org/foreman-action/internal/server/database"
)

// A Harness is a server that is ready to run. Its methods are called one after another.
type Harness struct {
	o       Options
	account *account
	url     string // of the server's own listener
	parts   []part
	missed  *backfill // nil: none
	closers closers
}

// Open creates a server. It opens the listeners, but runs nothing. The caller must close the
// Harness. An error that is not a mistake in the configuration is a [command.FailedError].
func Open(ctx context.Context, o Options) (h *Harness, err error) {
	// Mistakes are reported before anything is opened.
	credentials, err := Credentials(o.Settings)
	if err != nil {
		return nil, err
	}
	h = &Harness{o: o}
	defer func() {
		if err != nil {
			h, err = nil, errors.Join(err, h.Close())
		}
	}()
	var active activePoller
	c, err := connect(ctx, o, active.metrics, &h.closers)
	if err != nil {
		return h, err
	}
	l, err := newLoops(o, c, &active)
	if err != nil {
		return h, err
	}
	in, err := openInbound(ctx, o, credentials, &h.closers)
	if err != nil {
		return h, err
	}
	api, err := newAPI(o, c, l, in)
	if err != nil {
		return h, err
	}
	if h.missed, err = newBackfill(ctx, o, c); err != nil {
		return h, err
	}
	h.account, h.url = c.account, in.url
	h.parts = []part{
		{"the API", func(ctx context.Context) error { return api.Serve(ctx, in.listeners...) }},
		{"the loops", l.background.Run},
		{"the databases", func(ctx context.Context) error { return c.stores.Guard(ctx, o.Log) }},
	}
	if l.poller != nil {
		h.parts = append(h.parts, part{"the poller", l.poller.run})
	}
	if c.github != nil && len(o.Settings.Repos) > 0 {
		probe := func(ctx context.Context, repo string) error {
			return c.account.probe(ctx, cmp.Or(repo, o.Settings.Repos[0].Full()))
		}
		h.parts = append(h.parts, part{"the probe of GitHub", func(ctx context.Context) error { return c.github.Run(ctx, probe) }})
	}
	if in.agents != nil {
		h.parts = append(h.parts, part{"managed agents", in.agents.Run})
	}
	return h, nil
}

// Run runs the server until ctx ends. It is called once.
func (h *Harness) Run(ctx context.Context) error {
	s, log := h.o.Settings, h.o.Log
	log.Info("foremand is listening", "url", h.url, "version", h.o.Version,
		"queue", database.Redacted(h.o.Databases.Queue), "memory", database.Redacted(h.o.Databases.Memory),
		"repositories", len(s.Repos), "polls", s.Polling.Enabled, "webhook", len(s.Server.WebhookSecrets) > 0)
	if s.Runner.Mode == config.ModeShadow {
		log.Info("mode is shadow: decisions are planned and reported, and nothing is written", "asks_github", !s.Offline())
	}
	check, stop := context.WithCancel(ctx)
	defer stop()
	if !s.Offline() {
		go h.account.checkLogin(check, log)
		go h.missed.run(check)
	}
	err := runAll(ctx, log, h.parts)
	if err == nil {
		log.Info("foremand stopped on request; agents keep their claims")
	}
	return err
}

// Close closes what Open opened.
func (h *Harness) Close() error { return h.closers.close() }
