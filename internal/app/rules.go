//go:build !slim

package app

import (
	"context"
	"errors"
	"fmt"
	"path"
	"strings"

	"github.com/spf13/cobra"

	"github.com/org/foreman-action/internal/strictyaml"
	"github.com/org/foreman-action/runner"
)

func (a App) rulesCommand(code *int) *cobra.Command {
	c := &cobra.Command{
		Use:   "rules",
		Short: "Check rule files, and tell what they need",
		Long: "Works on configuration and rule files; without FILE on " + runner.DefaultConfigPath + ".\n" +
			"Nothing is sent anywhere; a file that is extended is read from GitHub (GITHUB_TOKEN,\nGITHUB_API_URL).",
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			c.SetOut(a.Stderr)
			if err := c.Help(); err != nil {
				return err
			}
			return usagef("name a command")
		},
	}
	c.AddCommand(a.rulesCheckCommand(code), a.rulesTestCommand(code), a.rulesRecordCommand(),
		a.rulesExplainCommand(), a.rulesImportCommand(), a.rulesPermissionsCommand(), a.rulesSchemaCommand())
	return c
}

const checkHelp = `Loads the files as a run would, and reports every mistake at once, with its file,
line and column. Variables that are not set here are taken for set. Without a token a
file that is extended is not read: a warning says so, and what hangs on it is not checked.

Formats: text, with the line and a caret; json, one object; sarif, for code scanning;
github, annotations in the log of a workflow.

Exit codes: 0 no mistake, or warnings only; 2 a mistake.`

func (a App) rulesCheckCommand(code *int) *cobra.Command {
	var format string
	c := &cobra.Command{
		Use:     "check [FILE…]",
		Short:   "Report every mistake in rule files",
		Long:    checkHelp,
		Example: "  foreman rules check\n  foreman rules check --format sarif .github/foreman.yml > foreman.sarif",
		RunE: func(c *cobra.Command, files []string) error {
			write, ok := checkFormats()[format]
			if !ok {
				return usagef("--format: want text, json, sarif or github, got %q%s", format,
					strictyaml.DidYouMean(format, []string{"text", "json", "sarif", "github"}))
			}
			_, problems, err := a.loadAs(c.Context(), runner.LoadSpec{Rules: files, Partial: true})
			if err != nil {
				return err
			}
			if len(problems.Errors()) > 0 {
				*code = exitUsage
			}
			_, err = fmt.Fprint(a.Stdout, write(problems))
			return printed(err)
		},
	}
	c.Flags().StringVar(&format, "format", "text", "`FORMAT` of the report: text, json, sarif or github")
	return c
}

func (a App) rulesPermissionsCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "permissions [FILE…]",
		Short: "Print the least permissions block that a workflow needs for the files",
		RunE: func(c *cobra.Command, files []string) error {
			config, problems, err := a.loadFiles(c.Context(), files)
			if err != nil {
				return err
			}
			if errs := problems.Errors(); len(errs) > 0 {
				return &usageError{errs}
			}
			_, err = fmt.Fprint(a.Stdout, permissionsBlock(needsOf(config), nil))
			return printed(err)
		},
	}
}

// needsOf lists what a workflow must grant for a configuration.
func needsOf(c *runner.Config) []string {
	needs := []string{"contents: read", "issues: write"}
	if c.Mode == runner.ModeShadow {
		needs[1] = "issues: read"
	}
	if c.Agent.URL != "" && c.Memory.Store == "" || c.Memory.Store == "artifact" {
		needs = append(needs, "actions: read")
	}
	if c.Agent.Auth == "oidc" {
		needs = append(needs, "id-token: write")
	}
	return needs
}

// loadFiles loads the files of a command, or the configuration file, and returns all
// mistakes and warnings. The error is about reaching the files.
func (a App) loadFiles(ctx context.Context, names []string) (*runner.Config, strictyaml.Problems, error) {
	return a.loadAs(ctx, runner.LoadSpec{Rules: names})
}

// loadAs is loadFiles with more to say.
func (a App) loadAs(ctx context.Context, spec runner.LoadSpec) (*runner.Config, strictyaml.Problems, error) {
	dir, err := a.workDir()
	if err != nil {
		return nil, nil, err
	}
	spec.Tests = true
	spec.Getenv = func(name string) string {
		if v := a.Getenv(name); v != "" {
			return v
		}
		return "https://" + strings.ToLower(name) + ".example.com" // a value that suits everything
	}
	spec.Remote = job{app: a, token: a.Getenv("GITHUB_TOKEN"), apiURL: a.Getenv("GITHUB_API_URL")}.remote
	if len(spec.Rules) == 0 {
		spec.Path = runner.DefaultConfigPath
	}
	config, err := runner.LoadConfig(ctx, anywhere{dir}, spec)
	if ps := problemsOf(err); ps != nil {
		return nil, ps, nil
	}
	if errors.Is(err, runner.ErrNoConfig) || errors.Is(err, path.ErrBadPattern) {
		return nil, nil, &usageError{err}
	}
	if err != nil {
		return nil, nil, err
	}
	return config, config.Warnings, nil
}
