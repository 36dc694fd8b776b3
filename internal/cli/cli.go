// Package cli is the command table of foreman.
package cli

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/org/foreman-action/internal/cli/action"
	"github.com/org/foreman-action/internal/cli/agent"
	"github.com/org/foreman-action/internal/cli/build"
	"github.com/org/foreman-action/internal/cli/group"
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
	return group.Execute(ctx, env, commands, args)
}

// Commands returns the command table for generating the manual. The caller must not run the
// commands.
func Commands() *cobra.Command { return commands(process.Env{}.Complete()) }

// commands returns the command table.
func commands(env process.Env) *cobra.Command {
	return group.Root(env, "Agents decide, Foreman acts: guarded triage of GitHub issues that looks before it repeats a write",
		action.Command(env), triage.Command(env), rules.Command(env), agent.Command(env), start.Command(env),
		validate.Command(env), schema.Command(env), tool.Command(env), build.Command(env))
}
