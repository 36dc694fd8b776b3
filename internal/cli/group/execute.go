package group

import (
	"github.com/spf13/cobra"

	"github.com/org/foreman-action/internal/cli/process"
	"github.com/org/foreman-action/internal/command"
)

// Root returns the command table of a program named foreman.
func Root(env process.Env, short string, commands ...*cobra.Command) *cobra.Command {
	root := Complete(&cobra.Command{Use: "foreman", Short: short, Version: env.Version, SilenceErrors: true, SilenceUsage: true}, env)
	root.SetFlagErrorFunc(FlagError)
	root.AddCommand(commands...)
	ColourFlag(root, env)
	Finish(root, env)
	return root
}

// AsJSON reports whether the flags of a command request JSON.
func AsJSON(c *cobra.Command) bool {
	for name, value := range map[string]string{"json": "true", "format": "json"} {
		if f := c.Flags().Lookup(name); f != nil && f.Value.String() == value && f.Value.String() != f.DefValue {
			return true
		}
	}
	return false
}

// JSONFlag adds the flag --json to a command with --format. It means --format json.
func JSONFlag(c *cobra.Command, usage string) {
	asJSON := c.Flags().Bool("json", false, usage)
	c.PreRunE = func(c *cobra.Command, _ []string) error {
		format := c.Flags().Lookup("format")
		switch {
		case !*asJSON:
			return nil
		case format.Changed && format.Value.String() != "json":
			return command.Usagef("--json means --format json, and not --format %s", format.Value)
		}
		return format.Value.Set("json")
	}
}
