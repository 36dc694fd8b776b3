package main

import (
	"context"
	"errors"

	"github.com/org/foreman-action/internal/server/intake"
	"github.com/org/foreman-action/internal/server/poll"
	"github.com/org/foreman-action/triage"
)

// A poller asks GitHub for issues while this process leads.
type poller struct {
	lead func(ctx context.Context, name string, f func(context.Context) error) error
	p    *poll.Poller
	on   *leading
}

// reserve is how many calls of an hour polling leaves to writes.
const reserve = 500

func newPoller(h *harness) (*poller, error) {
	var repos []poll.Repository
	for _, r := range h.s.Repos {
		client, err := h.hub.client(r.Full())
		if err != nil {
			return nil, err
		}
		repos = append(repos, poll.Repository{Name: r.Full(), Source: client})
	}
	p, err := poll.New(poll.Options{
		Repositories: repos, Interval: h.s.Polling.Interval.Duration(), FirstRun: h.s.Polling.FirstRun, Reserve: reserve,
		Take: func(ctx context.Context, e triage.Delivery, dedup string) (bool, error) {
			out, err := h.intake.Take(ctx, intake.Arrival{Event: e, Origin: intake.Origin{Source: intake.SourcePoll}, Dedup: dedup})
			return out.Task != "", err
		},
		Tasks: h.queue, Memory: h.stores.memory, Cursors: h.stores.memory, Bot: h.bot,
		Ignore: h.s.Polling.Ignore, Maintainers: h.s.Polling.Maintainers == "include", Log: h.log,
	})
	if err != nil {
		return nil, err
	}
	return &poller{lead: h.stores.queue.Lead, p: p, on: &h.lead}, nil
}

// run polls while this process is the one of all on the queue that does.
func (p *poller) run(ctx context.Context) error {
	err := p.lead(ctx, "poll", func(ctx context.Context) error {
		p.on.Store(true)
		defer p.on.Store(false)
		return p.p.Run(ctx)
	})
	if ctx.Err() != nil && errors.Is(err, ctx.Err()) {
		return nil
	}
	return err
}
