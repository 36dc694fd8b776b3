package group

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/org/foreman-action/internal/cli/process"
	"github.com/org/foreman-action/internal/command"
)

// Root returns the command table of a program named foreman.
func Root(env process.Env, short string, commands ...*cobra.Command) *cobra.Command {
	root := Complete(&cobra.Command{Use: "foreman", Short: short, Version: env.Version, SilenceErrors: true, SilenceUsage: true}, env)
	root.SetFlagErrorFunc(FlagError)
	root.AddCommand(commands...)
	Help(root)
	return root
}

// Execute runs the command of a table that args name, without the program's name, and returns the
// exit code. It prints the error that is not reported yet. Only Stdout and Stderr of the environment
// must be set.
func Execute(ctx context.Context, env process.Env, table func(process.Env) *cobra.Command, args []string) int {
	env = env.Complete()
	out := process.NewOutput(env.Stdout)
	env.Stdout = out
	root := table(env)
	root.SetArgs(append([]string{}, args...)) // nil would make cobra read the process's arguments
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
