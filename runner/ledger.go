package runner

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/org/foreman-action/memory"
	"github.com/org/foreman-action/protocol"
	"github.com/org/foreman-action/triage"
)

// kept returns what an earlier attempt at the task left in the journal, or nil. Trouble
// with the journal is a warning: then the task is decided anew, and the markers on the
// issue tell what an earlier attempt did.
func (w *work) kept(ctx context.Context) *memory.Ledger {
	if w.o.Journal == nil || w.o.DryRun {
		return nil
	}
	l, err := w.o.Journal.Ledger(ctx, w.ledgerKey())
	if errors.Is(err, memory.ErrNotFound) {
		return nil
	}
	w.resumed = true
	if err != nil {
		w.unread = true
		w.rep.warnf("journal: %v; the task is decided anew", err)
		return nil
	}
	w.o.Log("an earlier attempt decided on this task; its decision is carried out")
	return &l
}

func (w *work) ledgerKey() memory.LedgerKey {
	return memory.LedgerKey{Repo: w.e.FullRepo(), Issue: w.e.Number, Task: w.o.TaskID, Scope: w.o.Scope}
}

// again is the decision that is kept. A rule that is not there any more is no author
// to be trusted: what it asked for counts as an agent's.
func (w *work) again(l memory.Ledger) Decision {
	d := Decision{Message: l.Decision, By: l.By}
	w.retriaged = l.Event != w.e.Key() && l.Event == w.e.AsOpened().Key()
	ids := w.c.Rules.IDs()
	for _, e := range l.Entries {
		s := triage.ParseSource(e.Rule)
		switch {
		case s.Command != "" || s.Undo:
		case !slices.Contains(ids, s.Rule):
			s = triage.Source{}
		default:
			s = w.source(s.Rule)
		}
		d.Sources = append(d.Sources, s)
	}
	return d
}

// tookEffect takes a step of which nothing is left to do for one that was carried out, when
// an earlier attempt did it: the issue may have been read since.
func (p *Plan) tookEffect(l *memory.Ledger) {
	if l == nil {
		return
	}
	for i := range p.Steps {
		s, e := &p.Steps[i], l.Entries[i]
		if s.Verdict == triage.Skip && e.State == memory.StateDone && !s.noted() {
			s.set(triage.Do, "")
			s.did = e.Values
		}
	}
}

// passGone passes over what rules asked for that are not there any more: what is kept for
// later, which would pass for an agent's, and what they were to take back.
func (w *work) passGone(p *Plan, l *memory.Ledger) {
	if l == nil {
		return
	}
	ids := w.c.Rules.IDs()
	for i := range p.Steps {
		s, e := &p.Steps[i], l.Entries[i]
		rule := triage.ParseSource(e.Rule).Rule
		gone := rule != "" && !slices.Contains(ids, rule)
		if gone && s.Verdict == triage.Do && (s.noted() || s.Source.Undo && e.State != memory.StateDone) {
			s.set(triage.Skip, "there is no rule "+rule+" any more")
		}
	}
}

// errBegun says that somebody else is at work on the task.
var errBegun = errors.New("another run has begun this task in the meantime and carries it out; " +
	"should it fail, run this one again")

// journal begins the journal of a plan, or goes on with the kept one. It is nil when
// there is nothing to keep it in, and for what was decided for want of an agent: the
// next attempt may find it. An error says that nothing may be written.
func (w *work) journal(ctx context.Context, plan Plan, kept *memory.Ledger) (*journal, error) {
	if w.o.Journal == nil || w.o.DryRun || w.quiet(len(plan.Steps)) || plan.Decision.fallback {
		return nil, nil
	}
	j := &journal{Journal: w.o.Journal, key: w.ledgerKey(), now: w.o.Now, warn: w.rep.warnf}
	if kept != nil {
		j.entries, j.again = kept.Entries, true
		return j, nil
	}
	l := memory.NewLedger(j.key, plan.Decision.Message, w.at)
	l.Event, l.By = w.rep.Event, plan.Decision.By
	if w.retriaged {
		l.Event = w.e.AsOpened().Key()
	}
	for _, s := range plan.Steps {
		e := &l.Entries[s.Index]
		e.Rule = s.Source.ID()
		if s.Verdict != triage.Do && !s.unknown {
			e.State, e.Reason = memory.StateSkipped, s.Reason
		}
	}
	err := w.o.Journal.Begin(ctx, l)
	switch {
	case errors.Is(err, memory.ErrConflict) && w.unread:
		return nil, nil // it is the one that could not be read, and was warned of
	case errors.Is(err, memory.ErrConflict):
		return nil, fmt.Errorf("begin the journal: %w", errBegun)
	case err != nil:
		w.rep.warnf("journal: %v; should this attempt be cut off, the next one decides anew", err)
		return nil, nil
	}
	j.entries = l.Entries
	return j, nil
}

// quiet reports whether rules alone decided, and on nothing: that leaves no trace.
func (w *work) quiet(actions int) bool {
	return w.rep.Decision == protocol.Skip && actions == 0 && w.rep.By == byRules
}

// A journal is the journal of one execution. A nil one keeps nothing.
type journal struct {
	memory.Journal
	key     memory.LedgerKey
	entries []memory.Entry // as they were when this attempt began
	again   bool           // an earlier attempt began it
	now     func() time.Time
	warn    func(format string, args ...any)
	broken  bool // keeping failed, and was warned of
}

// resumed reports whether an earlier attempt kept anything.
func (j *journal) resumed() bool { return j != nil && j.again }

// recall marks the steps that an earlier attempt is known to have carried out. What it
// had only begun, or what nobody could keep, is looked up.
func (j *journal) recall(x *execution) {
	if !j.resumed() {
		return
	}
	for i := range x.steps {
		s := &x.steps[i]
		if e := j.entryOf(s); s.Verdict == triage.Do && e.State == memory.StateDone {
			s.landed = true
			x.urls[s.Index] = e.URL
		}
	}
}

// entryOf returns what was kept of a step when this attempt began.
func (j *journal) entryOf(s *Step) memory.Entry {
	for _, e := range j.entries {
		if e.Index == s.Index {
			return e
		}
	}
	return memory.Entry{}
}

func (j *journal) entry(s *Step, state memory.State) memory.Entry {
	return memory.Entry{
		Index: s.Index, Hash: memory.HashAction(s.Action), Rule: s.Source.ID(), State: state, At: j.now().UTC(),
	}
}

// mark keeps how far a step got; what an earlier attempt did stays done. That it cannot be kept is told once, and stops nothing:
// the marker on the issue and the issue itself are looked at by the next attempt.
func (j *journal) mark(ctx context.Context, s *Step, state memory.State, r StepResult) {
	if j == nil || j.broken {
		return
	}
	if was := j.entryOf(s).State; state == memory.StateSkipped && (was == memory.StateSkipped || was == memory.StateDone) {
		return
	}
	e := j.entry(s, state)
	e.Values, e.Reason, e.URL = r.Values, r.Reason, r.URL
	// What was done must be kept also when the run was asked to stop.
	if err := j.Mark(context.WithoutCancel(ctx), j.key, e); err != nil {
		j.broken = true
		j.warn("journal: %v; a later attempt will look the writes up", err)
	}
}

// settle keeps what became of a step.
func (x *execution) settle(ctx context.Context, s *Step, r StepResult) {
	switch r.Result {
	case ResultDone:
		x.journal.mark(ctx, s, memory.StateDone, r)
	case ResultFailed:
		x.journal.mark(ctx, s, memory.StateFailed, r)
	case ResultNone:
		x.journal.mark(ctx, s, memory.StateSkipped, r)
	case ResultPlanned, ResultNotRun:
	}
}
