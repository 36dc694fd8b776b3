// Package assembly assembles the server from its configuration: it opens databases, clients
// for GitHub and listeners, makes the parts that use them, and runs these until the server
// is to stop.
package assembly

import (
	"cmp"
	"context"
	"errors"

	"github.com/org/foreman-action/config"
	"github.com/org/foreman-action/internal/config/serverconfig"
	"github.com/org/foreman-action/internal/logpart"
	"github.com/org/foreman-action/internal/server/database"
	"github.com/org/foreman-action/internal/server/drain"
	"github.com/org/foreman-action/internal/wait"
)

// A Server is a server that is ready to run. Its methods are called one after another.
type Server struct {
	o       Options
	account *account
	url     string // of the server's own listener
	parts   []part
	missed  *backfill // nil: none
	stuck   func(context.Context) []string
	drainer *drain.Drainer // nil: operators cannot drain the server
	closers closers
}

// Open creates a server. It opens the listeners, but runs nothing. The caller must close the
// Server. An error that is not a mistake in the configuration is a [command.FailedError].
func Open(ctx context.Context, o Options) (srv *Server, err error) {
	o.Now = wait.Clock(o.Now)
	// Mistakes are reported before anything is opened.
	credentials, err := Credentials(o.Settings)
	if err != nil {
		return nil, err
	}
	srv = &Server{o: o}
	defer func() {
		if err != nil {
			srv, err = nil, errors.Join(err, srv.Close())
		}
	}()
	var active activePoller
	c, err := connect(ctx, o, active.metrics, &srv.closers)
	if err != nil {
		return srv, err
	}
	l, err := newLoops(o, c, &active)
	if err != nil {
		return srv, err
	}
	in, err := openInbound(ctx, o, credentials, &srv.closers)
	if err != nil {
		return srv, err
	}
	if o.Stop != nil {
		srv.drainer = drain.New(drain.Options{
			Begin: l.harness.Drain, InFlight: l.harness.InFlight, Queue: c.queue, Pauses: c.store, All: !serverconfig.Postgres(o.Databases.Queue),
			Stop: o.Stop, Status: o.Status, Now: o.Now, Log: o.Log,
		})
	}
	api, err := newAPI(o, c, l, in, srv.drainer)
	if err != nil {
		return srv, err
	}
	if srv.missed, err = newBackfill(ctx, o, c); err != nil {
		return srv, err
	}
	srv.account, srv.url = c.account, in.url
	srv.stuck = func(ctx context.Context) []string {
		return stuck(l.harness.Health(), func() error { return c.store.Healthy(ctx) })
	}
	srv.parts = []part{
		{"the API", func(ctx context.Context) error { return api.Serve(ctx, in.listeners...) }},
		{"the loops", l.harness.Run},
		{"the history", l.recorder.Run},
		{"the database", func(ctx context.Context) error { return c.store.Guard(ctx, logpart.Of(o.Log, logpart.Storage)) }},
	}
	if srv.drainer != nil {
		srv.parts = append(srv.parts, part{"the drain", srv.drainer.Run})
	}
	if l.poller != nil {
		srv.parts = append(srv.parts, part{"the poller", l.poller.run})
	}
	if c.github != nil && len(o.Settings.Repos) > 0 {
		probe := func(ctx context.Context, repo string) error {
			return c.account.probe(ctx, cmp.Or(repo, o.Settings.Repos[0].Full()))
		}
		srv.parts = append(srv.parts, part{"the probe of GitHub", func(ctx context.Context) error { return c.github.Run(ctx, probe) }})
	}
	if in.agents != nil {
		srv.parts = append(srv.parts, part{"managed agents", in.agents.Run})
	}
	return srv, nil
}

// Run runs the server until ctx ends. It is called once.
func (srv *Server) Run(ctx context.Context) error {
	s, log := srv.o.Settings, srv.o.Log
	log.Info("foremand is listening", "url", srv.url, "version", srv.o.Version,
		"queue", database.Redacted(srv.o.Databases.Queue),
		"repositories", len(s.Repos), "polls", s.Polling.Enabled, "webhook", len(s.Server.WebhookSecrets) > 0)
	if s.Runner.Mode == config.ModeShadow {
		log.Info("mode is shadow: decisions are planned and reported, and nothing is written", "asks_github", !s.Offline())
	}
	if srv.o.Ready != nil {
		srv.o.Ready(srv.url)
	}
	check, stop := context.WithCancel(ctx)
	defer stop()
	if !s.Offline() {
		go srv.account.checkLogin(check, logpart.Of(log, logpart.GitHub))
		go srv.missed.run(check)
	}
	err := runAll(ctx, log, srv.parts)
	if err == nil {
		log.Info("foremand stopped on request; agents keep their claims")
	}
	return err
}

// Stuck returns the loops that make no progress, although the database answers, so that a restart may
// help. It may be called while the server runs.
func (srv *Server) Stuck(ctx context.Context) []string { return srv.stuck(ctx) }

// Draining reports whether the server stops after its work. It may be called while the server runs.
func (srv *Server) Draining() bool { return srv.drainer != nil && srv.drainer.Begun() }

// Close closes what Open opened.
func (srv *Server) Close() error { return srv.closers.close() }
