package drain

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/org/foreman-action/internal/wait"
	"github.com/org/foreman-action/queue"
)

// How often the loops look without being woken, where Options do not say it.
const (
	nudgeInterval = 4 * time.Second // a lost nudge is repeated in less than five
	purgeInterval = time.Hour
)

// nudgeGap is between looks for work that was announced: a burst of tasks is one look.
const nudgeGap = 50 * time.Millisecond

// errStopping is why something is broken off when the server stops.
var errStopping = errors.New("the server is being stopped")

// A Drainer runs the loops over one queue. Its methods are safe for concurrent use.
type Drainer struct {
	o       Options
	rate    limiter
	outages outages
	slots   chan struct{} // holds one for each decision that is being carried out
	peers   peers

	decisions, requeues, nudges, purges, changes, presence *loop

	ran       atomic.Bool
	stopping  chan struct{}   // closed when the loops are to stop
	life      context.Context //nolint:containedctx // of what is under way: it outlives the loops
	turns     sync.WaitGroup  // of agents
	work      sync.WaitGroup  // decisions, and tasks that agents are asked about
	attending sync.Mutex      // held while it is noted that we are there
	attended  time.Time       // when that was noted last
}

// New returns a Drainer. The error names the option that is wrong.
func New(o Options) (*Drainer, error) {
	remote := o.Transport
	o, err := o.withDefaults()
	if err != nil {
		return nil, err
	}
	d := &Drainer{
		o: o, rate: limiter{perMinute: o.PerMinute, perHour: o.PerHour, slots: o.Slots}, slots: make(chan struct{}, o.Concurrency),
		peers: peers{remote: remote, known: map[string]*peer{}}, stopping: make(chan struct{}), life: context.Background(),
	}
	d.rate.trouble = d.cutOff
	d.decisions = d.loop("decisions", o.Interval, d.lease)
	d.requeues = d.loop("requeue", o.RequeueInterval, d.requeue)
	d.nudges = d.loop("nudges", nudgeInterval, d.nudge)
	d.nudges.gap = nudgeGap
	d.purges = d.loop("purge", purgeInterval, d.purge)
	d.presence = d.loop("presence", d.o.ClaimTimeout/10, d.attend)
	d.changes = d.loop("changes", 0, d.listen)
	d.changes.blocks = true
	return d, nil
}

func (d *Drainer) loop(name string, every time.Duration, pass func(context.Context) error) *loop {
	return &loop{
		name: name, every: every, pass: pass, wakes: make(chan struct{}, 1), log: d.o.Log,
		fell: func(name string) { d.o.Observe(Observation{Event: Stumbled, Status: name, N: 1}) },
	}
}

func (d *Drainer) loops() []*loop {
	return []*loop{d.changes, d.requeues, d.decisions, d.nudges, d.purges, d.presence}
}

// Run runs the loops until ctx ends. Then a write that is under way is finished, and what
// is not done yet is given back to the queue, within Options.StopTime. It is called once.
func (d *Drainer) Run(ctx context.Context) error {
	if d.ran.Swap(true) {
		return errors.New("drain: it was run before")
	}
	life, end := context.WithCancelCause(context.WithoutCancel(ctx))
	defer end(nil)
	d.life = life
	var loops sync.WaitGroup
	for _, l := range d.loops() {
		loops.Go(func() { l.run(ctx) })
	}
	<-ctx.Done()
	close(d.stopping)
	defer time.AfterFunc(d.o.StopTime, func() { end(errStopping) }).Stop()
	loops.Wait()
	d.turns.Wait()
	d.work.Wait()
	return nil
}

// Wake says that a decision may have come. It never waits, and may be called too often.
func (d *Drainer) Wake() { d.decisions.wake() }

// Health says how each loop does.
func (d *Drainer) Health() []Health {
	var list []Health
	for _, l := range d.loops() {
		list = append(list, l.health())
	}
	return list
}

// cutOff tells the log that writes are counted by this process alone; nil: not any more.
func (d *Drainer) cutOff(ctx context.Context, err error) {
	if err == nil {
		d.o.Log.InfoContext(ctx, "writes are counted with those of other servers again")
		return
	}
	d.o.Log.WarnContext(ctx, "writes cannot be counted in the database; until they can, each server counts its own", "error", err)
}

// stopped reports whether the server is being stopped.
func (d *Drainer) stopped() bool {
	select {
	case <-d.stopping:
		return true
	default:
		return false
	}
}

// listen hears of changes until ctx ends.
func (d *Drainer) listen(ctx context.Context) error {
	changes, stop := d.o.Queue.Watch()
	defer stop()
	// What came before cannot be heard of any more.
	d.decisions.wake()
	d.nudges.wake()
	for {
		select {
		case <-ctx.Done():
			return nil
		case c, open := <-changes:
			if !open {
				return errors.New("the queue tells of no more changes")
			}
			d.changes.beat()
			if c.Agent == "" {
				d.decisions.wake()
			}
			d.nudges.wake() // also when a decision came: its agent has room again
		}
	}
}

// requeue takes up again what was left, and gives up what was left too often.
func (d *Drainer) requeue(ctx context.Context) error {
	if err := d.attend(ctx); err != nil { // before a claim is taken away that nobody could keep up
		return err
	}
	swept, err := d.o.Queue.RequeueStale(ctx, queue.Limits{Claims: d.o.MaxClaims, Drains: d.o.MaxDrains})
	d.swept(ctx, swept)
	if len(swept) > 0 {
		d.decisions.wake()
		d.nudges.wake()
	}
	return err
}

// swept tells of tasks that were taken hold of.
func (d *Drainer) swept(ctx context.Context, list []queue.Swept) {
	const named = 20 // in a line of the log
	ids := map[queue.State][]string{}
	for _, s := range list {
		ids[s.State] = append(ids[s.State], s.ID)
	}
	for state, list := range ids {
		d.o.Observe(Observation{Event: Requeued, Status: string(state), N: len(list)})
		d.o.Log.WarnContext(ctx, "what was left over was taken hold of", "state", string(state), "tasks", len(list), "first", list[:min(len(list), named)])
	}
}

// purge deletes what is long done. In between others get to write.
func (d *Drainer) purge(ctx context.Context) error {
	if d.o.Retention < 0 {
		return nil
	}
	const batch = 100
	before, total := time.Now().Add(-d.o.Retention), 0
	for {
		start := time.Now()
		n, err := d.o.Queue.Purge(ctx, before, batch)
		total += n
		if n > 0 {
			d.purges.beat()
			d.o.Observe(Observation{Event: Purged, N: n})
		}
		if err == nil && n == batch {
			err = wait.For(ctx, time.Since(start))
		}
		if err != nil || n < batch {
			if total > 0 {
				d.o.Log.InfoContext(ctx, "tasks were deleted", "tasks", total, "ended_before", before)
			}
			return err
		}
	}
}
