package plan

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/org/foreman-action/internal/order"
	"github.com/org/foreman-action/internal/text"
	"github.com/org/foreman-action/memory"
	"github.com/org/foreman-action/policy"
	"github.com/org/foreman-action/protocol"
	"github.com/org/foreman-action/runner/effect"
	"github.com/org/foreman-action/runner/internal/history"
	"github.com/org/foreman-action/runner/internal/outcome"
	"github.com/org/foreman-action/runner/internal/proposal"
	"github.com/org/foreman-action/triage"
)

// Needs returns the data that must be read before [Review] can return final verdicts.
func Needs(p Plan, a Attempt, seen Snapshot) Need {
	_, need := review(p, a, seen)
	return need
}

// Review returns the plan with reviewed verdicts. It skips steps that people decided against, steps
// beyond the limits of one issue, labels that the memory forbids, and labels that the repository
// does not have. It marks the actions of an earlier attempt as landed. It never permits a step that
// the plan does not permit. The verdicts are final if [Needs] returns nothing.
func Review(p Plan, a Attempt, seen Snapshot) Plan {
	p, _ = review(p, a, seen)
	return p
}

// review reviews the plan. If a group of steps is not carried out, it reviews the other steps again
// without that group, so that the group does not use up any limit.
func review(p Plan, a Attempt, seen Snapshot) (Plan, Need) {
	for {
		q, need := reviewOnce(p, a, seen)
		if need.Nothing() && !q.settleGroups() {
			q.propose()
			need = q.knownProposals(a, seen)
			return q, need
		}
		if !need.Nothing() {
			return q, need
		}
		p.Steps, p.Warnings = slices.Clone(p.Steps), q.Warnings
		for i := range q.Steps {
			s := &q.Steps[i]
			if s.Grouped() && slices.ContainsFunc(q.Steps, func(o Step) bool { return o.Apart && o.Group() == s.Group() }) {
				p.Steps[i] = *s
			}
		}
	}
}

func reviewOnce(p Plan, a Attempt, seen Snapshot) (Plan, Need) {
	r := reviewer{Plan: p, a: a, seen: seen}
	r.Steps, r.Warnings = slices.Clone(p.Steps), slices.Clone(p.Warnings)
	r.withdraw()
	r.Resumed = a.Resumed
	if r.Writes() {
		_ = r.earlier() && r.accepted() && r.overrides() && r.notes() && r.rejected() && r.labels()
	}
	return r.Plan, r.need
}

// A reviewer is one review of one plan. Its stages return false if data must be read first; then
// need lists that data.
type reviewer struct {
	Plan

	a    Attempt
	seen Snapshot
	need Need
	h    history.History // history from the timeline, once the timeline was read
}

// open reports whether a step for which want returns true must still be carried out; nil: any step.
func (r *reviewer) open(want func(*Step) bool) bool {
	for i := range r.Steps {
		if s := &r.Steps[i]; s.isOpen() && (want == nil || want(s)) {
			return true
		}
	}
	return false
}

// earlier marks the writes of an earlier attempt as landed, if the issue and its comments show
// them.
func (r *reviewer) earlier() bool {
	if !r.Resumed || !r.open(nil) {
		return true
	}
	return r.markLanded()
}

func (r *reviewer) markLanded() bool {
	if r.seen.Issue == nil {
		r.need.Issue = true
		return false
	}
	r.issue = *r.seen.Issue
	// Each step is compared with the issue in the state after the steps before it. If a label is
	// added and then removed, either both steps are repeated or neither.
	now := outcome.StateOf(r.issue)
	for i := range r.Steps {
		s := &r.Steps[i]
		if s.Verdict != triage.Do || s.Refused {
			continue
		}
		if _, comments := s.Comment(); s.Held && !s.Landed && !comments { // nobody was asked for it yet
			if !r.astray(s, now) {
				return false
			}
			continue
		}
		if c, comments := s.Comment(); comments && !s.Landed && s.Accepted == nil {
			if r.seen.Comments == nil {
				r.need.Comments = true
				return false
			}
			// If there are too many comments, the step itself will fail.
			if found, ok := r.a.Find(r.seen.Comments.List, c, s.Source.Command); ok {
				s.Landed, s.URL = true, found.URL
				r.warn(r.a.ForeignAuthor(found))
			}
			continue
		}
		s.Landed = s.Landed || outcome.Holds(s.Effect, now) && !r.recreated(s)
		if s.Effect != nil {
			outcome.Change(s.Effect, now)
		}
	}
	r.need.Settled = !r.seen.Settled && r.a.Began != nil && r.open(func(s *Step) bool { return !s.RecordOnly() && !s.Own() && r.a.Began(s.Index) })
	return !r.need.Settled
}

func (r *reviewer) recreated(s *Step) bool {
	e, adds := s.Effect.(effect.AddLabels)
	return adds && r.a.Recreated != nil && r.a.Recreated(e.Names, r.issue.LabelIDs)
}

// rejected skips what people rejected when it was proposed, unless they accept it now. Of a list of names,
// only the rejected ones are removed. It is false if the record must be read first.
func (r *reviewer) rejected() bool {
	if !r.a.Proposes {
		return true
	}
	for i := range r.Steps {
		s := &r.Steps[i]
		if !s.isOpen() || s.Accepted != nil || s.Source.Command != "" || s.Source.Undo || s.Source.OverrideHumans {
			continue
		}
		if r.seen.Kept == nil {
			r.need.Kept = true
			return false
		}
		rec := *r.seen.Kept
		if why := answered(s, true, func(item protocol.ActionItem) string { return proposal.Rejected(rec, s.Source, item) }); why != "" {
			s.set(triage.Skip, why)
		}
	}
	return true
}

// accepted marks the comments of accepted proposals as landed if they are on the issue. An earlier run
// on another event may have posted them, so they are always looked up. It is false if comments must be
// read first.
func (r *reviewer) accepted() bool {
	var made time.Time // the oldest of the proposals
	posts := func(s *Step) (effect.Comment, bool) {
		c, comments := s.Comment()
		return c, comments && s.isOpen() && s.Accepted != nil && c.Key == ""
	}
	for i := range r.Steps {
		if _, ok := posts(&r.Steps[i]); ok && (made.IsZero() || r.Steps[i].Accepted.Made.Before(made)) {
			made = r.Steps[i].Accepted.Made
		}
	}
	if made.IsZero() {
		return true
	}
	const which = "accepted"
	list := r.seen.Ours[which]
	if list == nil {
		r.need.Key, r.need.Ours = which, func(c triage.Comment) bool { return c.CreatedAt.Before(made) }
		return false
	}
	for i := range r.Steps {
		s := &r.Steps[i]
		c, ok := posts(s)
		if !ok {
			continue
		}
		if found, ok := IdentityOf(r.a.Identity, s).Find(list.List, c, ""); ok {
			s.Landed, s.URL = true, found.URL
		} else if list.Err != nil {
			s.set(triage.Skip, "the issue has too many comments to find out whether it was posted")
		}
	}
	return true
}

// IdentityOf returns the identity with which a step is written. An accepted step belongs to its proposal, so
// that every run that accepts the proposal finds the comment, and an action of the program's own has the
// same key.
func IdentityOf(id history.Identity, s *Step) history.Identity {
	if s.Accepted != nil {
		id.Task, id.Scope, id.Earlier = s.Accepted.ID, "", nil
	}
	return id
}

// astray skips a held step that holds already. If GitHub's panel may have applied the step although it was
// only proposed, because the newest event about it is ours, it is taken back when it is proposed. It is
// false if the timeline must be read first.
func (r *reviewer) astray(s *Step, now outcome.State) bool {
	if !outcome.Holds(s.Effect, now) || !panelled(s.Effect) {
		skip(s, outcome.Holds(s.Effect, now), "already there")
		return true
	}
	if r.seen.Timeline == nil {
		r.need.Timeline = true
		return false
	}
	h := history.History{Timeline: *r.seen.Timeline, Bot: r.a.Login, Issue: r.issue}
	for _, name := range effect.Values(s.Effect) {
		e, found := h.Last(history.Named(name, proposal.PanelKinds(s.Action.Type)...))
		s.Astray = s.Astray || found && h.Ours(e) && !e.At.Before(r.a.Since.Truncate(time.Second))
	}
	if !s.Astray {
		skip(s, true, "already there")
	}
	return true
}

// overrides skips steps that people decided against, and steps beyond the limits of one issue. It
// needs the timeline only if an event could affect a step.
func (r *reviewer) overrides() bool {
	limits := r.policy.RateLimits()
	still := r.still(limits)
	once := func(s *Step) bool { c, _ := s.Comment(); return c.Once != "" }
	// Another workflow, or another job of a matrix, may already have answered the event.
	answered := func(s *Step) bool { return once(s) || limits.Interval > 0 && hasCooldown(s) }
	paced := func(s *Step) bool {
		c, comments := s.Comment()
		return !s.RecordOnly() && (limits.Writes > 0 || comments && c.Key == "" && (limits.Interval > 0 || limits.Comments > 0))
	}
	matters := func(s *Step) bool {
		return once(s) || len(r.a.Earlier) > 0 && hasCooldown(s) || !still && paced(s) || overridable(s) && !s.Source.OverrideHumans
	}
	// A closed issue is not as it was opened.
	reopens := func(s *Step) bool { _, ok := s.Effect.(effect.Reopen); return ok && !s.Source.OverrideHumans }
	untouched := r.a.Untouched && !r.Resumed
	fresh := (r.a.Fresh || untouched) && (r.issue.State != "closed" || !r.open(reopens)) // people have not decided anything yet, even if the timeline is read
	if fresh && !r.Resumed && !r.open(answered) {
		return true
	}
	timeline := r.seen.Timeline
	if untouched && timeline == nil {
		timeline = &triage.Timeline{Complete: true}
	}
	switch needed := r.open(matters); {
	case needed && timeline == nil:
		r.need.Timeline = true
		return false
	case needed:
	case !still:
		return true
	default: // our earlier actions are within the limits, so an empty timeline is enough
		timeline = &triage.Timeline{Complete: true}
	}
	r.h = history.History{Timeline: *timeline, Bot: r.a.Login, Issue: r.issue}
	if r.h.Lost() {
		r.warn("the end of the timeline of " + r.a.Ref.String() + " cannot be found: our earlier actions are not counted")
	}
	// An earlier attempt may have commented although nothing is recorded, for example if the record
	// is an old backup.
	if !r.Resumed && r.h.Commented(r.a.Task, r.a.Scope) {
		r.Resumed = true
		if !r.markLanded() {
			return false
		}
	}
	if limits.Writes > 0 && !r.covers(writeWindow) || limits.Interval > 0 && r.open(hasCooldown) && !r.covers(limits.Interval) {
		return false
	}
	p := newRateLimiter(limits, r.h, r.a)
	fresh = fresh && !r.Resumed
	for i := range r.Steps {
		s := &r.Steps[i]
		if s.isOpen() && !fresh && !s.Source.OverrideHumans && !r.overrideSince(s) {
			return false
		}
		if c, _ := s.Comment(); s.isOpen() && c.Once != "" && !r.postedOnce(s, c.Once) {
			return false
		}
		if s.isOpen() && hasCooldown(s) {
			r.repeats(s)
		}
		if s.isOpen() && !s.RecordOnly() {
			p.check(s)
			s.Deferred = s.Verdict != triage.Do
		}
	}
	return true
}

// overrideSince is override. What people did before they accepted the step does not count.
func (r *reviewer) overrideSince(s *Step) bool {
	if s.Accepted == nil {
		return r.override(s)
	}
	whole := r.h
	defer func() { r.h = whole }()
	r.h.Timeline = triage.Timeline{Complete: true, Events: slices.DeleteFunc(slices.Clone(whole.Events), func(e triage.TimelineEvent) bool {
		return !e.At.After(s.Accepted.At)
	})}
	return r.override(s)
}

// slack is the assumed maximum difference between our clock and GitHub's.
const slack = 5 * time.Minute

// still reports whether the issue's own fields prove that our earlier actions are within the
// limits: the issue did not change for long enough, and it has few comments.
func (r *reviewer) still(limits policy.RateLimits) bool {
	if !r.a.Read || r.Resumed || r.issue.UpdatedAt.IsZero() {
		return false
	}
	window := max(limits.Interval, writeWindow)
	comments := r.issue.Comments
	for i := range r.Steps {
		if _, ok := r.Steps[i].Comment(); ok {
			comments++
		}
	}
	return r.a.Now.Sub(r.issue.UpdatedAt) > window+slack && (limits.Comments <= 0 || comments <= limits.Comments)
}

// record returns the memory's record of the issue; ok is false if it must be read first.
func (r *reviewer) record() (rec memory.Record, ok bool) {
	if r.seen.Record == nil {
		r.need.Record = true
		return memory.Record{}, false
	}
	return *r.seen.Record, true
}

// reaches reports whether the timeline contains a matching event, or cannot be read further back.
// If events are missing, it warns. It is false if an earlier part must be read first.
func (r *reviewer) reaches(match func(triage.TimelineEvent) bool) bool {
	_, found := r.h.Last(match)
	return found || r.ends()
}

// covers is like reaches, but for all events within a duration before now.
func (r *reviewer) covers(d time.Duration) bool { return r.h.Covers(r.a.Now.Add(-d)) || r.ends() }

// ends reports whether no earlier part of the timeline can be read. If events are missing, it
// warns.
func (r *reviewer) ends() bool {
	if r.h.Before > 0 {
		r.need.Timeline, r.need.Earlier = true, true
		return false
	}
	if !r.h.Complete && !r.h.Lost() {
		size, back := "more events than can be read", ""
		if r.h.Size > 0 {
			size = fmt.Sprintf("about %d events", r.h.Size)
		}
		if len(r.h.Events) > 0 {
			back = ", back to " + r.h.Events[0].At.UTC().Format(time.DateOnly) + ","
		}
		r.warn(fmt.Sprintf("%s has %s; only the newest %d%s were read, and actions that may contradict an earlier event are skipped",
			r.a.Ref, size, len(r.h.Events), back))
	}
	return true
}

// overrideKinds skips a step if the last event of the kinds is a person's decision against it. It
// is false if an earlier part of the timeline must be read first.
func (r *reviewer) overrideKinds(s *Step, against, did string, kinds ...string) bool {
	match := history.Kinds(kinds...)
	if !r.reaches(match) {
		return false
	}
	skipBecause(s, r.h.Override(against, did, match))
	return true
}

// overrideNames returns the names that people did not decide against. The bool is false if data
// must be read first.
func (r *reviewer) overrideNames(s *Step, list []string, o outcome.Outcome, did string) ([]string, bool) {
	complete := true
	kept := filter(s, list, func(name string) string {
		o.Name = name
		if complete = complete && r.reaches(history.About(o)); !complete {
			return ""
		}
		why, ok := r.undone(s, o)
		complete = ok
		switch {
		case why != "" || !complete:
		case o.There:
			why = r.h.RemovedBefore(o, did)
		default:
			why = r.h.AddedBack(o, did)
		}
		return about(name, why)
	})
	return kept, complete
}

// undone returns a reason if a person's undo command reverted the outcome that a step wants, or "".
// It needs the record only if the timeline shows that we reverted the outcome ourselves.
func (r *reviewer) undone(s *Step, o outcome.Outcome) (why string, ok bool) {
	if s.Source.Command != "" || s.Accepted != nil {
		return "", true
	}
	e, reverted := r.h.Undone(o)
	if !reverted {
		return "", true
	}
	rec, ok := r.record()
	if !ok || !r.h.UndoneByCommand(o, e, rec) {
		return "", ok
	}
	return fmt.Sprintf("undone by /foreman undo on %s; Foreman does not override people (override_humans)", e.At.UTC().Format(time.DateOnly)), true
}

// stayOpen skips a close in two cases. A person reopened the issue after the same source had closed
// it. Or a person closed it, so that the state and the reason are that person's decision. If the
// memory does not contain the source of our earlier close, the first case applies, too.
func (r *reviewer) stayOpen(s *Step) bool {
	why, ok := r.undone(s, outcome.Outcome{Thing: outcome.Openness})
	switch {
	case !ok:
		return false
	case why != "":
		skipBecause(s, why)
		return true
	case !r.h.Complete:
		return r.overrideKinds(s, "reopened", "reopened it", "reopened") && r.overrideKinds(s, "closed", "closed it", "closed", "reopened")
	}
	var closed triage.TimelineEvent
	for _, e := range r.h.Events {
		if e.Kind == "closed" {
			closed = e
		}
		if e.Kind != "reopened" || !r.h.Human(e) || !r.h.Ours(closed) {
			continue
		}
		rec, ok := r.record()
		if !ok {
			return false
		}
		if closedBy(rec, closed.At, s.Source) {
			skipBecause(s, fmt.Sprintf("%s reopened it on %s; Foreman does not override people (override_humans)", history.Who(e), e.At.UTC().Format(time.DateOnly)))
			return true
		}
	}
	skipBecause(s, r.h.Override("closed", "closed it", history.Kinds("closed", "reopened")))
	return true
}

// stayClosed skips a reopening if a person closed the issue, unless the author or a person who may
// triage wants it open again. The comment that caused the event counts even if the timeline does
// not list it yet. A person's command needs no further permission. It is false if an earlier part
// of the timeline must be read first.
func (r *reviewer) stayClosed(s *Step) bool {
	if s.Source.Command != "" || s.Accepted != nil {
		return true
	}
	h := r.h
	if said := r.a.Said; !said.At.IsZero() {
		h.Events = append(slices.Clip(h.Events), said)
		order.Stable(h.Events, func(a, b triage.TimelineEvent) int { return a.At.Compare(b.At) })
	}
	if _, settled := h.Last(h.SettlesReopen); !settled && !r.ends() {
		return false
	}
	may, why := h.Reopen()
	s.Reason = why
	if !may {
		s.set(triage.Skip, why)
	}
	return true
}

// CloseSlack is the maximum difference between the time of a task and that of its writes.
const CloseSlack = 15 * time.Minute

// closedBy reports whether the source (asks) may have requested the close at that time.
func closedBy(rec memory.Record, at time.Time, asks triage.Source) bool {
	known := false
	for _, t := range rec.Tasks {
		if t.At.Sub(at).Abs() > CloseSlack || t.By == memory.ByTimeline {
			continue
		}
		for _, a := range t.Actions {
			if spec, _ := protocol.SpecOf(a.Type); spec.Closes() && a.Result == triage.Done {
				known = true
				if a.Rule == asks.Rule {
					return true
				}
			}
		}
	}
	return !known
}

// repeats skips a comment if an earlier decision on the same event posted the same text.
func (r *reviewer) repeats(s *Step) {
	c, _ := s.Comment()
	e, found := r.h.Last(func(e triage.TimelineEvent) bool {
		m, ok := r.h.OurComment(e)
		return ok && r.a.Repeats(m, e.Body, c.Body)
	})
	if found {
		skip(s, true, fmt.Sprintf("an earlier decision on this event posted the same comment on %s", e.At.UTC().Format(time.DateOnly)))
	}
}

// postedOnce skips a comment that was already posted on the issue, even if it was deleted since. It
// is false if data must be read first.
func (r *reviewer) postedOnce(s *Step, key string) bool {
	said := func(ours func(triage.TimelineEvent) bool) func(triage.TimelineEvent) bool {
		return func(e triage.TimelineEvent) bool {
			m, ok := history.ParseMarker(e.Body)
			return ok && e.Kind == "commented" && ours(e) && m.Once != "" && outcome.SameOnce(m.Once, key) && m.Task != r.a.Task
		}
	}
	e, found := r.h.Last(said(r.h.Ours))
	if !found { // bot-login may be wrong
		app := said(func(e triage.TimelineEvent) bool { return history.ByApp(e.ActorType, e.Body) })
		if e, found = r.h.Last(app); found {
			r.warn(r.a.ForeignAuthor(triage.Comment{Author: e.Actor}))
			if n := r.h.Count(app); n > 1 {
				s.Doubled = r.a.Doubled(e.Actor, "once", outcome.BareKey(key), n)
			}
		}
	}
	if found {
		skip(s, true, fmt.Sprintf("it was posted on %s (once: %s)", e.At.UTC().Format(time.DateOnly), outcome.BareKey(key)))
		return true
	}
	rec, ok := r.record()
	if !ok {
		return false
	}
	same := func(said string) bool { return outcome.SameOnce(said, key) }
	for _, t := range rec.Tasks {
		for _, a := range t.Actions {
			if t.ID != r.a.Task && a.Type == protocol.ActionComment && a.Result == triage.Done && slices.ContainsFunc(a.Values, same) {
				since := ", and deleted since"
				if e, there := r.h.Last(func(e triage.TimelineEvent) bool { return a.URL != "" && e.URL == a.URL }); there {
					since = ""
					r.warn(r.a.ForeignAuthor(triage.Comment{Author: e.Actor}))
				} else if !r.h.Complete {
					since = ""
				}
				skip(s, true, fmt.Sprintf("it was posted on %s%s (once: %s)", t.At.UTC().Format(time.DateOnly), since, outcome.BareKey(key)))
				return true
			}
		}
	}
	if !r.ends() {
		return false
	}
	if !r.h.Complete {
		skipBecause(s, "the timeline of the issue is too long to find out whether it was posted before (once: "+outcome.BareKey(key)+")")
	}
	return true
}

// unannounced reports whether a comment of the same source is deferred. That comment may be the
// notice of the close.
func (r *reviewer) unannounced(s *Step) bool {
	return slices.ContainsFunc(r.Steps, func(o Step) bool {
		_, comments := o.Comment()
		return o.Deferred && comments && o.Source.ID() == s.Source.ID()
	})
}

// forbidden removes the labels that the memory forbids from a step. Labels that the plan allows
// again stay. It is false if the record must be read first.
func (r *reviewer) forbidden(s *Step, e effect.AddLabels) bool {
	if !r.a.Remembers || r.seen.Record == nil && !r.a.UsesMemory {
		return true
	}
	allowed := func(label string) bool {
		return slices.ContainsFunc(r.Steps, func(s Step) bool {
			a, ok := s.Effect.(effect.AllowAgain)
			return ok && s.Verdict == triage.Do && text.Fold(a.Label) == text.Fold(label)
		})
	}
	if !slices.ContainsFunc(e.Names, func(name string) bool { return !allowed(name) }) {
		return true
	}
	rec, ok := r.record()
	if !ok {
		return false
	}
	s.Effect = effect.AddLabels{Names: filter(s, e.Names, func(name string) string {
		if allowed(name) || !rec.Forbids(name) {
			return ""
		}
		return about(name, "an earlier decision forbids the label (never_again)")
	})}
	return true
}

// reviewNever compares a never_again step with the record.
func reviewNever(rec memory.Record, s *Step, e effect.NeverAgain) {
	if why := canceled(rec, s); why != "" {
		s.set(triage.Skip, why)
		return
	}
	e.Labels = slices.DeleteFunc(slices.Clone(e.Labels), rec.Forbids)
	s.Effect = e
	switch {
	case len(e.Labels) == 0:
		skip(s, true, "already recorded")
	case len(rec.Never)+len(e.Labels) > memory.MaxNever:
		s.set(triage.Skip, fmt.Sprintf("the memory keeps at most %d labels of never_again for an issue", memory.MaxNever))
	}
}

// reviewSchedule compares a scheduled close with the record.
func (r *reviewer) reviewSchedule(rec memory.Record, s *Step) {
	if why := canceled(rec, s); why != "" {
		s.set(triage.Skip, why)
		return
	}
	c, planned := rec.Planned(s.Source.Rule)
	switch {
	case planned && c.Vetoed && s.Source.OverrideHumans: // the rule may override the veto and schedules the close again
	case planned && c.Vetoed:
		s.set(triage.Skip, "people vetoed it before; Foreman does not override people (override_humans)")
	case planned && c.Task == r.a.Task:
		s.Landed = true
	case planned && Lost(c, r.a.Now): // the close is scheduled again
	case planned:
		skip(s, true, "it is to be closed on "+c.Due.UTC().Format(time.RFC3339)+" already")
	case len(rec.Closings) >= memory.MaxClosings:
		s.set(triage.Skip, fmt.Sprintf("the memory keeps at most %d scheduled closes for an issue", memory.MaxClosings))
	}
}

// lostAfter is how long a scheduled close may be overdue before it counts as lost. Scheduled runs
// are more frequent, so one of them would have closed the issue by then.
const lostAfter = 48 * time.Hour

// Lost reports whether scheduled runs no longer find a close, because the artifact that announces
// it has expired. Then the close is scheduled again, which creates a new artifact.
func Lost(c memory.ScheduledClose, now time.Time) bool {
	return !c.Vetoed && now.Sub(c.Due) > lostAfter
}

// canceled returns a reason if a person's undo command canceled a step's deferred action, or "".
func canceled(rec memory.Record, s *Step) string {
	if s.Source.OverrideHumans || s.Accepted != nil {
		return ""
	}
	for _, m := range history.LastMade(rec, nil) {
		same := false
		switch e := s.Effect.(type) {
		case effect.NeverAgain:
			same = m.Thing == outcome.Forbidden && outcome.NamesOf(e.Labels).Has(m.Name)
		case effect.Close:
			same = m.Thing == outcome.Scheduled && m.Name == s.Source.Rule
		default: // the others are not deferred
		}
		if same && !m.There && m.ByUndo() {
			return "undone by /foreman undo on " + m.At.UTC().Format(time.DateOnly) + "; Foreman does not override people (override_humans)"
		}
	}
	return ""
}

// labels removes labels that the repository does not have, and those that a person removed under an
// earlier name which the repository no longer has. It uses the repository's spelling for the others. It is false if labels must be looked up first.
func (r *reviewer) labels() bool {
	if r.policy.CreateLabels {
		return true
	}
	for i := range r.Steps {
		s := &r.Steps[i]
		e, adds := s.Effect.(effect.AddLabels)
		if !s.isOpen() || !adds {
			continue
		}
		for _, name := range e.Names {
			r.needLabel(name)
			if former, ok := r.removedFormerly(s, name); ok {
				r.needFormer(former.Label)
			}
		}
	}
	if len(r.need.Labels)+len(r.need.Former) > 0 {
		return false
	}
	for i := range r.Steps {
		s := &r.Steps[i]
		e, adds := s.Effect.(effect.AddLabels)
		if !s.isOpen() || !adds {
			continue
		}
		kept := filter(s, e.Names, func(name string) string {
			label := r.seen.Labels[text.Fold(name)]
			if label == "" {
				r.warn(MissingLabel(r.a.Ref, name))
				return NoLabel(name)
			}
			if why := r.policy.Labels.Refuses(label); why != "" {
				return fmt.Sprintf("%s: %s", label, why)
			}
			if former, ok := r.removedFormerly(s, name); ok && r.seen.Labels[text.Fold(former.Label)] == "" {
				return about(label, fmt.Sprintf("%s removed %s on %s, which may be its earlier name; Foreman does not override people (override_humans)",
					history.Who(former), text.Quote(former.Label), former.At.UTC().Format(time.DateOnly)))
			}
			return ""
		})
		for i, name := range kept {
			kept[i] = r.seen.Labels[text.Fold(name)]
		}
		s.Effect = effect.AddLabels{Names: kept}
	}
	return true
}

// removedFormerly returns the event by which a person may have removed a label of the step under an
// earlier name. A name that the plan itself adds is not an earlier one.
func (r *reviewer) removedFormerly(s *Step, label string) (e triage.TimelineEvent, found bool) {
	if s.Source.OverrideHumans || s.Accepted != nil {
		return e, false
	}
	e, found = r.h.RemovedFormerly(label)
	return e, found && !slices.ContainsFunc(r.Steps, func(o Step) bool {
		return outcome.NamesOf(memory.NewAction(0, o.Action).Values).Has(e.Label)
	})
}

func (r *reviewer) needLabel(name string) {
	if _, ok := r.seen.Labels[text.Fold(name)]; !ok && !outcome.NamesOf(r.need.Labels).Has(name) {
		r.need.Labels = append(r.need.Labels, name)
	}
}

// needFormer asks for a look-up of a label that may have been renamed. A host that remembers it may not
// know that.
func (r *reviewer) needFormer(name string) {
	_, known := r.seen.Labels[text.Fold(name)]
	if (!known || r.seen.Assumed[text.Fold(name)] != "") && !outcome.NamesOf(r.need.Former).Has(name) {
		r.need.Former = append(r.need.Former, name)
	}
}

func (r *reviewer) warn(text string) {
	if text != "" && !slices.Contains(r.Warnings, text) {
		r.Warnings = append(r.Warnings, text)
	}
}

// about puts a name in front of a reason. An empty reason stays empty.
func about(name, why string) string {
	if why == "" {
		return ""
	}
	return name + ": " + why
}

// filter returns the names for which against returns no reason. It adds the reasons against the
// others to the step, and skips the step if no name is left.
func filter(s *Step, list []string, against func(name string) string) []string {
	var kept, why []string
	if s.Reason != "" {
		why = append(why, s.Reason)
	}
	for _, name := range list {
		if reason := against(name); reason != "" {
			why = append(why, reason)
			continue
		}
		kept = append(kept, name)
	}
	s.Reason, s.Short = strings.Join(why, "; "), s.Short || len(kept) < len(list)
	if len(kept) == 0 {
		s.Verdict = triage.Skip
	}
	return kept
}

// skipBecause skips a step if reason is not empty.
func skipBecause(s *Step, reason string) {
	if reason != "" {
		s.set(triage.Skip, reason)
	}
}
