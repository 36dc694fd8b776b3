// Package background runs the server's loops on one queue: packages executor, dispatch, maintenance,
// proposals and judging. The loops wake each other, and changes of the queue wake them.
//
// The tests of this package test all loops together, with a fake GitHub and fake agents.
package background

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/org/foreman-action/harness/observe"
	"github.com/org/foreman-action/internal/logpart"
	"github.com/org/foreman-action/internal/server/dispatch"
	"github.com/org/foreman-action/internal/server/executor"
	"github.com/org/foreman-action/internal/server/judging"
	"github.com/org/foreman-action/internal/server/maintenance"
	"github.com/org/foreman-action/internal/server/proposals"
	"github.com/org/foreman-action/internal/server/supervisor"
	"github.com/org/foreman-action/memory"
	"github.com/org/foreman-action/queue"
)

// Options configure the services. A field of Executor, Dispatch or Maintenance is set from the
// field of Options with the same name.
type Options struct {
	Queue queue.Queue // must be set
	// Owner names this process in the queue's log; must be set.
	Owner string
	// Cursors store when a server last ran, and since when agents have failed. All servers on one
	// queue share them. Must be set.
	Cursors      maintenance.Cursors
	ClaimTimeout time.Duration    // how long a claim lasts without a heartbeat; 0: queue.DefaultClaim
	Lease        time.Duration    // of a decision, from each renewal on; 0: queue.DefaultLease
	MaxClaims    int              // how often a task is handed out to agents; 0: 3
	MaxClaim     time.Duration    // longest time of a claim, however often it is extended; 0: no limit
	MaxTries     int              // maximum number of counted tries of a decision; 0: 8
	Now          func() time.Time // nil: time.Now
	Observe      observe.Func
	Log          *slog.Logger // nil discards

	// Agenda lists the issues with proposals in Repos, and TakeProposals requests work on those of an
	// issue; see proposals.Options. If one of them is nil, proposals only end with an event of their issue. Without Agenda
	// people's answers are not counted in track records either.
	Agenda        memory.Agenda
	Repos         []string
	TakeProposals func(ctx context.Context, repo string, issue int, dedup string) error
	// Judging judges the actions in Repos, if Agenda is set. Its Repos, Cursors and Pauses are set, too.
	Judging judging.Options

	Executor    executor.Options
	Dispatch    dispatch.Options    // Requeue is set to wake Maintenance
	Maintenance maintenance.Options // Limits and Requeued are set, too
}

// Services are the background services of a server. Their methods are safe for concurrent
// use.
type Services struct {
	queue      queue.Queue
	executor   *executor.Executor
	dispatcher *dispatch.Dispatcher
	maintainer *maintenance.Maintainer
	proposals  *proposals.Keeper // nil: there is no agenda
	judger     *judging.Judger   // nil: there is no agenda
	changes    *supervisor.Loop
	ran        atomic.Bool
}

// New returns Services that do not run yet. The error names the option that is wrong.
func New(o Options) (*Services, error) {
	if o.Queue == nil {
		return nil, errors.New("background: Queue is not set")
	}
	o.ClaimTimeout = cmp.Or(o.ClaimTimeout, queue.DefaultClaim)
	o.MaxClaims = cmp.Or(o.MaxClaims, 3)
	o.MaxTries = cmp.Or(o.MaxTries, 8)
	o.Log = cmp.Or(o.Log, slog.New(slog.DiscardHandler))
	s := &Services{queue: o.Queue, changes: supervisor.NewLoop(supervisor.LoopOptions{Name: "changes", Blocks: true, Now: o.Now, Observe: o.Observe, Log: logpart.Of(o.Log, logpart.Storage)})}

	e := o.Executor
	e.Queue, e.Agenda, e.Owner, e.Lease, e.MaxTries, e.Now, e.Observe, e.Log = o.Queue, o.Agenda, o.Owner, o.Lease, o.MaxTries, o.Now, o.Observe, logpart.Of(o.Log, logpart.Executor)
	d := o.Dispatch
	d.Queue, d.Owner, d.Cursors, d.Now, d.Observe, d.Log = o.Queue, o.Owner, o.Cursors, o.Now, o.Observe, logpart.Of(o.Log, logpart.Dispatch)
	d.ClaimTimeout, d.MaxClaims = o.ClaimTimeout, o.MaxClaims
	d.Requeue = func() { s.maintainer.WakeRequeue() }
	m := o.Maintenance
	m.Queue, m.Cursors, m.ClaimTimeout, m.Lease, m.Now, m.Observe, m.Log = o.Queue, o.Cursors, o.ClaimTimeout, o.Lease, o.Now, o.Observe, logpart.Of(o.Log, logpart.Maintenance)
	m.Limits = queue.Limits{Claims: o.MaxClaims, Drains: o.MaxTries, MaxClaim: o.MaxClaim}
	m.Requeued, m.Pauses = s.wakeAll, e.Pauses
	var err1, err2, err3 error
	s.executor, err1 = executor.New(e)
	s.dispatcher, err2 = dispatch.New(d)
	s.maintainer, err3 = maintenance.New(m)
	if err := errors.Join(err1, err2, err3); err != nil {
		return nil, err
	}
	if o.Agenda != nil {
		var err error
		if o.TakeProposals != nil {
			if s.proposals, err = proposals.NewKeeper(proposals.Options{
				Agenda: o.Agenda, Repos: o.Repos, Take: o.TakeProposals, Now: o.Now, Observe: o.Observe, Log: logpart.Of(o.Log, logpart.Proposals),
			}); err != nil {
				return nil, err
			}
		}
		j := o.Judging
		j.Repos, j.Cursors, j.Pauses, j.Now, j.Observe, j.Log = o.Repos, o.Cursors, e.Pauses, o.Now, o.Observe, logpart.Of(o.Log, logpart.Judging)
		if s.judger, err = judging.New(j); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// Run runs the services until ctx ends, and returns after they have finished their work in
// progress: see executor.Executor.Run and dispatch.Dispatcher.Run. Call Run only once.
func (s *Services) Run(ctx context.Context) error {
	if s.ran.Swap(true) {
		return errors.New("background: Run was called before")
	}
	var all sync.WaitGroup
	all.Go(func() { s.changes.Run(ctx, s.watch) })
	all.Go(func() { s.maintainer.Run(ctx) })
	all.Go(func() { s.executor.Run(ctx) })
	all.Go(func() { s.dispatcher.Run(ctx) })
	if s.proposals != nil {
		all.Go(func() { s.proposals.Run(ctx) })
	}
	if s.judger != nil {
		all.Go(func() { s.judger.Run(ctx) })
	}
	all.Wait()
	return nil
}

// Wake makes the services check for decisions. It never blocks, and superfluous calls do no harm.
func (s *Services) Wake() { s.executor.Wake() }

// Drain ends the notifications and the requests to agents, and the judging of actions. Unless all is true, no further decisions are
// executed either. What is in progress goes on.
func (s *Services) Drain(all bool) {
	s.dispatcher.Drain()
	if s.judger != nil {
		s.judger.Drain()
	}
	if !all {
		s.executor.Drain()
	}
}

// InFlight returns how many synchronous agents have not answered, and how many decisions are being
// executed.
func (s *Services) InFlight() (asked, applying int) {
	return s.dispatcher.Asking(), s.executor.Executing()
}

// Health returns the states of all loops.
func (s *Services) Health() []supervisor.Health {
	list := append(s.maintainer.Health(), s.changes.Health(), s.executor.Health(), s.dispatcher.Health())
	if s.proposals != nil {
		list = append(list, s.proposals.Health())
	}
	if s.judger != nil {
		list = append(list, s.judger.Health())
	}
	return list
}

// Outages returns the agents whose circuit breaker is open.
func (s *Services) Outages() []dispatch.Outage { return s.dispatcher.Outages() }

// Unrenewed returns the leases of other servers that were not renewed in time. Their decisions are
// executed after the leases end.
func (s *Services) Unrenewed() []queue.ActiveLease { return s.maintainer.Unrenewed() }

// watch wakes the services on changes of the queue, until ctx ends.
func (s *Services) watch(ctx context.Context) error {
	changes, stop := s.queue.Watch()
	defer stop()
	s.wakeAll() // for changes before the watch began
	for {
		select {
		case <-ctx.Done():
			return nil
		case c, open := <-changes:
			if !open {
				return errors.New("the queue's stream of changes ended")
			}
			s.changes.Beat()
			if len(changes) >= cap(changes)-1 { // the channel was full, so other changes may have been lost
				s.wakeAll()
			}
			if c.Agent == "" {
				s.executor.Wake()
			}
			s.dispatcher.Changed(c) // also after a decision, because its agent can take another task
		}
	}
}

func (s *Services) wakeAll() {
	s.executor.Wake()
	s.dispatcher.Wake()
}
