package app

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/org/foreman-action/config"
	"github.com/org/foreman-action/internal/command"
	"github.com/org/foreman-action/internal/strictyaml"
)

func (a App) rulesCommand(code *int) *cobra.Command {
	c := &cobra.Command{
		Use:   "rules",
		Short: "Check rule files, try them, and tell what they need",
		Long: "Works on configuration and rule files; without FILE on " + config.DefaultPath + ".\n" +
			"Nothing is written on GitHub. It is read (GITHUB_TOKEN, GITHUB_API_URL) when an issue\nor a repository is named, and when a file extends another.",
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
		a.rulesExplainCommand(), a.rulesBacktestCommand(code), a.rulesImportCommand(),
		a.rulesPermissionsCommand(), a.rulesSchemaCommand())
	return c
}

const checkHelp = `Loads the files as a run would, and reports every mistake at once, with its file,
line and column. Variables that are not set here are taken for set. Without a token a
file that is extended is not read: a warning says so, and what hangs on it is not checked.

Formats: text, with the line and a caret; json, one object; sarif, for code scanning;
github, annotations in the log of a workflow.

With --repository the labels, issue forms and workflows of that repository are read over
GitHub's API (GITHUB_TOKEN), and what the rules say of them is checked: labels that it
does not have, labels that start a workflow, headings, types and options of forms.
Without it the forms and workflows that lie beside the files, or in the working
directory, are checked, and labels are not.

Exit codes: 0 no mistake, or warnings only; 1 the repository cannot be read; 2 a mistake.`

func (a App) rulesCheckCommand(code *int) *cobra.Command {
	var format, repository string
	c := &cobra.Command{
		Use:   "check [FILE…]",
		Short: "Report every mistake in rule files",
		Long:  checkHelp,
		Example: "  foreman rules check\n  foreman rules check --format sarif .github/foreman.yml > foreman.sarif\n" +
			"  foreman rules check --repository octo-org/hello",
		RunE: func(c *cobra.Command, files []string) error {
			write, ok := checkFormats()[format]
			if !ok {
				return usagef("--format: want text, json, sarif or github, got %q%s", format,
					strictyaml.DidYouMean(format, []string{"text", "json", "sarif", "github"}))
			}
			cfg, problems, err := a.loadAs(c.Context(), config.Spec{Rules: files, Partial: true})
			if err != nil {
				return err
			}
			if cfg != nil {
				more, err := a.checkIn(c.Context(), repository, cfg)
				if err != nil {
					return err
				}
				problems = inOrder(append(problems, more...))
			}
			if len(problems.Errors()) > 0 {
				*code = command.ExitUsage
			}
			_, err = fmt.Fprint(a.Stdout, write(problems))
			return printed(err)
		},
	}
	c.Flags().StringVar(&format, "format", "text", "`FORMAT` of the report: text, json, sarif or github")
	c.Flags().StringVar(&repository, "repository", "", "`OWNER/NAME` on GitHub that the rules are for")
	return c
}

// inOrder sorts problems by file and place.
func inOrder(ps strictyaml.Problems) strictyaml.Problems {
	slices.SortStableFunc(ps, func(a, b strictyaml.Problem) int {
		return cmp.Or(strings.Compare(a.File, b.File), a.Line-b.Line, a.Column-b.Column)
	})
	return ps
}

func (a App) rulesPermissionsCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "permissions [FILE…]",
		Short: "Print the least permissions block that a workflow needs for the files",
		RunE: func(c *cobra.Command, files []string) error {
			cfg, problems, err := a.loadFiles(c.Context(), files)
			if err != nil {
				return err
			}
			if errs := problems.Errors(); len(errs) > 0 {
				return &usageError{errs}
			}
			_, err = fmt.Fprint(a.Stdout, permissionsBlock(needsOf(cfg, false), nil))
			return printed(err)
		},
	}
}

// loadFiles loads the files of a command, or the configuration file, and returns all
// mistakes and warnings. The error is about reaching the files.
func (a App) loadFiles(ctx context.Context, names []string) (*config.Config, strictyaml.Problems, error) {
	return a.loadAs(ctx, config.Spec{Rules: names})
}

// loadAs is loadFiles with more to say.
func (a App) loadAs(ctx context.Context, spec config.Spec) (*config.Config, strictyaml.Problems, error) {
	dir, err := a.workDir()
	if err != nil {
		return nil, nil, err
	}
	spec.Tests = true
	spec.Getenv = a.anyEnv
	spec.Remote = job{app: a, token: a.Getenv("GITHUB_TOKEN"), apiURL: a.Getenv("GITHUB_API_URL")}.remote
	if len(spec.Rules) == 0 {
		spec.Path = config.DefaultPath
	}
	cfg, err := config.Load(ctx, anywhere{dir}, spec)
	if ps := problemsOf(err); ps != nil {
		return nil, ps, nil
	}
	if errors.Is(err, config.ErrNotFound) || errors.Is(err, path.ErrBadPattern) {
		return nil, nil, &usageError{err}
	}
	if err != nil {
		return nil, nil, err
	}
	return cfg, cfg.Warnings, nil
}
