package harness

import (
	"fmt"
	"os"

	"github.com/org/foreman-action/config/serverconfig"
	"github.com/org/foreman-action/internal/server/background"
	"github.com/org/foreman-action/internal/server/dispatch"
	"github.com/org/foreman-action/internal/server/executor"
	"github.com/org/foreman-action/internal/server/intake"
	"github.com/org/foreman-action/internal/server/maintenance"
	"github.com/org/foreman-action/queue"
)

// loops are the parts that process an event, from the intake to the writes on GitHub.
type loops struct {
	intake     *intake.Intake
	claims     queue.Queue // the queue whose claims contain a current summary of earlier tasks
	background *background.Services
	poller     *poller // nil: GitHub is not polled
	active     *activePoller
}

func newLoops(o Options, c connections, active *activePoller) (l loops, err error) {
	s := o.Settings
	l.active = active
	routes, repos := routes(s)
	l.intake, err = intake.New(intake.Options{
		Queue: c.queue, Routes: routes, Repos: repos, Rules: listens(s), Memory: c.stores.Memory,
		LLM: s.Runner.LLM, Bot: c.account.login, Maintainers: s.Polling.Maintainers == "include",
		HourlyLimit: s.Queue.MaxTasks, Trace: c.meter.Trace, Issue: c.account.issue(), Log: o.Log,
	})
	if err != nil {
		return loops{}, err
	}
	l.claims = l.intake.RefreshSummaries(c.queue)
	host, _ := os.Hostname() // only used in logs
	agents := agents(s)
	q := s.Queue
	l.background, err = background.New(background.Options{
		Queue: l.claims, Owner: fmt.Sprintf("%s/%d", host, os.Getpid()), Cursors: c.stores.Queue,
		ClaimTimeout: q.ClaimTimeout.Duration(), Lease: q.DrainTimeout.Duration(), MaxClaims: q.MaxRetries, MaxClaim: q.MaxClaim, MaxTries: q.MaxDrains,
		Observe: c.meter.Observe, Log: o.Log,
		Executor: executor.Options{
			Settings: decisionSettings{s, c.account}.of, Memory: c.stores.Memory, Journal: c.stores.Memory, Slots: c.stores.Queue,
			Interval: q.DrainInterval.Duration(), PerMinute: q.WritesPerMinute, PerHour: q.WritesPerHour, Span: c.meter.Span,
		},
		Dispatch:    dispatch.Options{Agents: func(address string) (dispatch.Agent, bool) { a, ok := agents[address]; return a, ok }},
		Maintenance: maintenance.Options{RequeueInterval: q.RequeueInterval.Duration(), Retention: q.Retention},
	})
	if err != nil {
		return loops{}, err
	}
	if s.Polling.Enabled {
		l.poller, err = newPoller(o, c, l.intake, active)
	}
	return l, err
}

// listens returns a function that reports whether the server's own rules listen to an event; nil:
// there are no rules.
func listens(s *serverconfig.Config) func(name, action string) bool {
	if s.Runner.Rules.Len() == 0 {
		return nil
	}
	return s.Runner.Rules.Listens
}
