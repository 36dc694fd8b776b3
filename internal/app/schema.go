package app

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/org/foreman-action/config"
)

const schemaHelp = `Prints the JSON Schema (draft 2020-12) of configuration and rule files, with which an
editor completes keys, explains them and marks what is none. It does not look into
conditions: foreman rules check does.

An editor with a YAML language server takes it from the first line of a file:

  # yaml-language-server: $schema=foreman.schema.json`

func (a App) rulesSchemaCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "schema",
		Short:   "Print the JSON Schema of the files, for editors",
		Long:    schemaHelp,
		Example: "  foreman rules schema > .github/foreman.schema.json",
		Args:    cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			_, err := fmt.Fprintln(a.Stdout, encode(config.Schema(), "  "))
			return printed(err)
		},
	}
}
