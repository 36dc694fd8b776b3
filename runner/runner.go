package runner

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/org/foreman-action/memory"
	"github.com/org/foreman-action/protocol"
)

// An Agent decides on a task. It is asked once for each run. Implementations are
// safe for concurrent use.
type Agent interface {
	// Decide returns the decision on the task. Its task_id is that of the task. The
	// error says what went wrong without any secret; nothing is written then.
	Decide(ctx context.Context, task protocol.TaskMessage) (protocol.DecisionMessage, error)
}

// ErrNeedsHost says that a step needs the service, and there is no token to reach it.
var ErrNeedsHost = errors.New("a token is needed")

// An AgentError says that the agent gave no usable decision.
type AgentError struct{ Err error }

// Error returns the agent's own message.
func (e *AgentError) Error() string { return e.Err.Error() }

// Unwrap returns the cause.
func (e *AgentError) Unwrap() error { return e.Err }

// Options say what a Runner works with. The zero value of each field is usable
// unless it says otherwise.
type Options struct {
	Config *Config      // nil: no rules, the safe policy
	Host   Host         // nil: nothing can be fetched or written; only dry runs
	Agent  Agent        // nil: the rules alone decide
	By     string       // the agent's address, for the audit
	Memory memory.Store // nil: nothing is remembered
	Bot    string       // our login; empty: DefaultBot
	DryRun bool         // decide and plan, write nothing; Config.Mode shadow does the same

	TaskID  string // UUID version 4; must be set
	Scope   string // see Target.Scope
	Nonce   string // see Target.Nonce
	Resumed bool   // see Target.Resumed

	Now   func() time.Time                           // nil: time.Now
	Sleep func(context.Context, time.Duration) error // nil: real
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
	o Options
	c Config
}

// New returns a Runner. The error says which option is missing.
func New(o Options) (*Runner, error) {
	switch {
	case !taskID(o.TaskID):
		return nil, fmt.Errorf("runner: TaskID: want a UUID, got %q", clip(o.TaskID))
	case o.Scope != "" && !validKey(o.Scope):
		return nil, fmt.Errorf("runner: Scope: want letters, digits, '.', '_' and '-', got %q", clip(o.Scope))
	case o.Nonce != "" && !validKey(o.Nonce):
		return nil, errors.New("runner: Nonce: want letters and digits")
	}
	r := &Runner{o: o}
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
	r.o.DryRun = o.DryRun || r.c.Mode == ModeShadow
	return r, nil
}

// Run takes one event all the way. The report is complete also when an error is
// returned: then a decision could not be had, or an action failed. Nothing to do,
// an escalation, a refused or skipped action and a vanished issue are no errors.
func (r *Runner) Run(ctx context.Context, e Event) (Report, error) {
	rep := Report{
		Event: e.Key(), Repo: e.FullRepo(), Issue: e.Number,
		TaskID: r.o.TaskID, DryRun: r.o.DryRun, Decision: protocol.Skip,
	}
	if why := e.SkipReason(r.o.Bot); why != "" {
		return rep.skipped(why), nil
	}
	e, err := r.complete(ctx, e)
	switch {
	case errors.Is(err, ErrGone):
		return rep.skipped(ErrGone.Error()), nil
	case err != nil:
		return rep.failed(err), err
	}
	rep.IssueURL, rep.Title = e.Issue.URL, e.Issue.Title
	if why := e.SkipReason(r.o.Bot); why != "" {
		return rep.skipped(why), nil
	}
	d, err := r.decide(ctx, e, &rep)
	if err != nil {
		return rep.failed(err), err
	}
	return r.act(ctx, e, d, rep)
}

// complete fetches the issue that a dispatch event only names.
func (r *Runner) complete(ctx context.Context, e Event) (Event, error) {
	if e.Issue != nil {
		return e, nil
	}
	if r.o.Host == nil {
		return e, fmt.Errorf("fetch issue %s: %w", e.Ref(), ErrNeedsHost)
	}
	raw, err := r.o.Host.Issue(ctx, e.Ref())
	if err != nil {
		return e, err
	}
	issue, err := ParseIssue(raw)
	if err != nil {
		return e, err
	}
	return e.WithIssue(issue), nil
}

// act plans, records and carries out a decision.
func (r *Runner) act(ctx context.Context, e Event, d Decision, rep Report) (Report, error) {
	rep.Decision, rep.Rationale, rep.By = d.Message.Decision, d.Message.Rationale, d.By
	plan := MakePlan(d, *e.Issue, r.c.Policy, r.mayComment(e))
	if r.o.Host == nil && !rep.DryRun && plan.writes() {
		err := fmt.Errorf("carry out the plan: %w", ErrNeedsHost)
		return rep.failed(err), err
	}
	if r.o.Audit != nil {
		if err := r.o.Audit(newAudit(r.o.Now(), rep, plan)); err != nil {
			err = fmt.Errorf("record the decision: %w", err)
			return rep.failed(err), err
		}
	}
	out := ApplyPlan(ctx, plan, r.target(e, &rep))
	rep.setActions(plan, out)
	rep.setStatus(out)
	rep.notePermission(out.Err)
	r.remember(ctx, e, &rep)
	return rep, out.Err
}

func (r *Runner) target(e Event, rep *Report) Target {
	return Target{
		Host: r.o.Host, Ref: e.Ref(), Task: r.o.TaskID, Scope: r.o.Scope, Nonce: r.o.Nonce,
		Bot: r.o.Bot, Since: r.since(e), Resumed: r.o.Resumed, DryRun: r.o.DryRun,
		CreateLabels: r.c.Policy.CreateLabels, Labels: r.c.Policy.Labels,
		Sleep: r.o.Sleep, Log: r.o.Log,
		Warn: func(format string, args ...any) { rep.warnf(format, args...) },
	}
}

// rerunWindow is longer than GitHub lets a workflow run be run again.
const rerunWindow = 35 * 24 * time.Hour

// since returns a time before which this task cannot have written: when the issue
// last changed before the event. The issue of a dispatch event is fetched only now.
func (r *Runner) since(e Event) time.Time {
	if e.Name == EventIssues || e.Name == EventIssueComment {
		return e.Issue.UpdatedAt
	}
	return r.o.Now().Add(-rerunWindow)
}

// mayComment reports whether a comment is welcome: edits, label events and comments
// are answered with one only where a rule names the event.
func (r *Runner) mayComment(e Event) bool {
	quiet := e.Name == EventIssueComment ||
		e.Name == EventIssues && (e.Action == "edited" || e.Action == "labeled" || e.Action == "unlabeled")
	return !quiet || r.c.Rules.Names(e.Name, e.Action)
}

func (rep Report) skipped(why string) Report {
	rep.Status, rep.Reason, rep.Rationale = StatusSkipped, why, why
	return rep
}

// failed is the report of a run in which nothing was decided, or nothing done about it.
func (rep Report) failed(err error) Report {
	rep.Status, rep.Reason = StatusFailed, err.Error()
	if rep.By == "" {
		rep.Decision, rep.Rationale = "", rep.Reason
	}
	rep.notePermission(err)
	return rep
}

func (rep *Report) warnf(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	if slices.Contains(rep.Warnings, text) {
		return
	}
	rep.Warnings = append(rep.Warnings, text)
}

func (rep *Report) notePermission(err error) {
	if p, ok := errors.AsType[*PermissionError](err); ok {
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
