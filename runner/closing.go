package runner

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/org/foreman-action/memory"
	"github.com/org/foreman-action/protocol"
	"github.com/org/foreman-action/triage"
)

// carryOut carries out the closings that are due.
func (s *sweep) carryOut(ctx context.Context) {
	agenda, ok := s.o.Memory.(memory.Agenda)
	if !ok || s.o.Forgets {
		return
	}
	list, err := s.pending(ctx, agenda)
	if err != nil {
		if s.o.MemoryByDefault && !s.c.Rules.ClosesLater() {
			s.o.Log("memory: %v", err)
			return
		}
		s.warnf("memory: %v; closings that are due wait for the next run", err)
		return
	}
	for i, d := range list {
		if d.At.After(s.o.Now()) {
			s.Waiting += len(list) - i
			return
		}
		if s.stop(ctx, len(list)-i) {
			return
		}
		s.closeDue(ctx, agenda, d.Issue)
	}
}

func (s *sweep) pending(ctx context.Context, agenda memory.Agenda) ([]memory.Due, error) {
	ctx, cancel := context.WithTimeout(ctx, loadTime)
	defer cancel()
	list, complete, err := agenda.Pending(ctx, s.Repo)
	if err == nil && !complete {
		s.warnf("memory: not everything could be looked through for closings that are due; some may come late, or never")
	}
	return list, err
}

// closeDue carries out what is due on one issue.
func (s *sweep) closeDue(ctx context.Context, agenda memory.Agenda, n int) {
	r, err := agenda.Load(ctx, s.Repo, n)
	switch {
	case errors.Is(err, memory.ErrNotFound):
		return // the store's hint was wrong
	case err != nil:
		s.warnf("memory: #%d: %v; a closing that may be due waits for the next run", n, err)
		return
	}
	open := slices.DeleteFunc(slices.Clone(r.Closings), func(c memory.Closing) bool { return c.Vetoed })
	due := slices.DeleteFunc(slices.Clone(open), func(c memory.Closing) bool { return c.Due.After(s.o.Now()) })
	s.Waiting += min(1, len(open)-len(due))
	if len(due) == 0 {
		return
	}
	e, err := s.event(ctx, n)
	switch {
	case errors.Is(err, triage.ErrGone):
		s.giveUp(ctx, n, triage.ErrGone.Error(), forget(due))
		s.Dropped += len(due)
		return
	case err != nil:
		rep := s.report(n, "closing")
		rep.fail(err)
		s.take(rep, err)
		return
	case e.Issue.State == "closed":
		task, ours := s.unsaved(ctx, e, r, due)
		s.giveUp(ctx, n, "it is closed already", func(r *memory.Record) {
			forget(open)(r)
			if ours {
				r.Put(task)
			}
		})
		s.Dropped += len(open)
		return
	}
	for _, c := range due {
		rep, err := s.close(ctx, e, r, c)
		s.take(rep, err)
		switch {
		case err != nil:
			return
		case rep.Executed > 0:
			s.Closed++
			return
		case rep.Status == StatusSkipped && rep.settled:
			s.Dropped++
		}
	}
}

// giveUp gives up the closings of an issue by changing its record.
func (s *sweep) giveUp(ctx context.Context, n int, why string, change func(*memory.Record)) {
	rep := s.report(n, "closing")
	rep.skip(givenUp + why)
	if err := s.amend(ctx, n, change); err != nil {
		rep.Warnings = append(rep.Warnings, err.Error())
	}
	s.take(rep, nil)
}

// forget takes closings out of a record.
func forget(list []memory.Closing) func(*memory.Record) {
	return func(r *memory.Record) {
		for _, c := range list {
			r.Drop(c.Rule)
		}
	}
}

// unsaved returns the task by which an earlier run closed the issue and which it could not
// record: else nobody could take it back. ok is false when there is none.
func (s *sweep) unsaved(ctx context.Context, e triage.Delivery, r memory.Record, due []memory.Closing) (task memory.Task, ok bool) {
	t, err := s.host.Timeline(ctx, e.Ref())
	if err != nil {
		s.o.Log("#%d: %v; nobody can tell whether we closed it", r.Issue, err)
		return task, false
	}
	h := hindsight{Timeline: t, bot: s.o.Bot, issue: *e.Issue}
	last, found := h.last(of("", nil, "closed"))
	i := slices.IndexFunc(due, func(c memory.Closing) bool { return !last.At.Before(c.Due) })
	known := slices.ContainsFunc(r.Tasks, func(t memory.Task) bool {
		return t.At.Sub(last.At).Abs() <= closeSlack && slices.ContainsFunc(t.Actions, func(a memory.Action) bool {
			rev, ok := reversalOf(a.Type)
			return ok && rev.thing == "state" && a.Result == memory.Done
		})
	})
	if !found || !h.ours(last) || i < 0 || known {
		return task, false
	}
	w := &work{Runner: newRunner(s.o), e: e, rep: s.report(r.Issue, "closing", due[i].Rule), at: last.At}
	d, err := w.closing(due[i])
	if err != nil {
		return task, false
	}
	w.rep.Rationale, w.rep.By, w.rep.Decision, w.rep.Status = d.Message.Rationale, d.By, d.Message.Decision, StatusApplied
	a := d.Message.Actions[0]
	w.rep.Actions = []ActionReport{{Action: a, Source: d.Sources[0].String(), Verdict: triage.Do, Result: ResultDone, rule: due[i].Rule, values: nonEmpty(due[i].Reason)}}
	return w.task(), true
}

// givenUp is how a report begins on a closing that is not carried out.
const givenUp = "the closing that was due is given up: "

// amend changes what a record keeps for later; an error is worth a warning.
func (s *sweep) amend(ctx context.Context, issue int, change func(*memory.Record)) error {
	if s.o.DryRun {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), saveTime)
	defer cancel()
	_, err := memory.Update(ctx, s.o.Memory, s.Repo, issue, func(r *memory.Record) error {
		change(r)
		return nil
	})
	if err != nil {
		return fmt.Errorf("memory: %w; the closing is looked at again by the next run", err)
	}
	return nil
}

// close closes an issue whose time is over, unless people veto it. It is a decision like
// any other: held against the policy and what people did, audited, journalled.
func (s *sweep) close(ctx context.Context, e triage.Delivery, r memory.Record, c memory.Closing) (Report, error) {
	w := &work{Runner: newRunner(s.o), e: e, resumed: s.o.Resumed, due: &c, known: &r}
	w.rep = s.report(e.Number, "closing", c.Rule)
	w.o.TaskID = w.rep.TaskID
	w.rep.IssueURL, w.rep.Title = e.Issue.URL, e.Issue.Title
	w.past = past{host: s.host, ref: e.Ref()}
	if why := w.outlived(c); why != "" {
		return s.letBe(ctx, w.rep, why, func(r *memory.Record) { r.Drop(c.Rule) }), nil
	}
	why, err := w.vetoed(ctx, s.host, c)
	switch {
	case errors.Is(err, triage.ErrGone):
		return s.letBe(ctx, w.rep, triage.ErrGone.Error(), func(r *memory.Record) { r.Drop(c.Rule) }), nil
	case err != nil:
		err = fmt.Errorf("look for vetoes: %w", err)
		w.rep.fail(err)
		return w.rep, err
	case why != "":
		return s.letBe(ctx, w.rep, why, func(r *memory.Record) { r.Veto(c.Rule) }), nil
	}
	d, err := w.closing(c)
	if err != nil {
		w.rep.fail(err)
		return w.rep, err
	}
	w.at = w.o.Now().UTC()
	err = w.act(ctx, d, w.kept(ctx))
	w.rep.settled = err == nil && !w.waits()
	return w.rep, err
}

// closing is the decision to close an issue whose time is over.
func (w *work) closing(c memory.Closing) (Decision, error) {
	params := map[string]any{}
	if c.Reason != "" {
		params["reason"] = c.Reason
	}
	item, err := protocol.NewAction(protocol.ActionCloseIssue, params)
	if err != nil {
		return Decision{}, err
	}
	d := Decision{By: cmp.Or(w.o.By, byRules), Sources: []triage.Source{{}}, Message: protocol.DecisionMessage{
		TaskID: w.rep.TaskID, Decision: protocol.Close, Actions: []protocol.ActionItem{item},
		Rationale: "it was decided on " + c.At.UTC().Format(time.DateOnly) + ", and nobody stood against it",
	}}
	if c.Rule != "" {
		d.By, d.Sources[0] = byRules, w.source(c.Rule)
	}
	return d, nil
}

// letBe is the report on a closing that is not carried out.
func (s *sweep) letBe(ctx context.Context, rep Report, why string, change func(*memory.Record)) Report {
	rep.skip(givenUp + why)
	rep.settled = true
	if err := s.amend(ctx, rep.Issue, change); err != nil {
		rep.warnf("%v", err)
	}
	return rep
}

// outlived says why nobody asks for a closing any more; empty: somebody does.
func (w *work) outlived(c memory.Closing) string {
	switch {
	case c.Rule == "" && w.o.Agent == nil:
		return "it was asked for by an agent, and there is none any more"
	case c.Rule == "" || slices.Contains(w.c.Rules.IDs(), c.Rule):
		return ""
	}
	return "there is no rule " + c.Rule + " any more"
}

// vetoed says why people stand against a closing; empty: nobody does.
func (w *work) vetoed(ctx context.Context, host Scanner, c memory.Closing) (string, error) {
	if len(c.Veto) == 0 {
		return "", nil
	}
	t, err := w.past.timeline(ctx)
	if err != nil {
		return "", err
	}
	h := hindsight{Timeline: t, bot: w.o.Bot, issue: *w.e.Issue}
	if !h.Complete && (len(h.Events) == 0 || !h.Events[0].At.Before(c.At)) {
		return "the timeline of the issue is too long to tell whether people stand against it", nil
	}
	for _, veto := range c.Veto {
		var why string
		switch veto {
		case protocol.VetoComment:
			why = h.since(c.At, "commented", "commented")
		case protocol.VetoReopen:
			why = h.since(c.At, "reopened", "reopened it")
		case protocol.VetoThumbsDown:
			why, err = w.thumbsDown(ctx, host, h, c)
		}
		if why != "" || err != nil {
			return why, err
		}
	}
	return "", nil
}

// since says that a person did something from a time on; empty: nobody did.
func (h hindsight) since(at time.Time, kind, did string) string {
	e, ok := h.last(func(e triage.TimelineEvent) bool {
		return e.Kind == kind && !e.At.Before(at) && h.human(e) && !asksWhy(e.Body)
	})
	if !ok {
		return ""
	}
	return fmt.Sprintf("%s %s on %s", whoOf(e), did, e.At.UTC().Format(time.DateOnly))
}

// thumbsDown looks for a person's reaction to the issue since the closing was decided, or
// to a comment of ours: of the task that did, or one that was written since. Another task
// may have written the notice, or written it anew.
func (w *work) thumbsDown(ctx context.Context, host Scanner, h hindsight, c memory.Closing) (string, error) {
	targets := []int64{0}
	notice := map[int64]bool{} // of the task itself
	for _, e := range h.Events {
		m, ok := markOf(e.Body)
		if !ok || e.Kind != "commented" || !h.ours(e) || e.ID <= 0 {
			continue
		}
		notice[e.ID] = m.task == c.Task
		if notice[e.ID] || !e.At.Before(c.At) || !e.Edited.Before(c.At) {
			targets = append(targets, e.ID)
		}
	}
	for _, id := range targets {
		list, err := host.Reactions(ctx, w.e.Ref(), id, "-1")
		switch {
		case errors.Is(err, triage.ErrTruncated):
			return "there are too many reactions (-1) to tell whose they are", nil
		case errors.Is(err, triage.ErrNotFound) && id != 0:
			continue // the comment was deleted
		case err != nil:
			return "", err
		}
		for _, r := range list {
			who := triage.TimelineEvent{Actor: r.Actor, ActorType: r.ActorType}
			if h.human(who) && (notice[id] || !r.At.Before(c.At)) {
				return fmt.Sprintf("%s reacted with -1 on %s", whoOf(who), r.At.UTC().Format(time.DateOnly)), nil
			}
		}
	}
	return "", nil
}
