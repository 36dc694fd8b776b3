package runner

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/org/foreman-action/config"
	"github.com/org/foreman-action/internal/text"

	"github.com/org/foreman-action/memory"
	"github.com/org/foreman-action/protocol"
	"github.com/org/foreman-action/triage"
)

// An Agent decides on a task. It is asked once for each run. Implementations are
// safe for concurrent use.
type Agent interface {
	// Decide returns the decision on the task. Its task_id is that of the task. The
	// error says what went wrong without any secret; nothing is written then.
	Decide(ctx context.Context, task protocol.TaskMessage) (protocol.DecisionMessage, error)
}

// An AgentError says that the agent gave no usable decision.
type AgentError struct{ Err error }

// Error returns the agent's own message.
func (e *AgentError) Error() string { return e.Err.Error() }

// Unwrap returns the cause.
func (e *AgentError) Unwrap() error { return e.Err }

// Options say what a Runner works with. The zero value of each field is usable
// unless it says otherwise.
type Options struct {
	Config *config.Config // nil: no rules, the safe policy
	Host   Host           // nil: nothing can be fetched or written; only dry runs
	Agent  Agent          // nil: the rules alone decide
	By     string         // the agent's address, for the audit
	Bot    string         // our login; empty: DefaultBot
	DryRun bool           // decide and plan, write nothing; Config.Mode shadow does the same

	Memory memory.Store // nil: nothing is remembered
	// MemoryByDefault says that nobody asked for the memory: that something could not be
	// kept in it goes to the log and is no warning.
	MemoryByDefault bool
	// MustRemember says that an attempt has failed whose actions cannot be remembered, and
	// is to be made again. Nothing is written twice then if there is a Journal.
	MustRemember bool
	// Forgets says that nothing that is put into Memory stays there: what would have to be
	// kept for later is refused.
	Forgets bool
	// Unscheduled says that there are no scheduled runs, which would look into Memory for what
	// is due: closings after a grace period are refused.
	Unscheduled bool
	// Journal keeps each decision and how far its actions got, so that a later attempt
	// at the task goes on with it. Nil: an attempt that is cut off is decided anew.
	Journal memory.Journal
	// Summarize makes the text that the agent is told of a record, as [memory.Record.Faded]
	// gives it; ok is false when there is nothing to tell. Nil: [memory.Summary].
	Summarize func(ctx context.Context, r memory.Record) (text string, ok bool)

	TaskID  string // UUID version 4; must be set
	Scope   string // see Target.Scope
	Nonce   string // see Target.Nonce
	Resumed bool   // see Target.Resumed
	// Answers says that an agent may answer any event that it decides on with a comment.
	// Otherwise edits, label events and comments are answered only where a rule names the
	// event. What rules ask for is judged by that in any case.
	Answers bool
	// Live says that the event is handled as it happens. On an issue that was just
	// opened nothing can have been done before then, and neither its timeline nor the
	// memory is read.
	Live bool

	Now   func() time.Time                           // nil: time.Now
	Sleep func(context.Context, time.Duration) error // nil: real
	// Explain asks for Report.Why.
	Explain bool
	// Guard is called before each write, and may wait: for a rate that is kept, or to make
	// sure that the task is still this Runner's. Its error stops the run before the write,
	// as [triage.ErrHalted]. Nil: nothing stands in the way.
	Guard func(context.Context) error
	// Audit is called once, after the decision and before the first call that acts on
	// it, with the record of what was decided. Its error stops the run.
	Audit func(Audit) error
	// Log takes progress, a line each; nil discards. Lines may hold hostile text.
	Log func(format string, args ...any)
}

// DefaultBot is the login of an Actions token.
const DefaultBot = "github-actions[bot]"

// A Runner takes events through decision, plan and writes. It is safe for use by
// several goroutines as far as its parts are.
type Runner struct {
	o   Options
	c   config.Config
	dry bool // the caller wants a dry run, whatever the mode is
}

// New returns a Runner. The error says which option is missing.
func New(o Options) (*Runner, error) {
	switch {
	case !taskID(o.TaskID):
		return nil, fmt.Errorf("runner: TaskID: want a UUID, got %q", text.Quote(o.TaskID))
	case o.Scope != "" && !validKey(o.Scope):
		return nil, fmt.Errorf("runner: Scope: want letters, digits, '.', '_' and '-', got %q", text.Quote(o.Scope))
	case o.Nonce != "" && !validKey(o.Nonce):
		return nil, errors.New("runner: Nonce: want letters and digits")
	}
	return newRunner(o), nil
}

// newRunner returns a Runner whose task id is not looked at.
func newRunner(o Options) *Runner {
	r := &Runner{o: o, dry: o.DryRun}
	if o.Config != nil {
		r.c = *o.Config
	}
	if r.o.Bot == "" {
		r.o.Bot = DefaultBot
	}
	if r.o.Now == nil {
		r.o.Now = time.Now
	}
	if r.o.Log == nil {
		r.o.Log = func(string, ...any) {}
	}
	r.o.DryRun = o.DryRun || r.c.Mode == config.ModeShadow
	return r
}

// Run takes one event all the way. The report is complete also when an error is
// returned: then a decision could not be had, or an action failed. Nothing to do,
// an escalation, a refused or skipped action and a vanished issue are no errors.
func (r *Runner) Run(ctx context.Context, e triage.Delivery) (Report, error) {
	w := r.work(e)
	err := w.run(ctx)
	return w.rep, err
}

func (r *Runner) work(e triage.Delivery) *work {
	w := &work{Runner: r, e: e, resumed: r.o.Resumed}
	w.rep = Report{
		Event: e.Key(), Repo: e.FullRepo(), Issue: e.Number,
		TaskID: r.o.TaskID, DryRun: r.o.DryRun, Decision: protocol.Skip,
	}
	return w
}

// A work is one event on its way through a Runner.
type work struct {
	*Runner
	e     triage.Delivery
	rep   Report
	past  past
	at    time.Time      // when it was decided
	known *memory.Record // what was remembered before; nil: nobody asked
	// labels are those that were looked up: the repository's spelling by name in lower case,
	// empty for one that it does not have.
	labels map[string]string
	// resumed says that an earlier attempt at the task may have written already.
	resumed bool
	// unread says that the journal of the task could not be read.
	unread bool
	plan   Plan            // that was carried out, and
	out    Outcome         // what became of it
	due    *memory.Closing // that is carried out; nil: an event is decided on
	// retriaged says that it was decided on the issue as if it were newly opened.
	retriaged bool
	// forgot says that a warning has told of trouble with the memory.
	forgot bool
	// given is what was decided before; nil: the agent is still to be asked.
	given *given
}

func (w *work) run(ctx context.Context) error {
	if why := w.e.SkipReason(w.o.Bot); why != "" {
		w.rep.skip(why)
		return nil
	}
	err := w.complete(ctx)
	switch {
	case errors.Is(err, triage.ErrGone):
		w.rep.skip(triage.ErrGone.Error())
		return nil
	case err != nil:
		w.rep.fail(err)
		return err
	}
	w.rep.IssueURL, w.rep.Title = w.e.Issue.URL, w.e.Issue.Title
	if why := w.e.SkipReason(w.o.Bot); why != "" {
		w.rep.skip(why)
		return nil
	}
	w.past = past{host: w.o.Host, ref: w.e.Ref()}
	ledger := w.kept(ctx)
	if ledger != nil {
		w.at = ledger.At
		return w.act(ctx, w.again(*ledger), ledger)
	}
	d, err := w.decide(ctx)
	if err != nil {
		w.rep.fail(err)
		return err
	}
	w.at = w.o.Now().UTC()
	return w.act(ctx, d, nil)
}

// complete fetches the issue that a dispatch event only names.
func (w *work) complete(ctx context.Context) error {
	if w.e.Issue != nil {
		return w.renew(ctx)
	}
	if w.e.Name == triage.EventSchedule {
		return errors.New("a scheduled run looks for its issues: it is for Sweep")
	}
	if w.o.Host == nil {
		return fmt.Errorf("fetch issue %s: %w", w.e.Ref(), triage.ErrNeedsHost)
	}
	return w.fetch(ctx)
}

// fetch puts the issue as it is now into the event.
func (w *work) fetch(ctx context.Context) error {
	w.e.Fetched = w.o.Now()
	raw, err := w.o.Host.Issue(ctx, w.e.Ref())
	if err != nil {
		return err
	}
	issue, err := triage.ParseIssue(raw)
	if err != nil {
		return err
	}
	w.e = w.e.WithIssue(issue)
	return nil
}

// act plans, records and carries out a decision. ledger is what is kept of an earlier
// attempt at it, or nil.
func (w *work) act(ctx context.Context, d Decision, ledger *memory.Ledger) error {
	w.rep.Decision, w.rep.Rationale, w.rep.By = d.Message.Decision, d.Message.Rationale, d.By
	d.answers = w.o.Answers
	plan := MakePlan(d, *w.e.Issue, w.c.Policy, w.retriaged || w.mayComment(w.e))
	w.refuseNotes(&plan)
	plan.tookEffect(ledger)
	w.passGone(&plan, ledger)
	if w.o.Host == nil && !w.o.DryRun && plan.writes() {
		err := fmt.Errorf("carry out the plan: %w", triage.ErrNeedsHost)
		w.rep.fail(err)
		return err
	}
	if w.o.Audit != nil {
		if err := w.o.Audit(newAudit(w.o.Now(), w.rep, plan)); err != nil {
			err = fmt.Errorf("record the decision: %w", err)
			w.rep.fail(err)
			return err
		}
	}
	j, err := w.journal(ctx, plan, ledger)
	if err != nil {
		w.rep.fail(err)
		return err
	}
	out := ApplyPlan(ctx, plan, w.target(j))
	w.rep.setActions(plan, out)
	w.rep.setStatus(out)
	w.rep.notePermission(out.Err)
	w.plan, w.out = plan, out
	if errors.Is(out.Err, triage.ErrHalted) && out.Executed() == 0 {
		return out.Err // it did nothing, and may be behind one that does
	}
	err = w.remember(ctx)
	w.keepScore(ctx)
	if out.Err == nil {
		return err
	}
	return out.Err
}

func (w *work) target(j *journal) Target {
	return Target{
		Host: w.o.Host, Ref: w.e.Ref(), Task: w.o.TaskID, Scope: w.o.Scope, Nonce: w.o.Nonce,
		Bot: w.o.Bot, Since: w.began(), Guard: w.o.Guard, Resumed: w.resumed, Fresh: w.fresh(), DryRun: w.o.DryRun,
		Timeline: w.past.timeline, Record: w.recall, Never: w.forbids, Comment: w.commentID(), journal: j, labels: w.labels,
		Now: w.o.Now, Sleep: w.o.Sleep, Log: w.o.Log, Warn: w.rep.warnf,
	}
}

// freshTime is how old an issue may be on which nothing was done yet. A job that waited
// for a runner may come late.
const freshTime = 10 * time.Minute

// fresh reports whether nothing can have been done on the issue before this event: it
// was just opened, and this is the first attempt at its task.
func (w *work) fresh() bool {
	return w.o.Live && w.e.Name == triage.EventIssues && w.e.Action == "opened" && !w.resumed &&
		w.o.Now().Sub(w.e.Issue.CreatedAt) < freshTime
}

// rerunWindow is longer than GitHub lets a workflow run be run again.
const rerunWindow = 35 * 24 * time.Hour

// since returns a time before which this task cannot have written: when the issue
// last changed before the event. The issue of a dispatch event is fetched only now.
func (r *Runner) since(e triage.Delivery) time.Time {
	if e.Happened() {
		return e.Issue.UpdatedAt
	}
	return r.o.Now().Add(-rerunWindow)
}

// began is a time before which this task cannot have written, in spite of what was read
// since.
func (w *work) began() time.Time {
	if w.given != nil {
		return w.given.since
	}
	return w.since(w.e)
}

// mayComment reports whether a comment is welcome, whoever asks for it: edits, label
// events and comments are answered with one only where a rule names the event.
func (r *Runner) mayComment(e triage.Delivery) bool {
	quiet := e.Name == triage.EventIssueComment
	switch e.Action {
	case "edited", "labeled", "unlabeled", "synchronize":
		quiet = quiet || e.Happened()
	}
	return !quiet || r.c.Rules.Names(e.RuleName(), e.Action)
}

func (rep *Report) skip(why string) {
	rep.Status, rep.Reason, rep.Rationale = StatusSkipped, why, why
}

// fail makes the report that of a run in which nothing was decided, or nothing done
// about it.
func (rep *Report) fail(err error) {
	rep.Status, rep.Reason = StatusFailed, err.Error()
	if rep.By == "" {
		rep.Decision, rep.Rationale = "", rep.Reason
	}
	rep.notePermission(err)
}

func (rep *Report) warnf(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	if slices.Contains(rep.Warnings, text) {
		return
	}
	rep.Warnings = append(rep.Warnings, text)
}

func (rep *Report) notePermission(err error) {
	if p, ok := errors.AsType[*triage.PermissionError](err); ok {
		rep.Missing = append(rep.Missing, p.Need)
	}
}

// taskID reports whether s is a UUID in lower case.
func taskID(s string) bool {
	const form = "xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx"
	if len(s) != len(form) {
		return false
	}
	for i := range len(s) {
		hex := s[i] >= '0' && s[i] <= '9' || s[i] >= 'a' && s[i] <= 'f'
		if form[i] == 'x' && !hex || form[i] == '-' && s[i] != '-' {
			return false
		}
	}
	return true
}
