// Package tool is the command with the tools for agents: JSON files and git in the working
// directory, and the check of a result and the changed files.
package tool

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/org/foreman-action/internal/cli/envelope"
	"github.com/org/foreman-action/internal/cli/process"
	"github.com/org/foreman-action/internal/coding/git"
	"github.com/org/foreman-action/internal/command"
	"github.com/org/foreman-action/internal/handoff"
	"github.com/org/foreman-action/internal/workdir"
)

const help = `Runs a tool for an agent. Standard input is one JSON object, and empty where a tool needs
nothing. Standard output is always one line of JSON: {"ok": true, …}, or {"ok": false,
"errors": [{"path", "code", "message"}]}.

  read_json_file           {"path"}                 → data
  write_json_file          {"path", "data"}         written as a whole, indented
  git_status               {}                       → files: [{path, status, from}]
  git_diff_main_head       {"baseRef", "max_bytes"} → diff, base, truncated
  check-builder-handoff    {"data"} or {"path"}     → status, state, data, changed_files
  check-inspector-handoff  {"data"} or {"path"}     → status, state, data, changed_files

Paths lie below the working directory. baseRef is main if absent, and max_bytes 1048576.

Exit codes: 0 done; 0 too for a check of a result that is not ok, 1 failed, 2 a mistake in
the arguments.`

// Options are all that the command depends on.
type Options struct {
	Env  process.Env
	Name string // of the tool
	// Limit is how long a command of git may take. git reads without end from a named pipe among the
	// files, such as .gitignore.
	Limit time.Duration
}

// maxGit is how long a command of git may take.
const maxGit = 20 * time.Second

// A call is one use of a tool.
type call struct {
	dir  workdir.Dir
	repo git.Repo
	in   envelope.Input
}

// A run executes a tool. It returns the tool's own report, or an envelope of problems.
type run func(context.Context, call) (report any, code int)

// A tool is a tool's name and function.
type tool struct {
	name string
	run  run
}

// tools returns the tools in the order of the help.
func tools() []tool {
	return []tool{
		{"read_json_file", readJSON},
		{"write_json_file", writeJSON},
		{"git_status", gitStatus},
		{"git_diff_main_head", gitDiff},
		{"check-builder-handoff", check(handoff.Builder)},
		{"check-inspector-handoff", check(handoff.Inspector)},
	}
}

// Command returns the command.
func Command(env process.Env) *cobra.Command {
	var names []string
	for _, t := range tools() {
		names = append(names, t.name)
	}
	c := &cobra.Command{
		Use:       "tool NAME",
		Short:     "Run a tool for an agent: JSON files, git, the check of a result",
		Long:      help,
		Example:   `  echo '{"path": "package.json"}' | foreman tool read_json_file`,
		ValidArgs: names,
		Args:      cobra.ArbitraryArgs,
		RunE: func(c *cobra.Command, args []string) error {
			if len(args) != 1 {
				return envelope.Usage(env, fmt.Errorf("want one tool, got %q: the tools are %s; their input is JSON on standard input", args, strings.Join(names, ", ")))
			}
			return Run(c.Context(), Options{Env: env, Name: args[0], Limit: maxGit})
		},
	}
	c.SetFlagErrorFunc(func(_ *cobra.Command, err error) error {
		return envelope.Usage(env, fmt.Errorf("%w: a tool takes JSON on standard input", err))
	})
	return c
}

// Run runs the tool that is named, and prints its report.
func Run(ctx context.Context, o Options) error {
	var names []string
	for _, t := range tools() {
		if t.name != o.Name {
			names = append(names, t.name)
			continue
		}
		in, problem := envelope.Read(o.Env.Stdin)
		if problem != nil {
			return envelope.Print(o.Env, envelope.Of(*problem), command.ExitFailed)
		}
		dir, err := o.Env.WorkDir()
		if err != nil {
			return envelope.Print(o.Env, envelope.Of(handoff.Problem{Path: envelope.Tool, Code: envelope.CodeRead, Message: err.Error()}), command.ExitFailed)
		}
		report, code := t.run(ctx, call{workdir.Dir(dir), git.Repo{Dir: dir, Environ: o.Env.Environ(), UserConfig: true, Limit: o.Limit}, in})
		return envelope.Print(o.Env, report, code)
	}
	return envelope.Usage(o.Env, fmt.Errorf("unknown tool %q: the tools are %s", o.Name, strings.Join(names, ", ")))
}

// failed returns the report of a tool that failed.
func failed(problem *handoff.Problem) (any, int) {
	return envelope.Of(*problem), command.ExitFailed
}
