package assembly

import (
	"context"
	"errors"
	"sync/atomic"

	"github.com/org/foreman-action/internal/logpart"
	"github.com/org/foreman-action/internal/server/intake"
	"github.com/org/foreman-action/internal/server/poll"
	"github.com/org/foreman-action/internal/server/telemetry"
	"github.com/org/foreman-action/queue"
	"github.com/org/foreman-action/triage"
)

// reserve is how many calls of an hour polling leaves to writes.
const reserve = 500

// A poller polls GitHub for issues while this process is the leader of those that share the queue.
type poller struct {
	lead   func(ctx context.Context, name string, f func(context.Context) error) error
	poll   *poll.Poller
	active *activePoller
}

func newPoller(o Options, c connections, take intake.Taker, active *activePoller) (*poller, error) {
	s := o.Settings
	var repos []poll.Repository
	for _, r := range s.Repos {
		client, err := c.account.client(r.Full())
		if err != nil {
			return nil, err
		}
		repos = append(repos, poll.Repository{Name: r.Full(), Source: client})
	}
	p, err := poll.New(poll.Options{
		Repositories: repos, Interval: s.Polling.Interval.Duration(), FirstRun: s.Polling.FirstRun, Reserve: reserve,
		Take: func(ctx context.Context, e triage.Delivery, dedup string) (bool, error) {
			out, err := take(ctx, intake.Arrival{Event: e, Origin: queue.Origin{Source: queue.SourcePoll}, Dedup: dedup})
			return out.Task != "", err
		},
		Tasks: c.queue, Memory: c.store, Cursors: c.store, Bot: c.account.login,
		Ignore: s.Polling.Ignore, Maintainers: s.Polling.Maintainers == "include", Now: o.Now, Log: logpart.Of(o.Log, logpart.Poll),
	})
	if err != nil {
		return nil, err
	}
	return &poller{c.store.Lead, p, active}, nil
}

// run polls until ctx ends, while this process is the leader.
func (p *poller) run(ctx context.Context) error {
	err := p.lead(ctx, "poll", func(ctx context.Context) error {
		p.active.current.Store(p.poll)
		defer p.active.current.Store(nil)
		return p.poll.Run(ctx)
	})
	if ctx.Err() != nil && errors.Is(err, ctx.Err()) {
		return nil
	}
	return err
}

// An activePoller reports the state of polling. It is safe for concurrent use.
type activePoller struct {
	current atomic.Pointer[poll.Poller] // nil: this process does not poll now
}

// health returns the state of polling for each repository; nil: this process does not poll.
func (a *activePoller) health() []poll.Health {
	if p := a.current.Load(); p != nil {
		return p.Health()
	}
	return nil
}

// metrics returns health for telemetry.
func (a *activePoller) metrics() []telemetry.Poll {
	var list []telemetry.Poll
	for _, r := range a.health() {
		list = append(list, telemetry.Poll{Repo: r.Repo, Success: r.Success, Failures: r.Failures})
	}
	return list
}
