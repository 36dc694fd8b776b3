// Package schema is the command that prints the JSON Schemas of the results that agents
// hand over.
package schema

import (
	"fmt"
	"io/fs"

	"github.com/spf13/cobra"

	"github.com/org/foreman-action/internal/cli/process"
	"github.com/org/foreman-action/internal/command"
	"github.com/org/foreman-action/internal/handoff"
)

const help = `Prints the JSON Schema (draft 2020-12) of a Builder's or an Inspector's result, for agents
and runtimes that take one. foreman validate checks the same, and explains mistakes.
foreman rules schema prints the schema of rule files.`

// Options are all that the command depends on.
type Options struct {
	Env  process.Env
	Name string // builder-result or inspector-result
}

// Command returns the command.
func Command(env process.Env) *cobra.Command {
	return &cobra.Command{
		Use:       "schema builder-result|inspector-result",
		Short:     "Print the JSON Schema of a Builder's or an Inspector's result",
		Long:      help,
		Example:   "  foreman schema inspector-result > inspector-result.schema.json",
		ValidArgs: []string{"builder-result", "inspector-result"},
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 {
				return command.Usagef("want one schema, builder-result or inspector-result")
			}
			return nil
		},
		RunE: func(_ *cobra.Command, args []string) error { return Run(Options{Env: env, Name: args[0]}) },
	}
}

// Run prints the schema.
func Run(o Options) error {
	if o.Name != "builder-result" && o.Name != "inspector-result" {
		return command.Usagef("unknown schema %q: want builder-result or inspector-result", o.Name)
	}
	data, err := fs.ReadFile(handoff.Schemas(), o.Name+".json")
	if err != nil {
		return command.Failed(fmt.Errorf("read the schema: %w", err))
	}
	return o.Env.Print(string(data))
}
