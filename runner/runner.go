package runner

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"time"

	"github.com/org/foreman-action/config"
	"github.com/org/foreman-action/internal/text"
	"github.com/org/foreman-action/memory"
	"github.com/org/foreman-action/protocol"
	"github.com/org/foreman-action/runner/effect"
	"github.com/org/foreman-action/runner/internal/execute"
	"github.com/org/foreman-action/runner/internal/history"
	"github.com/org/foreman-action/runner/internal/plan"
	"github.com/org/foreman-action/triage"
)

// Options say what a Runner works with. The zero value of each field is usable
// unless it says otherwise.
type Options struct {
	Config *config.Config // nil: no rules, the safe policy
	Task   TaskIdentity   // must be set
	Host   Host           // zero: only dry runs
	Agent  AgentOptions   // zero: the rules alone decide
	Memory Memory         // zero: nothing is remembered
	Clock  Clock
	DryRun bool // decide and plan, write nothing; Config.Mode shadow does the same
	// Live says that the event is handled as it happens. On an issue that was just opened
	// nothing can have been done before then, and neither its timeline nor the memory is read.
	Live bool
	// Explain asks for Report.Why.
	Explain bool
	// Audit is called once, after the decision and before the first call that acts on
	// it, with the record of what was decided. Its error stops the run.
	Audit func(Audit) error
	// Log takes progress, a line each; nil discards. Lines may hold untrusted text.
	Log func(format string, args ...any)
}

// A TaskIdentity names one attempt at one task.
type TaskIdentity struct {
	ID string // UUID version 4 in lower case; must be set
	// Scope keeps two executors of the same task apart, such as two steps of one workflow
	// job: letters, digits, '.', '_' and '-'.
	Scope string
	// Nonce is a secret of this run, letters and digits, new for each: by it a comment of
	// unknown outcome is recognized whichever account the token turns out to post as. Empty:
	// only comments by Host.Login are.
	Nonce string
	// Resumed says that an earlier attempt at the task may have written already.
	Resumed bool
}

// Memory is where a Runner keeps what was done.
type Memory struct {
	Store memory.Store // nil: nothing is remembered
	// Agenda lists the closes that are due, usually of the same store. Nil: closes after a
	// grace period are refused.
	Agenda memory.Agenda
	// Journal keeps each decision and how far its actions got, so that a later attempt
	// at the task goes on with it. Nil: an attempt that is cut off is decided anew.
	Journal memory.Journal
	// Summarize renders what the agent is told of a record, as [memory.Record.Faded]
	// gives it; ok is false when there is nothing to tell. Nil: [memory.Summary].
	Summarize func(ctx context.Context, r memory.Record) (text string, ok bool)
	// Implicit says that the memory was not configured: that something could not be
	// stored in it goes to the log and is no warning.
	Implicit bool
	// Required says that an attempt has failed whose actions cannot be remembered, and
	// is to be made again. Nothing is written twice then if there is a Journal.
	Required bool
	// Discards says that Store keeps nothing: what would have to be recorded for later
	// is refused.
	Discards bool
	// Unscheduled says that there are no scheduled runs, which would carry out the closes
	// that are due: closes after a grace period are refused.
	Unscheduled bool
}

// Clock is time as a Runner sees it.
type Clock struct {
	Now   func() time.Time                           // nil: time.Now
	Sleep func(context.Context, time.Duration) error // nil: real
}

// DefaultBot is the login of an Actions token.
const DefaultBot = "github-actions[bot]"

// A Runner takes events through decision, plan and writes. It is safe for use by
// several goroutines as far as its parts are.
type Runner struct {
	o       Options // with its defaults filled in
	c       config.Config
	dry     bool // no writes, whether the caller or the mode asks for it
	tryOnly bool // the caller asks for it
}

// New returns a Runner. The error says which option is missing.
func New(o Options) (*Runner, error) {
	switch {
	case !taskID.MatchString(o.Task.ID):
		return nil, fmt.Errorf("runner: Task.ID: want a UUID, got %q", text.Quote(o.Task.ID))
	case o.Task.Scope != "" && !effect.ValidKey(o.Task.Scope):
		return nil, fmt.Errorf("runner: Task.Scope: want letters, digits, '.', '_' and '-', got %q", text.Quote(o.Task.Scope))
	case o.Task.Nonce != "" && !effect.ValidKey(o.Task.Nonce):
		return nil, errors.New("runner: Task.Nonce: want letters and digits")
	}
	return newRunner(o), nil
}

var taskID = regexp.MustCompile(`^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$`)

// newRunner returns a Runner whose task id is not checked.
func newRunner(o Options) *Runner {
	r := &Runner{o: o, tryOnly: o.DryRun}
	if o.Config != nil {
		r.c = *o.Config
	}
	r.dry = o.DryRun || r.c.Mode == config.ModeShadow
	if r.o.Host.Login == "" {
		r.o.Host.Login = DefaultBot
	}
	if r.o.Clock.Now == nil {
		r.o.Clock.Now = time.Now
	}
	if r.o.Log == nil {
		r.o.Log = func(string, ...any) {}
	}
	return r
}

// with returns a Runner for another task.
func (r *Runner) with(task string) *Runner {
	out := *r
	out.o.Task.ID = task
	return &out
}

// Run takes one event all the way. The report is complete also when an error is
// returned: then a decision could not be had, or an action failed. Nothing to do,
// an escalation, a refused or skipped action and a vanished issue are no errors.
func (r *Runner) Run(ctx context.Context, d triage.Delivery) (Report, error) {
	return r.run(ctx, d, nil)
}

// Apply is [Runner.Run] for an event that an agent was asked about before: the other half
// of [Task]. m is its decision, nil when no agent was asked; Options.Agent.Name says who it
// is, and the agent is not asked. The decision of the rules comes first, as ever.
//
// The agent took its time, so the issue is read anew. Of a decision on another task, and
// of one with too many actions, nothing is carried out, and the error says so.
func (r *Runner) Apply(ctx context.Context, d triage.Delivery, m *protocol.DecisionMessage) (Report, error) {
	given := &given{message: m}
	if d.Happened() && d.Issue != nil {
		given.since, given.decided = d.Issue.UpdatedAt, d.Issue.UpdatedAt
	}
	if given.since.IsZero() {
		// The issue that is read now does not say when the task began.
		given.since = r.o.Clock.Now().Add(-rerunWindow)
	}
	return r.run(ctx, d, given)
}

// Comment keeps one comment of the program's own up to date on the issue of an event, which
// must be there: the one with that key. The policy's limits hold for it. The body is trusted
// as a rule's text is: what it quotes must be neutralized.
func (r *Runner) Comment(ctx context.Context, d triage.Delivery, key, body string) (triage.ActionResult, error) {
	item, err := protocol.NewAction(protocol.ActionUpdateComment, map[string]any{"body": body, "key": key})
	if err != nil {
		return triage.ActionResult{}, err
	}
	a := r.attempt(d, nil, func(string, ...any) {})
	in := a.input(decided{Decision: plan.Decision{
		Message: protocol.DecisionMessage{TaskID: r.o.Task.ID, Decision: protocol.LabelAndRespond, Actions: []protocol.ActionItem{item}},
		Sources: []triage.Source{{Rule: key}},
	}})
	in.MayComment = true
	out := a.carryOut(ctx, plan.Make(in), nil)
	return out.Results[0], out.Err
}

// A given decision was made before its task came to a Runner.
type given struct {
	message *protocol.DecisionMessage // nil: no agent was asked
	since   time.Time                 // before this the task cannot have written
	decided time.Time                 // when the issue last changed before the decision; zero: not known
}

// run is the flow: the issue, the decision, the plan, its review, the writes, the record.
func (r *Runner) run(ctx context.Context, d triage.Delivery, g *given) (Report, error) {
	rep := r.report(d)
	if why := d.SkipReason(r.o.Host.Login); why != "" {
		rep.skip(why)
		return rep, nil
	}
	d, err := r.complete(ctx, d, g)
	switch {
	case errors.Is(err, triage.ErrGone):
		rep.skip(triage.ErrGone.Error())
		return rep, nil
	case err != nil:
		rep.fail(err)
		return rep, err
	}
	rep.IssueURL, rep.Title = d.Issue.URL, d.Issue.Title
	if why := d.SkipReason(r.o.Host.Login); why != "" {
		rep.skip(why)
		return rep, nil
	}
	a := r.attempt(d, g, rep.warnf)
	kept := a.resume(ctx)
	var dec decided
	if kept != nil {
		dec = a.recalled(*kept)
	} else if dec, err = a.decide(ctx); err != nil {
		rep.tell(dec)
		rep.fail(err)
		return rep, err
	}
	rep.tell(dec)
	_, err = a.act(ctx, &rep, dec, kept)
	return rep, err
}

// complete returns the event with its issue: fetched when the event only names it, and read
// anew when the decision was made some time ago, unless that is to do nothing and no rule is
// asked.
func (r *Runner) complete(ctx context.Context, d triage.Delivery, g *given) (triage.Delivery, error) {
	switch {
	case d.Issue == nil && d.Name == triage.EventSchedule:
		return d, errors.New("a scheduled run looks for its issues: it is for Sweep")
	case d.Issue == nil && r.o.Host.Issues == nil:
		return d, fmt.Errorf("fetch issue %s: %w", d.Ref(), triage.ErrNeedsHost)
	case d.Issue == nil:
		return r.fetch(ctx, d)
	case g == nil || r.o.Host.Issues == nil || d.Pull != nil:
		return d, nil
	case g.message != nil && !g.message.Decision.Writes() && r.c.Rules.Len() == 0:
		return d, nil
	}
	return r.fetch(ctx, d)
}

// fetch returns the event with the issue as it is now.
func (r *Runner) fetch(ctx context.Context, d triage.Delivery) (triage.Delivery, error) {
	d.Fetched = r.o.Clock.Now()
	issue, err := r.o.Host.Issues.Issue(ctx, d.Ref())
	if err != nil {
		return d, err
	}
	return d.WithIssue(issue), nil
}

// An attempt is one try at one task: its event with the issue, and what is read for it.
type attempt struct {
	*Runner

	d     triage.Delivery
	given *given // nil: the agent is still to be asked
	reads *reads
	due   *memory.Closing // the close that is carried out now; nil: an event is decided on
	// unread says that the journal of the task could not be read.
	unread bool
	warn   func(format string, args ...any)
}

// rerunWindow is longer than GitHub lets a workflow run be run again.
const rerunWindow = 35 * 24 * time.Hour

// attempt begins an attempt at the Runner's task.
func (r *Runner) attempt(d triage.Delivery, g *given, warn func(format string, args ...any)) *attempt {
	// When the issue last changed before the event, the task had not begun. The issue of a
	// dispatch event is fetched only now.
	since := r.o.Clock.Now().Add(-rerunWindow)
	switch {
	case g != nil:
		since = g.since
	case d.Happened():
		since = d.Issue.UpdatedAt
	}
	return &attempt{Runner: r, d: d, given: g, warn: warn, reads: &reads{
		host: r.o.Host, memory: r.o.Memory, login: r.o.Host.Login, task: r.o.Task.ID, now: r.o.Clock.Now, warn: warn,
		d: d, live: r.o.Live, since: since, resumed: r.o.Task.Resumed,
	}}
}

// act plans, records, reviews and carries out a decision. kept is the journal's of an earlier
// attempt, or nil.
func (a *attempt) act(ctx context.Context, rep *Report, dec decided, kept *memory.Ledger) (execute.Outcome, error) {
	p := plan.Make(a.input(dec))
	if kept != nil {
		p = p.Resume(kept.Entries, a.c.Rules.IDs())
	}
	if a.o.Host.Issues == nil && !a.dry && p.Writes() {
		err := fmt.Errorf("carry out the plan: %w", triage.ErrNeedsHost)
		rep.fail(err)
		return execute.Outcome{}, err
	}
	if a.o.Audit != nil {
		if err := a.o.Audit(newAudit(a.o.Clock.Now(), *rep, p)); err != nil {
			err = fmt.Errorf("record the decision: %w", err)
			rep.fail(err)
			return execute.Outcome{}, err
		}
	}
	j, err := a.journal(ctx, dec, p, kept)
	if err != nil {
		rep.fail(err)
		return execute.Outcome{}, err
	}
	out := a.carryOut(ctx, p, j)
	rep.setOutcome(out)
	if errors.Is(out.Err, triage.ErrHalted) && out.Executed() == 0 {
		return out, out.Err // nothing was done, and another attempt may be ahead
	}
	err = a.remember(ctx, rep, dec, out)
	a.score(ctx, rep, dec.At)
	if out.Err != nil {
		err = out.Err
	}
	return out, err
}

// input is what the plan of a decision is made of.
func (a *attempt) input(dec decided) plan.Input {
	in := plan.Input{
		Decision: dec.Decision, Issue: *a.d.Issue, Policy: a.c.Policy,
		MayComment: dec.Retriaged || a.mayComment(), AgentMayComment: a.o.Agent.AnswersAll,
		CommentID: a.d.Comment.ID,
	}
	if a.dry {
		return in
	}
	switch m := a.o.Memory; {
	case m.Store == nil || m.Discards:
		in.NoNotes = "there is no memory to keep it in: memory.store (input memory)"
	case m.Unscheduled:
		in.NoSchedule = "nobody would carry it out when it is due: there are no scheduled runs here"
	case m.Agenda == nil:
		in.NoSchedule = "nobody would find it in this memory when it is due: memory.store (input memory) must be artifact or file"
	}
	return in
}

// mayComment reports whether a comment is welcome, whoever asks for it: edits, label events
// and comments are answered with one only where a rule names the event.
func (a *attempt) mayComment() bool {
	quiet := a.d.Name == triage.EventIssueComment
	switch a.d.Action {
	case "edited", "labeled", "unlabeled", "synchronize":
		quiet = quiet || a.d.Happened()
	}
	return !quiet || a.c.Rules.Names(a.d.RuleName(), a.d.Action)
}

// carryOut reviews a plan, with what it reads for that, and carries it out.
func (a *attempt) carryOut(ctx context.Context, p plan.Plan, j *execute.Journal) execute.Outcome {
	identity := history.Identity{
		Ref: a.d.Ref(), Task: a.o.Task.ID, Scope: a.o.Task.Scope, Nonce: a.o.Task.Nonce, Login: a.o.Host.Login,
	}
	reviewed, seen, err := a.review(ctx, p, identity)
	for _, text := range reviewed.Warnings {
		a.warn("%s", text)
	}
	if err != nil {
		return execute.Abort(p, reviewed, err)
	}
	return execute.Run(ctx, reviewed, execute.Target{
		Host: a.o.Host.Issues, Identity: identity, Since: a.reads.since, DryRun: a.dry, Comments: seen.Comments,
		Journal: j, Guard: a.o.Host.Guard, Sleep: a.o.Clock.Sleep, Log: a.o.Log, Warn: a.warn,
	})
}

// review reads what the final verdicts depend on, and returns the plan with them.
func (a *attempt) review(ctx context.Context, p plan.Plan, identity history.Identity) (plan.Plan, plan.Seen, error) {
	var seen plan.Seen
	if a.o.Host.Issues == nil {
		return p, seen, nil // a dry run that reads nothing
	}
	at := plan.Attempt{
		Identity: identity, Now: a.o.Clock.Now(), Resumed: a.reads.resumed, Fresh: a.reads.fresh(),
		Remembers:  a.o.Memory.Store != nil && !a.o.Memory.Discards,
		AsksMemory: !a.o.Memory.Implicit || a.forbidsLabels() || a.reads.record != nil,
	}
	seen.Labels = a.reads.labels
	for {
		need := plan.Needs(p, at, seen)
		if need.Nothing() {
			return plan.Review(p, at, seen), seen, nil
		}
		if err := a.reads.need(ctx, need, &seen); err != nil {
			return plan.Review(p, at, seen), seen, err
		}
	}
}

// forbidsLabels reports whether a rule or an agent can have forbidden labels for good.
func (a *attempt) forbidsLabels() bool {
	return a.c.Rules.NeverAgain() || a.o.Agent.Agent != nil && a.c.Policy.Forbids(protocol.ActionNeverAgain, triage.Source{}) == ""
}
