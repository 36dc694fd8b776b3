package runner

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/org/foreman-action/memory"
	"github.com/org/foreman-action/protocol"
	"github.com/org/foreman-action/triage"
)

// neverAgain keeps in mind that a label is not to be added to the issue again.
func neverAgain() action {
	return action{
		judge: func(p *planner, s *Step) {
			s.labels = names(s.Action, "label")
			switch {
			case len(s.labels) == 0:
				s.set(triage.Refuse, "it names no label")
			case s.Source.IsAgent() && !p.policy.MayLabel(s.labels[0]):
				p.judgeLabels(s)
			case len(pick(s.labels, p.now.never, false)) == 0:
				s.set(triage.Skip, "the plan says it already")
			}
		},
		effect: func(now *state, s *Step) { put(now.never, s.labels, true) },
		write:  func(context.Context, *execution, *Step) error { return nil },
	}
}

// delay reads into the step how much time people get before the issue is closed.
func (s *Step) delay() {
	text, ok, _ := s.Action.Text("after")
	d, err := protocol.ParseDuration(text)
	if !ok || err != nil {
		return
	}
	s.after = d
	s.veto, _, _ = s.Action.Texts("veto")
	s.Reason = "to be closed after " + short(d)
	if len(s.veto) > 0 {
		s.Reason += ", unless people veto it (" + strings.Join(s.veto, ", ") + ")"
	}
}

// noted reports whether a step writes nothing but what the memory keeps for later.
func (s *Step) noted() bool {
	return s.after > 0 || s.Action.Type == protocol.ActionNeverAgain || s.kind.calls
}

// refuseNotes refuses what nothing can keep in mind.
func (w *work) refuseNotes(p *Plan) {
	if w.o.DryRun {
		return
	}
	_, searched := w.o.Memory.(memory.Agenda)
	for i := range p.Steps {
		switch s := &p.Steps[i]; {
		case s.Verdict != triage.Do || !s.noted():
		case w.o.Memory == nil || w.o.Forgets:
			s.set(triage.Refuse, "there is no memory to keep it in: memory.store (input memory)")
		case s.after > 0 && w.o.Unscheduled:
			s.set(triage.Refuse, "nobody would carry it out when it is due: there are no scheduled runs here")
		case s.after > 0 && !searched:
			s.set(triage.Refuse, "nobody would find it in this memory when it is due: memory.store (input memory) must be artifact or file")
		}
	}
}

// lookAhead passes over labels that are never to be added again, and what is kept in
// mind already.
func (x *execution) lookAhead(ctx context.Context) {
	for i := range x.steps {
		s := &x.steps[i]
		switch {
		case s.Verdict != triage.Do || s.landed || s.kind.calls:
		case s.after > 0 && x.unsaid(s):
			s.set(triage.Skip, "what is to be said with it has to wait; nobody would be warned of the closing")
			s.wait = true
		case s.noted() && x.Record != nil:
			x.lookUpNote(x.Record(ctx), s)
		case s.kind.limit == addsLabels && x.Never != nil:
			s.labels = yield(s, s.labels, func(name string) string {
				if x.released(name) || !x.Never(ctx, name) {
					return ""
				}
				return "never again, as was decided before (never_again)"
			})
		}
	}
}

// unsaid reports whether a comment by whoever asks for the step was passed over for now:
// it may be the notice of the closing.
func (x *execution) unsaid(s *Step) bool {
	return slices.ContainsFunc(x.steps, func(o Step) bool {
		return o.wait && o.isComment() && o.Source.ID() == s.Source.ID()
	})
}

// released reports whether a step takes back that a label is never to be added again.
func (x *execution) released(label string) bool {
	return slices.ContainsFunc(x.steps, func(s Step) bool {
		return s.Verdict == triage.Do && s.Action.Type == allowAgain && fold(s.text) == fold(label)
	})
}

// lookUpNote holds a step against what is kept in mind.
func (x *execution) lookUpNote(r memory.Record, s *Step) {
	if why := calledOff(r, s); why != "" {
		s.set(triage.Skip, why)
		return
	}
	if s.after == 0 {
		s.labels = slices.DeleteFunc(slices.Clone(s.labels), r.Forbids)
		switch {
		case len(s.labels) == 0:
			s.set(triage.Skip, "it is kept in mind already")
		case len(r.Never)+len(s.labels) > memory.MaxNever:
			s.set(triage.Refuse, fmt.Sprintf("the memory keeps at most %d such labels of an issue", memory.MaxNever))
		}
		return
	}
	c, planned := r.Planned(s.Source.Rule)
	switch {
	case planned && c.Vetoed && s.Source.OverrideHumans: // it is asked for anew
	case planned && c.Vetoed:
		s.set(triage.Skip, "people stood against it before, and have the last word (override_humans)")
	case planned && c.Task == x.Task:
		s.landed = true
	case planned && lost(c, x.now()): // it is planned anew
	case planned:
		s.set(triage.Skip, "it is to be closed on "+c.Due.UTC().Format(time.RFC3339)+" already")
	case len(r.Closings) >= memory.MaxClosings:
		s.set(triage.Refuse, fmt.Sprintf("the memory keeps at most %d closings of an issue", memory.MaxClosings))
	}
}

// lostAfter is how long a closing may be overdue: scheduled runs come oftener.
const lostAfter = 48 * time.Hour

// lost reports whether no scheduled run seems to find a closing: an artifact that announces
// it lives for some time only. Planned anew, it is announced anew.
func lost(c memory.Closing, now time.Time) bool { return !c.Vetoed && now.Sub(c.Due) > lostAfter }

// forbids reports whether we are never to add a label to the issue again. A memory that
// nobody asked for is asked when it is read anyway, or when somebody could have said so.
func (w *work) forbids(ctx context.Context, label string) bool {
	says := w.c.Rules.NeverAgain() || w.o.Agent != nil && w.c.Policy.Forbids(protocol.ActionNeverAgain, triage.Source{}) == ""
	if w.o.Memory == nil || w.o.Forgets || w.known == nil && w.o.MemoryByDefault && !says {
		return false
	}
	r := w.remembered(ctx)
	return r.Forbids(label)
}

// keep puts into a record what is to be kept in mind, and takes out the closing that
// was carried out.
func (w *work) keep(r *memory.Record) {
	for i, s := range w.plan.Steps {
		res := w.out.Results[i]
		switch {
		case res.Result != ResultDone || !s.noted() || w.keptBefore(*r, s):
		case s.kind.calls:
			s.callOff(r)
		case s.after == 0:
			for _, label := range res.Values {
				r.Forbid(label)
			}
		default:
			if c, planned := r.Planned(s.Source.Rule); planned && (c.Vetoed && s.Source.OverrideHumans || lost(c, w.o.Now())) {
				r.Drop(c.Rule)
			}
			r.Plan(memory.Closing{
				At: w.told(), Due: w.at.Truncate(time.Second).Add(s.after), Reason: s.text, Veto: s.veto, Rule: s.Source.Rule, Task: w.o.TaskID,
			})
		}
	}
	if w.due == nil || w.out.Err != nil || w.waits() {
		return
	}
	r.Drop(w.due.Rule)
	if w.out.Executed() > 0 || w.out.Gone {
		// Those that people stood against are not asked for again.
		r.Closings = slices.DeleteFunc(slices.Clone(r.Closings), func(c memory.Closing) bool { return !c.Vetoed })
	}
}

// told is the time up to which the decision knows of the issue, as exact as GitHub's:
// whatever people do from then on can stand against it, but for what it was decided on.
func (w *work) told() time.Time {
	at, seen := w.at.Truncate(time.Second), w.e.Fetched
	switch {
	case w.given != nil && !w.given.told.IsZero():
		seen = w.given.told // of what came since, who decided knew nothing
	case w.e.Happened():
		seen = w.e.Issue.UpdatedAt
	}
	seen = seen.Truncate(time.Second)
	switch {
	case seen.IsZero():
		return at
	case w.e.Happened() && (w.e.Name == triage.EventIssueComment || w.e.Action == "reopened"):
		return seen.Add(time.Second)
	case seen.Before(at):
		return seen
	}
	return at
}

// keptBefore reports whether an earlier attempt has put into the record what the step
// keeps: what people called off since must not come back.
func (w *work) keptBefore(r memory.Record, s Step) bool {
	return slices.ContainsFunc(r.Tasks, func(t memory.Task) bool {
		return w.isThis(t) && slices.ContainsFunc(t.Actions, func(a memory.Action) bool {
			return a.Index == s.Index && a.Type == s.Action.Type && a.Result == memory.Noted
		})
	})
}

// waits reports whether a step was passed over only for now.
func (w *work) waits() bool {
	return slices.ContainsFunc(w.out.Results, func(r StepResult) bool { return r.wait })
}

// noted reports whether anything was to be kept in mind.
func (w *work) noted() bool {
	return slices.ContainsFunc(w.rep.Actions, func(a ActionReport) bool { return a.noted && a.Result == ResultDone })
}

// unkept makes the report that of a run that could not keep in mind what it was to.
func (w *work) unkept(err error) error {
	err = fmt.Errorf("keep in mind what is to be done later: %w", err)
	for i := range w.rep.Actions {
		if a := &w.rep.Actions[i]; a.noted && a.Result == ResultDone {
			a.Result, a.Reason = ResultFailed, err.Error()
			w.rep.Executed--
		}
	}
	w.rep.setStatus(Outcome{Err: err, Results: w.out.Results})
	return err
}
