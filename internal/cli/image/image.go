// Package image is the command table of the program in the action's image: that of foreman, without
// the commands that need git or Docker.
package image

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/org/foreman-action/internal/cli/action"
	"github.com/org/foreman-action/internal/cli/agent"
	"github.com/org/foreman-action/internal/cli/group"
	"github.com/org/foreman-action/internal/cli/process"
	"github.com/org/foreman-action/internal/cli/rules"
	"github.com/org/foreman-action/internal/cli/triage"
	"github.com/org/foreman-action/internal/command"
)

// buildVersion is set by the linker of the image.
var buildVersion string

// Main runs the command that args name, without the program's name, and returns the exit code.
// Without arguments it runs the action.
func Main(ctx context.Context, env process.Env, args []string) int {
	env.Version = command.Version(buildVersion)
	if len(args) == 0 {
		args = []string{"action"}
	}
	return group.Execute(ctx, env, commands, args)
}

// commands returns the command table.
func commands(env process.Env) *cobra.Command {
	return group.Root(env, "The action of Foreman, and its commands for rules and agents",
		action.Command(env), triage.Command(env), rules.Command(env), agent.Command(env))
}
