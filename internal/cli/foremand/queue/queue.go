// Package queue holds the commands for the tasks of the server.
package queue

import (
	"github.com/spf13/cobra"

	"github.com/org/foreman-action/internal/cli/group"
	"github.com/org/foreman-action/internal/cli/process"
)

const help = `These commands work on the queue itself, beside a server that runs or without one: on
the database that --queue-db names, else on that of the configuration, else on
foreman/queue.db in the user's folder for state, such as ~/.local/state.`

// Command returns the command queue with those below it.
func Command(env process.Env) *cobra.Command {
	c := group.Listing(&cobra.Command{Use: "queue", Short: "List, show and change tasks", Long: help})
	o := &sharedOptions{Env: env}
	fl := c.PersistentFlags()
	fl.StringVar(&o.Config, "config", "", "the `file` with the configuration")
	fl.StringVar(&o.Queue, "queue-db", "", "`file` of the queue, or postgres://…")
	fl.BoolVar(&o.JSON, "json", false, "print one JSON document, and nothing else")
	c.AddCommand(listCommand(o), showCommand(o), historyCommand(o), exportCommand(o), retryCommand(o), cancelCommand(o), releaseCommand(o), purgeCommand(o), drainCommand(o))
	return c
}
