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

// Set by the linker of the image.
var (
	buildVersion    string
	buildRepository = "org/foreman-action" // repository that releases, and that workflows name
)

// Main runs the command that args name, without the program's name, and returns the exit code.
// Without arguments it runs the action.
func Main(ctx context.Context, env process.Env, args []string) int {
	env = env.Complete()
	env.Version, env.Repository = command.Version(buildVersion), buildRepository
	out := process.NewOutput(env.Stdout)
	env.Stdout = out
	if len(args) == 0 {
		args = []string{"action"}
	}
	root := group.Complete(&cobra.Command{
		Use: "foreman", Short: "The action of Foreman, and its commands for rules and agents",
		Version: env.Version, SilenceErrors: true, SilenceUsage: true,
	}, env)
	root.SetFlagErrorFunc(group.FlagError)
	root.AddCommand(action.Command(env), triage.Command(env), rules.Command(env), agent.Command(env))
	group.Help(root)
	return group.Execute(ctx, env, out, root, args)
}
