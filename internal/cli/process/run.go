package process

import (
	"context"
	"errors"
	"fmt"

	"github.com/org/foreman-action/internal/command"
)

// Run runs a command of foreman and returns its exit code. It completes the environment and prints
// the error that is not reported yet. Only Stdout and Stderr of the environment must be set.
func Run(ctx context.Context, env Env, do func(Env) error) int {
	env = env.Complete()
	out := NewOutput(env.Stdout)
	env.Stdout = out
	err := do(env)
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
