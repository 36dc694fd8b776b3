package harness

import (
	"fmt"
	"os"

	"github.com/org/foreman-action/config/serverconfig"
	"github.com/org/foreman-action/internal/server/drain"
	"github.com/org/foreman-action/internal/server/intake"
	"github.com/org/foreman-action/internal/server/telemetry"
	"github.com/org/foreman-action/queue"
)

// loops are the parts between an event and a write.
type loops struct {
	intake *intake.Intake
	claims queue.Queue // for claims: its tasks come with a summary of earlier ones
	drain  *drain.Drainer
	poller *poller // nil: GitHub is not polled
	active *activePoller
}

func newLoops(o Options, c connections, active *activePoller) (l loops, err error) {
	s := o.Settings
	l.active = active
	routes, repos := routes(s)
	l.intake, err = intake.New(intake.Options{
		Queue: c.queue, Routes: routes, Repos: repos, Rules: listens(s), Memory: c.stores.Memory,
		LLM: s.Runner.LLM, Bot: c.account.login, Maintainers: s.Polling.Maintainers == "include",
		HourlyLimit: s.Queue.MaxTasks, Trace: c.meter.Trace, Log: o.Log,
	})
	if err != nil {
		return loops{}, err
	}
	l.claims = l.intake.RefreshSummaries(c.queue)
	host, _ := os.Hostname() // only a name for the log
	agents := agents(s)
	q := s.Queue
	l.drain, err = drain.New(drain.Options{
		Queue: l.claims, Owner: fmt.Sprintf("%s/%d", host, os.Getpid()), Settings: decisionSettings{s, c.account}.of,
		Agents: func(address string) (drain.Agent, bool) { a, ok := agents[address]; return a, ok },
		Memory: c.stores.Memory, Journal: c.stores.Memory, Marks: c.stores.Queue, Slots: c.stores.Queue,
		Interval: q.DrainInterval.Duration(), ClaimTimeout: q.ClaimTimeout.Duration(), RequeueInterval: q.RequeueInterval.Duration(),
		MaxClaims: q.MaxRetries, MaxDrains: q.MaxDrains, Retention: q.Retention,
		PerMinute: q.WritesPerMinute, PerHour: q.WritesPerHour, Lease: q.DrainTimeout.Duration(), RequestTimeout: s.Identity.Timeout.Duration(),
		Observe: func(o drain.Observation) { c.meter.Observe(telemetry.Observation(o)) }, Span: c.meter.Span, Log: o.Log,
	})
	if err != nil {
		return loops{}, err
	}
	if s.Polling.Enabled {
		l.poller, err = newPoller(o, c, l.intake, active)
	}
	return l, err
}

// listens returns what reports the events that the server's own rules are about; nil: it
// has no rules.
func listens(s *serverconfig.Config) func(name, action string) bool {
	if s.Runner.Rules.Len() == 0 {
		return nil
	}
	return s.Runner.Rules.Listens
}
