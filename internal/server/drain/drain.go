// Package drain stops a server after its work has ended. A draining server hands out no more tasks. It
// stops when nothing of it is in flight, or after a limited time.
package drain

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/org/foreman-action/internal/wait"
	"github.com/org/foreman-action/queue"
)

const (
	// DefaultTimeout is how long a drain takes at most, unless the request has another time.
	DefaultTimeout = 10 * time.Minute
	// MaxTimeout is the longest time that a request may have.
	MaxTimeout = 24 * time.Hour

	interval    = 250 * time.Millisecond // between looks at what is in flight
	logInterval = 10 * time.Second       // between two lines of the log
	callTimeout = 5 * time.Second        // of a call of the queue
)

// Queue has the call of queue.Queue that a Drainer makes.
type Queue interface {
	Stats(ctx context.Context) (queue.Stats, error)
}

// Options configure a Drainer. A field must be set unless its comment describes the zero value.
type Options struct {
	// Begin makes the server hand out no more tasks. If all is true, the server also carries out
	// decisions that it has not begun.
	Begin func(all bool)
	// InFlight returns how many agents have not answered a request of this server, and how many
	// decisions it carries out. It returns no later ones after it returned 0, unless all is true.
	InFlight func() (asked, applying int)
	Queue    Queue
	Pauses   queue.Pauses // of Queue; nil: there are none
	All      bool         // default of Request.All
	Stop     func()       // stops the server
	// Status gets the state as a text for people; nil: it is only logged.
	Status func(text string)
	Now    func() time.Time // nil: time.Now
	Log    *slog.Logger     // nil discards
}

// A Request is an operator's request to drain.
type Request struct {
	Timeout time.Duration // after which the server stops in any case; 0: DefaultTimeout
	// All means that the claims of agents end and decisions are carried out before the server stops, also
	// those of other servers on the queue. Nil: Options.All.
	All *bool
	By  string // the operator
}

// Progress is what a draining server waits for. The format is stable: new versions only add keys.
type Progress struct {
	By       string    `json:"by"`
	Since    time.Time `json:"since"`
	Until    time.Time `json:"until"` // when the server stops in any case
	All      bool      `json:"all"`
	Asked    int       `json:"asked"`    // agents that have not answered a request of this server
	Applying int       `json:"applying"` // decisions that this server carries out
	// Claimed and Completed are the claims, and the decisions that are not carried out, of all servers. A
	// pause of everything leaves only decisions that are being carried out. Nil if All is false, or if
	// the database does not answer.
	Claimed   *int `json:"claimed,omitempty"`
	Completed *int `json:"completed,omitempty"`
}

// Ended reports whether nothing is in flight.
func (p Progress) Ended() bool {
	if p.Asked > 0 || p.Applying > 0 {
		return false
	}
	return !p.All || p.Claimed != nil && *p.Claimed == 0 && p.Completed != nil && *p.Completed == 0
}

// String returns what the server waits for.
func (p Progress) String() string {
	text := fmt.Sprintf("agents asked: %d, decisions being carried out: %d", p.Asked, p.Applying)
	switch {
	case !p.All:
		return text
	case p.Claimed == nil || p.Completed == nil:
		return text + ", tasks unknown: the database does not answer"
	}
	return fmt.Sprintf("%s, tasks claimed: %d, decisions not carried out: %d", text, *p.Claimed, *p.Completed)
}

// A Drainer drains a server once. Its methods are safe for concurrent use.
type Drainer struct {
	o     Options
	begun chan struct{} // closed by the first Start

	mu    sync.Mutex
	state Progress // without counts
}

// New returns a Drainer that waits for a request.
func New(o Options) *Drainer {
	o.Now = wait.Clock(o.Now)
	o.Log = cmp.Or(o.Log, slog.New(slog.DiscardHandler))
	if o.Status == nil {
		o.Status = func(string) {}
	}
	return &Drainer{o: o, begun: make(chan struct{})}
}

// Start begins the drain, and returns what is in flight. Later calls change nothing.
func (d *Drainer) Start(ctx context.Context, r Request) Progress {
	d.mu.Lock()
	defer d.mu.Unlock()
	if !d.Begun() {
		all, now := d.o.All, d.o.Now()
		if r.All != nil {
			all = *r.All
		}
		d.state = Progress{By: r.By, Since: now.UTC(), Until: now.Add(cmp.Or(r.Timeout, DefaultTimeout)), All: all}
		d.o.Begin(all)
		close(d.begun)
	}
	return d.count(ctx, d.state)
}

// Begun reports whether the server drains.
func (d *Drainer) Begun() bool {
	select {
	case <-d.begun:
		return true
	default:
		return false
	}
}

// Progress returns what is in flight; nil: the server does not drain.
func (d *Drainer) Progress(ctx context.Context) *Progress {
	if !d.Begun() {
		return nil
	}
	d.mu.Lock()
	p := d.state
	d.mu.Unlock()
	p = d.count(ctx, p)
	return &p
}

// count adds what is in flight. A task moves from a claim to a decision, and ends when the decision has
// been carried out. The server's own work is counted before the queue, so no task is missed.
func (d *Drainer) count(ctx context.Context, p Progress) Progress {
	p.Until = p.Until.UTC()
	p.Asked, p.Applying = d.o.InFlight()
	if !p.All {
		return p
	}
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	stats, err := d.o.Queue.Stats(ctx)
	if err != nil {
		return p
	}
	claimed, completed := stats.States[queue.Claimed], stats.States[queue.Completed]
	if d.o.Pauses != nil {
		pauses, err := d.o.Pauses.ListPauses(ctx, false)
		if err != nil {
			return p
		}
		for _, one := range pauses {
			if one.Scope.Kind == queue.ScopeEverything {
				completed = stats.Draining
			}
		}
	}
	p.Claimed, p.Completed = &claimed, &completed
	return p
}

// Run waits for a request, and stops the server when nothing is in flight, at the latest after the time
// of the request. It returns nil when ctx ends.
func (d *Drainer) Run(ctx context.Context) error {
	select {
	case <-ctx.Done():
		return nil
	case <-d.begun:
	}
	tick := time.NewTicker(interval)
	defer tick.Stop()
	d.mu.Lock()
	until := d.state.Until // with the monotonic clock, so that a clock that is set changes nothing
	d.mu.Unlock()
	var logged time.Time
	last := ""
	for ctx.Err() == nil {
		p := d.Progress(ctx)
		now := d.o.Now()
		switch text := p.String(); {
		case p.Ended():
			d.o.Log.InfoContext(ctx, "drained; stopping", "in_flight", text)
			d.o.Stop()
			<-ctx.Done()
		case !now.Before(until):
			d.o.Log.WarnContext(ctx, "the drain took too long; stopping; unfinished tasks stay in the queue", "in_flight", text)
			d.o.Stop()
			<-ctx.Done()
		case text != last && (logged.IsZero() || now.Sub(logged) >= logInterval):
			d.o.Log.InfoContext(ctx, "draining", "by", p.By, "until", p.Until, "in_flight", text)
			d.o.Status("draining; " + text)
			logged, last = now, text
		}
		select {
		case <-ctx.Done():
		case <-tick.C:
		}
	}
	return nil
}
