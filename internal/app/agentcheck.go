package app

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"os"
	"os/exec"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/org/foreman-action/agent/agentcheck"
	"github.com/org/foreman-action/internal/command"
	"github.com/org/foreman-action/internal/sanitize"
)

const agentCheckHelp = `Plays the harness against an agent at URL, and tells what the agent does wrong: over the
queue, where it is nudged and claims its tasks, and by whole tasks, where it answers with the
decision. Which of the two it speaks is found out, unless --wire says it.

An agent of the queue must find the kit where FOREMAN_HARNESS_URL says. With a command behind
"--" the kit starts the agent with the variables FOREMAN_HARNESS_URL and AGENT_URL, and ends it
with SIGTERM; what waits at the start, and the end, are looked at then too. Otherwise the address
is printed, and the kit waits for the agent.

A line begins with ok, FAILED (a harness loses tasks or time by it), advice (better otherwise)
or skipped (could not be looked at). The text of an issue that the kit sends tries to give
orders; nothing is written on GitHub.

Exit codes: 0 nothing failed, 1 something failed, 2 a mistake in the arguments.`

const agentCheckExample = `  foreman agent check http://localhost:9001 -- python3 agent.py
  foreman agent check http://localhost:9001 --listen 127.0.0.1:8000
  foreman agent check http://localhost:9001 --wire sync --json`

func (a App) agentCheckCommand(code *int) *cobra.Command {
	var o agentcheck.Options
	var asJSON bool
	c := &cobra.Command{
		Use:     "check URL [-- COMMAND [ARG…]]",
		Short:   "Tell what an agent does wrong, in whatever language it is written",
		Long:    agentCheckHelp,
		Example: agentCheckExample,
		RunE: func(c *cobra.Command, args []string) error {
			dash := c.ArgsLenAtDash()
			if dash < 0 {
				dash = len(args)
			}
			if dash != 1 {
				return usagef("want one URL, and a command behind --; got %d arguments before it", dash)
			}
			o.Agent = args[0]
			if argv := args[1:]; len(argv) > 0 {
				o.Start = a.startAgent(o.Agent, argv)
			}
			ok, err := a.agentCheck(c.Context(), o, asJSON)
			if err == nil && !ok {
				*code = command.ExitFailed
			}
			return err
		},
	}
	fl := c.Flags()
	fl.StringVar(&o.Wire, "wire", "", "`FORM` of the wire: queue or sync (default: what the agent speaks)")
	fl.StringVar(&o.Listen, "listen", "", "`ADDRESS` for the kit's harness (default: a free port of 127.0.0.1)")
	fl.StringVar(&o.Harness, "harness", "", "`URL` under which the agent reaches that, if it is another one")
	fl.DurationVar(&o.Patience, "patience", agentcheck.DefaultPatience, "how long the agent may take to start, and for one task")
	fl.DurationVar(&o.Lease, "lease", agentcheck.DefaultLease, "how long a claim lasts without a heartbeat")
	fl.BoolVar(&asJSON, "json", false, "print the report as JSON")
	return c
}

func (a App) agentCheck(ctx context.Context, o agentcheck.Options, asJSON bool) (ok bool, err error) {
	if o.Start == nil {
		o.Listening = func(harness string) {
			fmt.Fprintf(a.Stderr, "foreman: waiting for the agent; one of the queue is started with FOREMAN_HARNESS_URL=%s AGENT_URL=%s\n", harness, sanitize.Line(o.Agent))
		}
	}
	if !asJSON {
		o.Done = func(c agentcheck.Check) { printCheck(a.Stdout, c, painter{a.Colour}) }
	}
	report, err := agentcheck.Run(ctx, o)
	switch {
	case ctx.Err() != nil:
		return false, command.Failed(context.Cause(ctx))
	case err != nil && report.Version == 0:
		return false, classifyCheck(err)
	case err != nil:
		return false, command.Failed(err)
	case asJSON:
		_, err = fmt.Fprintln(a.Stdout, encode(report, "  "))
	default:
		_, err = fmt.Fprintln(a.Stdout, sumUp(report))
	}
	return report.OK(), printed(err)
}

// classifyCheck tells a mistake in the arguments from an agent, or a port, that is not there.
func classifyCheck(err error) error {
	_, listening := errors.AsType[*net.OpError](err)
	_, missing := errors.AsType[*exec.Error](err)
	_, unusable := errors.AsType[*fs.PathError](err)
	if listening || missing || unusable {
		return command.Failed(err)
	}
	return &usageError{err}
}

// printCheck writes a line on a check, and a second one where there is more to say.
func printCheck(w io.Writer, c agentcheck.Check, p painter) {
	word, colour := map[agentcheck.Result]string{agentcheck.OK: "ok", agentcheck.Failed: "FAILED", agentcheck.Skipped: "skipped"}[c.Result], "32"
	switch {
	case c.Result == agentcheck.Failed && !c.Must:
		word, colour = "advice", "33"
	case c.Result == agentcheck.Failed:
		colour = "31"
	case c.Result == agentcheck.Skipped:
		colour = "33"
	}
	fmt.Fprintf(w, "%s%s%-22s%s\n", p.paint(colour, word), strings.Repeat(" ", 9-len(word)), c.ID, sanitize.Line(c.Want))
	if c.Got != "" {
		fmt.Fprintf(w, "%-31s%s\n", "", p.faint("got: "+sanitize.Line(c.Got)))
	}
}

// sumUp counts the results of a report.
func sumUp(r agentcheck.Report) string {
	n := map[string]int{}
	for _, c := range r.Checks {
		word := string(c.Result)
		if c.Result == agentcheck.Failed && !c.Must {
			word = "advice"
		}
		n[word]++
	}
	return fmt.Sprintf("\n%s (%s): %d ok, %d failed, %d advice, %d skipped",
		sanitize.Line(r.Agent), strings.Join(r.Wires, ", "), n["ok"], n["failed"], n["advice"], n["skipped"])
}

// startAgent returns what starts a program as the agent.
func (a App) startAgent(self string, argv []string) func(context.Context, string) (func(context.Context) error, error) {
	return func(ctx context.Context, harness string) (func(context.Context) error, error) {
		// It is asked to end, and not killed with ctx.
		cmd := exec.CommandContext(context.WithoutCancel(ctx), argv[0], argv[1:]...) //nolint:gosec // it is what the user asks for
		cmd.Env = append(os.Environ(), "FOREMAN_HARNESS_URL="+harness, "AGENT_URL="+self)
		cmd.Dir = a.Dir
		cmd.Stdout, cmd.Stderr = a.Stderr, a.Stderr
		cmd.WaitDelay = time.Second
		if err := cmd.Start(); err != nil {
			return nil, err
		}
		ended := make(chan error, 1)
		go func() { ended <- cmd.Wait() }()
		var once onceError
		return func(ctx context.Context) error {
			return once.do(func() error { return end(ctx, cmd, ended) })
		}, nil
	}
}

// A onceError does something once, and keeps what came of it.
type onceError struct {
	done bool
	err  error
}

func (o *onceError) do(f func() error) error {
	if !o.done {
		o.done, o.err = true, f()
	}
	return o.err
}

// end asks a program to end, and makes it when it does not.
func end(ctx context.Context, cmd *exec.Cmd, ended <-chan error) error {
	select {
	case err := <-ended:
		return fmt.Errorf("it had ended before: %w", errors.Join(err, errors.New(cmd.ProcessState.String())))
	default:
	}
	if err := terminate(cmd.Process); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	select {
	case err := <-ended:
		if err != nil && !terminated(cmd.ProcessState) {
			return fmt.Errorf("it was asked to end, and failed: %w", err)
		}
		return nil
	case <-ctx.Done():
		return errors.Join(errors.New("it was asked to end by SIGTERM, and had to be killed"), cmd.Process.Kill(), <-ended)
	}
}
