// Package schema is the command that prints the JSON Schema of rule files.
package schema

import (
	"github.com/spf13/cobra"

	"github.com/org/foreman-action/config"
	"github.com/org/foreman-action/internal/cli/format"
	"github.com/org/foreman-action/internal/cli/process"
)

const help = `Prints the JSON Schema (draft 2020-12) of configuration and rule files, with which an
editor completes and explains keys, and marks unknown ones. It does not check
conditions: foreman rules check does.

An editor with a YAML language server takes it from the first line of a file:

  # yaml-language-server: $schema=foreman.schema.json`

// Options are all that the command depends on.
type Options struct{ Env process.Env }

// Command returns the command.
func Command(env process.Env) *cobra.Command {
	return &cobra.Command{
		Use:     "schema",
		Short:   "Print the JSON Schema of the files, for editors",
		Long:    help,
		Example: "  foreman rules schema > .github/foreman.schema.json",
		Args:    cobra.NoArgs,
		RunE:    func(*cobra.Command, []string) error { return Run(Options{Env: env}) },
	}
}

// Run prints the schema.
func Run(o Options) error {
	return o.Env.Print(format.JSON(config.Schema(), "  ") + "\n")
}
