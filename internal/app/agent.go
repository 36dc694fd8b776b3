package app

import "github.com/spf13/cobra"

func (a App) agentCommand(code *int) *cobra.Command {
	c := &cobra.Command{
		Use:   "agent",
		Short: "An agent to start from, and a kit that checks agents",
		Args:  cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			c.SetOut(a.Stderr)
			if err := c.Help(); err != nil {
				return err
			}
			return usagef("name a command")
		},
	}
	c.AddCommand(a.agentServeCommand(), a.agentCheckCommand(code))
	return c
}
