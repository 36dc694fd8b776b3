package app

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/org/foreman-action/internal/command"
)

// command runs one command and returns the exit code.
func (a App) command(ctx context.Context, args []string) int {
	code := command.ExitOK
	root := a.commands(&code)
	if args == nil {
		args = []string{} // nil would make cobra read the process's arguments
	}
	root.SetArgs(args)
	root.SetIn(a.Stdin)
	root.SetOut(a.Stdout)
	root.SetErr(a.Stderr)
	if err := root.ExecuteContext(ctx); err != nil {
		fmt.Fprintf(a.Stderr, "foreman: %v\n", err)
		return command.ExitCode(err)
	}
	return code
}

// commands returns the command table. A command that reports its own errors sets
// code; one that returns an error leaves it to Main.
func (a App) commands(code *int) *cobra.Command {
	root := &cobra.Command{
		Use:           "foreman",
		Short:         "Agents decide, Foreman acts: guarded, exactly-once triage of GitHub issues",
		Version:       version(),
		SilenceErrors: true,
		SilenceUsage:  true,
		Args:          cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			c.SetOut(a.Stderr)
			if err := c.Help(); err != nil {
				return err
			}
			return usagef("name a command")
		},
	}
	root.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return &usageError{err} })
	root.AddCommand(a.actionCommand(code), a.triageCommand(code), a.rulesCommand(code), a.agentCommand(code), a.initCommand())
	return root
}

func (a App) actionCommand(code *int) *cobra.Command {
	return &cobra.Command{
		Use:   "action",
		Short: "Run as a step of a GitHub Actions workflow, as action.yml does",
		Long: "Reads its inputs from INPUT_ variables and the event from GITHUB_EVENT_PATH, decides,\n" +
			"acts, and writes the step's outputs and the job summary.",
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			*code = a.action(c.Context())
			return nil
		},
	}
}
