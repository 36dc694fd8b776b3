// Package rules holds the commands for rule files.
package rules

import (
	"github.com/spf13/cobra"

	"github.com/org/foreman-action/config"
	"github.com/org/foreman-action/internal/cli/group"
	"github.com/org/foreman-action/internal/cli/process"
	"github.com/org/foreman-action/internal/cli/rules/backtest"
	"github.com/org/foreman-action/internal/cli/rules/check"
	"github.com/org/foreman-action/internal/cli/rules/explain"
	"github.com/org/foreman-action/internal/cli/rules/imports"
	"github.com/org/foreman-action/internal/cli/rules/permissions"
	"github.com/org/foreman-action/internal/cli/rules/record"
	"github.com/org/foreman-action/internal/cli/rules/schema"
	"github.com/org/foreman-action/internal/cli/rules/test"
)

// Command returns the command rules with those below it.
func Command(env process.Env) *cobra.Command {
	c := group.Complete(&cobra.Command{
		Use:   "rules",
		Short: "Check rule files, try them, and list their permissions",
		Long: "Works on configuration and rule files; without FILE on " + config.DefaultPath + ".\n" +
			"Writes nothing to GitHub, and reads from it (GITHUB_TOKEN, GITHUB_API_URL) if the arguments\nname an issue or a repository, or a file extends another.",
	}, env)
	c.AddCommand(check.Command(env), test.Command(env), record.Command(env), explain.Command(env),
		backtest.Command(env), imports.Command(env), permissions.Command(env), schema.Command(env))
	return c
}
