package assembly

import (
	"context"
	"errors"
	"net/http"

	"github.com/org/foreman-action/harness"
	"github.com/org/foreman-action/internal/logpart"
	"github.com/org/foreman-action/internal/server/access"
	"github.com/org/foreman-action/internal/server/intake"
	"github.com/org/foreman-action/internal/server/recorder"
)

// loops are the parts that process an event, from the intake to the writes on GitHub.
type loops struct {
	harness  *harness.Harness
	recorder *recorder.Recorder
	poller   *poller // nil: GitHub is not polled
	active   *activePoller
}

func newLoops(o Options, c connections, active *activePoller) (l loops, err error) {
	l.active = active
	if l.harness, err = newHarness(o, c); err != nil {
		return loops{}, err
	}
	if l.recorder, err = recorder.New(recorder.Options{
		History: c.store.History(), Budget: c.limits.budget.Report, Now: o.Now, Observe: c.observe, Log: logpart.Of(o.Log, logpart.Telemetry),
	}); err != nil {
		return loops{}, err
	}
	if o.Settings.Polling.Enabled {
		l.poller, err = newPoller(o, c, take(l.harness), active)
	}
	return l, err
}

// newHarness returns a harness with the values of the configuration.
func newHarness(o Options, c connections) (*harness.Harness, error) {
	s, q := o.Settings, o.Settings.Queue
	agents, repos := agents(s)
	h := harness.Options{
		Queue: c.queue, Cursors: c.store, Slots: c.store, Pauses: c.store,
		Config: s.Runner, Login: c.account.login, Repos: repos, Agents: agents, Memory: c.store, Agenda: c.store, Lead: c.store.Lead, Journal: c.store,
		Progress:     c.meter.Progress(c.store),
		NoBoxes:      len(s.Server.WebhookSecrets) == 0,
		Authenticate: claimant, Maintainers: s.Polling.Maintainers == "include",
		Limits: harness.Limits{
			Claim: q.ClaimTimeout.Duration(), LongestClaim: q.MaxClaim, Claims: q.MaxRetries, Lease: q.DrainTimeout.Duration(), Tries: q.MaxDrains,
			PerMinute: q.WritesPerMinute, PerHour: q.WritesPerHour, TasksPerHour: q.MaxTasks,
			Poll: q.DrainInterval.Duration(), Requeue: q.RequeueInterval.Duration(), Retention: q.Retention,
		},
		Observe: c.observe, Trace: c.meter.Trace, Span: c.meter.Span, Now: o.Now, Log: o.Log,
	}
	if !c.account.offline {
		h.Host = c.account.host
	}
	return harness.New(h)
}

// claimant returns the sender of a request, which package api has checked.
func claimant(r *http.Request) (harness.Claimant, error) {
	caller, ok := access.CallerOf(r)
	if !ok {
		return harness.Claimant{}, errors.New("the sender was not checked")
	}
	return harness.Claimant{Name: caller.Name, Agents: caller.Agents()}, nil
}

// take returns the function by which the parts that find events enqueue them.
func take(h *harness.Harness) intake.Taker {
	return func(ctx context.Context, a intake.Arrival) (intake.Outcome, error) {
		got, err := h.EnqueueFrom(ctx, a.Origin, a.Event, a.Dedup)
		return intake.Outcome(got), err
	}
}
