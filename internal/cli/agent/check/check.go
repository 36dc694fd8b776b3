// Package check is the command that reports the mistakes of an agent.
package check

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"os/exec"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/org/foreman-action/agent/agentcheck"
	"github.com/org/foreman-action/internal/cli/format"
	"github.com/org/foreman-action/internal/cli/group"
	"github.com/org/foreman-action/internal/cli/process"
	"github.com/org/foreman-action/internal/command"
	"github.com/org/foreman-action/internal/sanitize"
)

const help = `Acts as the harness for an agent at URL, and reports the agent's mistakes. It checks agents of
a queue, which are nudged and claim their tasks, and agents that answer a whole task with the
decision. It detects the form of the wire protocol unless --wire names it.

An agent of the queue must use the kit's address as FOREMAN_HARNESS_URL. With a command behind
"--" the kit starts the agent with the variables FOREMAN_HARNESS_URL and AGENT_URL, and ends it
with SIGTERM; it then also checks the start and the end. Otherwise it prints its address and
waits for the agent.

A line begins with ok, FAILED (a harness loses tasks or time), advice (an improvement)
or skipped (not checkable). The issues that the kit sends contain prompt injections; nothing is
written on GitHub.

Exit codes: 0 nothing failed, 1 something failed, 2 a mistake in the arguments.`

const example = `  foreman agent check http://localhost:9001 -- python3 agent.py
  foreman agent check http://localhost:9001 --listen 127.0.0.1:8000
  foreman agent check http://localhost:9001 --wire sync --json`

// Options are all that the command depends on.
type Options struct {
	Env     process.Env
	Check   agentcheck.Options // without the functions that start the agent and report
	Command []string           // starts the agent; empty: the user starts it
	JSON    bool               // print the report as JSON
}

// Command returns the command with its flags.
func Command(env process.Env) *cobra.Command {
	o := Options{Env: env}
	c := &cobra.Command{
		Use:     "check URL [-- COMMAND [ARG…]]",
		Short:   "Check an agent, written in any language, and report its mistakes",
		Long:    help,
		Example: example,
		RunE: func(c *cobra.Command, args []string) error {
			dash := c.ArgsLenAtDash()
			if dash < 0 {
				dash = len(args)
			}
			if dash != 1 {
				return command.Usagef("want one URL, and an optional command behind --; got %d arguments before the command", dash)
			}
			o.Check.Agent, o.Command = args[0], args[1:]
			return Run(c.Context(), o)
		},
	}
	fl := c.Flags()
	fl.StringVar(&o.Check.Wire, "wire", "", "`PROTOCOL` of the agent: queue or sync (default: detected)")
	group.Values(c, "wire", "queue", "sync")
	fl.StringVar(&o.Check.Listen, "listen", "", "`ADDRESS` for the kit's harness (default: a free port of 127.0.0.1)")
	fl.StringVar(&o.Check.Harness, "harness", "", "`URL` under which the agent reaches the kit's harness, if it differs from --listen")
	fl.DurationVar(&o.Check.Patience, "patience", agentcheck.DefaultPatience, "how long the agent may take to start, and for one task")
	fl.DurationVar(&o.Check.Lease, "lease", agentcheck.DefaultLease, "how long a claim lasts without a heartbeat")
	fl.BoolVar(&o.JSON, "json", false, "print the report as JSON")
	return c
}

// Run checks an agent and prints the report. An agent that failed is a
// [command.ReportedError].
func Run(ctx context.Context, o Options) error {
	env, kit := o.Env, o.Check
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	healthy := make(chan struct{})
	if len(o.Command) > 0 {
		kit.Start = startAgent(env, kit.Agent, o.Command, func(err error) {
			select {
			case <-healthy: // the checks find that it ended
			default:
				cancel(fmt.Errorf("start the agent: the command ended before the agent was healthy: %w; its last output is above", err))
			}
		})
	} else {
		kit.Listening = func(harness string) {
			if kit.Wire == agentcheck.Sync {
				fmt.Fprintf(env.Stderr, "foreman: waiting for the agent; start it so that it answers POST /task at %s\n", sanitize.Line(kit.Agent))
				return
			}
			fmt.Fprintf(env.Stderr, "foreman: waiting for the agent; start an agent of the queue with FOREMAN_HARNESS_URL=%s AGENT_URL=%s\n", harness, sanitize.Line(kit.Agent))
		}
	}
	kit.Done = func(c agentcheck.Check) {
		if c.ID == "health" {
			close(healthy)
		}
		if !o.JSON {
			printCheck(env.Stdout, c, format.Painter{On: env.Coloured()})
		}
	}
	report, err := agentcheck.Run(ctx, kit)
	switch {
	case ctx.Err() != nil:
		return command.Failed(context.Cause(ctx))
	case err != nil && report.Version == 0:
		return classify(err)
	case err != nil:
		return command.Failed(err)
	}
	text := sumUp(report)
	if o.JSON {
		text = format.JSON(report, "  ")
	}
	if err := env.Print(text + "\n"); err != nil {
		return err
	}
	if !report.OK() {
		return command.Reported(command.ExitFailed)
	}
	return nil
}

// classify distinguishes a mistake in the arguments from an agent or a port that is not
// available.
func classify(err error) error {
	_, listening := errors.AsType[*net.OpError](err)
	_, missing := errors.AsType[*exec.Error](err)
	_, unusable := errors.AsType[*fs.PathError](err)
	if listening || missing || unusable {
		return command.Failed(err)
	}
	return command.Usage(err)
}

// printCheck writes a line on a check, and a second one for its details.
func printCheck(w io.Writer, c agentcheck.Check, p format.Painter) {
	word, colour := map[agentcheck.Result]string{agentcheck.OK: "ok", agentcheck.Failed: "FAILED", agentcheck.Skipped: "skipped"}[c.Result], "32"
	switch {
	case c.Result == agentcheck.Failed && !c.Must:
		word, colour = "advice", "33"
	case c.Result == agentcheck.Failed:
		colour = "31"
	case c.Result == agentcheck.Skipped:
		colour = "33"
	}
	fmt.Fprintf(w, "%s%s%-22s%s\n", p.Paint(colour, word), strings.Repeat(" ", 9-len(word)), c.ID, sanitize.Line(c.Want))
	if c.Got != "" {
		fmt.Fprintf(w, "%-31s%s\n", "", p.Faint("got: "+sanitize.Line(c.Got)))
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

// startAgent returns the function that starts a program as the agent. failed is called if the program
// fails by itself.
func startAgent(env process.Env, self string, argv []string, failed func(error)) func(context.Context, string) (func(context.Context) error, error) {
	return func(ctx context.Context, harness string) (func(context.Context) error, error) {
		// The agent is asked to end, so ctx must not kill it.
		cmd := exec.CommandContext(context.WithoutCancel(ctx), argv[0], argv[1:]...) //nolint:gosec // the user's own command
		cmd.Env = append(env.Environ(), "FOREMAN_HARNESS_URL="+harness, "AGENT_URL="+self)
		cmd.Dir = env.Dir
		cmd.Stdout, cmd.Stderr = env.Stderr, env.Stderr
		cmd.WaitDelay = time.Second
		if err := cmd.Start(); err != nil {
			return nil, err
		}
		ended := make(chan error, 1)
		go func() {
			err := cmd.Wait()
			if err != nil {
				failed(err)
			}
			ended <- err
		}()
		var once onceError
		return func(ctx context.Context) error {
			return once.do(func() error { return end(ctx, cmd, ended) })
		}, nil
	}
}

// A onceError runs a function once, and keeps its error.
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

// end asks a program to end, and kills it when it does not.
func end(ctx context.Context, cmd *exec.Cmd, ended <-chan error) error {
	select {
	case err := <-ended:
		return fmt.Errorf("the agent ended before it was stopped: %w", errors.Join(err, errors.New(cmd.ProcessState.String())))
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
			return fmt.Errorf("stop the agent: it failed after SIGTERM: %w", err)
		}
		return nil
	case <-ctx.Done():
		return errors.Join(errors.New("stop the agent: it did not end after SIGTERM, and was killed"), cmd.Process.Kill(), <-ended)
	}
}
