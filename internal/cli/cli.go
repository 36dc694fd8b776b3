// Package cli is the command table of foreman. Each command has a folder below this one, with its
// Options, Command and Run; internal/cli/schema is the shortest. A new command is added to the table
// in this file, and a script in testdata/script runs it as a program.
package cli

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/org/foreman-action/internal/cli/action"
	"github.com/org/foreman-action/internal/cli/agent"
	"github.com/org/foreman-action/internal/cli/build"
	"github.com/org/foreman-action/internal/cli/document"
	"github.com/org/foreman-action/internal/cli/group"
	"github.com/org/foreman-action/internal/cli/memory"
	"github.com/org/foreman-action/internal/cli/process"
	"github.com/org/foreman-action/internal/cli/rules"
	"github.com/org/foreman-action/internal/cli/schema"
	"github.com/org/foreman-action/internal/cli/start"
	"github.com/org/foreman-action/internal/cli/tool"
	"github.com/org/foreman-action/internal/cli/triage"
	"github.com/org/foreman-action/internal/cli/validate"
	"github.com/org/foreman-action/internal/command"
)

// Set by the linker of a release.
var (
	buildVersion    string
	buildRepository = "org/foreman-action" // repository that releases, and that workflows name
)

// Main runs the command that args name, without the program's name, and returns the exit code.
// Without arguments inside GitHub Actions, Main runs the action. If the program is started under
// the name of a validator, Main runs that validator. Only Stdout and Stderr of the environment must
// be set; Main sets the version from the build.
func Main(ctx context.Context, env process.Env, args []string) int {
	env.Version, env.Repository = command.Version(buildVersion), buildRepository
	if named := validate.Arguments(env.Program); named != nil {
		args = append(named, args...)
	}
	if len(args) == 0 && env.Complete().Getenv("GITHUB_ACTIONS") == "true" {
		args = []string{"action"}
	}
	return process.Run(ctx, env, func(env process.Env) error {
		out := process.NewOutput(env.Stdout)
		env.Stdout = out
		root := commands(env)
		root.SetArgs(append([]string{}, args...)) // nil would make cobra read the process's arguments
		root.SetIn(env.Stdin)
		root.SetOut(env.Stdout)
		root.SetErr(env.Stderr)
		c, err := root.ExecuteContextC(ctx)
		if err == nil || !out.Empty() || !group.AsJSON(c) {
			return err
		}
		return document.PrintError(out, err)
	})
}

// Commands returns the command table for generating the manual. The caller must not run the
// commands.
func Commands() *cobra.Command { return commands(process.Env{}.Complete()) }

// commands returns the command table.
func commands(env process.Env) *cobra.Command {
	return group.Root(env, "Rules or agents decide, Foreman acts: guarded triage of GitHub issues that looks before it repeats a write",
		step(env), triage.Command(env), rules.Command(env), memory.ReportCommand(env), memory.Command(env), agent.Command(env), start.Command(env),
		validate.Command(env), schema.Command(env), tool.Command(env), build.Command(env))
}

// step returns the command that runs as a step of a GitHub Actions workflow.
func step(env process.Env) *cobra.Command {
	return &cobra.Command{
		Use:   "action",
		Short: "Run as a step of a GitHub Actions workflow, as action.yml does",
		Long: "Reads its inputs from INPUT_ variables and the event from GITHUB_EVENT_PATH, decides,\n" +
			"acts, and writes the step's outputs and the job summary.",
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return action.Run(c.Context(), env) },
	}
}
