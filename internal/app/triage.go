package app

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/org/foreman-action/config"
	"github.com/org/foreman-action/internal/command"
	"github.com/org/foreman-action/internal/sanitize"
	"github.com/org/foreman-action/protocol"
	"github.com/org/foreman-action/runner"
	"github.com/org/foreman-action/triage"
)

// triageFlags are the flags of the command triage.
type triageFlags struct {
	event, eventName, issue string
	config                  string
	rules                   []string
	agent                   string
	allowClose              bool
	apply, json             bool
}

const triageHelp = `Decides what would be done about one issue, and prints the plan. Nothing is
written unless --apply is given.

The issue comes from an event's payload (--event FILE, "-" for standard input), as
GitHub sends it to webhooks and workflows, or from GitHub itself (--issue). A
payload that holds its issue needs no token and no network, unless the configuration
extends a file of another repository. --issue is taken for a newly opened issue unless
--event-name says otherwise.

The configuration is .github/foreman.yml below the working directory, when there is
one; with --issue it is otherwise read from the repository. Files given with --rules
are read instead, or after the file given with --config. An agent or a memory that a
file names is not used from here: only the agent given with --agent is asked.

Environment: GITHUB_TOKEN (to read or write on GitHub), GITHUB_API_URL,
FOREMAN_AGENT_TOKEN (sent to the agent as a bearer token).

Exit codes: 0 done, 1 something failed, 2 a mistake in arguments, event or files.`

const triageExample = `  foreman triage --event testdata/events/issues/opened.payload.json --rules rules.yml
  foreman triage --issue octo-org/hello#42
  foreman triage --issue octo-org/hello#42 --agent http://localhost:8000 --apply`

func (a App) triageCommand(code *int) *cobra.Command {
	var f triageFlags
	c := &cobra.Command{
		Use:     "triage (--event FILE | --issue OWNER/REPO#N)",
		Short:   "Decide on one issue from here, and print or apply the plan",
		Long:    triageHelp,
		Example: triageExample,
		Args:    cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			ok, err := a.triage(c.Context(), f)
			if err == nil && !ok {
				*code = command.ExitFailed
			}
			return err
		},
	}
	fl := c.Flags()
	fl.StringVar(&f.event, "event", "", "`FILE` with the event's payload, \"-\" for standard input")
	fl.StringVar(&f.issue, "issue", "", "issue on GitHub, as `OWNER/REPO#N`")
	fl.StringVar(&f.eventName, "event-name", "", "`NAME` of the event, such as issues or issues.edited (default: by the payload)")
	fl.StringVar(&f.config, "config", "", "configuration `FILE` (default "+config.DefaultPath+")")
	fl.StringArrayVar(&f.rules, "rules", nil, "rule `FILE` or glob; may be repeated")
	fl.StringVar(&f.agent, "agent", "", "`URL` of an HTTP agent to ask for what the rules leave open")
	fl.BoolVar(&f.allowClose, "allow-close", false, "permit closing the issue")
	fl.BoolVar(&f.apply, "apply", false, "carry the plan out")
	fl.BoolVar(&f.json, "json", false, "print the report as JSON")
	c.MarkFlagsMutuallyExclusive("event", "issue")
	c.MarkFlagsOneRequired("event", "issue")
	return c
}

// triage runs one job from the command line. ok is false when it failed in a way
// that its report tells.
func (a App) triage(ctx context.Context, f triageFlags) (ok bool, err error) {
	j, err := a.triageJob(ctx, f)
	if err != nil {
		return false, err
	}
	res, err := j.run(ctx)
	err = classify(err)
	switch {
	case command.ExitCode(err) == command.ExitUsage, err != nil && res.report.By == "" && !f.json:
		// Nothing was decided: there is no report worth printing.
		return false, explain(res, err)
	case f.json:
		_, werr := fmt.Fprintln(a.Stdout, encode(reportOf(res.report), "  "))
		return err == nil, printed(werr)
	}
	return err == nil, printed(printReport(a.Stdout, res, painter{a.Colour}))
}

func printed(err error) error {
	if err == nil {
		return nil
	}
	return command.Failed(fmt.Errorf("print the report: %w", err))
}

// explain adds the permissions to grant to an error that lacks one.
func explain(res result, err error) error {
	if len(res.report.Missing) == 0 {
		return err
	}
	return command.Failed(fmt.Errorf("%w\n%s", err, permissionsHelp(res.needs, res.report.Missing)))
}

// triageJob turns the flags into a job.
func (a App) triageJob(ctx context.Context, f triageFlags) (job, error) {
	dir, err := a.workDir()
	if err != nil {
		return job{}, err
	}
	j := job{
		app: a, files: anywhere{dir}, dir: dir, local: true, nonce: rand.Text(),
		token: a.Getenv("GITHUB_TOKEN"), apiURL: a.Getenv("GITHUB_API_URL"),
		dryRun: !f.apply,
		load:   config.Spec{Path: f.config, Rules: f.rules},
		override: overrides{
			agentURL: f.agent, allowClose: f.allowClose, agentToken: a.Getenv("FOREMAN_AGENT_TOKEN"),
		},
		log: func(string, ...any) {},
	}
	if f.config == "" && len(f.rules) == 0 {
		j.load.Path, j.load.Optional = config.DefaultPath, true
	}
	if j.override.agentToken != "" && f.agent != "" {
		j.override.agentAuth = "token"
	}
	if f.apply {
		j.audit, j.log = a.auditToStderr, a.logToStderr
	}
	id, err := protocol.NewTaskID(rand.Reader)
	if err != nil {
		return job{}, err
	}
	j.taskID = id
	if j.event, err = a.triageEvent(ctx, f, j); err != nil {
		return job{}, err
	}
	// A payload that says all needs no call, and none is made until --apply.
	j.offline = f.event != "" && !f.apply && j.event.Issue != nil
	return j, nil
}

func (a App) auditToStderr(record runner.Audit) error {
	line, err := record.Line()
	if err != nil {
		return err
	}
	_, err = fmt.Fprintln(a.Stderr, line)
	return err
}

func (a App) logToStderr(format string, args ...any) {
	fmt.Fprintln(a.Stderr, sanitize.Log(fmt.Sprintf(format, args...)))
}

// triageEvent reads the event from a file, or makes one of an issue on GitHub.
func (a App) triageEvent(ctx context.Context, f triageFlags, j job) (triage.Delivery, error) {
	src, err := a.eventSource(ctx, f, j)
	if err != nil {
		return triage.Delivery{}, err
	}
	name, action, _ := strings.Cut(f.eventName, ".")
	if f.issue == "" {
		src.Name = name
	}
	e, err := triage.ParseEvent(src)
	if err != nil {
		return triage.Delivery{}, &usageError{err}
	}
	if e.Name == triage.EventSchedule && e.Issue == nil {
		return triage.Delivery{}, usagef("a scheduled run looks for its issues, which only the action does; " +
			"--issue OWNER/REPO#N --event-name schedule shows what would become of one")
	}
	if action != "" && action != e.Action {
		return triage.Delivery{}, usagef("--event-name says %s, but the payload's action is %q", f.eventName, e.Action)
	}
	return e, nil
}

func (a App) eventSource(ctx context.Context, f triageFlags, j job) (triage.EventSource, error) {
	if f.issue != "" {
		return a.fetchedEvent(ctx, f, j)
	}
	src := triage.EventSource{File: f.event, Repo: a.Getenv("GITHUB_REPOSITORY")}
	var err error
	if f.event == "-" {
		src.File = "standard input"
		src.Payload, err = readInput(ctx, a.Stdin)
	} else {
		src.Payload, err = readFile(anywhere{j.dir}.path(f.event), maxEvent)
	}
	if err != nil {
		return src, usagef("read the event: %w", err)
	}
	return src, nil
}

// readInput reads standard input until it ends or the program is asked to stop.
func readInput(ctx context.Context, in io.Reader) ([]byte, error) {
	if in == nil {
		return nil, nil
	}
	type read struct {
		data []byte
		err  error
	}
	done := make(chan read, 1)
	go func() {
		data, err := readAll(in, "standard input", maxEvent)
		done <- read{data, err}
	}()
	select {
	case r := <-done:
		return r.data, r.err
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// fetchedEvent makes the event that an issue would have caused.
func (a App) fetchedEvent(ctx context.Context, f triageFlags, j job) (triage.EventSource, error) {
	repo, number, ok := strings.Cut(f.issue, "#")
	owner, name, okRepo := protocol.SplitRepo(repo)
	n, err := triage.ParseNumber(number)
	if !ok || !okRepo || err != nil {
		return triage.EventSource{}, usagef("--issue: want OWNER/REPO#N, got %q", f.issue)
	}
	if j.token == "" {
		return triage.EventSource{}, usagef("fetch %s: %w: set GITHUB_TOKEN", f.issue, triage.ErrNeedsHost)
	}
	client, err := j.host()
	if err != nil {
		return triage.EventSource{}, err
	}
	issue, err := client.Issue(ctx, triage.Ref{Owner: owner, Repo: name, Number: n})
	if err != nil {
		return triage.EventSource{}, command.Failed(err)
	}
	event, action, _ := strings.Cut(f.eventName, ".")
	if event == "" {
		event, action = triage.EventIssues, "opened"
	}
	payload, err := json.Marshal(map[string]any{
		"action": action, "issue": issue.Raw, "repository": map[string]string{"full_name": repo},
		"sender": senderOf(issue.Raw), "inputs": map[string]string{"issue": fmt.Sprint(n)},
	})
	return triage.EventSource{Name: event, File: f.issue, Repo: repo, Issue: n, Payload: payload}, err
}

// senderOf returns the author of an issue, who opened it.
func senderOf(issue json.RawMessage) json.RawMessage {
	var o struct {
		User json.RawMessage `json:"user"`
	}
	if json.Unmarshal(issue, &o) != nil || len(o.User) == 0 || string(o.User) == "null" {
		return json.RawMessage("{}")
	}
	return o.User
}
