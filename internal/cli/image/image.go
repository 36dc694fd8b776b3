// Package image is the program in the action's image: the step of a workflow, and no other command.
package image

import (
	"context"
	"fmt"

	"github.com/org/foreman-action/internal/cli/action"
	"github.com/org/foreman-action/internal/cli/process"
	"github.com/org/foreman-action/internal/command"
	"github.com/org/foreman-action/internal/text"
)

// Set by the linker of the image.
var (
	buildVersion    string
	buildRepository = "org/foreman-action" // repository that releases the programs
)

// Main runs the action and returns the exit code. args, without the program's name, are empty or
// "action". With "version" or "--version" it prints the version instead. Any other command is in the program of a
// release's archive.
func Main(ctx context.Context, env process.Env, args []string) int {
	env.Version, env.Repository = command.Version(buildVersion), buildRepository
	return process.Run(ctx, env, func(env process.Env) error {
		switch {
		case len(args) == 0, len(args) == 1 && args[0] == "action":
			return action.Run(ctx, env)
		case len(args) == 1 && (args[0] == "--version" || args[0] == "version"):
			return env.Print("foreman version " + env.Version + "\n")
		}
		return command.Usage(fmt.Errorf("%s: this image runs only \"action\"; the other commands are in foreman's archive at https://github.com/%s/releases",
			text.Quote(args[0]), env.Repository))
	})
}
