// Package group makes commands that only hold other commands.
package group

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/org/foreman-action/internal/cli/process"
	"github.com/org/foreman-action/internal/command"
)

// Complete makes c a command that takes no arguments, prints its help to standard error
// and fails, because one of its commands must be named.
func Complete(c *cobra.Command, env process.Env) *cobra.Command {
	c.Args = cobra.NoArgs
	c.RunE = func(c *cobra.Command, _ []string) error {
		c.SetOut(env.Stderr)
		if err := c.Help(); err != nil {
			return err
		}
		return command.Usagef("name a command")
	}
	return c
}

// Listing makes c a command that takes no arguments and fails with the list of its
// commands, one of which must be named.
func Listing(c *cobra.Command) *cobra.Command {
	c.Args = cobra.NoArgs
	c.RunE = func(c *cobra.Command, _ []string) error {
		var names []string
		for _, sub := range c.Commands() {
			names = append(names, sub.Name())
		}
		return fmt.Errorf("%s: want one of %s", c.CommandPath(), strings.Join(names, ", "))
	}
	return c
}
