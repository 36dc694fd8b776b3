// Package agent holds the commands for agents.
package agent

import (
	"github.com/spf13/cobra"

	"github.com/org/foreman-action/internal/cli/agent/check"
	"github.com/org/foreman-action/internal/cli/agent/serve"
	"github.com/org/foreman-action/internal/cli/group"
	"github.com/org/foreman-action/internal/cli/process"
)

// Command returns the command agent with those below it.
func Command(env process.Env) *cobra.Command {
	c := group.Complete(&cobra.Command{
		Use:   "agent",
		Short: "An agent to start from, and a kit that checks agents",
	}, env)
	c.AddCommand(serve.Command(env), check.Command(env))
	return c
}
