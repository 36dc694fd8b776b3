package memory

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"maps"
	"math"
	"slices"
	"time"

	"github.com/org/foreman-action/internal/order"
	"github.com/org/foreman-action/internal/text"
	"github.com/org/foreman-action/triage"
)

// Schema is the newest version of the encoded form of a [Record], which has outcomes. A record
// without them has an earlier version; see [Record.StoredSchema].
const Schema = 3

// The earlier versions of the encoded form: without proposals, and with proposals.
const (
	plainSchema    = 1
	proposalSchema = 2
)

// Repository is the issue number of the record about a whole repository. That record contains
// [Outcomes] and cursors of scans, and neither tasks nor changes of people.
const Repository = 0

// A Record is the history of our actions on one issue. The record with the issue number
// [Repository] is about the whole repository.
type Record struct {
	Schema   int    `json:"schema"`   // of the encoded form; 0 in a record that was never stored
	Repo     string `json:"repo"`     // "owner/name"
	Issue    int    `json:"issue"`    // number, from 1; or Repository
	Revision int    `json:"revision"` // counts the saves; 0 for a record that was never stored
	// Earlier summarizes the tasks that are not kept individually any more; nil: none.
	Earlier *Earlier `json:"earlier,omitempty"`
	// Never lists the labels that must never be added again; see [Record.Forbid].
	Never []string `json:"never,omitempty"`
	// Closings lists the scheduled closes, vetoed ones included, at most one per rule, sorted by
	// the due time; see [Record.Plan].
	Closings []ScheduledClose `json:"closings,omitempty"`
	// Proposals lists the proposals of actions to people, sorted by their numbers; see
	// [Record.Propose].
	Proposals []Proposal `json:"proposals,omitempty"`
	// ProposalComment is the id of our comment with the proposals; 0: there is none.
	ProposalComment int64 `json:"proposal_comment,omitempty"`
	// ProposalRenders are the SHA-256 sums of the last texts of that comment, in hexadecimal digits, the
	// newest last; see [Record.Render].
	ProposalRenders []string `json:"proposal_renders,omitempty"`
	// ProposalsShown is the number up to which the comment is known to show the proposals, or to have shown
	// them; 0: none.
	ProposalsShown int `json:"proposals_shown,omitempty"`
	// LastProposal is the highest number that a proposal on the issue ever had. Proposals that ended are
	// dropped in time, and their numbers are never used again.
	LastProposal int    `json:"last_proposal,omitempty"`
	Tasks        []Task `json:"tasks"` // oldest first
	// Humans lists the changes of humans since the oldest recorded task, the oldest first.
	Humans []Change `json:"humans,omitempty"`
	// Scores are those of shadow mode that an earlier version counted; nil: none.
	Scores *Scores `json:"scores,omitempty"`
	// Outcomes are what became of our actions in the repository; nil: none.
	Outcomes *Outcomes `json:"outcomes,omitempty"`
	// Cursors lists where scans ended, the one that was moved last at the end; see [Record.Move].
	Cursors []Cursor `json:"cursors,omitempty"`
}

// Put adds a task, or merges it with the task of the same id. An action that one attempt carried
// out stays done, even if a later attempt reports it as "already". Put keeps the tasks in order
// of time. It cuts texts that are too long, moves numbers and times into their range, and folds
// the oldest tasks, so that the record is within its bounds and can be saved. It drops the
// changes of humans before the oldest task that is kept. It never drops a pending proposal that
// [Record.Propose] added.
func (r *Record) Put(t Task) {
	r.bound()
	t = clipTask(t, maxActions)
	i := slices.IndexFunc(r.Tasks, func(old Task) bool { return old.ID == t.ID })
	if i >= 0 {
		t.Actions = mergeActions(r.Tasks[i].Actions, t.Actions)
		r.Tasks = slices.Delete(r.Tasks, i, i+1)
	}
	r.Tasks = append(r.Tasks, t)
	order.Stable(r.Tasks, func(a, b Task) int { return a.At.Compare(b.At) })
	r.dropHumans()
	r.fit()
}

// bound brings all parts of a record within their bounds, and replaces Tasks with a copy. A
// record that was loaded is within its bounds already.
func (r *Record) bound() {
	r.Tasks = slices.Clone(r.Tasks)
	for i, t := range r.Tasks {
		if t.check() != nil {
			r.Tasks[i] = clipTask(t, maxMerged)
		}
	}
	if r.Earlier != nil && r.Earlier.check() != nil {
		e := r.Earlier.clone()
		r.Earlier = &e
	}
	r.boundDeferred()
	r.boundProposals()
	if checkHumans(r.Humans) != nil {
		r.Humans = boundHumans(r.Humans)
	}
}

// SetHumans replaces all changes of humans. It equals [Record.AddHumans] of a caller that has
// seen every change.
func (r *Record) SetHumans(list []Change) { r.AddHumans(list, time.Time{}) }

// AddHumans adds changes of humans. since is the time from which the caller has seen every
// change, so the record's changes at or after since are replaced, and earlier ones are kept.
// Changes of the list before since are added unless the record has them already.
//
// Two changes are equal if they have the same time, type, values and login. Of equal changes that
// follow each other one is kept. A change that was undone and made again at the same time is kept
// twice, because the undoing change is between them.
//
// Changes are kept in order of time. Changes before the oldest task that is kept are dropped, or
// all of them if the record has no task. Changes with an invalid type, or with the type of a
// comment, are dropped, too. Texts that are too long are cut. The oldest changes are dropped
// until at most [MaxChanges] are left and the record is within its bounds.
func (r *Record) AddHumans(list []Change, since time.Time) {
	since = clipTime(since) // in the precision of the changes
	added := clipChanges(list)
	older := slices.DeleteFunc(clipChanges(r.Humans), func(c Change) bool {
		return !c.At.Before(since) || slices.ContainsFunc(added, c.equal)
	})
	r.Humans = boundHumans(slices.Concat(older, added))
	r.dropHumans()
	r.fitHumans()
}

// Forbid stores a label that must never be added again, and reports whether the record has it
// now. It returns false when the record has [MaxNever] other labels. Case does not matter.
func (r *Record) Forbid(label string) bool {
	switch {
	case r.Forbids(label):
		return true
	case len(r.Never) >= MaxNever:
		return false
	}
	r.Never = append(slices.Clip(r.Never), clip(label, maxLabel))
	return true
}

// Forbids reports whether a label is never to be added again. Case does not matter.
func (r *Record) Forbids(label string) bool {
	label = text.Fold(clip(label, maxLabel))
	return slices.ContainsFunc(r.Never, func(s string) bool { return text.Fold(s) == label })
}

// Planned returns the closing, vetoed or not, that the rule asked for. The empty id means an
// agent.
func (r *Record) Planned(rule string) (ScheduledClose, bool) {
	i := slices.IndexFunc(r.Closings, func(c ScheduledClose) bool { return c.Rule == clip(rule, maxWord) })
	if i < 0 {
		return ScheduledClose{}, false
	}
	return r.Closings[i], true
}

// Plan stores a closing, and reports whether the record contains a closing of c.Rule afterwards;
// an empty c.Rule means an agent. If c.Rule has a closing already, that closing stays unchanged,
// so its due time does not move. Plan returns false when the record has [MaxClosings] other
// closings.
func (r *Record) Plan(c ScheduledClose) bool {
	if _, there := r.Planned(c.Rule); there {
		return true
	}
	if len(r.Closings) >= MaxClosings {
		return false
	}
	r.Closings = append(slices.Clip(r.Closings), c.clip())
	order.Stable(r.Closings, func(a, b ScheduledClose) int { return a.Due.Compare(b.Due) })
	return true
}

// Veto records that people vetoed the closing that the rule asked for. The empty id means an
// agent.
func (r *Record) Veto(rule string) {
	r.Closings = slices.Clone(r.Closings)
	for i, c := range r.Closings {
		if c.Rule == clip(rule, maxWord) {
			r.Closings[i].Vetoed = true
		}
	}
}

// Drop removes the closing that the rule asked for. The empty id means an agent.
func (r *Record) Drop(rule string) {
	r.Closings = slices.DeleteFunc(slices.Clone(r.Closings), func(c ScheduledClose) bool { return c.Rule == clip(rule, maxWord) })
	if len(r.Closings) == 0 {
		r.Closings = nil
	}
}

// StoredSchema returns the version of the form in which [Encode] writes the record: [Schema] if it has
// outcomes, 2 if it has proposals or ever had one, and 1 otherwise. A program that does not read them
// refuses the newer form with [ErrNewer], so it cannot drop them.
func (r *Record) StoredSchema() int {
	switch {
	case r.Outcomes != nil:
		return Schema
	case r.hasProposals():
		return proposalSchema
	}
	return plainSchema
}

// Due returns from when a scheduled run has work on the issue, whatever happens until then: the first
// of these times. ok is false when there is none.
//
//   - a scheduled close is due; see [Record.ClosingDue]
//   - a pending proposal expires
//   - a pending proposal was made that belongs into our comment, and the comment does not show it yet: the
//     run was killed before it wrote the comment
func (r *Record) Due() (at time.Time, ok bool) {
	at, ok = r.ClosingDue()
	first := func(t time.Time) {
		if !ok || t.Before(at) {
			at, ok = t, true
		}
	}
	for _, p := range r.Proposals {
		if p.State != Pending {
			continue
		}
		first(p.Expires)
		if r.Unshown(p) {
			first(p.At)
		}
	}
	return at, ok
}

// FirstAfter returns the first time after another one at which a task of an issue was decided or a
// proposal ended; ok is false if there is none.
func (r *Record) FirstAfter(after time.Time) (at time.Time, ok bool) {
	for t := range r.acted() {
		if t.After(after) && (!ok || t.Before(at)) {
			at, ok = t, true
		}
	}
	return at, ok
}

// Acted returns the last time at which a task of an issue was decided or a proposal ended; ok is false if
// there is none.
func (r *Record) Acted() (at time.Time, ok bool) {
	for t := range r.acted() {
		if !ok || t.After(at) {
			at, ok = t, true
		}
	}
	return at, ok
}

// acted returns the times at which tasks were decided and proposals ended.
func (r *Record) acted() iter.Seq[time.Time] {
	return func(yield func(time.Time) bool) {
		if r.Issue == Repository {
			return
		}
		for _, t := range r.Tasks {
			if !yield(t.At) {
				return
			}
		}
		for _, p := range r.Proposals {
			if p.State != Pending && !yield(p.Ended) {
				return
			}
		}
	}
}

// Unshown reports whether a proposal waits for an answer in our comment, and the comment does not show it
// yet.
func (r *Record) Unshown(p Proposal) bool {
	return p.State == Pending && p.Carrier == triage.CarrierComment && (r.ProposalComment == 0 || p.Number > r.ProposalsShown)
}

// ClosingDue returns when the first scheduled close may be carried out, and ignores vetoed closes. ok
// is false when there is none.
func (r *Record) ClosingDue() (at time.Time, ok bool) {
	for _, c := range r.Closings {
		if !c.Vetoed && (!ok || c.Due.Before(at)) {
			at, ok = c.Due, true
		}
	}
	return at, ok
}

// AnswerWindow is how long agents skip an issue on which we commented.
const AnswerWindow = 24 * time.Hour

// Faded returns the record whose [Summary] an agent gets at the time now. Published agents skip
// an issue while its summary contains "commented". A comment that is [AnswerWindow] old or older
// is therefore called "replied", which no agent looks for. Comments that were folded into counts
// fade together, [AnswerWindow] after the last of the folded tasks. The record itself does not
// change; do not save the result.
func (r Record) Faded(now time.Time) Record {
	since := now.Add(-AnswerWindow)
	if r.Earlier != nil && !r.Earlier.To.After(since) {
		e := *r.Earlier
		e.Done = maps.Clone(e.Done)
		for typ, n := range r.Earlier.Done {
			if isComment(typ) {
				delete(e.Done, typ)
				e.Done[fadedType] = plus(e.Done[fadedType], n)
			}
		}
		r.Earlier = &e
	}
	r.Tasks = slices.Clone(r.Tasks)
	for i, t := range r.Tasks {
		if t.At.After(since) {
			continue
		}
		r.Tasks[i].Actions = slices.Clone(t.Actions)
		for j, a := range t.Actions {
			if isComment(a.Type) {
				r.Tasks[i].Actions[j].Type = fadedType
			}
		}
	}
	return r
}

// check verifies all parts of a record except the identity, the revision and the size.
func (r Record) check() error {
	if len(r.Tasks) > MaxTasks {
		return fmt.Errorf("it has %d tasks, more than %d", len(r.Tasks), MaxTasks)
	}
	if r.Earlier != nil {
		if err := r.Earlier.check(); err != nil {
			return err
		}
	}
	for _, t := range r.Tasks {
		if err := t.check(); err != nil {
			return fmt.Errorf("task %q: %w", clip(t.ID, 60), err)
		}
	}
	if err := errors.Join(r.Scores.check(), r.Outcomes.check(), checkCursors(r.Cursors), checkDeferred(r.Never, r.Closings), r.checkProposals()); err != nil {
		return err
	}
	return checkHumans(r.Humans)
}

// boundDeferred brings the forbidden labels and the closings within their bounds.
func (r *Record) boundDeferred() {
	if checkDeferred(r.Never, r.Closings) == nil {
		return
	}
	never, closings := r.Never, r.Closings
	r.Never, r.Closings = nil, nil
	for _, label := range never {
		r.Forbid(label)
	}
	for _, c := range closings {
		r.Plan(c)
	}
}

// dropHumans drops the changes of humans before the oldest task that is kept.
func (r *Record) dropHumans() {
	if len(r.Tasks) == 0 {
		r.Humans = nil
		return
	}
	r.Humans = sinceTime(r.Humans, r.Tasks[0].At)
}

// fit folds the oldest tasks, and drops the changes of humans before the remaining tasks, until
// the record is within its size. If it has no task any more, fit drops the proposals that ended first.
// The caller has brought every part within its own bounds. fit encodes each part once, and the head
// again after each series of folds. steps counts the encodings.
func (r *Record) fit() (steps int) {
	e := r.Earlier.clone()
	fold := func(n int) {
		for _, t := range r.Tasks[:n] {
			e.add(t)
		}
		if r.Tasks = r.Tasks[n:]; e.Tasks > 0 {
			r.Earlier = &e
		}
		r.dropHumans()
	}
	if more := len(r.Tasks) - MaxTasks; more > 0 {
		fold(more)
	}
	tasks, humans := roomOf(r.Tasks), roomOf(r.Humans)
	steps = len(tasks) + len(humans)
	for len(r.Tasks) > 0 {
		steps++
		free := MaxSize - r.head()
		if tasks.sum()+humans.sum() <= free {
			break
		}
		for len(r.Tasks) > 0 && tasks.sum()+humans.sum() > free {
			fold(1)
			tasks, humans = tasks[1:], humans[len(humans)-len(r.Humans):]
		}
	}
	for len(r.Tasks) == 0 && r.ended() && r.head() > MaxSize {
		steps++
		r.dropEnded()
	}
	return steps
}

// fitHumans drops the oldest changes until the record is within its size.
func (r *Record) fitHumans() {
	tasks, humans := roomOf(r.Tasks), roomOf(r.Humans)
	free := MaxSize - r.head() - tasks.sum()
	for len(humans) > 0 && humans.sum() > free {
		humans = humans[1:]
	}
	r.Humans = orNil(r.Humans[len(r.Humans)-len(humans):])
}

// head returns the bytes of an encoded record without the elements of Tasks and Humans. It
// includes the brackets of these two lists, and assumes the longest revision and, with proposals, the
// longest id of a comment that shows them all.
func (r *Record) head() int {
	h := Record{
		Repo: r.Repo, Issue: r.Issue, Revision: maxRevision, Earlier: r.Earlier, Scores: r.Scores, Outcomes: r.Outcomes,
		Never: r.Never, Closings: r.Closings, Cursors: r.Cursors,
		Proposals: r.Proposals, ProposalRenders: r.ProposalRenders, LastProposal: r.LastProposal,
	}
	if r.hasProposals() {
		h.ProposalComment, h.ProposalsShown = math.MaxInt64, r.LastProposal
	}
	data, err := marshal(h)
	if err != nil {
		return MaxSize
	}
	return len(data) + len("\n ") - len(",") + len(",\n \"humans\": [\n ]") - len(",")
}

// marshal returns the stored form of a record. It checks no bounds.
func marshal(r Record) ([]byte, error) {
	r.Schema = r.StoredSchema()
	if r.Tasks == nil {
		r.Tasks = []Task{}
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", " ")
	err := e.Encode(r)
	return b.Bytes(), err
}
