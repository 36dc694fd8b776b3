package runner

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/org/foreman-action/internal/text"
	"github.com/org/foreman-action/memory"
	"github.com/org/foreman-action/protocol"
	"github.com/org/foreman-action/runner/internal/execute"
	"github.com/org/foreman-action/runner/internal/history"
	"github.com/org/foreman-action/runner/internal/labels"
	"github.com/org/foreman-action/runner/internal/plan"
	"github.com/org/foreman-action/runner/internal/proposal"
	"github.com/org/foreman-action/runner/internal/schedule"
	"github.com/org/foreman-action/triage"
)

// A Survey is the result of one scheduled run.
type Survey struct {
	Event  string // such as "schedule"
	Repo   string // "owner/name"
	TaskID string // id of the run; each issue's task id is derived from it
	DryRun bool
	Status Status // applied: an action was carried out; suggested: only proposed; partial and failed: something failed
	Reason string // short summary, for the log

	Found    int // issues that the scans found, without duplicates
	Left     int // issues and closes that the run did not reach
	Decided  int // issues with a report, each once
	Failed   int // issues with a failure, each once
	Executed int // actions carried out in all reports
	// Suggested counts the actions in all reports that were proposed to people.
	Suggested int
	Closed    int // due closes that were carried out
	Dropped   int // due closes that were dropped
	Waiting   int // issues with a close or a proposal that is not due yet
	// Judgment is what became of earlier actions; see [Runner.Judge].
	Judgment Judgment

	// Reports has one report for each due close, and then one for each found issue. So an issue may
	// have several.
	Reports  []Report
	Warnings []string // for maintainers
	Missing  []string // permissions that the token lacks
}

// Sweep handles a schedule event. It carries out the due closes, and then decides on the issues
// that the scans of the rules find, one after another. It needs Options.Host.Search. If one issue
// fails, the others are still handled, and the error contains the number of failures. If the
// token's budget of calls runs out, the remaining issues are skipped with a warning.
//
// The task id of an issue is derived from id and the issue, so a re-run of the same run
// does not repeat writes.
func (r *Runner) Sweep(ctx context.Context, id TaskIdentity, d triage.Delivery) (Survey, error) {
	set, err := r.forCall(id, d)
	s := &sweep{setup: set, d: d, decided: map[int]bool{}}
	s.o.Live = false    // no issue counts as just opened
	s.o.Explain = false // there may be many issues
	s.Event, s.Repo, s.TaskID, s.DryRun = d.Key(), d.FullRepo(), s.id.ID, s.dry
	if err == nil {
		err = s.run(ctx)
	}
	s.settle(err)
	return s.Survey, err
}

// A sweep is one scheduled run.
type sweep struct {
	setup
	Survey

	d       triage.Delivery
	decided map[int]bool // the issues with a report; true: one of them failed
	errs    []error
	warned  map[string]*warned // by text
	refused []string           // the refusals of GitHub that will not change, one for each issue
	stopped bool               // no further issue may be started
}

func (s *sweep) run(ctx context.Context) error {
	switch {
	case s.o.Host.Issues == nil:
		return fmt.Errorf("look for issues: %w", triage.ErrNeedsHost)
	case s.o.Host.Search == nil:
		return errors.New("search for issues: the host cannot search")
	}
	s.labels = labels.New(s.o.Host.Repository, s.o.Host.KnownLabel)
	if b := s.o.Memory.Batch; b != nil && !s.tryOnly {
		b.Defer()
		s.saves = &saves{}
	}
	s.room = &proposalRoom{left: max(1, s.c.Policy.Scanned()/10)}
	s.closeAll(ctx)
	s.scan(ctx)
	s.Left += s.room.refused
	s.settleSaves(ctx)
	s.judgeAll(ctx)
	s.warnRefusals()
	if s.Failed > 0 {
		s.errs = append([]error{fmt.Errorf("%d of %d issues failed", s.Failed, s.Decided)}, s.errs...)
	}
	const most = 20
	if more := len(s.errs) - most; more > 0 {
		s.errs = append(s.errs[:most], fmt.Errorf("and %d more", more))
	}
	return errors.Join(s.errs...)
}

// settle sets the status and the summary.
func (s *sweep) settle(err error) {
	s.Reason = schedule.Counts{Found: s.Found, Executed: s.Executed, Suggested: s.Suggested, Closed: s.Closed, Dropped: s.Dropped, Waiting: s.Waiting, Left: s.Left, Failed: s.Failed}.String()
	switch {
	case err != nil && s.Executed > 0:
		s.Status = StatusPartial
	case err != nil:
		s.Status = StatusFailed
	case len(s.refused) > 0 && s.Executed > 0:
		s.Status = StatusPartial
	case len(s.refused) > 0:
		s.Status = StatusDone
	case s.DryRun && slices.ContainsFunc(s.Reports, func(r Report) bool { return r.Status == StatusDryRun }):
		s.Status = StatusDryRun
	case s.Executed > 0:
		s.Status = StatusApplied
	case s.Suggested > 0:
		s.Status = StatusSuggested
	default:
		s.Status = StatusSkipped
	}
}

func (s *sweep) warnf(format string, args ...any) {
	if text := fmt.Sprintf(format, args...); !slices.Contains(s.Warnings, text) {
		s.Warnings = append(s.Warnings, text)
	}
}

// warnOf adds a warning about an issue. The same warning about several issues is listed once.
func (s *sweep) warnOf(issue int, text string) {
	n, again := s.warned[text]
	if !again {
		if s.warned == nil {
			s.warned = map[string]*warned{}
		}
		n = &warned{at: len(s.Warnings)}
		s.warned[text] = n
		s.Warnings = append(s.Warnings, "")
	}
	const most = 5 // issues that the warning lists
	switch n.count++; {
	case n.count <= most:
		n.issues = append(n.issues, "#"+strconv.Itoa(issue))
		s.Warnings[n.at] = strings.Join(n.issues, ", ") + ": " + text
	default:
		s.Warnings[n.at] = fmt.Sprintf("%s and %d more: %s", strings.Join(n.issues, ", "), n.count-most, text)
	}
}

// A warned is a warning about some issues of the run.
type warned struct {
	at     int // its index in Survey.Warnings
	count  int
	issues []string // the first ones
}

// budgetReserve is the number of the token's calls that a scheduled run leaves to other runs.
const budgetReserve = 100

// stop reports whether the run must not start anything more. Then it adds rest, the number of
// remaining issues or closes, to Left.
func (s *sweep) stop(ctx context.Context, rest int) bool {
	left, known := s.o.Host.Search.Budget()
	switch {
	case s.stopped:
	case ctx.Err() != nil:
		s.errs = append(s.errs, fmt.Errorf("the run was stopped: %w", context.Cause(ctx)))
	case known && left < budgetReserve:
		s.warnf("only %d API calls of the token are left in this hour; the remaining issues wait for the next run", left)
	default:
		return false
	}
	s.stopped = true
	s.Left += rest
	return true
}

// take adds a report and its error. An exhausted rate limit stops the run. If it stopped an issue
// before any write, the issue counts as left, not as failed.
func (s *sweep) take(rep Report, err error) {
	if errors.Is(err, triage.ErrLimited) {
		s.stopped = true
		s.warnf("%v; the remaining issues wait for the next run", err)
		if rep.Executed == 0 {
			s.Left++
			return
		}
	}
	s.Reports = append(s.Reports, rep)
	s.Executed += rep.Executed
	s.Suggested += rep.Suggested
	failed, known := s.decided[rep.Issue]
	if !known {
		s.Decided++
	}
	if err != nil && !failed {
		s.Failed++
	}
	s.decided[rep.Issue] = failed || err != nil
	for _, need := range rep.Missing {
		if !slices.Contains(s.Missing, need) {
			s.Missing = append(s.Missing, need)
		}
	}
	for _, text := range rep.Warnings {
		s.warnOf(rep.Issue, text)
	}
	if rep.refusal() != "" {
		s.refused = append(s.refused, fmt.Sprintf("#%d: %s", rep.Issue, rep.refusal()))
	}
	s.stopped = s.stopped || rep.Closed
	if err != nil {
		s.errs = append(s.errs, fmt.Errorf("#%d: %w", rep.Issue, err))
	}
}

// judgeAll judges the actions that are old enough, with the calls that are left.
func (s *sweep) judgeAll(ctx context.Context) {
	if s.stopped {
		return
	}
	j, err := s.judge(ctx, s.d.Repo, func() bool {
		left, known := s.o.Host.Search.Budget()
		return known && left < budgetReserve
	}, s.warnf)
	s.Judgment = j
	switch {
	case err == nil:
	case s.o.Memory.Implicit || !s.c.Policy.Earned: // nothing depends on the outcomes
		s.o.Log.InfoContext(ctx, "actions were not judged; the next scheduled run continues", "error", err)
	default:
		s.warnf("judge actions: %v; the next run continues", err)
	}
}

// warnRefusals adds one warning about the actions that GitHub refused for good.
func (s *sweep) warnRefusals() {
	const most = 3
	switch n := len(s.refused); {
	case n == 0:
	case n <= most:
		s.warnf("%s", strings.Join(s.refused, "; "))
	default:
		s.warnf("GitHub refused actions on %d issues; %s; the others are in the report", n, strings.Join(s.refused[:most], "; "))
	}
}

// settleSaves confirms the saved records. Records that another run saved meanwhile are saved again.
func (s *sweep) settleSaves(ctx context.Context) {
	if s.saves == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), saveTime)
	defer cancel()
	lost, err := s.o.Memory.Batch.Settle(ctx)
	if err != nil {
		s.warnf("memory: %v; the record of this task is not saved", err)
	}
	list := *s.saves
	s.saves = nil
	for _, save := range list {
		if !slices.Contains(lost, save.ref.Number) {
			continue
		}
		if err := s.update(ctx, save.ref, save.change); err != nil {
			s.errs = append(s.errs, fmt.Errorf("#%d: record the task: %w", save.ref.Number, err))
		}
	}
}

// report starts the report on an issue. Its task id is derived from the run, the issue and what.
func (s *sweep) report(n int, what ...string) Report {
	id := protocol.DeriveTaskID(append([]string{s.id.ID, strconv.Itoa(n)}, what...)...)
	return Report{
		Event: s.Event, Repo: s.Repo, Issue: n, TaskID: id, DryRun: s.dry, Decision: protocol.Skip, Status: StatusSkipped,
	}
}

// The number of calls that a decision on an issue takes at most, usually: reads, and a few writes.
// Look-ups of the rules beyond usualReads are added.
const (
	callsPerIssue = 8
	usualReads    = 4
)

// callsOf returns how many calls a decision on an issue takes at most, usually.
func (s *sweep) callsOf() int {
	reads := 0
	for _, l := range s.c.Rules.Lookups() {
		reads += l.Calls
	}
	return callsPerIssue + max(0, reads-usualReads)
}

// scan decides on the issues that the scans find. If the calls of the token may not suffice for all
// of them, it continues where an earlier run ended.
func (s *sweep) scan(ctx context.Context) {
	list, windows, whole := s.search(ctx)
	each := s.callsOf()
	waiting := schedule.Numbers(list)
	for i := 0; i < len(list); i++ {
		left, known := s.o.Host.Search.Budget()
		if scarce := left-budgetReserve < each*(len(list)-i); whole && known && left >= budgetReserve && scarce {
			whole = false
			s.scans(s.c.Policy.Scanned()).Resume(ctx, windows)
			list = append(list[:i:i], slices.DeleteFunc(schedule.Candidates(windows), func(c schedule.Candidate) bool { return !waiting[c.Issue.Number] })...)
		}
		if s.stop(ctx, len(list)-i) {
			break
		}
		before := len(s.Reports)
		s.take(s.decideOn(ctx, list[i]))
		if len(s.Reports) > before {
			delete(waiting, list[i].Issue.Number)
		}
	}
	closed := slices.ContainsFunc(s.Reports, func(r Report) bool { return r.Closed }) // no run can go on
	if !closed && len(waiting) > 0 || !whole {
		s.scans(0).Advance(ctx, windows, waiting)
	}
}

// search runs the scans, and returns the found issues that the run examines, without duplicates, and
// the part of each search. whole is true if these are all issues.
func (s *sweep) search(ctx context.Context) (list []schedule.Candidate, windows []schedule.Window, whole bool) {
	most, all := s.c.Policy.Scanned(), true
	searches := schedule.Searches(s.ruleset().Scans())
	for i := range searches {
		// An agent may be asked about issues on which no rule acts. An earlier attempt may have added
		// the label, and not more.
		if s.mayDecideFirst() && s.id.First {
			searches[i].Without(s.ruleset().Exempt)
		}
	}
	open, listed := s.openIssues(ctx, searches)
	for _, one := range searches {
		if s.stop(ctx, 0) {
			break
		}
		query := one.Query
		var found Found
		var err error
		if listed && one.Listed() {
			among := one.Among(open)
			found = Found{Issues: among, Total: len(among), Whole: true}
		} else {
			found, err = s.o.Host.Search.Find(ctx, s.repo(), query, most)
		}
		if errors.Is(err, triage.ErrLimited) {
			s.stopped = true
			s.warnf("scan %q: %v; the remaining issues wait for the next run", text.Quote(query), err)
			break
		}
		if err != nil {
			s.searchFailed(query, err)
			continue
		}
		if !found.Whole {
			s.warnf("scan %q: GitHub's search was incomplete; a later run finds the other issues", text.Quote(query))
		}
		all = all && (len(found.Issues) < most || found.Total <= len(found.Issues))
		windows = append(windows, schedule.Window{Search: one, Issues: found.Issues, Total: found.Total})
	}
	list = schedule.Candidates(windows)
	s.Found = len(list)
	if all && s.Found <= most {
		return list, windows, true
	}
	if !s.stop(ctx, 0) {
		s.scans(most).Resume(ctx, windows)
	}
	list = schedule.Share(windows, most)
	if left := s.Found - len(list); left > 0 {
		s.Left += left
		s.warnf("the scans find more than %d issues (policy.max_scanned_issues); %d are left", most, left)
	}
	return list, windows, false
}

func (s *sweep) searchFailed(query string, err error) {
	err = fmt.Errorf("scan %q: %w", text.Quote(query), err)
	if p, ok := errors.AsType[*triage.PermissionError](err); ok {
		s.Missing = append(s.Missing, p.Need)
	}
	s.errs = append(s.errs, err)
}

// scans returns the access of the scans to the search and to the memory.
func (s *sweep) scans(most int) schedule.Scans {
	m := s.o.Memory
	return schedule.Scans{
		Most: most, Stopped: s.stopped, Repo: s.repo(), Store: m.Store, Writes: m.Store != nil && !m.Discards && !m.ReadOnly, Dry: s.dry, Warn: s.warnf, Fail: s.searchFailed,
		Find: func(ctx context.Context, query string, n int) ([]triage.Issue, error) {
			found, err := s.o.Host.Search.Find(ctx, s.repo(), query, n)
			return found.Issues, err
		},
		Save: s.update,
	}
}

// repo returns the repository of the run.
func (s *sweep) repo() triage.Ref { return triage.Ref{Owner: s.d.Repo.Owner, Repo: s.d.Repo.Name} }

// openIssues returns all open issues and pull requests, if listing them takes no more calls than
// the searches that the list replaces. ok is false if it takes more calls or fails; then the caller
// searches.
func (s *sweep) openIssues(ctx context.Context, searches []schedule.Search) (list []triage.Issue, ok bool) {
	calls := 0
	for _, one := range searches {
		if one.Listed() {
			calls++
		}
	}
	if calls < 2 || s.stop(ctx, 0) {
		return nil, false
	}
	list, err := s.o.Host.Search.Open(ctx, s.repo(), calls)
	if err != nil && !errors.Is(err, triage.ErrTruncated) {
		s.o.Log.InfoContext(ctx, "the open issues cannot be listed; searching instead", "error", err)
	}
	return list, err == nil
}

// decideOn decides on one issue in the state that the search returned. If there is work to do, it
// decides again on the current issue.
func (s *sweep) decideOn(ctx context.Context, c schedule.Candidate) (Report, error) {
	rep := s.report(c.Issue.Number)
	one := s.forTask(rep.TaskID)
	if s.mayDecideFirst() {
		look, ok, err := s.firstLook(ctx, &one, c)
		if ok {
			return look, err
		}
		rep.Warnings = look.Warnings
	}
	d, err := s.event(ctx, c.Issue.Number)
	switch {
	case errors.Is(err, triage.ErrGone):
		rep.skip(triage.ErrGone.Error())
		_, rep.Closed = errors.AsType[*triage.RefusedError](err)
		return rep, nil
	case err != nil:
		rep.fail(err)
		return rep, err
	}
	rep.IssueURL, rep.Title = d.Issue.URL, d.Issue.Title
	if why := c.Stale(*d.Issue); why != "" {
		rep.skip("the search result is outdated: " + why)
		return rep, nil
	}
	d.Scans = c.Scans
	out, err := run(ctx, one, d, nil)
	seen := func(text string) bool { return slices.Contains(out.Warnings, text) }
	out.Warnings = append(slices.DeleteFunc(rep.Warnings, seen), out.Warnings...)
	return out, err
}

// mayDecideFirst reports whether only rules decide. An agent must not decide on an issue that may
// have changed since the search.
func (s *sweep) mayDecideFirst() bool {
	when := s.c.Agent.When
	return s.o.Agent.Agent == nil || when == nil || !strings.Contains(when.String(), triage.EventSchedule)
}

// firstLook decides on an issue in the state that the search returned. ok is false if there may be
// work; then task contains the data that was read.
func (s *sweep) firstLook(ctx context.Context, task *setup, c schedule.Candidate) (rep Report, ok bool, err error) {
	rep = s.report(c.Issue.Number)
	rep.IssueURL, rep.Title = c.Issue.URL, c.Issue.Title
	d := s.d
	d.Number = c.Issue.Number
	d = d.WithIssue(triage.Snapshot{Issue: c.Issue})
	d.Scans = c.Scans
	a := newAttempt(*task, d, nil, rep.warnf)
	a.first = true
	task.read = a.reads
	rec := recorder{attempt: a}
	if j := s.o.Memory.Journal; j != nil {
		if _, err := j.Ledger(ctx, rec.ledgerKey()); !errors.Is(err, memory.ErrNotFound) {
			return rep, false, nil // an earlier attempt has decided
		}
	}
	dec, err := decider{a}.decide(ctx)
	if nothing := err == nil && dec.Failed == nil && quiet(dec.Decision, len(dec.Message.Actions)); !nothing {
		return rep, false, nil // an error occurs again on the current issue
	}
	rep.setDecision(dec)
	_, err = act(ctx, rec, &rep, dec, nil)
	return rep, true, err
}

// event returns the schedule event with one issue, which it fetches.
func (s *sweep) event(ctx context.Context, n int) (triage.Delivery, error) {
	d := s.d
	d.Number = n
	return fetch(ctx, s.setup, d)
}

// closeAll carries out the closes that are due.
func (s *sweep) closeAll(ctx context.Context) {
	if s.o.Memory.Agenda == nil || s.o.Memory.Store == nil || s.o.Memory.Discards {
		return
	}
	list, err := s.pending(ctx)
	if err != nil {
		if s.o.Memory.Implicit && !s.ruleset().ClosesLater() {
			s.o.Log.InfoContext(ctx, "the memory cannot be used", "error", err)
			return
		}
		s.warnf("memory: %v; due closes wait for the next run", err)
		return
	}
	for i, d := range list {
		if d.At.After(s.o.Clock.Now()) {
			s.Waiting += len(list) - i
			return
		}
		if s.stop(ctx, len(list)-i) {
			return
		}
		s.closeOn(ctx, d.Issue)
	}
}

func (s *sweep) pending(ctx context.Context) ([]memory.Due, error) {
	ctx, cancel := context.WithTimeout(ctx, loadTime)
	defer cancel()
	list, complete, err := s.o.Memory.Agenda.Pending(ctx, s.Repo)
	if err == nil && !complete {
		s.warnf("memory: could not search all records for due closes; some may be late or missed")
	}
	return list, err
}

// closeOn carries out the due closes of one issue.
func (s *sweep) closeOn(ctx context.Context, n int) {
	r, err := s.o.Memory.Store.Load(ctx, s.Repo, n)
	switch {
	case errors.Is(err, memory.ErrNotFound):
		return // the agenda listed an issue without a record
	case err != nil:
		s.warnf("memory: #%d: %v; a close that may be due waits for the next run", n, err)
		return
	}
	open, due := schedule.Due(r, s.o.Clock.Now())
	s.Waiting += min(1, len(open)-len(due))
	if outstanding(r, s.o.Clock.Now()) {
		s.tidy(ctx, r)
	}
	if len(due) == 0 {
		return
	}
	d, err := s.event(ctx, n)
	switch {
	case errors.Is(err, triage.ErrGone):
		s.dropCloses(ctx, n, triage.ErrGone.Error(), func(r *memory.Record) { schedule.Forget(r, due) })
		s.Dropped += len(due)
		return
	case err != nil:
		rep := s.report(n, "closing")
		rep.fail(err)
		s.take(rep, err)
		return
	case d.Issue.State == "closed":
		task, ours := s.unrecorded(ctx, d, r, due)
		s.dropCloses(ctx, n, "it is closed already", func(r *memory.Record) {
			schedule.Forget(r, open)
			if ours {
				r.Put(task)
			}
		})
		s.Dropped += len(open)
		return
	}
	for _, c := range due {
		rep, final, err := s.closeNow(ctx, d, r, c)
		s.take(rep, err)
		switch {
		case err != nil:
			return
		case rep.Executed > 0:
			s.Closed++
			return
		case final && (rep.Status == StatusSkipped || rep.Status == StatusDone):
			s.Dropped++
		}
	}
}

// tidy brings the proposals of a record up to date.
func (s *sweep) tidy(ctx context.Context, r memory.Record) {
	if s.dry {
		return
	}
	rep := s.report(r.Issue, "proposals")
	d := s.d
	d.Number = r.Issue
	if err := s.forTask(rep.TaskID).tidy(ctx, &rep, d, r); err != nil {
		s.take(rep, err)
	}
}

// dropped is the beginning of the reason for a close that is not carried out.
const dropped = "the scheduled close is dropped: "

// dropCloses removes scheduled closes of an issue from its record, and reports that.
func (s *sweep) dropCloses(ctx context.Context, n int, why string, change func(*memory.Record)) {
	rep := s.report(n, "closing")
	s.dropClose(ctx, &rep, why, change)
	s.take(rep, nil)
}

// dropClose removes a close from the record, and reports that.
func (s *sweep) dropClose(ctx context.Context, rep *Report, why string, change func(*memory.Record)) {
	rep.skip(dropped + why)
	if s.dry {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), saveTime)
	defer cancel()
	ref := triage.Ref{Owner: s.d.Repo.Owner, Repo: s.d.Repo.Name, Number: rep.Issue}
	err := s.update(ctx, ref, func(r *memory.Record) error {
		change(r)
		return nil
	})
	if err != nil {
		rep.warnf("memory: %v; the next run checks the close again", err)
	}
}

// unrecorded returns the task of an earlier run that closed the issue but could not record it. With
// the task in the record, the close can be reverted. ok is false if there is no such task.
func (s *sweep) unrecorded(ctx context.Context, d triage.Delivery, r memory.Record, due []memory.ScheduledClose) (task memory.Task, ok bool) {
	t, err := s.o.Host.Issues.Timeline(ctx, d.Ref())
	if err != nil {
		s.o.Log.InfoContext(ctx, "it is unknown whether Foreman closed an issue", "issue", r.Issue, "error", err)
		return task, false
	}
	h := history.History{Timeline: t, Bot: s.login(), Issue: *d.Issue}
	c, at, ok := schedule.ClosedUnrecorded(h, r, due)
	if !ok {
		return task, false
	}
	rep := s.report(r.Issue, "closing", c.Rule)
	a := newAttempt(s.forTask(rep.TaskID), d, nil, rep.warnf)
	dec, err := closing(a, r, c)
	if err != nil {
		return task, false
	}
	rep.setDecision(dec)
	rep.Status = StatusApplied
	rep.Actions = []triage.ActionResult{{
		Action: dec.Message.Actions[0], Source: triage.Source{Rule: c.Rule}, Pair: c.Pair, Verdict: triage.Do, State: triage.Done,
	}}
	if c.Reason != "" {
		rep.Actions[0].Values = []string{c.Reason}
	}
	return taskOf(rep, at), true
}

// closing returns the decision to close an issue whose grace period is over.
// r is the record with the close.
func closing(a attempt, r memory.Record, c memory.ScheduledClose) (decided, error) {
	by, from := cmp.Or(a.o.Agent.Name, byRules), triage.Source{}
	if c.Rule != "" {
		by, from = byRules, a.source(c.Rule, memory.SourceDigest(c.Pair))
	}
	d, err := schedule.Close(a.id.ID, by, from, c)
	d.AgentPair = c.Pair
	if c.Accepted != "" && (!a.c.Policy.Earned || !a.o.Memory.Shared || acceptedIn(r, c)) {
		d.Accepted = map[int]plan.Acceptance{0: {ID: a.id.ID, By: c.Accepted, Made: c.At, At: c.At, Pair: c.Pair}}
	}
	return decided{Decision: d, At: a.o.Clock.Now().UTC()}, err
}

// acceptedIn reports whether a record has the accepted proposal of a scheduled close.
func acceptedIn(r memory.Record, c memory.ScheduledClose) bool {
	return slices.ContainsFunc(r.Proposals, func(p memory.Proposal) bool {
		return p.State == memory.Accepted && p.Source == c.Rule && p.Pair == c.Pair && text.SameLogin(p.By, c.Accepted) &&
			slices.ContainsFunc(p.Actions(), func(item protocol.ActionItem) bool { return item.Type == protocol.ActionCloseIssue })
	})
}

// closeNow closes an issue whose grace period is over, unless people veto it. As for any other
// decision, the policy and human overrides are checked, and audit and journal are written. final
// means that no further attempt is needed.
func (s *sweep) closeNow(ctx context.Context, d triage.Delivery, r memory.Record, c memory.ScheduledClose) (rep Report, final bool, err error) {
	rep = s.report(d.Number, "closing", c.Rule)
	rep.IssueURL, rep.Title = d.Issue.URL, d.Issue.Title
	a := newAttempt(s.forTask(rep.TaskID), d, nil, rep.warnf)
	a.due, a.reads.record = &c, &r
	if why := orphaned(a, c); why != "" {
		s.dropClose(ctx, &rep, why, func(r *memory.Record) { r.Drop(c.Rule) })
		return rep, true, nil
	}
	why, err := vetoed(ctx, a, c)
	switch {
	case errors.Is(err, triage.ErrGone):
		s.dropClose(ctx, &rep, triage.ErrGone.Error(), func(r *memory.Record) { r.Drop(c.Rule) })
		return rep, true, nil
	case err != nil:
		err = fmt.Errorf("look for vetoes: %w", err)
		rep.fail(err)
		return rep, false, err
	case why != "":
		s.dropClose(ctx, &rep, why, func(r *memory.Record) { r.Veto(c.Rule) })
		return rep, true, nil
	}
	dec, err := closing(a, r, c)
	if err != nil {
		rep.fail(err)
		return rep, false, err
	}
	rec := recorder{attempt: a}
	kept := rec.resume(ctx)
	rep.setDecision(dec)
	out, err := act(ctx, rec, &rep, dec, kept)
	return rep, err == nil && !out.Deferred, err
}

// orphaned returns the reason if the rule or agent that scheduled a close no longer exists, or "".
func orphaned(a attempt, c memory.ScheduledClose) string {
	switch {
	case c.Rule == "" && a.o.Agent.Agent == nil:
		return "it was scheduled by an agent, and no agent is configured"
	case c.Rule == "" || slices.Contains(a.c.Rules.IDs(), c.Rule):
		return ""
	}
	return "there is no rule " + c.Rule + " any more"
}

// vetoed returns people's veto against a close, or "" if there is none.
func vetoed(ctx context.Context, a attempt, c memory.ScheduledClose) (string, error) {
	if len(c.Veto) == 0 {
		return "", nil
	}
	h, err := a.reads.reach(ctx, func(e triage.TimelineEvent) bool { return e.At.Before(c.At) })
	if err != nil {
		return "", err
	}
	return schedule.Vetoed(ctx, h, c, func(ctx context.Context, comment int64) ([]triage.Reaction, error) {
		return a.o.Host.Search.Reactions(ctx, a.d.Ref(), comment, "-1")
	})
}

// Tidy brings the proposals of an issue up to date without an event: those that are too old or need no
// answer any more end, and a missing comment with the proposals is posted. d needs only the repository and
// the number of the issue; nothing is decided. It does nothing if no proposal waits.
func (r *Runner) Tidy(ctx context.Context, id TaskIdentity, d triage.Delivery) (Report, error) {
	s, err := r.forCall(id, d)
	rep := newReport(s, d)
	rep.skip("no proposal waits on the issue")
	if err != nil {
		rep.fail(err)
		return rep, err
	}
	if s.dry || s.o.Memory.Store == nil {
		return rep, nil
	}
	loading, cancel := context.WithTimeout(ctx, loadTime)
	defer cancel()
	rec, err := s.o.Memory.Store.Load(loading, d.FullRepo(), d.Number)
	switch {
	case errors.Is(err, memory.ErrNotFound) || err == nil && len(rec.Pending()) == 0:
		return rep, nil
	case err != nil:
		err = fmt.Errorf("read the proposals: %w", err)
		rep.fail(err)
		return rep, err
	}
	rep.skip("brought the proposals up to date")
	err = s.tidy(ctx, &rep, d, rec)
	return rep, err
}

// tidy brings the proposals of an issue, which r has, up to date. On an issue that is gone they end.
func (s setup) tidy(ctx context.Context, rep *Report, d triage.Delivery, r memory.Record) error {
	d, err := fetch(ctx, s, d)
	switch {
	case errors.Is(err, triage.ErrGone):
		rep.skip(triage.ErrGone.Error())
		err = s.update(ctx, d.Ref(), func(r *memory.Record) error {
			r.Expire(s.o.Clock.Now().UTC())
			for _, p := range r.Pending() {
				r.End(p.Number, memory.Overtaken, "", triage.ErrGone.Error(), s.o.Clock.Now().UTC())
			}
			return nil
		})
	case err == nil:
		rep.IssueURL, rep.Title = d.Issue.URL, d.Issue.Title
		rec := recorder{attempt: newAttempt(s, d, nil, rep.warnf)}
		err = rec.tidy(ctx, rep, r)
	}
	if err != nil {
		err = fmt.Errorf("bring the proposals up to date: %w", err)
		rep.fail(err)
	}
	return err
}

// tidy ends the proposals of r that need no answer any more, and brings the comment up to date. The
// timeline is read only if it can show that people accepted a proposal in GitHub's panel.
func (a *recorder) tidy(ctx context.Context, rep *Report, r memory.Record) error {
	if slices.ContainsFunc(r.Pending(), func(p memory.Proposal) bool { return p.Carrier == triage.CarrierGitHub }) {
		if _, err := a.reads.Timeline(ctx); err != nil {
			return err
		}
	}
	n := publisher{a.attempt}.changes(proposal.Answers{}, execute.Outcome{}, plan.Plan{})
	n.Tidies = true
	saved, applied, err := a.save(ctx, nil, deferral{a: *a}, n)
	if err != nil {
		return err
	}
	return publisher{a.attempt}.show(ctx, rep, n, saved, applied.Shown)
}

// unattended is the time after which the run that made a proposal does not post the comment any more.
const unattended = 10 * time.Minute

// outstanding reports whether the proposals of a record need a scheduled run: one is too old, or the
// comment with the proposals does not show it.
func outstanding(r memory.Record, now time.Time) bool {
	return slices.ContainsFunc(r.Pending(), func(p memory.Proposal) bool {
		return !p.Expires.After(now) || r.Unshown(p) && now.Sub(p.At) > unattended
	})
}
