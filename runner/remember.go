package runner

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/org/foreman-action/memory"
	"github.com/org/foreman-action/protocol"
	"github.com/org/foreman-action/runner/effect"
	"github.com/org/foreman-action/runner/internal/execute"
	"github.com/org/foreman-action/runner/internal/history"
	"github.com/org/foreman-action/runner/internal/outcome"
	"github.com/org/foreman-action/runner/internal/plan"
	"github.com/org/foreman-action/runner/internal/proposal"
	"github.com/org/foreman-action/triage"
)

// A recorder writes the decision and the actions of an attempt to the journal and the memory.
type recorder struct {
	attempt

	unread bool           // the journal of the task could not be read
	saved  *memory.Record // of the issue, with this task; nil: it was not saved
}

// resume returns the journal of an earlier attempt at the task, or nil. If the journal cannot be
// read, there is a warning. Then the task is decided again, and the markers on the issue show what
// the earlier attempt wrote.
func (a *recorder) resume(ctx context.Context) *memory.Ledger {
	if a.o.Memory.Journal == nil || a.dry {
		return nil
	}
	l, err := a.o.Memory.Journal.Ledger(ctx, a.ledgerKey())
	if errors.Is(err, memory.ErrNotFound) {
		return nil
	}
	a.reads.resumed = true
	if err != nil {
		a.unread = true
		a.warn("journal: %v; the task is decided again", err)
		return nil
	}
	a.o.Log.InfoContext(ctx, "an earlier attempt decided on this task; its decision is carried out")
	return &l
}

func (a *recorder) ledgerKey() memory.LedgerKey {
	return memory.LedgerKey{Repo: a.d.FullRepo(), Issue: a.d.Number, Task: a.id.ID, Scope: a.id.Scope}
}

// recalled returns the decision of an earlier attempt. Actions of a rule that no longer exists
// count as an agent's, so that their texts are untrusted.
func (a *recorder) recalled(l memory.Ledger) decided {
	dec := decided{At: l.At, Decision: plan.Decision{Message: l.Decision, By: l.By}}
	dec.Retriaged = l.Event != a.d.Key() && l.Event == a.d.AsOpened().Key()
	ids := a.c.Rules.IDs()
	for _, e := range l.Entries {
		s := triage.ParseSource(e.Rule)
		s.Digest = memory.SourceDigest(e.Pair)
		switch {
		case s.Command != "" || s.Undo:
		case !slices.Contains(ids, s.Rule):
			s = triage.Source{Digest: s.Digest}
		default:
			s = a.source(s.Rule, s.Digest)
		}
		if e.Rule == "" {
			dec.AgentPair = e.Pair
		}
		dec.Sources = append(dec.Sources, s)
	}
	return dec
}

// errBegun means that another run is working on the task.
var errBegun = errors.New("another run has begun this task and carries it out; " +
	"if that run fails, run this one again")

// journal begins the journal of a plan, or continues the stored one. It returns nil without a
// store. It also returns nil for a fallback decision, and for a decision without the rules that failed,
// because the next attempt may reach the agent or judge these rules. A decision with answers to proposals
// needs none: the record has the proposals, and what was written for them can be found. After an error
// nothing may be written.
func (a *recorder) journal(ctx context.Context, dec decided, p plan.Plan, kept *memory.Ledger) (*execute.Journal, error) {
	if a.o.Memory.Journal == nil || a.dry || quiet(dec.Decision, len(p.Steps)) || dec.Fallback || dec.incomplete() || !dec.Answers.None() {
		return nil, nil
	}
	j := &execute.Journal{Journal: a.o.Memory.Journal, Key: a.ledgerKey(), Now: a.o.Clock.Now, Warn: a.warn}
	if kept != nil {
		j.Entries = kept.Entries
		return j, nil
	}
	l := memory.NewLedger(j.Key, dec.Message, dec.At)
	l.Event, l.By, l.LocksLast = a.d.Key(), dec.By, true
	if dec.Retriaged {
		l.Event = a.d.AsOpened().Key()
	}
	for _, s := range p.Steps {
		e := &l.Entries[s.Index]
		e.Rule, e.Pair = s.Source.ID(), s.Pair
		if s.Verdict != triage.Do && !s.Unknown {
			e.State, e.Reason = triage.Skipped, s.Reason
		}
	}
	err := a.o.Memory.Journal.Begin(ctx, l)
	switch {
	case errors.Is(err, memory.ErrConflict) && a.unread:
		return nil, nil // resume has already warned that this journal cannot be read
	case errors.Is(err, memory.ErrConflict):
		return nil, fmt.Errorf("begin the journal: %w", errBegun)
	case err != nil:
		a.warn("journal: %v; if this attempt is interrupted, the next one decides again", err)
		return nil, nil
	}
	j.Entries = l.Entries
	return j, nil
}

// quiet reports whether only rules decided, and no action resulted. Such a decision is not
// recorded.
func quiet(d plan.Decision, actions int) bool {
	return d.Message.Decision == protocol.Skip && actions == 0 && d.By == byRules
}

// remember adds the task to the record of the issue, and the proposals of the plan, and then brings the
// comment with the proposals up to date. Dry runs, and runs in which no rule fired, are not recorded. It
// returns an error if a deferred action or a proposal could not be recorded; the report contains the
// error, too. Other failures are warnings, unless the memory is required.
func (a *recorder) remember(ctx context.Context, rep *Report, dec decided, out execute.Outcome, p plan.Plan) error {
	n := publisher{a.attempt}.changes(dec.Answers, out, p)
	silent := quiet(dec.Decision, len(rep.Actions))
	if a.o.Memory.Store == nil || a.o.Memory.ReadOnly || a.dry || silent && n.None() && !(publisher{a.attempt}).tidies(ctx) {
		return nil
	}
	// Writes are recorded even if the run was asked to stop.
	saving, cancel := context.WithTimeout(context.WithoutCancel(ctx), saveTime)
	defer cancel()
	var task *memory.Task
	if !silent {
		t := taskOf(*rep, dec.At)
		task = &t
	}
	saved, applied, err := a.save(saving, task, deferral{a: *a, out: out, at: dec.At, known: a.knownUntil(dec.At)}, n)
	switch {
	case err == nil:
		a.saved = &saved
		p.Steps = out.Steps
		rep.number(p.Numbers(a.identity(), saved), applied.Refused)
		return publisher{a.attempt}.show(ctx, rep, n, saved, applied.Shown)
	case rep.has(triage.Noted):
		err = fmt.Errorf("record the scheduled actions: %w", err)
		rep.recordFailed(err, dec.Failed)
		return err
	case rep.has(triage.Suggested):
		err = fmt.Errorf("record the proposals: %w", err)
		rep.recordFailed(err, dec.Failed)
		return err
	case !n.None():
		err = fmt.Errorf("record the answers to proposals: %w", err)
		rep.fail(err)
		return err
	case a.o.Memory.Required && out.Err == nil:
		err = fmt.Errorf("record the task: %w", err)
		rep.fail(err)
		return err
	case a.reads.warned || a.o.Memory.Implicit:
		a.o.Log.InfoContext(saving, "the record of this task is not saved in the memory", "error", err)
	default:
		a.warn("memory: %v; the record of this task is not saved", err)
	}
	return nil
}

// save adds the task and the proposals to the record, and returns the record. A nil task is not added.
// For an issue that was just opened, it first tries to save a new record without loading one.
func (a *recorder) save(ctx context.Context, task *memory.Task, n deferral, made proposal.Changes) (saved memory.Record, applied proposal.Applied, err error) {
	put := func(r *memory.Record) {
		n.put(r) // before the task, for which Put may drop old entries
		applied = made.Apply(r)
		if task != nil {
			r.Put(*task)
		}
		saved = *r
	}
	if a.reads.fresh() {
		r := memory.Record{Repo: a.d.FullRepo(), Issue: a.d.Number}
		put(&r)
		if err := a.o.Memory.Store.Save(ctx, r); !errors.Is(err, memory.ErrConflict) {
			return saved, applied, err
		}
	}
	err = a.update(ctx, a.d.Ref(), func(r *memory.Record) error {
		if overtaken(*r, a.id.ID, n.out) {
			saved = *r
			return nil
		}
		h, read := a.reads.history(a.reads.timeline.value), a.reads.timeline.read
		if r.Revision == 0 && read { // there was no record, or no usable one
			rebuilt := history.Rebuild(h, a.reads.own)
			r.Tasks, r.Earlier = rebuilt.Tasks, rebuilt.Earlier
		}
		put(r)
		if read {
			history.RecordHumans(h, r)
		}
		saved = *r
		return nil
	})
	return saved, applied, err
}

// overtaken reports whether another attempt at the task has recorded more than this run, which was
// stopped.
func overtaken(r memory.Record, task string, out execute.Outcome) bool {
	return errors.Is(out.Err, triage.ErrHalted) && slices.ContainsFunc(r.Tasks, func(t memory.Task) bool {
		done := 0
		for _, a := range t.Actions {
			if a.Result == triage.Done || a.Result == triage.Noted {
				done++
			}
		}
		return t.ID == task && done > out.Executed()
	})
}

// taskOf converts a report to a task of the record. Its time is truncated to seconds, as GitHub's
// are, so that people's changes in the same second come after it.
func taskOf(rep Report, at time.Time) memory.Task {
	task := memory.Task{
		ID: rep.TaskID, At: at.Truncate(time.Second), Event: rep.Event,
		Decision: rep.Decision, Rationale: rep.Rationale, By: rep.By, Status: string(rep.Status),
	}
	for _, r := range rep.Actions {
		task.Actions = append(task.Actions, actionOf(r))
	}
	return task
}

// A deferral adds deferred actions to a record.
type deferral struct {
	a     recorder
	out   execute.Outcome
	at    time.Time // time of the decision
	known time.Time // result of knownUntil
}

// put adds the deferred actions to a record, and removes the close that was carried out.
func (n deferral) put(r *memory.Record) {
	now := n.a.o.Clock.Now()
	for i := range n.out.Results {
		s, res := &n.out.Steps[i], n.out.Results[i]
		if res.State != triage.Noted || n.before(*r, res) {
			continue
		}
		switch e := s.Effect.(type) {
		case effect.KeepOpen:
			r.Drop(e.Rule)
		case effect.AllowAgain:
			r.Never = slices.DeleteFunc(slices.Clone(r.Never), func(label string) bool { return outcome.NamesOf([]string{e.Label}).Has(label) })
		case effect.NeverAgain:
			for _, label := range res.Values {
				r.Forbid(label)
			}
		case effect.Close:
			if c, planned := r.Planned(s.Source.Rule); planned && (c.Vetoed && s.Source.OverrideHumans || plan.Lost(c, now)) {
				r.Drop(c.Rule)
			}
			r.Plan(memory.ScheduledClose{
				At: n.known, Due: n.at.Truncate(time.Second).Add(e.After), Reason: e.Reason, Veto: e.Veto, Rule: s.Source.Rule, Pair: s.Pair, Task: n.a.id.ID,
				Accepted: res.AcceptedBy, Confidence: statedBy(s.Action),
			})
		default: // the others were written to the issue
		}
	}
	due := n.a.due
	if due == nil || n.out.Err != nil || n.out.Deferred {
		return
	}
	r.Drop(due.Rule)
	if n.out.Executed() > 0 || n.out.Gone {
		// Vetoed closes stay in the record, so that they are not scheduled again.
		r.Closings = slices.DeleteFunc(slices.Clone(r.Closings), func(c memory.ScheduledClose) bool { return !c.Vetoed })
	}
}

// statedBy returns the confidence that an action states; empty: none.
func statedBy(item protocol.ActionItem) protocol.Confidence {
	in, _ := item.Intent() // the plan refused an action with a mistake
	return in.Confidence
}

// before reports whether an earlier attempt recorded an action. If people canceled it since, it
// must not be recorded again.
func (n deferral) before(r memory.Record, res triage.ActionResult) bool {
	return slices.ContainsFunc(r.Tasks, func(t memory.Task) bool {
		return n.a.reads.isThis(t) && slices.ContainsFunc(t.Actions, func(a memory.Action) bool {
			return a.Index == res.Index && a.Type == res.Action.Type && a.Result == triage.Noted
		})
	})
}

// knownUntil returns the time up to which the decision knows the issue, truncated to seconds. What
// people do from this time on can be a veto, except for the event that was decided on.
func (a *recorder) knownUntil(decidedAt time.Time) time.Time {
	at, seen := decidedAt.Truncate(time.Second), a.d.Fetched
	switch {
	case a.given != nil && !a.given.decided.IsZero():
		seen = a.given.decided // the agent has not seen later changes
	case a.d.Happened():
		seen = a.d.Time()
	}
	seen = seen.Truncate(time.Second)
	switch {
	case seen.IsZero():
		return at
	case a.d.Happened() && (a.d.Name == triage.EventIssueComment || a.d.Action == "reopened"):
		return seen.Add(time.Second)
	case seen.Before(at):
		return seen
	}
	return at
}

// actionOf returns the record of a result. The values of an action that was carried out are those
// that were written, which may differ from the request.
func actionOf(r triage.ActionResult) memory.Action {
	a := memory.NewAction(r.Index, r.Action)
	if r.State == triage.Done || r.State == triage.Noted {
		a.Values = r.Values
	}
	a.Rule, a.Pair, a.Verdict, a.Result, a.Reason, a.URL = r.Source.ID(), r.Pair, r.Verdict, r.State, r.Reason, r.URL
	return a
}
