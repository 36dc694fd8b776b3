package runner

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/org/foreman-action/internal/text"
	"github.com/org/foreman-action/memory"
	"github.com/org/foreman-action/protocol"
	"github.com/org/foreman-action/rules/facts"
	"github.com/org/foreman-action/runner/internal/history"
	"github.com/org/foreman-action/runner/internal/labels"
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
	seen        plan.Snapshot  // data for the review that was read before the decision
	changed     bool           // the issue was read again, and changed after the event
	asked       bool           // the agent was asked
	record      *memory.Record // nil: not loaded
	warned      bool           // a problem with the memory was reported
	permissions map[string]string
	request     *triage.PullRequest // nil: not read, and not in the event
	files       []string
	listed      bool
	messages    *[]string
	reviews     *facts.Reviews
	author      *facts.Author
	contrib     contribution
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
	loaded, err := r.load(ctx, rec)
	if err == nil {
		rec = loaded
	} else if !errors.Is(err, memory.ErrNotFound) {
		r.warned = true
		r.warn("memory: %v; earlier tasks are taken from the issue's timeline", err)
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

// load reads the record in the memory.
func (r *reads) load(ctx context.Context, rec memory.Record) (memory.Record, error) {
	if r.unkept {
		return memory.Record{}, memory.ErrNotFound
	}
	ctx, cancel := context.WithTimeout(ctx, loadTime)
	defer cancel()
	return r.memory.Store.Load(ctx, rec.Repo, rec.Issue)
}

// RecordOrRebuild is Record, but it also rebuilds the record from the timeline if there is no
// memory.
func (r *reads) RecordOrRebuild(ctx context.Context) memory.Record {
	rec := r.Record(ctx)
	if r.memory.Store != nil || r.fresh() {
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

// Pull returns the fields that only pull requests have.
func (r *reads) Pull(ctx context.Context) (triage.PullRequest, error) {
	switch {
	case r.d.Pull != nil:
		return *r.d.Pull, nil
	case r.request != nil:
		return *r.request, nil
	case r.host.Repository == nil:
		return triage.PullRequest{}, fmt.Errorf("read pull request %s: %w", r.d.Ref(), triage.ErrNeedsHost)
	}
	p, err := r.host.Repository.Pull(ctx, r.d.Ref())
	if err != nil {
		return triage.PullRequest{}, err
	}
	r.request = &p
	return p, nil
}

// maxFiles is the maximum number of files of a pull request that a host lists.
const maxFiles = 3000

// Files returns the paths that a pull request changes; none for an issue. A moved file has both its
// old and its new path in the list. It is an error if the pull request has more files than the host
// lists, because the others are unknown.
func (r *reads) Files(ctx context.Context) ([]string, error) {
	if r.listed || !r.d.Issue.PullRequest {
		return r.files, nil
	}
	if r.host.Repository == nil {
		return nil, fmt.Errorf("list the files of %s: %w", r.d.Ref(), triage.ErrNeedsHost)
	}
	files, err := r.host.Repository.Files(ctx, r.d.Ref())
	if err != nil {
		return nil, err
	}
	if len(files) >= maxFiles { // a later push may have left fewer files than the event reports
		p, err := r.Pull(ctx)
		if err != nil {
			return nil, err
		}
		if p.ChangedFiles > len(files) {
			return nil, fmt.Errorf("list the files of %s: %w: GitHub lists %d of the %d that it changes, and never more than 3,000",
				r.d.Ref(), triage.ErrTruncated, len(files), p.ChangedFiles)
		}
	}
	for _, f := range files {
		r.files = append(r.files, f.Path)
		if f.Before != "" {
			r.files = append(r.files, f.Before)
		}
	}
	r.listed = true
	return r.files, nil
}

// pull returns a list that only pull requests have; it is empty for an issue. The list is read at
// most once.
func pull[T any](r *reads, kept **T, what string, read func(Repository) (T, error)) (value T, err error) {
	switch {
	case *kept != nil:
		return **kept, nil
	case !r.d.Issue.PullRequest:
		return value, nil
	case r.host.Repository == nil:
		return value, fmt.Errorf("list the %s of %s: %w", what, r.d.Ref(), triage.ErrNeedsHost)
	}
	if value, err = read(r.host.Repository); err != nil {
		return value, err
	}
	*kept = &value
	return value, nil
}

// maxCommits is the maximum number of commits of a pull request that a host lists.
const maxCommits = 250

// maxMessage is the maximum number of characters of a commit message that rules read.
const maxMessage = 10_000

// Messages returns the commit messages of a pull request. It is an error if there are more commits
// than the host lists.
func (r *reads) Messages(ctx context.Context) ([]string, error) {
	return pull(r, &r.messages, "commits", func(host Repository) ([]string, error) {
		list, err := host.Messages(ctx, r.d.Ref())
		for i, message := range list {
			list[i] = text.Shorten(message, maxMessage)
		}
		if err != nil || len(list) < maxCommits {
			return list, err
		}
		p, err := r.Pull(ctx)
		if err == nil && p.Commits > len(list) {
			err = fmt.Errorf("list the commits of %s: %w: GitHub lists %d of %d, and never more than 250", r.d.Ref(), triage.ErrTruncated, len(list), p.Commits)
		}
		return list, err
	})
}

// Reviews returns the newest review of each person who may approve the pull request.
func (r *reads) Reviews(ctx context.Context) (facts.Reviews, error) {
	return pull(r, &r.reviews, "reviews", func(host Repository) (facts.Reviews, error) {
		list, err := host.Reviews(ctx, r.d.Ref())
		return lastReviews(list), err
	})
}

// Author returns how many issues and pull requests the author opened before this one; zero for a
// deleted account.
func (r *reads) Author(ctx context.Context) (facts.Author, error) {
	login := r.d.Issue.Author
	switch {
	case r.author != nil:
		return *r.author, nil
	case login == "":
		return facts.Author{}, nil
	case r.host.Repository == nil:
		return facts.Author{}, fmt.Errorf("list the issues and pull requests of %s: %w", text.Quote(login), triage.ErrNeedsHost)
	}
	list, err := r.host.Repository.Opened(ctx, r.d.Ref(), login)
	if err != nil {
		return facts.Author{}, err
	}
	r.author = &facts.Author{}
	for _, i := range list {
		switch {
		case i.Number >= r.d.Issue.Number:
		case i.PullRequest:
			r.author.Pulls++
		default:
			r.author.Issues++
		}
	}
	return *r.author, nil
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
	}
	seen.Labels = r.labels.Known // Find adds to it
	return r.labels.Find(ctx, r.d.Ref(), n.Labels...)
}

// lookup answers the look-ups of rules.
type lookup struct {
	permission func(login string) (string, error)
	timeline   func() (facts.Timeline, error)
	earlier    func() (facts.Timeline, error)
	pull       func() (triage.PullRequest, error)
	files      func() ([]string, error)
	messages   func() ([]string, error)
	reviews    func() (facts.Reviews, error)
	author     func() (facts.Author, error)
	contrib    func() (facts.Contrib, error)
	memory     func() (facts.Memory, error)
}

// Permission implements [facts.Lookup].
func (l lookup) Permission(login string) (string, error) { return l.permission(login) }

// Timeline implements [facts.Lookup].
func (l lookup) Timeline() (facts.Timeline, error) { return l.timeline() }

// Earlier implements [facts.Lookup].
func (l lookup) Earlier() (facts.Timeline, error) { return l.earlier() }

// Pull implements [facts.Lookup].
func (l lookup) Pull() (triage.PullRequest, error) { return l.pull() }

// Files implements [facts.Lookup].
func (l lookup) Files() ([]string, error) { return l.files() }

// Messages implements [facts.PullLookup].
func (l lookup) Messages() ([]string, error) { return l.messages() }

// Reviews implements [facts.PullLookup].
func (l lookup) Reviews() (facts.Reviews, error) { return l.reviews() }

// Author implements [facts.Lookup].
func (l lookup) Author() (facts.Author, error) { return l.author() }

// Contrib implements [facts.Lookup].
func (l lookup) Contrib() (facts.Contrib, error) { return l.contrib() }

// Memory implements [facts.Lookup].
func (l lookup) Memory() (facts.Memory, error) { return l.memory() }

// lookup returns the look-ups of rules for one decision.
func (r *reads) lookup(ctx context.Context) lookup {
	return lookup{
		permission: func(login string) (string, error) { return r.Permission(ctx, login) },
		timeline: func() (facts.Timeline, error) {
			if r.fresh() {
				return facts.Opening(*r.d.Issue), nil // nothing has happened yet on an issue that was just opened
			}
			t, err := r.Timeline(ctx)
			if err != nil {
				return facts.Timeline{}, err
			}
			return rulesTimeline(r.history(t), r.now()), nil
		},
		earlier: func() (facts.Timeline, error) {
			if err := r.earlier(ctx); err != nil {
				return facts.Timeline{}, err
			}
			return rulesTimeline(r.history(r.timeline.value), r.now()), nil
		},
		files:    func() ([]string, error) { return r.Files(ctx) },
		messages: func() ([]string, error) { return r.Messages(ctx) },
		reviews:  func() (facts.Reviews, error) { return r.Reviews(ctx) },
		author:   func() (facts.Author, error) { return r.Author(ctx) },
		contrib:  func() (facts.Contrib, error) { return r.contrib.ask(ctx, r.host.Search, r.d, r.now()) },
		memory:   func() (facts.Memory, error) { return rulesMemory(r.Record(ctx), r.task), nil },
		pull:     func() (triage.PullRequest, error) { return r.Pull(ctx) },
	}
}

// known is like lookup, but it reads nothing: only data that was already read is available.
func (r *reads) known(ctx context.Context) lookup {
	l, asks := lookup{}, r.lookup(ctx)
	l.permission = func(login string) (string, error) {
		if p, ok := r.permissions[strings.ToLower(login)]; ok {
			return p, nil
		}
		return "", facts.ErrUnasked
	}
	l.timeline = func() (facts.Timeline, error) {
		if !r.timeline.asked && !r.fresh() {
			return facts.Timeline{}, facts.ErrUnasked
		}
		return asks.timeline()
	}
	l.earlier = func() (facts.Timeline, error) { return facts.Timeline{}, facts.ErrUnasked }
	l.pull = func() (triage.PullRequest, error) {
		if r.request == nil && r.d.Pull == nil {
			return triage.PullRequest{}, facts.ErrUnasked
		}
		return asks.pull()
	}
	l.files = func() ([]string, error) {
		if !r.listed && r.d.Issue.PullRequest {
			return nil, facts.ErrUnasked
		}
		return asks.files()
	}
	l.messages = func() ([]string, error) {
		if r.messages == nil && r.d.Issue.PullRequest {
			return nil, facts.ErrUnasked
		}
		return asks.messages()
	}
	l.reviews = func() (facts.Reviews, error) {
		if r.reviews == nil && r.d.Issue.PullRequest {
			return facts.Reviews{}, facts.ErrUnasked
		}
		return asks.reviews()
	}
	l.author = func() (facts.Author, error) {
		if r.author == nil && r.d.Issue.Author != "" {
			return facts.Author{}, facts.ErrUnasked
		}
		return asks.author()
	}
	l.contrib = func() (facts.Contrib, error) { return r.contrib.answer(*r.d.Issue) }
	l.memory = func() (facts.Memory, error) {
		if r.record == nil {
			return facts.Memory{}, facts.ErrUnasked
		}
		return asks.memory()
	}
	return l
}

// lastReviews returns who approves a pull request and who requests changes. A comment does not
// replace an approval. A dismissed review does not count.
func lastReviews(list []triage.Review) facts.Reviews {
	last, order := map[string]string{}, []string(nil)
	for _, r := range list {
		known := r.State == "APPROVED" || r.State == "CHANGES_REQUESTED" || r.State == "DISMISSED"
		if r.Author == "" || !known || !triage.IsMaintainer(r.Association) {
			continue
		}
		if _, again := last[r.Author]; !again {
			order = append(order, r.Author)
		}
		last[r.Author] = r.State
	}
	var out facts.Reviews
	for _, login := range order {
		switch last[login] {
		case "APPROVED":
			out.ApprovedBy = append(out.ApprovedBy, login)
		case "CHANGES_REQUESTED":
			out.ChangesRequestedBy = append(out.ChangesRequestedBy, login)
		}
	}
	return out
}

// rulesTimeline returns the history in the form that rules read. Commits with a date in the future
// are left out, because with them the pull request would never count as idle.
func rulesTimeline(h history.History, now time.Time) facts.Timeline {
	p := facts.Timeline{Partial: !h.Complete, More: h.Before > 0, Changes: make([]facts.Change, 0, len(h.Events))}
	for _, e := range h.Events {
		if e.Kind == "committed" && e.At.After(now) {
			continue
		}
		p.Changes = append(p.Changes, facts.Change{
			Kind: e.Kind, At: e.At, Login: e.Actor, Label: e.Label, Ours: h.Ours(e), Human: h.Human(e),
		})
	}
	return p
}

// rulesMemory returns a record in the form that rules read, without the current task.
func rulesMemory(r memory.Record, task string) facts.Memory {
	var m facts.Memory
	if e := r.Earlier; e != nil {
		m.Tasks, m.Comments = e.Tasks, e.Done[protocol.ActionComment]
	}
	seen := map[string]bool{}
	for _, t := range r.Tasks {
		if t.ID == task {
			continue
		}
		m.Tasks++
		for _, a := range t.Actions {
			switch {
			case a.Result != triage.Done:
			case a.Type == protocol.ActionComment:
				m.Comments++
			case a.Type == protocol.ActionAddLabel || a.Type == protocol.ActionAddLabels:
				for _, name := range a.Values {
					if key := text.Fold(name); !seen[key] {
						seen[key] = true
						m.Labels = append(m.Labels, name)
					}
				}
			}
		}
	}
	m.Never = slices.Clone(r.Never)
	_, m.Closing = r.Due()
	return m
}
