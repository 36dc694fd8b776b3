package dispatch

import (
	"cmp"
	"context"
	"log/slog"
	"maps"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/org/foreman-action/harness/observe"
	"github.com/org/foreman-action/internal/server/health"
	"github.com/org/foreman-action/internal/server/supervisor"
	"github.com/org/foreman-action/internal/wait"
	"github.com/org/foreman-action/queue"
)

// A Dispatcher notifies agents of tasks, or sends whole tasks to synchronous agents. Its methods
// are safe for concurrent use.
type Dispatcher struct {
	o        Options
	client   client
	claims   claims
	loop     *supervisor.Loop
	rounds   sync.WaitGroup
	requests sync.WaitGroup // to synchronous agents
	signal   chan struct{}  // has an element if a peer has changed
	working  atomic.Int64   // number of workers
	drained  atomic.Bool    // there are no further notifications and requests

	mu    sync.Mutex
	peers map[string]*peer // by address
}

// New returns a Dispatcher. The error names the option that is wrong.
func New(o Options) (*Dispatcher, error) {
	if err := o.validate(); err != nil {
		return nil, err
	}
	o.Now = wait.Clock(o.Now)
	o.Log = cmp.Or(o.Log, slog.New(slog.DiscardHandler))
	d := &Dispatcher{
		o: o, client: client{o.Transport}, peers: map[string]*peer{}, signal: make(chan struct{}, 1),
		claims: claims{queue: o.Queue, owner: o.Owner, timeout: o.ClaimTimeout, now: o.Now, observe: o.Observe, log: o.Log},
		loop:   supervisor.NewLoop(supervisor.LoopOptions{Name: "nudges", Interval: interval, Gap: gap, Now: o.Now, Observe: o.Observe, Log: o.Log}),
	}
	if o.Transport == nil {
		d.client.transport = newTransport()
	}
	return d, nil
}

// Run dispatches tasks until ctx ends. Then it releases the claims for synchronous agents that have
// not answered.
func (d *Dispatcher) Run(ctx context.Context) {
	d.rounds.Go(func() { d.follow(ctx) })
	d.loop.Run(ctx, d.dispatch)
	d.rounds.Wait()
	d.requests.Wait()
}

// Drain ends all further notifications and requests. Those in progress end, and decisions are recorded.
func (d *Dispatcher) Drain() { d.drained.Store(true) }

// Asking returns how many synchronous agents' answers the Dispatcher waits for. It is never too small
// after Drain.
func (d *Dispatcher) Asking() int { return int(d.working.Load()) }

// Wake makes the Dispatcher look at the backlog. It never blocks.
func (d *Dispatcher) Wake() { d.loop.Wake() }

// Changed makes the Dispatcher look for the tasks that a change of the queue has made ready. A task of a
// synchronous agent with a free permit is claimed at once. Other changes wake the loop, unless no agent
// waits for them. Changed never blocks.
func (d *Dispatcher) Changed(c queue.Change) {
	d.mu.Lock()
	p := d.peers[c.Agent]
	d.mu.Unlock()
	switch {
	case p != nil && p.sync:
		p.change()
		select {
		case d.signal <- struct{}{}:
		default: // follow will see this change, too
		}
	case c.Agent != "" || slices.ContainsFunc(d.agents(), func(p *peer) bool { return !p.sync || p.tasks.waits() }):
		d.loop.Wake()
	}
}

// follow starts a worker for each synchronous agent that has changed, until ctx ends.
func (d *Dispatcher) follow(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-d.signal:
		}
		for _, p := range d.agents() {
			if !p.takeChange() {
				continue
			}
			a, _ := d.o.Agents(p.address)
			if t, ok := d.acquire(p); ok {
				d.requests.Go(func() { d.work(ctx, p, a, t) })
			}
		}
	}
}

// Health returns the state of the loop.
func (d *Dispatcher) Health() supervisor.Health { return d.loop.Health() }

// dispatch begins a round of each agent that has pending tasks.
func (d *Dispatcher) dispatch(ctx context.Context) error {
	if d.drained.Load() {
		return nil
	}
	for _, p := range d.agents() {
		p.tasks.begin()
	}
	list, err := d.o.Queue.Backlog(ctx, maxCap)
	if err != nil {
		return err
	}
	d.closeIdle(ctx, list)
	for _, b := range list {
		a, configured := d.o.Agents(b.Agent)
		p := d.peer(b.Agent, a.Sync)
		most := min(cmp.Or(a.Cap, defaultCap), maxCap)
		n := p.tasks.end(most, b.Claimed, b.Pending)
		if b.Agent == "" || !p.begin() {
			continue
		}
		d.rounds.Go(func() {
			defer func() {
				if v := recover(); v != nil {
					d.o.Log.ErrorContext(ctx, "panic while notifying an agent of tasks", "agent", p.address, "error", supervisor.PanicError(v))
				}
				if p.end() {
					d.loop.Wake()
				}
			}()
			switch {
			case !configured:
				d.report(ctx, p, notConfigured)
			case a.Sync:
				d.ask(ctx, p, a, b.IDs, n)
			default:
				d.notify(ctx, p, a, b, most-b.Claimed)
			}
		})
	}
	return nil
}

// closeIdle closes the circuit breakers of the agents that claim their tasks and have none pending.
// No notification would close them: the tasks were claimed without one, or cancelled. It also forgets
// their notifications, because a task that is pending again is a new one to its agent.
func (d *Dispatcher) closeIdle(ctx context.Context, pending []queue.Backlog) {
	for _, p := range d.agents() {
		waits := func(b queue.Backlog) bool { return b.Agent == p.address }
		if p.sync || slices.ContainsFunc(pending, waits) {
			continue
		}
		p.due(nil, 0, 0)
		if p.breaker.Peer().Open {
			p.breaker.Success(ctx, "")
		}
	}
}

// The causes for a circuit breaker that name the mend of a likely mistake.
const (
	wantsTasks = "; an agent that answers whole tasks needs protocol: sync"
	claimsNone = "it accepts notifications, but claims no task: set protocol: sync if it answers whole tasks, else check its FOREMAN_HARNESS_URL and AGENT_URL"
)

// notify notifies an agent of those tasks that are due, at most room, until one notification fails. An
// agent that accepts the notifications and claims no task has failed, too. One that has failed and
// claims tasks again works, even if there is no room for another notification.
func (d *Dispatcher) notify(ctx context.Context, p *peer, a Agent, b queue.Backlog, room int) {
	due, works := p.due(b.IDs, room, b.Claimed)
	if works && p.breaker.Peer().Open {
		p.breaker.Success(ctx, "")
	}
	if len(due) > 0 {
		// Wake the loop when the repetition is due: another event may have made it check too early, and
		// its next check may be late.
		time.AfterFunc(renotify, d.loop.Wake)
	}
	for _, id := range due {
		if d.drained.Load() {
			return
		}
		permit, n := p.breaker.Allow(1)
		if n == 0 {
			return
		}
		code, status := d.client.notify(ctx, a, id)
		ignored := p.answered(status == statusOK)
		p.breaker.Release(permit)
		if ctx.Err() != nil {
			return
		}
		d.report(ctx, p, status)
		switch {
		case code == http.StatusUnprocessableEntity:
			p.breaker.Trip(ctx, permit, status+wantsTasks)
			return
		case status != statusOK:
			p.breaker.Trip(ctx, permit, status)
			return
		case ignored:
			p.breaker.Trip(ctx, permit, claimsNone)
			return
		}
		p.breaker.Success(ctx, id)
	}
}

// report counts the result of a notification or a request, and logs it when it changes.
func (d *Dispatcher) report(ctx context.Context, p *peer, status string) {
	d.o.Observe.Report(observe.Observation{Event: observe.Notified, Status: status, Agent: p.address, N: 1})
	if !p.changed(status) {
		return
	}
	switch {
	case status == notConfigured:
		d.o.Log.WarnContext(ctx, "a task waits for an agent that is not configured", "agent", p.address)
	case status != statusOK && p.sync:
		d.o.Log.WarnContext(ctx, "could not get a decision from an agent", "agent", p.address, "error", status)
	case status != statusOK:
		d.o.Log.WarnContext(ctx, "could not notify an agent of a task", "agent", p.address, "error", status)
	case p.sync:
		d.o.Log.InfoContext(ctx, "got a decision from an agent", "agent", p.address)
	default:
		d.o.Log.InfoContext(ctx, "notified an agent of a task", "agent", p.address)
	}
}

// An Outage is an agent whose circuit breaker is open.
type Outage struct {
	Agent  string // canonical address
	Since  time.Time
	Reason string // the last failure; may contain untrusted text
}

// Outages returns the agents whose circuit breaker is open, sorted.
func (d *Dispatcher) Outages() []Outage {
	var list []Outage
	for _, p := range d.agents() {
		if h := p.breaker.Peer(); h.Open {
			list = append(list, Outage{p.address, h.Since, h.Err})
		}
	}
	slices.SortFunc(list, func(a, b Outage) int { return cmp.Compare(a.Agent, b.Agent) })
	return list
}

// agents returns the states of all agents that had tasks.
func (d *Dispatcher) agents() []*peer {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.Collect(maps.Values(d.peers))
}

// peer returns the state of the agent with an address.
func (d *Dispatcher) peer(address string, sync bool) *peer {
	d.mu.Lock()
	defer d.mu.Unlock()
	p := d.peers[address]
	if p == nil {
		o := health.BreakerOptions{Agent: address, Cursors: d.o.Cursors, Notified: !sync, Interval: renotify, Now: d.o.Now, Observe: d.o.Observe, Log: d.o.Log}
		if sync {
			o.Interval, o.BadTaskFailures = 0, d.o.MaxClaims
		}
		p = &peer{address: address, sync: sync, breaker: health.NewBreaker(o), tasks: semaphore{now: d.o.Now}, now: d.o.Now}
		d.peers[address] = p
	}
	return p
}
