// Package config holds the commands for the configuration of the server.
package config

import (
	"encoding/json"

	"github.com/spf13/cobra"

	"github.com/org/foreman-action/internal/cli/group"
	"github.com/org/foreman-action/internal/cli/process"
	"github.com/org/foreman-action/internal/command"
	"github.com/org/foreman-action/internal/config/serverconfig"
)

// Command returns the command config with those below it.
func Command(env process.Env) *cobra.Command {
	c := group.Listing(&cobra.Command{Use: "config", Short: "Check the configuration, and print its schema"})
	c.AddCommand(checkCommand(env), schemaCommand(env))
	return c
}

// schemaCommand returns the command that prints the JSON Schema of the configuration.
func schemaCommand(env process.Env) *cobra.Command {
	return &cobra.Command{
		Use:     "schema",
		Short:   "Print the JSON Schema of the configuration, for editors",
		Example: "  foremand config schema > foremand.schema.json",
		Args:    cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			e := json.NewEncoder(env.Stdout)
			e.SetEscapeHTML(false)
			e.SetIndent("", "  ")
			return command.Failed(e.Encode(serverconfig.Schema()))
		},
	}
}
