package runner

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/org/foreman-action/internal/text"

	"github.com/org/foreman-action/protocol"
	"github.com/org/foreman-action/triage"
)

// A Survey is everything that one scheduled run has to say.
type Survey struct {
	Event  string // such as "schedule"
	Repo   string // "owner/name"
	TaskID string // of the run; that of each issue is derived from it
	DryRun bool
	Status Status // applied: something was written; partial and failed: something failed
	Reason string // in short; for the log

	Found    int // issues that the scans found, each once
	Left     int // issues and closings that the run did not come to
	Failed   int // reports of which something failed
	Executed int // actions carried out, of all reports
	Closed   int // closings that were due and are carried out
	Dropped  int // closings that were due and are given up
	Waiting  int // closings that are not due yet

	// Reports has one report for each closing that was due, and then one for each issue
	// that was found.
	Reports  []Report
	Warnings []string // what a maintainer should know
	Missing  []string // permissions that the token turned out to lack
}

// Sweep takes a schedule event all the way: it carries out the closings that are due,
// and then decides on the issues that the scans of the rules find, one after another. It
// needs a Host that is a [Scanner]. An issue that fails does not stop the others; the
// error then says how many failed. What is left for want of calls is a warning.
//
// A task's id is derived from the run's and the issue, so that a re-run of the run
// repeats nothing.
func (r *Runner) Sweep(ctx context.Context, e triage.Delivery) (Survey, error) {
	o := r.o
	o.Live = false    // nothing is fresh, and the score of shadow mode is for events
	o.Explain = false // of many issues
	s := &sweep{Runner: newRunner(o), e: e}
	s.Event, s.Repo, s.TaskID, s.DryRun = e.Key(), e.FullRepo(), r.o.TaskID, r.o.DryRun
	err := s.run(ctx)
	s.settle(err)
	return s.Survey, err
}

// A sweep is one scheduled run.
type sweep struct {
	*Runner
	Survey
	host    Scanner
	e       triage.Delivery
	errs    []error
	stopped bool // nothing more is begun
}

func (s *sweep) run(ctx context.Context) error {
	if s.o.Host == nil {
		return fmt.Errorf("look for issues: %w", triage.ErrNeedsHost)
	}
	host, ok := s.o.Host.(Scanner)
	if !ok {
		return errors.New("look for issues: the host cannot search")
	}
	s.host = &labelKeeper{Scanner: host, known: map[string]string{}}
	s.o.Host = s.host
	s.carryOut(ctx)
	s.scan(ctx)
	switch n := s.Failed; {
	case n > 0:
		s.errs = append([]error{fmt.Errorf("%d of %d issues failed", n, len(s.Reports))}, s.errs...)
	case len(s.errs) == 0:
		return nil
	}
	const most = 20
	if more := len(s.errs) - most; more > 0 {
		s.errs = append(s.errs[:most], fmt.Errorf("and %d more", more))
	}
	return errors.Join(s.errs...)
}

// settle derives the status.
func (s *sweep) settle(err error) {
	s.Reason = s.summary()
	switch {
	case err != nil && s.Executed > 0:
		s.Status = StatusPartial
	case err != nil:
		s.Status = StatusFailed
	case s.DryRun && slices.ContainsFunc(s.Reports, func(r Report) bool { return r.Status == StatusDryRun }):
		s.Status = StatusDryRun
	case s.Executed > 0:
		s.Status = StatusApplied
	default:
		s.Status = StatusSkipped
	}
}

// summary is "3 issues found, 2 actions carried out, 1 closing not due yet".
func (s *sweep) summary() string {
	count := func(n int, one, many string) string {
		if n == 1 {
			return "1 " + one
		}
		return strconv.Itoa(n) + " " + many
	}
	told := []string{count(s.Found, "issue", "issues") + " found", count(s.Executed, "action", "actions") + " carried out"}
	for _, part := range []struct {
		n    int
		text string
	}{
		{s.Closed, count(s.Closed, "issue", "issues") + " closed after its time"},
		{s.Dropped, count(s.Dropped, "closing", "closings") + " given up"},
		{s.Waiting, count(s.Waiting, "closing", "closings") + " not due yet"},
		{s.Left, strconv.Itoa(s.Left) + " left"},
		{s.Failed, strconv.Itoa(s.Failed) + " failed"},
	} {
		if part.n > 0 {
			told = append(told, part.text)
		}
	}
	return strings.Join(told, ", ")
}

func (s *sweep) warnf(format string, args ...any) {
	if text := fmt.Sprintf(format, args...); !slices.Contains(s.Warnings, text) {
		s.Warnings = append(s.Warnings, text)
	}
}

// budgetReserve is how many of the token's calls a scheduled run leaves to other runs.
const budgetReserve = 100

// stop reports whether nothing more may be begun; rest is how much then stays undone.
func (s *sweep) stop(ctx context.Context, rest int) bool {
	left, known := s.host.Budget()
	switch {
	case s.stopped:
	case ctx.Err() != nil:
		s.errs = append(s.errs, fmt.Errorf("the run was stopped: %w", context.Cause(ctx)))
	case known && left < budgetReserve:
		s.warnf("only %d of the token's calls are left in this hour; the rest waits for the next run", left)
	default:
		return false
	}
	s.stopped = true
	s.Left += rest
	return true
}

// take adds a report, and what went wrong. A limit that is spent stops the run; when it
// stopped the first call of an issue, nothing failed.
func (s *sweep) take(rep Report, err error) {
	if errors.Is(err, triage.ErrLimited) {
		s.stopped = true
		s.warnf("%v; the rest waits for the next run", err)
		if rep.Executed == 0 {
			s.Left++
			return
		}
	}
	s.Reports = append(s.Reports, rep)
	s.Executed += rep.Executed
	for _, need := range rep.Missing {
		if !slices.Contains(s.Missing, need) {
			s.Missing = append(s.Missing, need)
		}
	}
	for _, text := range rep.Warnings {
		s.warnf("#%d: %s", rep.Issue, text)
	}
	if err != nil {
		s.Failed++
		s.errs = append(s.errs, fmt.Errorf("#%d: %w", rep.Issue, err))
	}
}

// report begins the report on an issue, with the task id of what is done about it.
func (s *sweep) report(n int, what ...string) Report {
	id := protocol.DeriveTaskID(append([]string{s.o.TaskID, strconv.Itoa(n)}, what...)...)
	return Report{
		Event: s.Event, Repo: s.Repo, Issue: n, TaskID: id, DryRun: s.o.DryRun, Decision: protocol.Skip, Status: StatusSkipped,
	}
}

// A candidate is an issue that scans found.
type candidate struct {
	triage.Issue
	scans []string
}

// scan decides on what the scans find.
func (s *sweep) scan(ctx context.Context) {
	list := s.search(ctx)
	for i, c := range list {
		if s.stop(ctx, len(list)-i) {
			return
		}
		s.take(s.decide(ctx, c))
	}
}

// search asks every scan, and returns what they found: each issue once.
func (s *sweep) search(ctx context.Context) []*candidate {
	most := s.c.Policy.Scanned()
	var list []*candidate
	for _, query := range s.c.Rules.Scans() {
		if s.stop(ctx, 0) {
			return list
		}
		found, err := s.host.Search(ctx, triage.Ref{Owner: s.e.Repo.Owner, Repo: s.e.Repo.Name}, query, most)
		if errors.Is(err, triage.ErrLimited) {
			s.stopped = true
			s.warnf("scan %q: %v; the rest waits for the next run", text.Quote(query), err)
			break
		}
		if err != nil {
			err = fmt.Errorf("scan %q: %w", text.Quote(query), err)
			if p, ok := errors.AsType[*triage.PermissionError](err); ok {
				s.Missing = append(s.Missing, p.Need)
			}
			s.errs = append(s.errs, err)
			continue
		}
		if !found.Whole {
			s.warnf("scan %q: GitHub did not look at everything; the rest waits for another run", text.Quote(query))
		}
		if found.Total > most {
			s.warnf("scan %q finds %d issues, and a run decides on %d at most (policy.max_scanned_issues): narrow it", text.Quote(query), found.Total, most)
		}
		for _, issue := range found.Issues {
			i := slices.IndexFunc(list, func(c *candidate) bool { return c.Number == issue.Number })
			if i < 0 {
				i, list = len(list), append(list, &candidate{Issue: issue})
			}
			list[i].scans = append(list[i].scans, query)
		}
	}
	s.Found = len(list)
	if s.Found > most {
		s.Left += s.Found - most
		s.warnf("the scans find more than %d issues (policy.max_scanned_issues); %d are left", most, s.Found-most)
		list = list[:most]
	}
	return list
}

// decide decides on one issue, as it is now.
func (s *sweep) decide(ctx context.Context, c *candidate) (Report, error) {
	rep := s.report(c.Number)
	e, err := s.event(ctx, c.Number)
	switch {
	case errors.Is(err, triage.ErrGone):
		rep.skip(triage.ErrGone.Error())
		return rep, nil
	case err != nil:
		rep.fail(err)
		return rep, err
	}
	rep.IssueURL, rep.Title = e.Issue.URL, e.Issue.Title
	if why := c.stale(*e.Issue); why != "" {
		rep.skip("the search is behind: " + why)
		return rep, nil
	}
	e.Scans = c.scans
	one := newRunner(s.o)
	one.o.TaskID = rep.TaskID
	return one.Run(ctx, e)
}

// event is the event on one issue, which is read.
func (s *sweep) event(ctx context.Context, n int) (triage.Delivery, error) {
	e := s.e
	e.Number, e.Fetched = n, s.o.Now()
	raw, err := s.host.Issue(ctx, e.Ref())
	if err != nil {
		return e, err
	}
	issue, err := triage.ParseIssue(raw)
	if err != nil {
		return e, err
	}
	return e.WithIssue(issue), nil
}

// stale says what of an issue is not as it was found any more, as far as a search may
// have asked for it; empty: nothing.
func (c *candidate) stale(now triage.Issue) string {
	was, is := set(c.Labels), set(now.Labels)
	switch {
	case c.State != now.State:
		return fmt.Sprintf("it is %s by now", text.Quote(now.State))
	case len(pick(c.Labels, is, false)) > 0, len(pick(now.Labels, was, false)) > 0:
		return "it has other labels by now"
	}
	return ""
}

// A labelKeeper looks every label of the repository up once. A scheduled run does one
// thing after another.
type labelKeeper struct {
	Scanner
	known map[string]string // by folded name; empty: there is none
}

// Label implements [Host].
func (k *labelKeeper) Label(ctx context.Context, ref triage.Ref, name string) (string, error) {
	label, ok := k.known[fold(name)]
	if !ok {
		var err error
		if label, err = k.Scanner.Label(ctx, ref, name); err != nil && !errors.Is(err, triage.ErrNotFound) {
			return "", err
		}
		k.known[fold(name)] = label
	}
	if label == "" {
		return "", triage.ErrNotFound
	}
	return label, nil
}
