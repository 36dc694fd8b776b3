package dispatch

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"net/http"
	"sync"
	"time"

	"github.com/org/foreman-action/internal/roundtrip"
	"github.com/org/foreman-action/internal/server/dispatch/breaker"
	"github.com/org/foreman-action/internal/server/observe"
	"github.com/org/foreman-action/internal/server/supervisor"
	"github.com/org/foreman-action/queue"
)

const (
	interval   = 4 * time.Second         // between looks at the backlog: a lost notification is repeated in less than five
	gap        = 50 * time.Millisecond   // between looks that were woken
	renotify   = 3700 * time.Millisecond // before the same notification is repeated, or a failing agent is notified again
	defaultCap = 8
	maxCap     = breaker.MaxConcurrency
)

// Queue has the calls of queue.Queue that a Dispatcher makes.
type Queue interface {
	Backlog(ctx context.Context, n int) ([]queue.Backlog, error)
	ClaimNext(ctx context.Context, agent string, o queue.ClaimOptions) (queue.Claim, error)
	Heartbeat(ctx context.Context, ref queue.Ref, lease time.Duration) error
	Complete(ctx context.Context, ref queue.Ref, decision []byte) (queue.Receipt, error)
	GiveBack(ctx context.Context, ref queue.Ref, wait time.Duration) error
	GiveUp(ctx context.Context, ref queue.Ref, reason string) error
}

// An Agent is an agent as it is configured.
type Agent struct {
	URL  string // base address as it is configured; userinfo becomes Basic auth
	Sync bool   // the whole task is sent to it, and it answers with the decision
	// Cap is the most tasks that it has at a time; 0: 8. It may claim more.
	Cap     int
	Timeout time.Duration // for the answer of a Sync agent; 0: a minute
}

// Options configure a Dispatcher.
type Options struct {
	Queue Queue  // must be set
	Owner string // who claims tasks for synchronous agents, for the queue's log
	// Agents returns the agent of a canonical address; must be set.
	Agents func(address string) (a Agent, ok bool)
	// Cursors keep since when a synchronous agent has failed; nil: it is forgotten with the
	// process.
	Cursors      breaker.Cursors
	ClaimTimeout time.Duration // of claims for synchronous agents; must be set
	MaxClaims    int           // how often such an agent is asked about one task; must be set
	// Requeue is called when a claim that counts as an attempt has run out; must be set.
	Requeue   func()
	Transport http.RoundTripper // to agents; nil: a copy of http.DefaultTransport
	Observe   observe.Func
	Log       *slog.Logger // nil discards
}

// A Dispatcher notifies agents of tasks, or asks them. Its methods are safe for concurrent
// use.
type Dispatcher struct {
	o        Options
	client   client
	claims   claims
	loop     *supervisor.Loop
	rounds   sync.WaitGroup
	requests sync.WaitGroup // to synchronous agents

	mu    sync.Mutex
	peers map[string]*peer // by address
}

// New returns a Dispatcher. The error names the option that is wrong.
func New(o Options) (*Dispatcher, error) {
	switch {
	case o.Queue == nil || o.Agents == nil || o.Requeue == nil:
		return nil, errors.New("dispatch: Queue, Agents or Requeue is not set")
	case o.ClaimTimeout <= 0:
		return nil, errors.New("dispatch: ClaimTimeout: want more than 0")
	case o.MaxClaims <= 0:
		return nil, errors.New("dispatch: MaxClaims: want more than 0")
	}
	o.Log = cmp.Or(o.Log, slog.New(slog.DiscardHandler))
	d := &Dispatcher{
		o: o, client: client{transport: o.Transport, remote: o.Transport}, peers: map[string]*peer{},
		claims: claims{queue: o.Queue, owner: o.Owner, timeout: o.ClaimTimeout, observe: o.Observe, log: o.Log},
		loop:   supervisor.NewLoop(supervisor.LoopOptions{Name: "nudges", Interval: interval, Gap: gap, Observe: o.Observe, Log: o.Log}),
	}
	if o.Transport == nil { // the default of package agent serves synchronous agents
		t := roundtrip.New()
		t.MaxResponseHeaderBytes = 64 << 10
		d.client.transport = t
	}
	return d, nil
}

// Run dispatches tasks until ctx ends. Then it returns the claims of synchronous agents that
// have not answered to the queue.
func (d *Dispatcher) Run(ctx context.Context) {
	d.loop.Run(ctx, d.dispatch)
	d.rounds.Wait()
	d.requests.Wait()
}

// Wake makes the Dispatcher look at the backlog. It never blocks.
func (d *Dispatcher) Wake() { d.loop.Wake() }

// Health returns the state of the loop.
func (d *Dispatcher) Health() supervisor.Health { return d.loop.Health() }

// dispatch begins a round of each agent that has pending tasks.
func (d *Dispatcher) dispatch(ctx context.Context) error {
	list, err := d.o.Queue.Backlog(ctx, maxCap)
	if err != nil {
		return err
	}
	for _, b := range list {
		a, configured := d.o.Agents(b.Agent)
		p := d.peer(b.Agent, a.Sync)
		if b.Agent == "" || !p.begin() {
			continue
		}
		d.rounds.Go(func() {
			defer func() {
				if v := recover(); v != nil {
					d.o.Log.ErrorContext(ctx, "panic while an agent was told of tasks", "agent", p.address, "error", supervisor.PanicError(v))
				}
				if p.end() {
					d.loop.Wake()
				}
			}()
			room := min(cmp.Or(a.Cap, defaultCap), maxCap) - b.Claimed
			switch {
			case !configured:
				d.report(ctx, p, "it is not configured")
			case a.Sync:
				d.ask(ctx, p, a, min(room, b.Pending))
			default:
				d.notify(ctx, p, a, b.IDs[:max(min(room, len(b.IDs)), 0)])
			}
		})
	}
	return nil
}

// notify notifies an agent of those tasks that are due, until one notification fails.
func (d *Dispatcher) notify(ctx context.Context, p *peer, a Agent, tasks []string) {
	due := p.due(tasks)
	if len(due) > 0 {
		// The loop may look too early for a repetition because of another event, and then not
		// again for a while.
		time.AfterFunc(renotify, d.loop.Wake)
	}
	for _, id := range due {
		permit, n := p.breaker.Allow(1)
		if n == 0 {
			return
		}
		status := d.client.notify(ctx, a, id)
		p.breaker.Release(permit)
		if ctx.Err() != nil {
			return
		}
		d.report(ctx, p, status)
		if status != statusOK {
			p.breaker.Trip(permit)
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
	level := slog.LevelInfo
	if status != statusOK {
		level = slog.LevelWarn
	}
	d.o.Log.Log(ctx, level, "agent was told of a task", "agent", p.address, "answer", status)
}

// peer returns that of an address.
func (d *Dispatcher) peer(address string, sync bool) *peer {
	d.mu.Lock()
	defer d.mu.Unlock()
	p := d.peers[address]
	if p == nil {
		o := breaker.Options{Agent: address, Interval: renotify, Log: d.o.Log}
		if sync {
			o.Interval, o.Cursors, o.MaxFailures = 0, d.o.Cursors, d.o.MaxClaims
		}
		p = &peer{address: address, breaker: breaker.New(o)}
		d.peers[address] = p
	}
	return p
}
