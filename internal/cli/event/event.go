// Package event processes one event, from the settings of a command to a report. The action and the
// command line fill in the settings, and the rest is common to them.
package event

import (
	"cmp"
	"context"
	"log/slog"

	"github.com/org/foreman-action/config"
	"github.com/org/foreman-action/internal/cli/document"
	"github.com/org/foreman-action/internal/cli/draft"
	"github.com/org/foreman-action/internal/cli/failure"
	"github.com/org/foreman-action/internal/cli/grants"
	"github.com/org/foreman-action/internal/cli/process"
	"github.com/org/foreman-action/internal/cli/remote"
	"github.com/org/foreman-action/internal/cli/report"
	"github.com/org/foreman-action/internal/cli/review"
	"github.com/org/foreman-action/internal/github"
	"github.com/org/foreman-action/rules/facts"
	"github.com/org/foreman-action/runner"
	"github.com/org/foreman-action/triage"
)

// Settings are the inputs and dependencies of a run for one event.
type Settings struct {
	Env    process.Env
	Event  triage.Delivery
	Files  config.Files // the first place in which to look for the configuration
	Load   config.Spec
	Access remote.Access
	// Commit is a commit on the default branch, at which evidence is read; empty: the newest one.
	Commit string

	Offline bool // do not call GitHub, except for files that the configuration extends
	// Supplied answers look-ups offline; see runner.Options. Nil: nothing is supplied.
	Supplied  facts.Lookup
	Local     bool // a person runs it: the file's agent is not called and its memory not used
	Live      bool // the event is handled as it happens
	DryRun    bool
	Overrides Overrides
	Task      runner.TaskIdentity
	Memory    MemoryPlace

	// IDToken returns an OIDC token for an audience; nil: not inside Actions.
	IDToken func(ctx context.Context, audience string) (string, error)
	Mask    func(secret string) // hides a secret in the log; nil: there is no log to hide it in
	Log     *slog.Logger        // the progress, and warnings of the parts; nil: discarded
	Audit   func(runner.Audit) error
}

// notes collects warnings and permissions for the report while a run is prepared.
type notes struct {
	warnings []string
	needs    []string // lines of the permissions block
}

func (n notes) with(more notes) notes {
	return notes{append(n.warnings, more.warnings...), append(n.needs, more.needs...)}
}

// Run processes the event. The result is meaningful even if there is an error.
func Run(ctx context.Context, s Settings) (report.Result, error) {
	res, err := handle(ctx, s)
	return advised(res, err)
}

// An advisedError is an error with advice in its text.
type advisedError struct{ error }

// Error returns the text with the advice.
func (e advisedError) Error() string { return failure.Advise(e.error.Error()) }

// Unwrap returns the error without the advice.
func (e advisedError) Unwrap() error { return e.error }

// advised adds to a report, and to the error of a run, where people set the token that the run lacks.
func advised(res report.Result, err error) (report.Result, error) {
	document.Advise(&res.Report)
	// Joined errors without advice stay joined, since the action reports each of them.
	if err != nil && failure.Advise(err.Error()) != err.Error() {
		err = advisedError{err}
	}
	return res, err
}

// handle is [Run] without advice.
func handle(ctx context.Context, s Settings) (report.Result, error) {
	res := report.Result{Needs: []string{"contents: read", "issues: write"}, Fork: s.Live && s.Event.FromFork()}
	res.Report = runner.Report{
		Event: s.Event.Key(), Repo: s.Event.FullRepo(), Issue: s.Event.Number,
		TaskID: s.Task.ID, DryRun: s.DryRun, Status: runner.StatusFailed,
	}
	client, err := client(s)
	if err != nil {
		return res.Failed(err), err
	}
	o := runner.Options{
		Host:   remote.HostOf(client, s.Overrides.Bot),
		DryRun: s.DryRun, Supplied: s.Supplied, Live: s.Live, Explain: s.Live,
		Clock: runner.Clock{Now: s.Env.Now, Sleep: s.Env.Sleep}, Audit: s.Audit, Log: s.Log,
	}
	if client != nil {
		o.Host.File = client.FilesAt(s.Commit)
	}
	if s.Event.Pull != nil && client != nil {
		o.Host.Repository = &pullFiles{Repository: client}
	}
	var loaded *config.Config
	var n notes
	if s.Event.SkipReason(cmp.Or(s.Overrides.Bot, runner.DefaultBot)) == "" {
		if loaded, err = load(ctx, s, client); err != nil {
			return res.Failed(err), err
		}
		o.Config, n.warnings = effective(loaded, s)
		res.Needs = grants.Needs(o.Config, s.Event.OnPull())
		if s.Local {
			res.Hint = draft.Hint(o.Config.Rules, s.Event)
		}
		res.Shadow, res.Policy = o.Config.Mode == config.ModeShadow, o.Config.Policy
		res.NoConfig = loaded == nil && o.Config.Agent.URL == ""
		more, err := equip(&o, s)
		if err != nil {
			return res.Failed(err), err
		}
		res.Shared = o.Memory.Shared
		n = n.with(more)
		res.Needs = append(res.Needs, n.needs...)
		if res.NoConfig && s.Live {
			var warnings []string
			res.Starter, res.Others, warnings = propose(ctx, s, client)
			n.warnings = append(n.warnings, warnings...)
		}
	}
	r, err := runner.New(o)
	if err != nil {
		return res.Failed(err), err
	}
	if s.Event.Name == triage.EventSchedule && s.Event.Issue == nil {
		return sweep(ctx, r, s, res, n.warnings)
	}
	res.Report, err = r.Run(ctx, s.Task, s.Event)
	res.Report.Warnings = append(n.warnings, res.Report.Warnings...)
	if err == nil && client != nil {
		err = reviewed(ctx, &res, review.Options{
			Client: client, Changed: o.Host.Repository, Event: s.Event, Load: s.Load, InForce: loaded, Effective: o.Config, Login: s.Overrides.Bot,
			DryRun: s.DryRun, Task: s.Task, Clock: o.Clock, Log: s.Log,
		})
	}
	return res, err
}

// pullFiles lists the files of the event's pull request only once, because the rules and the review
// of changed rules both need them.
type pullFiles struct {
	runner.Repository

	listed bool
	files  []triage.ChangedFile
	err    error
}

// Files implements [runner.Repository].
func (p *pullFiles) Files(ctx context.Context, ref triage.Ref) ([]triage.ChangedFile, error) {
	if !p.listed {
		p.files, p.err = p.Repository.Files(ctx, ref)
		p.listed = true
	}
	return p.files, p.err
}

// client returns the client of GitHub; nil: offline, or no token.
func client(s Settings) (*github.Client, error) {
	if s.Offline {
		return nil, nil
	}
	return s.Access.Client()
}

// equip adds the agent and the memory that the configuration asks for.
func equip(o *runner.Options, s Settings) (notes, error) {
	var n notes
	if c := o.Config.Agent; c.URL != "" {
		remote, err := askedAgent(c, s.Overrides.AgentToken, s.IDToken, s.Env.UserAgent())
		if err != nil {
			return n, err
		}
		o.Agent.Agent, o.Agent.Name, o.Agent.Record = remote, remote.Address(), cmp.Or(c.Name, remote.Host())
		switch {
		case c.Inherited && (c.Auth == "token" || c.Auth == "oidc"):
			n.warnings = append(n.warnings, "the agent gets no credentials: only the file that the configuration extends names its address; "+
				"repeat agent.url in the repository's own file, or set the input agent-url, to send them there")
		case c.Auth == "oidc":
			n.needs = append(n.needs, "id-token: write")
		}
	}
	memory, more := remembered(s, *o.Config, o.Agent.Agent != nil)
	o.Memory = memory
	return n.with(more), nil
}

// sweep completes a scheduled run: it finds and processes the issues.
func sweep(ctx context.Context, r *runner.Runner, in Settings, res report.Result, warnings []string) (report.Result, error) {
	s, err := r.Sweep(ctx, in.Task, in.Event)
	res.Survey, res.Web = &s, in.Env.Getenv("GITHUB_SERVER_URL")
	res.Report = runner.Report{
		Event: s.Event, Repo: s.Repo, TaskID: s.TaskID, Status: s.Status, Rationale: s.Reason, Reason: s.Reason,
		DryRun: s.DryRun, Executed: s.Executed, Suggested: s.Suggested, Missing: s.Missing, Warnings: append(warnings, s.Warnings...),
	}
	return res, err
}

// reviewed adds the review of the rules that a pull request changes.
func reviewed(ctx context.Context, res *report.Result, o review.Options) error {
	v, err := review.Run(ctx, o)
	if err != nil {
		return err
	}
	res.Review = v.Text
	res.Report.Warnings = append(res.Report.Warnings, v.Warnings...)
	if v.Failed != nil {
		res.Report.Status, res.Report.Reason = runner.StatusFailed, v.Failed.Error()
		if res.Report.Executed > 0 {
			res.Report.Status = runner.StatusPartial
		}
	}
	return v.Failed
}
