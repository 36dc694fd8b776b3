// Package triage is the command that decides on one issue from the command line.
package triage

import (
	"context"
	"crypto/rand"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/org/foreman-action/config"
	"github.com/org/foreman-action/internal/cli/delivery"
	"github.com/org/foreman-action/internal/cli/draft"
	"github.com/org/foreman-action/internal/cli/event"
	"github.com/org/foreman-action/internal/cli/failure"
	"github.com/org/foreman-action/internal/cli/files"
	"github.com/org/foreman-action/internal/cli/format"
	"github.com/org/foreman-action/internal/cli/grants"
	"github.com/org/foreman-action/internal/cli/process"
	"github.com/org/foreman-action/internal/cli/remote"
	"github.com/org/foreman-action/internal/cli/report"
	"github.com/org/foreman-action/internal/command"
	"github.com/org/foreman-action/internal/text"
	"github.com/org/foreman-action/protocol"
	"github.com/org/foreman-action/runner"
)

// Options are all that the command depends on.
type Options struct {
	Env        process.Env
	Event      delivery.Request
	Config     string   // configuration file; empty: the default one, unless Rules is set
	Rules      []string // rule files and globs
	Agent      string   // URL of the agent to ask; empty: none
	AllowClose bool
	Apply      bool // carry the plan out
	JSON       bool // print the report as JSON
}

const help = `Decides on one issue, and prints the plan. Nothing is
written unless --apply is given.

The issue is one on GitHub, by its name or its address (with GITHUB_TOKEN); one that
--title and --body describe; or that of an event's payload (--event FILE, "-" for
standard input), as GitHub sends it to webhooks and workflows. The last two need no token
and no network, unless the configuration extends a file of another repository; missing
data, such as the timeline, is not looked up. The issue counts as newly opened unless the
payload or --event-name names another event.

The configuration is .github/foreman.yml below the working directory. If there is none
and the issue is one on GitHub, it is read from the repository. Files given with
--rules replace it, or with --config are read after that file. An agent or a memory
that a file names is not used: only the agent of --agent is asked.

Environment: GITHUB_TOKEN (to read or write on GitHub), GITHUB_API_URL,
FOREMAN_AGENT_TOKEN (sent to the agent as a bearer token).

Exit codes: 0 done, 1 something failed, 2 a mistake in arguments, event or files,
130 stopped by a signal.`

const example = `  foreman triage --title "panic at boot" --body "Since the update." --rules rules.yml
  foreman triage --event testdata/events/issues/opened.payload.json --rules rules.yml
  foreman triage https://github.com/octo-org/hello/issues/42
  foreman triage octo-org/hello#42 --agent http://localhost:8000 --apply`

// Command returns the command with its flags.
func Command(env process.Env) *cobra.Command {
	o := Options{Env: env}
	var described draft.Issue
	c := &cobra.Command{
		Use:     "triage (OWNER/REPO#N | URL | --title TITLE | --event FILE)",
		Short:   "Decide on one issue, and print the plan or carry it out",
		Long:    help,
		Example: example,
		RunE: func(c *cobra.Command, args []string) error {
			if slices.ContainsFunc(draftFlags(), c.Flags().Changed) {
				o.Event.Draft = &described
			}
			if err := o.named(args); err != nil {
				return err
			}
			return Run(c.Context(), o)
		},
	}
	fl := c.Flags()
	fl.StringVar(&described.Title, "title", "", "`TITLE` of an issue to try the rules on")
	fl.StringVar(&described.Body, "body", "", "`TEXT` of that issue")
	fl.StringArrayVar(&described.Labels, "label", nil, "`LABEL` of that issue; may be repeated")
	fl.StringVar(&described.Author, "author", "", "`LOGIN` of its author (default octocat)")
	fl.StringVar(&described.Association, "association", "", "of its author, such as MEMBER (default NONE)")
	fl.StringVar(&o.Event.File, "event", "", "`FILE` with the event's payload, \"-\" for standard input")
	fl.StringVar(&o.Event.Issue, "issue", "", "issue on GitHub, as `OWNER/REPO#N` or its address")
	fl.StringVar(&o.Event.Name, "event-name", "", "`NAME` of the event, such as issues or issues.edited (default: by the payload)")
	fl.StringVar(&o.Config, "config", "", "configuration `FILE` (default "+config.DefaultPath+")")
	fl.StringArrayVar(&o.Rules, "rules", nil, "rule `FILE` or glob; may be repeated")
	fl.StringVar(&o.Agent, "agent", "", "`URL` of an HTTP agent that decides where the rules do not")
	fl.BoolVar(&o.AllowClose, "allow-close", false, "permit closing the issue")
	fl.BoolVar(&o.Apply, "apply", false, "carry the plan out")
	fl.BoolVar(&o.JSON, "json", false, "print the report as JSON")
	return c
}

// draftFlags are the flags that describe an issue that does not exist yet.
func draftFlags() []string { return []string{"title", "body", "label", "author", "association"} }

// named parses the arguments, and requires that they or the flags name exactly one issue.
func (o *Options) named(args []string) error {
	ways := len(args)
	for _, one := range []bool{o.Event.File != "", o.Event.Issue != "", o.Event.Draft != nil} {
		if one {
			ways++
		}
	}
	switch {
	case ways != 1:
		return command.Usagef("name one issue: OWNER/REPO#N or its address, --title with --body, or an event's payload with --event FILE")
	case len(args) == 1 && !delivery.IsIssue(args[0]):
		return command.Usagef("%w, got %q; the payload of an event is given with --event FILE", delivery.ErrNoIssue, text.Quote(args[0]))
	case len(args) == 1:
		o.Event.Issue = args[0]
	case o.Event.Draft != nil && o.Apply:
		return command.Usagef("--apply: the issue is not on GitHub; name one that is, as OWNER/REPO#N")
	}
	return nil
}

// Run decides on one event, and prints the report. A failure that the report shows is a
// [command.ReportedError].
func Run(ctx context.Context, o Options) error {
	s, err := settings(ctx, o)
	if err != nil {
		return err
	}
	res, err := event.Run(ctx, s)
	res.Described = o.Event.Draft != nil
	hinted, err := lookupHint(err, s.Offline)
	err = failure.Classify(err)
	if command.ExitCode(err) == command.ExitUsage || err != nil && res.Report.By == "" && !o.JSON {
		// Nothing was decided: there is no report worth printing.
		return withGrants(res, err)
	}
	text := report.Text(res, format.Painter{On: o.Env.Colour})
	if o.JSON {
		text = report.JSON(res.Report) + "\n"
	}
	switch perr := o.Env.Print(text); {
	case perr != nil || err == nil:
		return perr
	case hinted: // the report does not contain it
		return err
	}
	return command.Reported(command.ExitFailed)
}

// lookupHint adds advice to the error of a rule whose lookup failed. hinted is true if it did.
func lookupHint(err error, offline bool) (hinted bool, with error) {
	if err == nil || !offline || failure.Problems(err) != nil || !strings.Contains(err.Error(), failure.ErrNoToken.Error()) {
		return false, err
	}
	return true, fmt.Errorf("%w\nThe payload does not identify the issue: name it as OWNER/REPO#N or by its address, with GITHUB_TOKEN set", err)
}

// withGrants adds the permissions to grant to the error of a call that lacks a permission.
func withGrants(res report.Result, err error) error {
	if len(res.Report.Missing) == 0 {
		return err
	}
	return command.Failed(fmt.Errorf("%w\n%s", err, grants.Help(res.Needs, res.Report.Missing)))
}

// settings turns the options into those of a run.
func settings(ctx context.Context, o Options) (event.Settings, error) {
	env := o.Env
	dir, err := env.WorkDir()
	if err != nil {
		return event.Settings{}, err
	}
	s := event.Settings{
		Env: env, Files: files.Anywhere{Dir: dir}, Access: remote.FromEnv(env), Local: true,
		Task:   runner.TaskIdentity{Nonce: rand.Text(), First: true},
		DryRun: !o.Apply,
		Load:   config.Spec{Path: o.Config, Rules: o.Rules},
		Overrides: event.Overrides{
			AgentURL: o.Agent, AllowClose: o.AllowClose, AgentToken: env.Getenv("FOREMAN_AGENT_TOKEN"),
		},
		Memory: event.MemoryPlace{Dir: dir},
	}
	if o.Config == "" && len(o.Rules) == 0 {
		s.Load.Path, s.Load.Optional = config.DefaultPath, true
		if o.Agent == "" {
			s.Load.Else = config.OtherPath
		}
	}
	if s.Overrides.AgentToken != "" && o.Agent != "" {
		s.Overrides.AgentAuth = "token"
	}
	if o.Apply {
		s.Audit, s.Log = auditTo(env.Stderr), env.Logger()
	}
	if s.Task.ID, err = protocol.NewTaskID(rand.Reader); err != nil {
		return event.Settings{}, err
	}
	if s.Event, err = delivery.Read(ctx, env, s.Access, o.Event); err != nil {
		return event.Settings{}, err
	}
	// A complete payload needs no calls, so none are made without --apply.
	s.Offline = o.Event.Issue == "" && !o.Apply && s.Event.Issue != nil
	return s, nil
}

// auditTo returns a function that writes each audit record as a line.
func auditTo(w io.Writer) func(runner.Audit) error {
	return func(record runner.Audit) error {
		line, err := record.Line()
		if err != nil {
			return err
		}
		_, err = fmt.Fprintln(w, line)
		return err
	}
}
