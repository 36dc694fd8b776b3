// Package permissions is the command that prints the permissions that a workflow must grant for
// rules.
package permissions

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/org/foreman-action/internal/cli/grants"
	"github.com/org/foreman-action/internal/cli/process"
	"github.com/org/foreman-action/internal/cli/rulefiles"
)

// Options are all that the command depends on.
type Options struct {
	Env   process.Env
	Files []string // empty: the configuration file
}

// Command returns the command with its flags.
func Command(env process.Env) *cobra.Command {
	return &cobra.Command{
		Use:   "permissions [FILE…]",
		Short: "Print the smallest permissions block that a workflow with these rule files needs",
		RunE: func(c *cobra.Command, files []string) error {
			return Run(c.Context(), Options{Env: env, Files: files})
		},
	}
}

// Run prints the permissions block that the files need.
func Run(ctx context.Context, o Options) error {
	cfg, err := rulefiles.LoadValid(ctx, o.Env, o.Files)
	if err != nil {
		return err
	}
	return o.Env.Print(grants.Block(grants.Needs(cfg, false), nil))
}
