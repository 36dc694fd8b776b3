// Package maintenance keeps the queue in order: it requeues tasks whose claim or lease has expired,
// deletes old tasks, and records that a server is running to receive heartbeats.
package maintenance

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/org/foreman-action/harness/observe"
	"github.com/org/foreman-action/internal/server/supervisor"
	"github.com/org/foreman-action/internal/wait"
	"github.com/org/foreman-action/queue"
)

const (
	leaseInterval = time.Second // between checks of the leases of decisions
	purgeInterval = time.Hour
	purgeBatch    = 100 // tasks that one call deletes
	maxLogged     = 20  // maximum ids of tasks in a log line
)

// Queue has the calls of queue.Queue that a Maintainer makes.
type Queue interface {
	RequeueLeases(ctx context.Context, drains int) (queue.LeaseCheck, error)
	RequeueStale(ctx context.Context, l queue.Limits) ([]queue.Requeued, error)
	ExtendClaims(ctx context.Context, d time.Duration) (int, error)
	Purge(ctx context.Context, before time.Time, limit int) (int, error)
}

// Options configure a Maintainer.
type Options struct {
	Queue   Queue   // must be set
	Cursors Cursors // store when a server last ran; must be set
	// ClaimTimeout is how long a claim lasts without a heartbeat; must be set.
	ClaimTimeout    time.Duration
	Lease           time.Duration    // of a decision, from each renewal on; 0: queue.DefaultLease
	Limits          queue.Limits     // of tasks that are requeued
	RequeueInterval time.Duration    // 0: 1 minute
	Retention       time.Duration    // keeps done and failed tasks; 0: 30 days; negative: for ever
	Requeued        func()           // called after tasks were requeued, or a pause ended; must be set
	Pauses          queue.Pauses     // whose end another process may not report; nil: none
	Now             func() time.Time // nil: time.Now
	Observe         observe.Func
	Log             *slog.Logger // nil discards
}

// A Maintainer runs the maintenance of a queue. Its methods are safe for concurrent use.
type Maintainer struct {
	o                           Options
	presence                    presence
	leases                      leaseWatch
	paused                      []queue.Scope // at the last check; of the loop that checks leases
	requeues, purges, presences *supervisor.Loop
}

// New returns a Maintainer. The error names the option that is wrong.
func New(o Options) (*Maintainer, error) {
	switch {
	case o.Cursors == nil:
		return nil, errors.New("maintenance: Cursors is not set")
	case o.Queue == nil || o.Requeued == nil:
		return nil, errors.New("maintenance: Queue or Requeued is not set")
	case o.ClaimTimeout <= 0:
		return nil, errors.New("maintenance: ClaimTimeout: want more than 0")
	case o.RequeueInterval < 0:
		return nil, errors.New("maintenance: RequeueInterval: want more than 0")
	}
	o.RequeueInterval = cmp.Or(o.RequeueInterval, time.Minute)
	o.Retention = cmp.Or(o.Retention, 30*24*time.Hour)
	o.Lease = cmp.Or(o.Lease, queue.DefaultLease)
	o.Now = wait.Clock(o.Now)
	o.Log = cmp.Or(o.Log, slog.New(slog.DiscardHandler))
	loop := func(name string, interval time.Duration) *supervisor.Loop {
		return supervisor.NewLoop(supervisor.LoopOptions{Name: name, Interval: interval, Now: o.Now, Observe: o.Observe, Log: o.Log})
	}
	return &Maintainer{
		o: o, presence: presence{queue: o.Queue, cursors: o.Cursors, claimTimeout: o.ClaimTimeout, now: o.Now, log: o.Log},
		leases:   leaseWatch{loop: loop("leases", leaseInterval), late: o.Lease / 2, now: o.Now, log: o.Log},
		requeues: loop("requeue", o.RequeueInterval), purges: loop("purge", purgeInterval), presences: loop("presence", o.ClaimTimeout/10),
	}, nil
}

// Run maintains the queue until ctx ends.
func (m *Maintainer) Run(ctx context.Context) {
	var loops sync.WaitGroup
	loops.Go(func() { m.leases.loop.Run(ctx, m.checkLeases) })
	loops.Go(func() { m.requeues.Run(ctx, m.requeue) })
	loops.Go(func() { m.purges.Run(ctx, m.purge) })
	loops.Go(func() { m.presences.Run(ctx, m.presence.record) })
	loops.Wait()
}

// WakeRequeue makes the Maintainer look for stale tasks. It never blocks.
func (m *Maintainer) WakeRequeue() { m.requeues.Wake() }

// Health returns the states of the loops.
func (m *Maintainer) Health() []supervisor.Health {
	return []supervisor.Health{m.leases.loop.Health(), m.requeues.Health(), m.purges.Health(), m.presences.Health()}
}

// requeue requeues stale tasks, and fails those that reached the limits.
func (m *Maintainer) requeue(ctx context.Context) error {
	// Record presence first, so that no claim expires whose heartbeats no server could receive.
	if err := m.presence.record(ctx); err != nil {
		return err
	}
	stale, err := m.o.Queue.RequeueStale(ctx, m.o.Limits)
	m.report(ctx, stale)
	return err
}

// checkLeases requeues the decisions whose lease expired, or whose server has ended.
func (m *Maintainer) checkLeases(ctx context.Context) error {
	got, err := m.o.Queue.RequeueLeases(ctx, m.o.Limits.Drains)
	m.report(ctx, got.Requeued)
	m.leases.see(ctx, got.Others)
	return errors.Join(err, m.checkPauses(ctx))
}

// checkPauses notices that a pause ended. A command that resumes works on the database, so the queue of
// this process reports no change.
func (m *Maintainer) checkPauses(ctx context.Context) error {
	if m.o.Pauses == nil {
		return nil
	}
	list, err := m.o.Pauses.ListPauses(ctx, false)
	if err != nil {
		return err
	}
	var now []queue.Scope
	for _, p := range list {
		now = append(now, p.Scope)
	}
	ended := slices.ContainsFunc(m.paused, func(s queue.Scope) bool { return !slices.Contains(now, s) })
	m.paused = now
	if ended {
		m.o.Requeued()
	}
	return nil
}

// Unrenewed returns the leases of other servers that were not renewed in time.
func (m *Maintainer) Unrenewed() []queue.ActiveLease { return m.leases.unrenewed() }

// report logs and counts requeued tasks.
func (m *Maintainer) report(ctx context.Context, stale []queue.Requeued) {
	ids := map[queue.State][]string{}
	for _, t := range stale {
		ids[t.State] = append(ids[t.State], t.ID)
	}
	for state, list := range ids {
		m.o.Observe.Report(observe.Observation{Event: observe.Requeued, Status: string(state), N: len(list)})
		m.o.Log.WarnContext(ctx, "requeued stale tasks", "state", string(state), "tasks", len(list), "first", list[:min(len(list), maxLogged)])
	}
	if len(stale) > 0 {
		m.o.Requeued()
	}
}

// purge deletes old tasks. After each batch it pauses for as long as the batch took, so that others
// can write.
func (m *Maintainer) purge(ctx context.Context) error {
	if m.o.Retention < 0 {
		return nil
	}
	before, total := m.o.Now().Add(-m.o.Retention), 0
	for {
		start := m.o.Now()
		n, err := m.o.Queue.Purge(ctx, before, purgeBatch)
		total += n
		if n > 0 {
			m.purges.Beat()
			m.o.Observe.Report(observe.Observation{Event: observe.Purged, N: n})
		}
		if err == nil && n == purgeBatch {
			err = wait.For(ctx, m.o.Now().Sub(start))
		}
		if err != nil || n < purgeBatch {
			if total > 0 {
				m.o.Log.InfoContext(ctx, "deleted old tasks", "tasks", total, "ended_before", before)
			}
			return err
		}
	}
}
