package group

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/org/foreman-action/internal/cli/process"
	"github.com/org/foreman-action/internal/command"
)

// Execute runs the command of a table that args name, and returns the exit code. It prints the error
// that is not reported yet. out is the environment's Stdout.
func Execute(ctx context.Context, env process.Env, out *process.Output, root *cobra.Command, args []string) int {
	root.SetArgs(args)
	root.SetIn(env.Stdin)
	root.SetOut(env.Stdout)
	root.SetErr(env.Stderr)
	err := root.ExecuteContext(ctx)
	// Log and help writers drop the error of a write, so it is reported here.
	if werr := out.Err(); werr != nil && (err == nil || errors.Is(err, werr)) {
		err = command.Failed(fmt.Errorf("write to standard output: %w", werr))
	}
	if _, reported := errors.AsType[*command.ReportedError](err); err != nil && !reported {
		fmt.Fprintf(env.Stderr, "foreman: %v\n", err)
	}
	if err != nil && ctx.Err() != nil {
		return command.ExitInterrupted
	}
	return command.ExitCode(err)
}
