package judge

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/org/foreman-action/internal/order"
	"github.com/org/foreman-action/internal/text"
	"github.com/org/foreman-action/memory"
	"github.com/org/foreman-action/protocol"
	"github.com/org/foreman-action/runner/internal/history"
	"github.com/org/foreman-action/triage"
)

// A Host reads issues.
type Host interface {
	Issue(ctx context.Context, ref triage.Ref) (triage.Snapshot, error)
	Timeline(ctx context.Context, ref triage.Ref) (triage.Timeline, error)
}

// A Pass judges the actions of a repository that are old enough, and those that shadow mode suppressed.
type Pass struct {
	Repo  triage.Repo
	Store memory.Agenda
	Host  Host
	Bot   string        // our login
	After time.Duration // how long people have to undo an action, or to take one that shadow mode suppressed
	Now   time.Time
	// Threshold returns the proof that a pair needs; see [memory.Pair.Count].
	Threshold func(k memory.PairKey) memory.Threshold
	// Reset returns the time before which outcomes of a pair do not count; zero: all count. name is as in
	// [memory.Pair].
	Reset func(k memory.PairKey, name string) time.Time
	// Reads is the most calls to GitHub for reading. Loading a record counts LoadCost calls.
	Reads, LoadCost int
	// Keep saves the outcomes although there are none yet, so that their record exists.
	Keep bool
	// Stop reports whether the pass must end before it reads another issue; nil: it never must.
	Stop func() bool
	Warn func(format string, args ...any)
}

// A Summary is the result of a pass.
type Summary struct {
	Judged  int // actions with an outcome that was counted
	Undone  int // part of Judged; without those of shadow mode
	Waiting int // issues with actions that may be old enough, which were left for the next pass
	Reads   int
	// Changes are the permissions that pairs got or lost, in the order in which that happened.
	Changes []memory.PermissionChange
	// Outcomes are those in the record afterwards; nil: there are none.
	Outcomes *memory.Outcomes
	Scores   *memory.Scores // in that record; nil: there are none
}

// callsPerIssue are the calls to read an issue and its timeline, which usually has one page.
const callsPerIssue = 2

const (
	saveEvery = 20                 // issues after which the outcomes are saved
	saveAge   = 7 * 24 * time.Hour // after which outcomes are saved again, although nothing was counted
)

// Run judges the actions since the last pass, the oldest first. It saves the outcomes in the record of the
// repository. If it ends early, the next pass continues where it ended. It loads only the records of the
// issues that it judges, and those with actions on both sides of the time where the last pass ended.
func (p Pass) Run(ctx context.Context) (s Summary, err error) {
	repo := p.Repo.Owner + "/" + p.Repo.Name
	r, err := p.Store.Load(ctx, repo, memory.Repository)
	if err != nil && !errors.Is(err, memory.ErrNotFound) && !errors.Is(err, memory.ErrBroken) {
		return s, fmt.Errorf("read the outcomes: %w", err)
	}
	since := time.Time{}
	if s.Outcomes, s.Scores = r.Outcomes, r.Scores; r.Outcomes != nil {
		since = r.Outcomes.Judged
	}
	if since.After(p.Now.Add(skew)) {
		p.Warn("memory: actions were judged up to %s, which is later than the clock of this machine: one of the clocks was wrong; "+
			"no action is judged before that time. If it was the other clock, remove the record of the repository", since.Format(time.RFC3339))
	}
	due := p.Now.Add(-p.After)
	if !due.After(since) {
		return s, nil
	}
	list, complete, err := p.candidates(ctx, repo, since, due)
	if err != nil {
		return s, fmt.Errorf("list the issues with actions: %w", err)
	}
	defer func() {
		if !complete {
			p.Warn("memory: not all records could be searched for actions to judge; some stay unjudged")
		}
	}()
	var found []Found
	save := func(to time.Time) error {
		// Without an outcome the record is only saved to move on, and so that an artifact does not expire. If
		// issues are left, the next pass must not read the same ones again.
		idle := s.Outcomes == nil && !p.Keep || s.Outcomes != nil && to.Sub(s.Outcomes.Judged) < saveAge
		if len(found) == 0 && idle && (s.Waiting == 0 || !to.After(since)) {
			return nil
		}
		n, err := Counter{Repo: repo, Store: p.Store, Threshold: p.Threshold, Reset: p.Reset}.Count(ctx, found, to)
		if err == nil {
			s.Judged, s.Undone, s.Outcomes, found = s.Judged+n.Judged, s.Undone+n.Undone, n.Outcomes, nil
			s.Changes = append(s.Changes, n.Changes...)
		}
		if n.Broken != nil {
			p.Warn("memory: %v; new track records begin", n.Broken)
		}
		return err
	}
	var failed failures
	read := 0
	for len(list) > 0 {
		d := list[0]
		if s.Reads+p.LoadCost+callsPerIssue > p.Reads || ctx.Err() != nil || failed.outage() || p.Stop != nil && p.Stop() {
			s.Waiting = len(list) + len(failed.issues)
			return s, errors.Join(failed.err(), save(failed.before(d.At)))
		}
		got, err := p.issue(ctx, d, s.Outcomes, since, due)
		s.Reads += got.reads
		if errors.Is(err, triage.ErrLimited) {
			s.Waiting = len(list) + len(failed.issues)
			return s, errors.Join(fmt.Errorf("judge the actions on #%d: %w", d.Issue, err), save(failed.before(d.At)))
		}
		list = list[1:]
		switch {
		case err != nil: // the other issues do not wait for this one
			failed.add(d, err)
		case !got.later.IsZero():
			list = insert(list, memory.Due{Issue: d.Issue, At: got.later}, due)
			continue
		default:
			p.giveUp(&failed, due)
			if !s.Outcomes.Room() { // the outcomes after the failed issues fill the record
				p.drop(&failed, 0, len(failed.issues))
			}
			found = append(found, got.outcomes...)
			complete = complete && !got.unreadable
		}
		if read++; read%saveEvery == 0 && len(list) > 0 {
			if err := save(failed.before(list[0].At)); err != nil {
				return s, err
			}
		}
	}
	if !failed.outage() {
		p.giveUp(&failed, due)
	}
	s.Waiting = len(failed.issues)
	return s, errors.Join(failed.err(), save(failed.before(due.Add(time.Millisecond))))
}

// patience is how long an issue that cannot be read, although others can, is tried again.
const patience = 90 * 24 * time.Hour

// failures are the issues that a pass could not read. The next pass tries them again.
type failures struct {
	issues []memory.Due
	errs   []error // of issues
	row    int     // failures since an issue was read
}

func (f *failures) add(d memory.Due, err error) {
	f.issues, f.errs, f.row = append(f.issues, d), append(f.errs, fmt.Errorf("judge the actions on #%d: %w", d.Issue, err)), f.row+1
}

// err returns the first failure; nil: none.
func (f *failures) err() error {
	if len(f.errs) == 0 {
		return nil
	}
	return f.errs[0]
}

// giveUp ends a row of failures that is not an outage: issues with actions that are too old are not tried again.
func (p Pass) giveUp(f *failures, due time.Time) {
	begin := len(f.issues) - f.row
	f.row = 0
	for i := len(f.issues) - 1; i >= begin; i-- {
		if due.Sub(f.issues[i].At) > patience {
			p.drop(f, i, i+1)
		}
	}
}

// drop gives up failed issues from one index to before another one.
func (p Pass) drop(f *failures, from, to int) {
	for _, err := range f.errs[from:to] {
		p.Warn("%v; their outcome stays unknown", err)
	}
	f.issues, f.errs = slices.Delete(f.issues, from, to), slices.Delete(f.errs, from, to)
}

// outage reports whether so many issues in a row could not be read that the others cannot be read either.
func (f *failures) outage() bool { return f.row >= 3 }

// before returns the time up to which all actions were judged if those at a time are the next ones.
func (f *failures) before(next time.Time) time.Time {
	if len(f.issues) > 0 && f.issues[0].At.Before(next) {
		next = f.issues[0].At
	}
	return next.Add(-time.Millisecond)
}

// candidates returns the issues that may have actions to judge, by a time that is not after their first one.
func (p Pass) candidates(ctx context.Context, repo string, since, due time.Time) ([]memory.Due, bool, error) {
	list, complete, err := p.Store.Acted(ctx, repo, since)
	return slices.DeleteFunc(list, func(d memory.Due) bool { return d.At.After(due) }), complete, err
}

// insert adds an issue to the candidates, unless its first action is not due.
func insert(list []memory.Due, d memory.Due, due time.Time) []memory.Due {
	if d.At.After(due) {
		return list
	}
	i, _ := slices.BinarySearchFunc(list, d, memory.CompareDue)
	return slices.Insert(list, i, d)
}

// A reading is the result of reading a candidate.
type reading struct {
	outcomes   []Found   // of the actions whose outcome was not known yet
	later      time.Time // of the first action, if it is later than that of the candidate; else zero
	unreadable bool      // the record cannot be decoded
	reads      int
}

// issue reads the outcomes of the actions on an issue in a period. The outcomes on an issue that does not
// exist any more are unknown. If the record is cheap to load and its first action is later than expected,
// the issue is not read.
func (p Pass) issue(ctx context.Context, d memory.Due, known *memory.Outcomes, since, due time.Time) (got reading, err error) {
	r, err := p.Store.Load(ctx, p.Repo.Owner+"/"+p.Repo.Name, d.Issue)
	got.reads = p.LoadCost
	switch {
	case errors.Is(err, memory.ErrNotFound):
		return got, nil
	case errors.Is(err, memory.ErrBroken), errors.Is(err, memory.ErrNewer):
		got.unreadable = true
		return got, nil
	case err != nil:
		return got, err
	}
	if at, ok := r.FirstAfter(since); ok && p.LoadCost == 0 && at.After(d.At) {
		got.later = at
		return got, nil
	}
	acts := slices.DeleteFunc(actsOf(r), func(a act) bool {
		final := !a.undoable() || !known.Undoable(a.key, d.Issue)
		return known.Holds(a.key, d.Issue, a.Planned) && final || !a.At.After(since) || a.At.After(due)
	})
	if len(acts) == 0 {
		return got, nil
	}
	h, gone, reads, err := p.read(ctx, d.Issue, acts)
	got.reads += reads
	if err != nil {
		return got, err
	}
	for _, a := range acts {
		h.Issue.Number = d.Issue // of an issue that was not read, or is gone
		got.outcomes = append(got.outcomes, a.found(p.outcome(h, a, gone), h.Issue, p.Now))
	}
	return got, nil
}

// read reads an issue and its timeline, unless people's answers decide all outcomes. gone means that the
// issue does not exist any more.
func (p Pass) read(ctx context.Context, n int, acts []act) (h history.History, gone bool, reads int, err error) {
	h.Bot = p.Bot
	if !slices.ContainsFunc(acts, act.open) {
		return h, false, 0, nil
	}
	ref := triage.Ref{Owner: p.Repo.Owner, Repo: p.Repo.Name, Number: n}
	snapshot, err := p.Host.Issue(ctx, ref)
	reads++
	if err == nil {
		h.Issue = snapshot.Issue
		h.Timeline, err = p.Host.Timeline(ctx, ref)
		reads++
	}
	if errors.Is(err, triage.ErrGone) || errors.Is(err, triage.ErrNotFound) {
		return h, true, reads, nil
	}
	return h, false, reads, err
}

// outcome returns the outcome of an action that is old enough.
func (p Pass) outcome(h history.History, a act, gone bool) memory.Outcome {
	known := a.answered(h.Issue.Author)
	switch {
	case !a.open():
		return known
	case gone:
		return memory.OutcomeUnjudged
	}
	v, ok := Judge(h, a.Act, p.After, p.Now)
	switch {
	case ok && v.Outcome == memory.OutcomeUndone && v.By == "" && a.hides:
		return memory.OutcomeUnjudged
	case ok && v.Outcome == memory.OutcomeUndone:
		return v.Outcome
	case known != "":
		return known
	case !ok: // the clock was set back
		return memory.OutcomeUnjudged
	}
	return v.Outcome
}

// An act is an Act of a pair.
type act struct {
	Act

	key  memory.PairKey
	name string // as in memory.Pair
	// known is the outcome that people's answer or command decided; empty: none. A person may still undo what
	// was accepted. by is the login of the person who accepted.
	known memory.Outcome
	by    string
	order time.Time // when the act was carried out, or when its proposal was made
	hides bool      // Foreman itself hid a comment on the issue since
}

// actsOf returns the actions of a record that have a track record: the first one of each pair. A proposal that a person
// answered goes before the actions that carry it out. One that nobody answered, or that was overtaken, counts only if the pair
// did nothing else on the issue.
func actsOf(r memory.Record) []act {
	var list []act
	for _, p := range r.Proposals {
		known := answer(p.State)
		if p.Pair == "" || known == "" {
			continue
		}
		for _, item := range p.Actions() {
			done := memory.NewAction(0, item)
			done.Result = triage.Done
			for _, a := range Acts(done, p.Ended) {
				list = append(list, act{Act: a, key: KeyOf(p.Pair, a), name: p.Source, known: known, by: p.By, order: p.At.Truncate(time.Second)})
			}
		}
	}
	for _, t := range r.Tasks {
		for _, action := range t.Actions {
			for _, a := range Acts(action, t.At) {
				if action.Pair != "" {
					list = append(list, act{Act: a, key: KeyOf(action.Pair, a), name: action.Rule, order: t.At})
				}
			}
		}
	}
	order.Stable(list, func(a, b act) int {
		return cmp.Or(cmp.Compare(a.unanswered(), b.unanswered()), a.order.Compare(b.order))
	})
	type kind struct {
		key     memory.PairKey
		planned bool
	}
	seen := map[kind]bool{}
	list = slices.DeleteFunc(list, func(a act) bool {
		k := kind{a.key, a.Planned}
		again := seen[k]
		seen[k] = true
		return again
	})
	undone, hidden := commanded(r), lastHidden(r)
	for i := range list {
		list[i].hides = !hidden.Before(list[i].At)
		if a := &list[i]; a.undoable() && slices.ContainsFunc(undone, a.undoneBy) {
			a.known = memory.OutcomeUndone
		}
	}
	return list
}

// unanswered returns 1 for a proposal that ended without an answer, and 0 for all other acts.
func (a act) unanswered() int {
	if a.known == memory.OutcomeExpired {
		return 1
	}
	return 0
}

// lastHidden returns when Foreman hid a comment on the issue last; zero: never.
func lastHidden(r memory.Record) (at time.Time) {
	for _, t := range r.Tasks {
		if t.At.After(at) && slices.ContainsFunc(t.Actions, func(a memory.Action) bool { return a.Type == protocol.ActionHideComment && a.Result == triage.Done }) {
			at = t.At
		}
	}
	return at
}

// commanded returns the changes that people made by the command undo.
func commanded(r memory.Record) []Act {
	var list []Act
	for _, t := range r.Tasks {
		for _, a := range t.Actions {
			if a.Result == triage.Done && triage.ParseSource(a.Rule).Command == history.UndoCommand {
				list = append(list, changes(a, t.At)...)
			}
		}
	}
	return list
}

// undoneBy reports whether a change by the command undo undoes the act. Times of tasks have seconds.
func (a act) undoneBy(undo Act) bool {
	e := triage.TimelineEvent{At: undo.At, Label: undo.Value}
	return !undo.At.Before(a.At.Truncate(time.Second)) && slices.ContainsFunc(kinds[undo.Type].made, func(kind string) bool {
		e.Kind = kind
		return contrary(a.Act, e)
	})
}

// answer returns the outcome of a proposal that ended; empty for one that waits.
func answer(s memory.ProposalState) memory.Outcome {
	switch s {
	case memory.Accepted:
		return memory.OutcomeAccepted
	case memory.Rejected:
		return memory.OutcomeRejected
	case memory.Expired, memory.Overtaken:
		return memory.OutcomeExpired
	case memory.Pending:
	}
	return ""
}

// KeyOf returns the pair of an act by a source. People's logins are not part of a pair.
func KeyOf(source string, a Act) memory.PairKey {
	k := memory.PairKey{Source: source, Action: a.Type}
	switch a.Type {
	case protocol.ActionAddLabel, protocol.ActionRemoveLabel, protocol.ActionSetMilestone, protocol.ActionSetType:
		k.Value = text.LabelKey(a.Value)
	}
	return k
}
