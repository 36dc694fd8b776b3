// Package triage is the command that decides on one issue from the command line.
package triage

import (
	"context"
	"crypto/rand"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"github.com/org/foreman-action/config"
	"github.com/org/foreman-action/internal/cli/delivery"
	"github.com/org/foreman-action/internal/cli/event"
	"github.com/org/foreman-action/internal/cli/failure"
	"github.com/org/foreman-action/internal/cli/files"
	"github.com/org/foreman-action/internal/cli/format"
	"github.com/org/foreman-action/internal/cli/grants"
	"github.com/org/foreman-action/internal/cli/process"
	"github.com/org/foreman-action/internal/cli/remote"
	"github.com/org/foreman-action/internal/cli/report"
	"github.com/org/foreman-action/internal/cli/tryout"
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
--title, --body and other flags describe; or that of an event's payload (--event FILE,
"-" for standard input), as GitHub sends it to webhooks and workflows. The last two need
no token and no network, unless the configuration extends a file of another repository.
A rule that depends on more data is listed as unknown here, with the flag that supplies
the data. A flag such as --author-issues, and --case FILE, work beside --event, too.

The issue counts as newly opened, unless the payload, --comment or --event-name names
another event. --case FILE describes everything that rules can read: the file has the
keys of an item of tests:. The other flags replace values of the file.

The configuration is .github/foreman.yml below the working directory. If there is none
and the issue is one on GitHub, it is read from the repository. Files given with
--rules replace it, or with --config are read after that file. An agent or a memory
that a file names is not used: only the agent of --agent is asked.

Environment: GITHUB_TOKEN (to read or write on GitHub), GITHUB_API_URL,
FOREMAN_AGENT_TOKEN (sent to the agent as a bearer token).

Exit codes: 0 done, 1 something failed, 2 a mistake in arguments, event or files,
130 stopped by a signal.`

const example = `  foreman triage --title "panic at boot" --body "Since the update." --rules rules.yml
  foreman triage --pr --file src/a.go --author-pulls 0 --rules rules.yml
  foreman triage --comment "/foreman close" --permission write --rules rules.yml
  foreman triage --event testdata/events/issues/opened.payload.json --rules rules.yml
  foreman triage https://github.com/octo-org/hello/issues/42
  foreman triage octo-org/hello#42 --agent http://localhost:8000 --apply`

// Command returns the command with its flags.
func Command(env process.Env) *cobra.Command {
	o := Options{Env: env}
	var flags *tryout.Flags
	c := &cobra.Command{
		Use:     "triage (OWNER/REPO#N | URL | --title TITLE | --event FILE)",
		Short:   "Decide on one issue, and print the plan or carry it out",
		Long:    help,
		Example: example,
		RunE: func(c *cobra.Command, args []string) error {
			if err := o.named(args); err != nil {
				return err
			}
			if err := flags.Draft(c, o.Env, &o.Event); err != nil {
				return err
			}
			if err := o.check(); err != nil {
				return err
			}
			return Run(c.Context(), o)
		},
	}
	flags = tryout.Add(c, &o.Event)
	fl := c.Flags()
	fl.StringVar(&o.Event.Issue, "issue", "", "issue on GitHub, as `OWNER/REPO#N` or its address")
	fl.StringVar(&o.Config, "config", "", "configuration `FILE` (default "+config.DefaultPath+")")
	fl.StringArrayVar(&o.Rules, "rules", nil, "rule `FILE` or glob; may be repeated")
	fl.StringVar(&o.Agent, "agent", "", "`URL` of an HTTP agent that decides where the rules do not")
	fl.BoolVar(&o.AllowClose, "allow-close", false, "permit closing the issue")
	fl.BoolVar(&o.Apply, "apply", false, "carry the plan out")
	fl.BoolVar(&o.JSON, "json", false, "print the report as JSON")
	return c
}

const oneIssue = "name one issue: OWNER/REPO#N or its address, --title with --body, or an event's payload with --event FILE"

// named parses the arguments, which may name an issue on GitHub.
func (o *Options) named(args []string) error {
	switch {
	case len(args) > 1, len(args) == 1 && o.Event.Issue != "":
		return command.Usagef(oneIssue)
	case len(args) == 1 && !delivery.IsIssue(args[0]):
		return command.Usagef("%w, got %q; the payload of an event is given with --event FILE", delivery.ErrNoIssue, text.Quote(args[0]))
	case len(args) == 1:
		o.Event.Issue = args[0]
	}
	return nil
}

// check requires that exactly one issue is named, and that --apply has one to write to.
func (o *Options) check() error {
	switch {
	case (o.Event.File != "") == (o.Event.Issue != "") && (o.Event.File != "" || o.Event.Draft == nil):
		return command.Usagef(oneIssue)
	case o.Event.Described() && o.Apply:
		return command.Usagef("--apply: the issue is not on GitHub; name one that is, as OWNER/REPO#N")
	case o.Event.Draft != nil && o.Apply:
		return command.Usagef("--apply: rules look up the values that flags and --case supply; leave these out")
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
	res.Described = o.Event.Described()
	if o.Event.File != "" {
		res.Hint = "" // the payload is of one event
	}
	if why := res.Report.Unasked; why != "" {
		res.Report.Warnings = append(res.Report.Warnings, "the agent was not asked: "+why)
	}
	err = failure.Classify(err)
	if command.ExitCode(err) == command.ExitUsage || err != nil && res.Report.By == "" && !o.JSON {
		// Nothing was decided: there is no report worth printing.
		return withGrants(res, err)
	}
	text := report.Text(res, format.Painter{On: o.Env.Coloured()})
	if o.JSON {
		text = report.JSON(res.Report) + "\n"
	}
	if perr := o.Env.Print(text); perr != nil || err == nil {
		return perr
	}
	return command.Reported(command.ExitFailed)
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
	c, offline, err := delivery.Read(ctx, env, s.Access, o.Event)
	if err != nil {
		return event.Settings{}, err
	}
	s.Event = c.Event
	// A complete payload needs no calls, so none are made without --apply.
	if s.Offline = offline && !o.Apply; s.Offline {
		s.Supplied, s.Env.Now = c.Lookup, func() time.Time { return c.Now }
	}
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
