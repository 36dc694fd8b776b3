package runner

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"strings"
	"time"

	"github.com/org/foreman-action/internal/text"
	"github.com/org/foreman-action/memory"
	"github.com/org/foreman-action/runner/internal/history"
	"github.com/org/foreman-action/runner/internal/labels"
	"github.com/org/foreman-action/runner/internal/lookups"
	"github.com/org/foreman-action/runner/internal/plan"
	"github.com/org/foreman-action/triage"
)

// A run without the memory is better than one that hangs. These are the longest waits for the
// memory.
const (
	loadTime = 45 * time.Second
	saveTime = 60 * time.Second
)

// reads reads the data of a run that the event does not contain. Each part is read once, when it is
// first needed. It must be used by one goroutine only.
type reads struct {
	host   Host
	memory Memory
	login  string
	task   string
	now    func() time.Time
	warn   func(format string, args ...any)

	d     triage.Delivery
	live  bool      // as in Options
	since time.Time // a time before which this task cannot have written
	// resumed means that an earlier attempt at the task may have written already.
	resumed bool
	// unkept means that reading the memory is useless: none was configured, and runs like this one
	// store nothing in it.
	unkept bool

	timeline struct {
		asked bool // the timeline is up to date
		read  bool // the timeline was read, perhaps some time ago
		value triage.Timeline
		err   error
		stuck error // of the last call for an earlier page; nil: it succeeded
	}
	seen        plan.Snapshot   // data for the review that was read before the decision
	changed     bool            // the issue was read again, and changed after the event
	untouched   bool            // as in current
	asked       bool            // the agent was asked
	record      *memory.Record  // nil: not loaded
	kept        *memory.Record  // the record in the memory, without the changes of people since; nil: not loaded
	keptErr     error           // why the record in the memory could not be read; nil: it could, or there is none
	earned      *earnedReads    // the track records; nil: not loaded
	proposals   *triage.Comment // the comment with the proposals; nil: not read
	warned      bool            // a problem with the memory was reported
	permissions map[string]string
	parts       lookups.Reader
	labels      *labels.Index
}

// freshTime is the maximum age of an issue that counts as just opened. It includes the time that a
// job waits for a runner.
const freshTime = 10 * time.Minute

// fresh reports whether nothing can have happened on the issue or pull request before this event:
// it was just opened, and this is the first attempt at the task. Others who got the same event may
// change it at the same time.
func (r *reads) fresh() bool {
	opened := r.d.Key() == "issues.opened" || r.d.Pull != nil && r.d.Action == "opened"
	return r.live && opened && !r.resumed && !r.changed && r.now().Sub(r.d.Issue.CreatedAt) < freshTime
}

// found takes over the data that was read to find out how the issue is now.
func (r *reads) found(c current) {
	r.untouched = c.untouched
	if c.timeline != nil {
		r.timeline.asked, r.timeline.read, r.timeline.value = true, true, *c.timeline
	}
}

// early reports whether nothing can have happened on the issue before, because it was just opened, or
// because the issue shows it.
func (r *reads) early() bool { return r.fresh() || r.untouched && !r.resumed }

// Timeline returns the history of the issue. It is empty if its end cannot be found.
func (r *reads) Timeline(ctx context.Context) (triage.Timeline, error) {
	t := &r.timeline
	if !t.asked {
		t.asked, t.stuck = true, nil
		if r.host.Issues == nil {
			t.err = fmt.Errorf("read the timeline of %s: %w", r.d.Ref(), triage.ErrNeedsHost)
		} else {
			t.value, t.err = r.host.Issues.Timeline(ctx, r.d.Ref())
		}
		if errors.Is(t.err, triage.ErrTruncated) {
			t.value, t.err = triage.Timeline{}, nil
		}
		t.read = t.err == nil
	}
	return t.value, t.err
}

// earlier reads one more page of a timeline that is not complete.
func (r *reads) earlier(ctx context.Context) error {
	t, err := r.host.Issues.Earlier(ctx, r.d.Ref(), r.timeline.value)
	if r.timeline.stuck = err; err != nil {
		return err
	}
	if t.Before >= r.timeline.value.Before {
		t.Before = 0 // stops at a host that returns no earlier page
	}
	r.timeline.value = t
	return nil
}

// reach returns the history of the issue. It reads pages backwards from the newest event until an
// event matches, or until GitHub returns no earlier ones. A page that could not be read is not asked
// for again.
func (r *reads) reach(ctx context.Context, match func(triage.TimelineEvent) bool) (history.History, error) {
	for {
		t, err := r.Timeline(ctx)
		if err != nil {
			return history.History{}, err
		}
		h := r.history(t)
		if _, found := h.Last(match); found || t.Before == 0 {
			return h, nil
		}
		if err := r.timeline.stuck; err != nil {
			return history.History{}, err
		}
		if err := r.earlier(ctx); err != nil {
			return history.History{}, err
		}
	}
}

// outdate makes the review read the timeline and the issue again, because the agent was asked in
// the meantime.
func (r *reads) outdate() { r.timeline.asked, r.asked, r.seen = false, true, plan.Snapshot{} }

func (r *reads) history(t triage.Timeline) history.History {
	return history.History{Timeline: t, Bot: r.login, Issue: *r.d.Issue}
}

// History returns the history of the issue, back to the last event about each outcome if it can be
// read. On an error it warns, and ok is false.
func (r *reads) History(ctx context.Context, made ...history.Made) (h history.History, ok bool) {
	if r.host.Issues == nil {
		return history.History{}, false
	}
	t, err := r.Timeline(ctx)
	h = r.history(t)
	for i := 0; err == nil && i < len(made); i++ {
		h, err = r.reach(ctx, history.About(made[i].Outcome))
	}
	if err != nil {
		r.warn("memory: %v; facts from the memory are missing", err)
		return history.History{}, false
	}
	return h, true
}

// own reports whether a trace may belong to an earlier attempt at this task: its marker names the
// task, or it has no marker and is not older than the event.
func (r *reads) own(t history.Trace) bool {
	if t.Task != "" {
		return t.Task == r.task
	}
	return r.resumed && !t.Events[0].At.Before(r.since)
}

// Record returns the record of earlier tasks on the issue. It comes from the memory, or is rebuilt
// from the issue's timeline. For an issue that was just opened, nothing is read. If the memory
// cannot be read, there is a warning.
func (r *reads) Record(ctx context.Context) memory.Record {
	if r.record != nil {
		return *r.record
	}
	rec := memory.Record{Repo: r.d.FullRepo(), Issue: r.d.Number}
	r.record = &rec
	if r.memory.Store == nil || r.fresh() {
		return rec
	}
	loaded, err := r.stored(ctx)
	if err == nil {
		rec = loaded
	} else if !errors.Is(err, memory.ErrNotFound) {
		r.warned = true
		r.warn("memory: %v; earlier tasks are taken from the issue's timeline", err)
	}
	if r.early() {
		return rec
	}
	h, ok := r.History(ctx)
	if !ok {
		return rec
	}
	if err != nil {
		rebuilt := history.Rebuild(h, r.own)
		rec.Tasks, rec.Earlier = rebuilt.Tasks, rebuilt.Earlier
	}
	history.RecordHumans(h, &rec)
	return rec
}

// stored returns the record in the memory as it was saved. It is read once. The error matches
// [memory.ErrNotFound] if there is none.
func (r *reads) stored(ctx context.Context) (memory.Record, error) {
	rec := memory.Record{Repo: r.d.FullRepo(), Issue: r.d.Number}
	switch {
	case r.memory.Store == nil || r.fresh():
		return rec, memory.ErrNotFound
	case r.kept == nil:
		loaded, err := r.load(ctx, rec)
		if err == nil {
			rec = loaded
		}
		r.kept, r.keptErr = &rec, err
	}
	return *r.kept, r.keptErr
}

// answered returns the record with people's answers to proposals. It is empty if there is none. After an error, the
// answers are not known, and there is one warning.
func (r *reads) answered(ctx context.Context) (memory.Record, error) {
	rec, err := r.stored(ctx)
	if errors.Is(err, memory.ErrNotFound) {
		err = nil
	}
	if err != nil && !r.warned {
		r.warned = true
		r.warn("memory: %v; people's answers to proposals are not known", err)
	}
	return rec, err
}

// forAnswer returns the record for an answer of a person to a proposal. An answer must not get lost
// because the memory cannot be read now; a record that is missing or damaged has no proposals.
func (r *reads) forAnswer(ctx context.Context) (memory.Record, error) {
	rec, err := r.stored(ctx)
	if errors.Is(err, memory.ErrNotFound) || errors.Is(err, memory.ErrBroken) {
		err = nil
	}
	if err != nil {
		return rec, fmt.Errorf("read the proposals of the issue in the memory: %w", err)
	}
	return rec, nil
}

// load reads the record in the memory.
func (r *reads) load(ctx context.Context, rec memory.Record) (memory.Record, error) {
	if r.unkept {
		return memory.Record{}, memory.ErrNotFound
	}
	ctx, cancel := context.WithTimeout(ctx, loadTime)
	defer cancel()
	return r.memory.Store.Load(ctx, rec.Repo, rec.Issue)
}

// earnedReads are the track records of the repository.
type earnedReads struct {
	outcomes memory.Outcomes
	why      string // why no action is permitted; empty: the outcomes decide
}

// outcomes returns the track records of the repository, which are read once, and the reason if they permit
// no action. They may be missing, or unreadable; then there is one warning.
func (r *reads) outcomes(ctx context.Context) (o memory.Outcomes, why string) {
	if r.earned == nil {
		r.earned = &earnedReads{}
		r.earned.outcomes, r.earned.why = r.loadOutcomes(ctx)
	}
	return r.earned.outcomes, r.earned.why
}

func (r *reads) loadOutcomes(ctx context.Context) (o memory.Outcomes, why string) {
	if r.memory.Store == nil || r.memory.Discards {
		return o, "no memory is configured: set memory.store (input memory)"
	}
	ctx, cancel := context.WithTimeout(ctx, loadTime)
	defer cancel()
	rec, err := r.memory.Store.Load(ctx, r.d.FullRepo(), memory.Repository)
	switch {
	case err != nil && !errors.Is(err, memory.ErrNotFound):
		r.warn("memory: the track record: %v; what must be earned is proposed", err)
		return o, "the track record cannot be read"
	case rec.Outcomes == nil:
		r.warn("memory: the repository has no track record yet; what must be earned is proposed until an answer or a scheduled run (on: schedule) has counted an outcome")
		return o, "there is no track record yet"
	}
	return *rec.Outcomes, ""
}

// RecordOrRebuild is Record, but it also rebuilds the record from the timeline if there is no
// memory.
func (r *reads) RecordOrRebuild(ctx context.Context) memory.Record {
	rec := r.Record(ctx)
	if r.memory.Store != nil || r.early() {
		return rec
	}
	if h, ok := r.History(ctx); ok {
		rec.Tasks = history.Rebuild(h, r.own).Tasks
	}
	return rec
}

// isThis reports whether a task of the record is the current one.
func (r *reads) isThis(t memory.Task) bool { return t.ID == r.task }

// Permission returns the permission of an account in the repository.
func (r *reads) Permission(ctx context.Context, login string) (string, error) {
	key := strings.ToLower(login)
	if p, ok := r.permissions[key]; ok {
		return p, nil
	}
	if r.host.Repository == nil {
		return "", fmt.Errorf("look up the permission of %s: %w", text.Quote(login), triage.ErrNeedsHost)
	}
	p, err := r.host.Repository.Permission(ctx, r.d.Ref(), login)
	if err != nil {
		return "", err
	}
	if r.permissions == nil {
		r.permissions = map[string]string{}
	}
	r.permissions[key] = p
	return p, nil
}

// need reads the data that the review of a plan needs next.
func (r *reads) need(ctx context.Context, n plan.Need, seen *plan.Snapshot) error {
	switch {
	case n.Issue:
		issue, err := r.host.Issues.Issue(ctx, r.d.Ref())
		if err != nil {
			return err
		}
		seen.Issue = &issue.Issue
	case n.Comments:
		list, err := r.host.Issues.Comments(ctx, r.d.Ref(), r.since, nil)
		if err != nil && !errors.Is(err, triage.ErrTruncated) {
			return err
		}
		seen.Comments = &plan.Comments{List: list, Err: err}
	case n.Timeline:
		if n.Earlier {
			if err := r.earlier(ctx); err != nil {
				return err
			}
		}
		t, err := r.Timeline(ctx)
		if err != nil {
			return err
		}
		seen.Timeline = &t
	case n.Record:
		rec := r.RecordOrRebuild(ctx)
		seen.Record = &rec
	case n.Kept:
		rec, _ := r.answered(ctx)
		seen.Kept = &rec
	case n.Pull:
		p, err := r.host.Repository.Pull(ctx, r.d.Ref())
		if err != nil {
			return err
		}
		seen.Pull = &p
	case n.Ours != nil:
		list, err := r.host.Issues.Comments(ctx, r.d.Ref(), time.Time{}, n.Ours)
		if err != nil && !errors.Is(err, triage.ErrTruncated) {
			return err
		}
		ours := maps.Clone(seen.Ours)
		if ours == nil {
			ours = map[string]*plan.Comments{}
		}
		ours[n.Key] = &plan.Comments{List: list, Err: err}
		seen.Ours = ours
	}
	seen.Labels, seen.Assumed = r.labels.Known, r.labels.Assumed // the index adds to them
	if err := r.labels.Find(ctx, r.d.Ref(), n.Former...); err != nil {
		return err
	}
	return r.labels.Assume(ctx, r.d.Ref(), r.d.Issue.LabelIDs, n.Labels...)
}
