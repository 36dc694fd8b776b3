package drain

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/org/foreman-action/config"
	"github.com/org/foreman-action/protocol"
	"github.com/org/foreman-action/queue"
	"github.com/org/foreman-action/runner"
	"github.com/org/foreman-action/runner/effect"
	"github.com/org/foreman-action/triage"
)

// The bounds of carrying a decision out.
const (
	applyTime = 15 * time.Minute // of one attempt
	rateBound = 20 * time.Second // that a write waits for its rate; longer, and the decision is given back
	rateLate  = time.Second      // that a write may come after its turn; later, and it is somebody else's
)

// lease leases as many decisions as there is room for, and carries each out beside the
// loop.
func (d *Drainer) lease(ctx context.Context) error {
	for more := true; more; {
		var err error
		if more, err = d.leaseSome(ctx); err != nil {
			return err
		}
	}
	return nil
}

// leaseSome leases what there is room for, and reports whether there may be more.
func (d *Drainer) leaseSome(ctx context.Context) (more bool, err error) {
	n := d.grab()
	if n == 0 {
		return false, nil // whoever finishes wakes the loop
	}
	idle := n
	defer func() { // also after a panic
		for range idle {
			<-d.slots
		}
	}()
	start := time.Now()
	list, err := d.o.Queue.DrainCompleted(ctx, queue.DrainOptions{Owner: d.o.Owner, Lease: d.o.Lease, Limit: n})
	if err != nil {
		return false, err
	}
	for _, dec := range list {
		idle--
		d.work.Go(func() {
			defer d.decisions.wake() // there may be another one of the issue
			defer func() { <-d.slots }()
			d.carryOut(dec, start)
		})
	}
	return idle == 0, nil
}

// grab takes all slots that are free.
func (d *Drainer) grab() int {
	for n := 0; ; n++ {
		select {
		case d.slots <- struct{}{}:
		default:
			return n
		}
	}
}

// carryOut makes one attempt at a decision that was leased not before start.
func (d *Drainer) carryOut(dec queue.Decision, start time.Time) {
	h := &hold{queue: d.o.Queue, ref: dec.Hold, lease: d.o.Lease, need: d.o.RequestTimeout + margin, from: start}
	ctx, end := context.WithCancelCause(d.life)
	defer end(nil)
	bounded, cancel := context.WithTimeoutCause(ctx, applyTime, fmt.Errorf("it took longer than %s", applyTime))
	defer cancel()
	kept := make(chan struct{})
	go func() {
		defer close(kept)
		h.keep(ctx, end)
	}()
	rep, err := d.attempt(bounded, dec, h)
	if cause := context.Cause(bounded); err != nil && cause != nil && !errors.Is(err, cause) {
		err = fmt.Errorf("%w: %w", cause, err)
	}
	d.settle(d.life, outcome{dec: dec, rep: rep, err: err, took: time.Since(start)})
	end(nil)
	<-kept
}

// attempt carries a decision out. A panic is an error of this decision alone.
func (d *Drainer) attempt(ctx context.Context, dec queue.Decision, h *hold) (rep runner.Report, err error) {
	rep = runner.Report{Status: runner.StatusFailed}
	defer func() {
		if p := recover(); p != nil {
			err = panicked(p)
			d.o.Log.ErrorContext(ctx, "panic while a decision was carried out", "task", dec.ID, "error", err)
		}
	}()
	j, err := parse(dec)
	if err != nil {
		return rep, &finalError{err}
	}
	ctx, end := d.o.Span(ctx, j.trace, dec.ID)
	defer func() { end(err) }()
	set, err := d.o.Settings(ctx, dec.Repo, dec.Agent)
	switch {
	case errors.Is(err, ErrUnknownRepo):
		return rep, &finalError{err}
	case err != nil:
		return rep, d.blame("settings of "+dec.Repo, dec, rep, fmt.Errorf("prepare to carry it out: %w", err))
	case set.Config == nil || set.Host.Issues == nil && set.Config.Mode != config.ModeShadow:
		return rep, errors.New("prepare to carry it out: the settings are not complete")
	}
	if j.sends() || set.Config.Rules.Len() > 0 {
		if wait, ok := d.rate.ready(set.Identity, rateBound); !ok {
			return rep, &rateError{wait}
		}
	}
	set.Host.Login, set.Host.Guard = set.Bot, d.guard(h)
	r, err := runner.New(runner.Options{
		Config: set.Config, Host: set.Host, Task: runner.TaskIdentity{ID: dec.ID, Resumed: dec.Tries > 0 || dec.Epoch > 1},
		// An agent is asked only about events that its route takes; policy.comment_interval
		// keeps it from answering each of them.
		Agent:  runner.AgentOptions{Name: dec.Agent, AnswersAll: true},
		Memory: runner.Memory{Store: d.o.Memory, Journal: d.o.Journal, Required: true, Unscheduled: true},
		Log: func(format string, args ...any) {
			d.o.Log.DebugContext(ctx, "carrying out", "task", dec.ID, "step", fmt.Sprintf(format, args...))
		},
	})
	if err != nil {
		return rep, &finalError{err}
	}
	d.outages.over("settings of "+dec.Repo, dec.ID)
	rep, err = r.Apply(effect.WithGate(ctx, d.leave(h, set.Identity)), j.event, j.message)
	if err == nil {
		err = gone(&rep, j)
	}
	err = d.blame(set.Identity, dec, rep, err)
	return rep, err
}

// gone is the error of a decision that was to write on an issue which is not to be had. A
// run of the action is done with it. Here it may be a token that lost its access for a
// while, and what an agent decided is not to vanish as if it had been carried out.
func gone(rep *runner.Report, j job) error {
	if rep.Reason != triage.ErrGone.Error() || j.message != nil && !j.message.Decision.Writes() {
		return nil
	}
	rep.Status = runner.StatusFailed
	return triage.ErrGone
}

// blame tells an outage from what is wrong with the decision.
func (d *Drainer) blame(identity string, dec queue.Decision, rep runner.Report, err error) error {
	if !unreached(rep, err) {
		d.outages.over(identity, dec.ID)
		return err
	}
	wait, ok := d.outages.met(identity, dec.ID)
	if !ok {
		return err
	}
	return &outageError{err, wait}
}

// guard returns what stands before each step of a decision that writes, be it but a note
// for later.
func (d *Drainer) guard(h *hold) func(context.Context) error {
	return func(ctx context.Context) error {
		if d.stopped() {
			return errStopping
		}
		return h.ensure(ctx)
	}
}

// leave returns what stands before each request of a decision that may change something:
// GitHub counts these.
func (d *Drainer) leave(h *hold, identity string) func(context.Context) error {
	guard := d.guard(h)
	var one sync.Mutex // a decision has but one place to let others have
	return func(ctx context.Context) error {
		one.Lock()
		defer one.Unlock()
		for {
			if err := guard(ctx); err != nil {
				return err
			}
			wait, ok := d.rate.take(ctx, identity, rateBound)
			if !ok {
				return &rateError{wait}
			}
			turn := time.Now().Add(wait)
			if wait > 0 {
				if err := d.standBy(ctx, wait); err != nil {
					return err
				}
			}
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
			if err := h.ensure(ctx); err != nil || time.Since(turn) <= rateLate {
				return err
			}
		}
	}
}

// standBy waits, and lets another decision have the slot meanwhile.
func (d *Drainer) standBy(ctx context.Context, wait time.Duration) error {
	<-d.slots
	d.decisions.wake()
	defer func() { d.slots <- struct{}{} }()
	t := time.NewTimer(wait)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-d.stopping:
		return errStopping
	case <-t.C:
		return nil
	}
}

// A job is a decision as it is to be carried out.
type job struct {
	event   triage.Delivery
	message *protocol.DecisionMessage // nil: nobody was asked
	trace   string
}

// sends reports whether anything of the decision may go to GitHub: a note for later does not.
func (j job) sends() bool {
	if j.message == nil {
		return true
	}
	return j.message.Decision.Writes() &&
		slices.ContainsFunc(j.message.Actions, func(a protocol.ActionItem) bool { return a.Type != protocol.ActionNeverAgain })
}

// parse reads a decision and the event that it is about. What an event says of another
// issue than that of the task is not believed.
func parse(dec queue.Decision) (job, error) {
	var j job
	task, err := protocol.ParseTask(dec.Message)
	if err != nil {
		return j, fmt.Errorf("the task cannot be read: %w", err)
	}
	origin := struct {
		Event string `json:"event"`
		Trace string `json:"trace"`
	}{}
	if len(dec.Origin) > 0 {
		if err := json.Unmarshal(dec.Origin, &origin); err != nil {
			return j, fmt.Errorf("where the task came from cannot be read: %w", err)
		}
	}
	if origin.Event == "" { // of a published queue: all that is known is which issue it is
		origin.Event = triage.EventRepositoryDispatch
	}
	j.trace = origin.Trace
	j.event, err = triage.ParseEvent(triage.EventSource{Name: origin.Event, Repo: dec.Repo, Issue: dec.Issue, Payload: task.Payload})
	if err != nil {
		return j, fmt.Errorf("the event of the task cannot be read: %w", err)
	}
	if !strings.EqualFold(j.event.FullRepo(), dec.Repo) || j.event.Number != dec.Issue {
		return j, fmt.Errorf("the event is about %s, the task about %s#%d", j.event.Ref(), dec.Repo, dec.Issue)
	}
	if dec.Result == nil {
		return j, nil
	}
	m, err := protocol.ParseDecision(dec.Result)
	if err != nil {
		return j, fmt.Errorf("the decision cannot be read: %w", err)
	}
	j.message = &m
	return j, nil
}
