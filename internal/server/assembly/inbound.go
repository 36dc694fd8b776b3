package assembly

import (
	"cmp"
	"context"
	"fmt"
	"net"
	"net/http"

	"github.com/org/foreman-action/config"
	"github.com/org/foreman-action/internal/address"
	"github.com/org/foreman-action/internal/command"
	"github.com/org/foreman-action/internal/config/serverconfig"
	"github.com/org/foreman-action/internal/logpart"
	"github.com/org/foreman-action/internal/server/access"
	"github.com/org/foreman-action/internal/server/api"
	"github.com/org/foreman-action/internal/server/dashboard"
	"github.com/org/foreman-action/internal/server/drain"
	"github.com/org/foreman-action/internal/server/managed"
)

// An inbound contains the listeners for requests, and the checks of their senders.
type inbound struct {
	credentials *access.Credentials
	listeners   []net.Listener      // the first one is the server's own
	url         string              // of the server's own listener
	agents      *managed.Supervisor // nil: the server starts no agents
}

// openInbound opens the listeners, and prepares the agents that the server starts, because these
// need the address of a listener.
func openInbound(ctx context.Context, o Options, credentials *access.Credentials, c *closers) (inbound, error) {
	l, err := listen(ctx, o)
	if err != nil {
		return inbound{}, err
	}
	c.add(closer(l))
	in := inbound{credentials: credentials, listeners: []net.Listener{l}, url: baseURL(l, o.Settings.Server)}
	agents, bridge, err := newSupervisor(ctx, o, credentials)
	if bridge != nil {
		c.add(closer(bridge))
		in.listeners = append(in.listeners, bridge)
	}
	in.agents = agents
	return in, command.Failed(err)
}

// newAPI returns the server that answers requests.
func newAPI(o Options, c connections, l loops, in inbound, drainer *drain.Drainer) (*api.Server, error) {
	s := o.Settings
	h := health{store: c.store, copies: c.copies, harness: l.harness, history: l.recorder, agents: in.agents, polling: l.active, github: c.github, limits: c.limits, now: o.Now}
	proxies, err := access.ParseProxies(s.Server.TrustedProxies)
	if err != nil {
		return nil, fmt.Errorf("server.trusted_proxies: %w", err)
	}
	_, repos := agents(s)
	records := trackRecords{c.store, s.Runner, cmp.Or(address.Web(s.Identity.APIURL), "https://github.com"), o.Now}
	attempts, names := access.NewAttempts(o.Now), Configured(s)
	page, err := newDashboard(s, in, dashboard.Options{TrackRecord: records.report, Repos: repos, Attempts: attempts, Queue: c.queue, Pauses: c.store, Configured: names, Health: h.report, Waiting: c.waiting.All, Budget: c.limits.budget.Report, History: c.store.History(), Observe: c.meter.Observe, Now: o.Now, Log: logpart.Of(o.Log, logpart.Dashboard)})
	if err != nil {
		return nil, err
	}
	return api.New(api.Options{
		Queue: c.queue, Pauses: c.store, Configured: names, Credentials: in.credentials, Attempts: attempts, Proxies: proxies, Agents: l.harness.Handler(), StopAgents: l.harness.Stop,
		Take: take(l.harness), Label: c.account.changed, WebhookSecrets: s.Server.WebhookSecrets, SpoolDir: o.Databases.Folder(),
		Health: h.check, Note: h.leases, GitHub: address.Web(s.Identity.APIURL), Budget: c.limits.budget.Report, Reload: o.Reload, Drainer: drainer, Metrics: c.meter.Metrics(), Middleware: c.meter.Handler, Dashboard: page, Observe: c.meter.Observe, Now: o.Now, Log: logpart.Of(o.Log, logpart.API),
		History: c.store.History(), TrackRecord: records.report, Repos: repos,
	})
}

// newDashboard returns the page for operators. The configuration determines who may see it.
func newDashboard(s *serverconfig.Config, in inbound, o dashboard.Options) (http.Handler, error) {
	agents, operators := in.credentials.Configured()
	o.Private, o.Secure, o.GitHub = agents || in.agents != nil, s.Server.BehindTLS, address.Web(s.Identity.APIURL)
	o.Shadow = s.Runner.Mode == config.ModeShadow
	if operators {
		o.Operators = in.credentials.Operator
	}
	return dashboard.New(o)
}
