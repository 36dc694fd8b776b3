package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/org/foreman-action/config"
	"github.com/org/foreman-action/internal/command"
	"github.com/org/foreman-action/internal/server"
	"github.com/org/foreman-action/internal/server/background"
	"github.com/org/foreman-action/internal/server/dispatch"
	"github.com/org/foreman-action/internal/server/executor"
	"github.com/org/foreman-action/internal/server/intake"
	"github.com/org/foreman-action/internal/server/maintenance"
	"github.com/org/foreman-action/internal/server/managed"
	"github.com/org/foreman-action/internal/server/observe"
	"github.com/org/foreman-action/internal/server/settings"
	"github.com/org/foreman-action/internal/server/telemetry"
	"github.com/org/foreman-action/queue"
)

// A harness is all the parts of a server.
type harness struct {
	s      *settings.Settings
	log    *slog.Logger
	places [2]string // of queue and memory, as a log may show them
	stores stores
	queue  queue.Queue // that of stores, measured
	claims queue.Queue // queue, for those who hand tasks out: it tells what was done before
	meter  *telemetry.Telemetry
	hub    *hub // nil: GitHub is never asked
	bot    string
	lead   leading // whether this process polls

	credentials *server.Credentials
	intake      *intake.Intake
	background  *background.Services
	poller      *poller        // nil: GitHub is not polled
	fleet       *managed.Fleet // nil: no agent is started here
	api         *server.Server
	listeners   []net.Listener // the first one is the server's own
	url         string
}

// leading is whether this process is the one of several that polls.
type leading struct{ atomic.Bool }

// assemble opens what a server needs and puts the parts together; nothing runs yet, but
// the listeners are open.
func (p program) assemble(ctx context.Context, s *settings.Settings, at places, log *slog.Logger) (h *harness, err error) {
	h = &harness{s: s, log: log}
	defer func() {
		if err != nil {
			err = errors.Join(err, h.close())
			h = nil
		}
	}()
	// What is refused is refused before anything is opened.
	if h.credentials, err = guarded(s); err != nil {
		return h, err
	}
	if h.meter, err = telemetry.New(ctx, telemetry.Options{Version: version(), Endpoint: s.Telemetry.Endpoint, Polls: h.polls, Log: log}); err != nil {
		return h, err
	}
	if err := h.identify(ctx); err != nil {
		return h, err
	}
	h.places = [2]string{shownPlace(at.queue(p, s)), shownPlace(at.memory(p, s))}
	if h.stores, err = at.open(ctx, p, s, log); err != nil {
		return h, storeError(err)
	}
	if h.queue, err = h.meter.Queue(h.stores.queue); err != nil {
		return h, err
	}
	if err := h.decide(); err != nil {
		return h, err
	}
	err = h.open(ctx, at.queue(p, s))
	return h, err
}

// identify makes the clients for GitHub, and finds out who the server is there.
func (h *harness) identify(ctx context.Context) (err error) {
	if h.bot = h.s.Identity.User; h.s.Offline() {
		return nil
	}
	if h.hub, err = newHub(h.s.Identity, h.meter.Transport(nil), h.log); err != nil || h.bot != "" {
		return err
	}
	if h.bot, err = h.hub.login(ctx); err != nil {
		return command.Failed(fmt.Errorf("identity.github_user is not set, and GitHub does not tell the App's login: %w", err))
	}
	return nil
}

// guarded returns the credentials of the configuration, if a server may listen with them
// where it is to.
func guarded(s *settings.Settings) (*server.Credentials, error) {
	c, err := credentials(s)
	if err == nil {
		err = server.CheckBind(net.JoinHostPort(s.Server.Host, strconv.Itoa(s.Server.Port)), c)
	}
	return c, err
}

// credentials returns those of the configuration.
func credentials(s *settings.Settings) (*server.Credentials, error) {
	var list []server.Credential
	for _, c := range s.Server.Credentials {
		list = append(list, server.Credential{Name: c.Name, Secret: c.Secret, Agents: c.Agents})
	}
	for _, o := range s.Server.Operators {
		list = append(list, server.Credential{Name: o.Name, Secret: o.Secret, Operator: true})
	}
	c, err := server.NewCredentials(list)
	if err != nil {
		return nil, fmt.Errorf("server.credentials and operators: %w", err)
	}
	return c, nil
}

// decide makes the parts between an event and a write.
func (h *harness) decide() (err error) {
	list, repos := routes(h.s)
	h.intake, err = intake.New(intake.Options{
		Queue: h.queue, Routes: list, Repos: repos, Rules: h.rules(), Memory: h.stores.memory,
		LLM: h.s.Runner.LLM, Bot: h.bot, Maintainers: h.s.Polling.Maintainers == "include",
		HourlyLimit: h.s.Queue.MaxTasks, Trace: h.meter.Trace, Log: h.log,
	})
	if err != nil {
		return err
	}
	h.claims = h.intake.Fresh(h.queue)
	host, _ := os.Hostname() // only a name for the log
	known := agents(h.s)
	desk := desk{s: h.s, bot: h.bot, id: h.hub.account(), host: h.hub.host}
	q := h.s.Queue
	h.background, err = background.New(background.Options{
		Queue: h.claims, Owner: fmt.Sprintf("%s/%d", host, os.Getpid()), Cursors: h.stores.queue,
		ClaimTimeout: q.ClaimTimeout.Duration(), MaxClaims: q.MaxRetries, MaxTries: q.MaxDrains,
		Observe: func(o observe.Observation) { h.meter.Observe(telemetry.Observation(o)) }, Log: h.log,
		Executor: executor.Options{
			Settings: desk.settings, Memory: h.stores.memory, Journal: h.stores.memory, Slots: h.stores.queue,
			Interval: q.DrainInterval.Duration(), Lease: q.DrainTimeout.Duration(), RequestTimeout: h.s.Identity.Timeout.Duration(),
			PerMinute: q.WritesPerMinute, PerHour: q.WritesPerHour, Span: h.meter.Span,
		},
		Dispatch:    dispatch.Options{Agents: func(address string) (dispatch.Agent, bool) { a, ok := known[address]; return a, ok }},
		Maintenance: maintenance.Options{RequeueInterval: q.RequeueInterval.Duration(), Retention: q.Retention},
	})
	if err != nil || !h.s.Polling.Enabled {
		return err
	}
	h.poller, err = newPoller(h)
	return err
}

// rules reports which events the server's own rules look at; nil: it has none.
func (h *harness) rules() func(name, action string) bool {
	if h.s.Runner.Rules.Len() == 0 {
		return nil
	}
	return h.s.Runner.Rules.Listens
}

// open opens the listeners, and makes what answers on them.
func (h *harness) open(ctx context.Context, place string) error {
	l, err := listen(ctx, h.s.Server, h.credentials)
	if err != nil {
		return err
	}
	h.listeners, h.url = append(h.listeners, l), baseURL(l, h.s.Server)
	fleet, bridge, err := startFleet(ctx, h.s, h.credentials, place, h.log)
	if bridge != nil {
		h.listeners = append(h.listeners, bridge)
	}
	if err != nil {
		return command.Failed(err)
	}
	h.fleet = fleet
	page, err := newPage(h)
	if err != nil {
		return err
	}
	h.api, err = server.New(server.Options{
		Queue: h.claims, Lease: h.s.Queue.ClaimTimeout.Duration(), Credentials: h.credentials,
		Intake: h.intake, WebhookSecrets: h.s.Server.WebhookSecrets, Wake: h.background.Wake,
		Health: h.health, Metrics: h.meter.Metrics(), Around: h.meter.Handler, Dashboard: page, Log: h.log,
	})
	return err
}

// run runs the parts until ctx ends.
func (h *harness) run(ctx context.Context) error {
	listening := h.listeners
	h.listeners = nil // Serve closes them
	parts := []part{
		{"the API", func(ctx context.Context) error { return h.api.Serve(ctx, listening...) }},
		{"the loops", h.background.Run},
	}
	if h.poller != nil {
		parts = append(parts, part{"the poller", h.poller.run})
	}
	if h.fleet != nil {
		parts = append(parts, part{"managed agents", h.fleet.Run})
	}
	h.log.Info("foremand is listening", "url", h.url, "version", version(), "queue", h.places[0], "memory", h.places[1],
		"repositories", len(h.s.Repos), "polls", h.poller != nil, "webhook", len(h.s.Server.WebhookSecrets) > 0)
	if h.s.Runner.Mode == config.ModeShadow {
		h.log.Info("mode is shadow: decisions are planned and reported, and nothing is written", "asks_github", h.hub != nil)
	}
	check, stop := context.WithCancel(ctx)
	defer stop()
	if h.hub != nil {
		go checkLogin(check, h.hub, h.bot, h.log)
	}
	err := runAll(ctx, h.log, parts)
	if err == nil {
		h.log.Info("foremand was told to stop, and has; what was claimed stays claimed")
	}
	return err
}

// close closes what assemble opened and Serve did not close.
func (h *harness) close() error {
	var errs []error
	for _, l := range h.listeners {
		errs = append(errs, l.Close())
	}
	last, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	errs = append(errs, h.meter.Close(last))
	if h.stores.queue != nil {
		errs = append(errs, h.stores.close())
	}
	return errors.Join(errs...)
}
