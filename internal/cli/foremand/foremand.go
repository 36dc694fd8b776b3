// Package foremand is the command table of foremand. Each command has a folder below this one. The
// scripts in cmd/foremand/testdata/script run them as a program.
package foremand

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/org/foreman-action/internal/cli/document"
	"github.com/org/foreman-action/internal/cli/failure"
	"github.com/org/foreman-action/internal/cli/foremand/backup"
	"github.com/org/foreman-action/internal/cli/foremand/config"
	"github.com/org/foreman-action/internal/cli/foremand/drain"
	"github.com/org/foreman-action/internal/cli/foremand/memory"
	"github.com/org/foreman-action/internal/cli/foremand/queue"
	"github.com/org/foreman-action/internal/cli/foremand/reload"
	"github.com/org/foreman-action/internal/cli/foremand/serve"
	"github.com/org/foreman-action/internal/cli/group"
	"github.com/org/foreman-action/internal/cli/process"
	"github.com/org/foreman-action/internal/command"
	"github.com/org/foreman-action/internal/sanitize"
)

// buildVersion is set by the linker of a release.
var buildVersion string

const help = `Foremand takes events from GitHub, keeps them as tasks in a durable queue, lets agents
claim and decide them over HTTP, and carries their decisions out on GitHub. No agent ever
holds the GitHub token.

docs/server.md explains the setup.`

// Main runs the command that args name, without the program's name, and returns the exit code. Only
// Stdout and Stderr of the environment must be set; Main sets the version from the build. Paths are
// relative to the process's working directory.
func Main(ctx context.Context, env process.Env, args []string) int {
	env = env.Complete()
	env.Version = command.Version(buildVersion)
	out := process.NewOutput(env.Stdout)
	env.Stdout = out
	root := commands(env)
	root.SetArgs(append([]string{}, args...)) // nil would make cobra read the process's arguments
	root.SetOut(env.Stdout)
	root.SetErr(env.Stderr)
	c, err := root.ExecuteContextC(ctx)
	if err != nil && out.Empty() && group.AsJSON(c) {
		err = document.PrintError(out, err)
	}
	_, reported := errors.AsType[*command.ReportedError](err)
	if problems := failure.Problems(err); problems != nil {
		fmt.Fprintf(env.Stderr, "%s\n", problems)
	} else if err != nil && !reported {
		fmt.Fprintf(env.Stderr, "Error: %s\n", sanitize.Line(err.Error()))
	}
	return command.ExitCode(err)
}

// Commands returns the command table for generating the manual. The caller must not run the
// commands.
func Commands() *cobra.Command { return commands(process.Env{}.Complete()) }

// commands returns the command table.
func commands(env process.Env) *cobra.Command {
	root := group.Complete(&cobra.Command{
		Use:           "foremand",
		Short:         "The harness as a service: a durable queue between GitHub and agents",
		Long:          help,
		Version:       env.Version,
		SilenceErrors: true,
		SilenceUsage:  true,
	}, env)
	root.SetFlagErrorFunc(group.FlagError)
	root.CompletionOptions.HiddenDefaultCmd = true
	root.AddCommand(serve.Command(env), reload.Command(env), drain.Command(env), queue.Command(env), queue.PauseCommand(env), queue.ResumeCommand(env), memory.ReportCommand(env), memory.Command(env), config.Command(env), backup.Command(env))
	group.Finish(root, env)
	return root
}
