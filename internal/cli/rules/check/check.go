// Package check is the command that reports the mistakes in rule files.
package check

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/org/foreman-action/config"
	"github.com/org/foreman-action/internal/cli/group"
	"github.com/org/foreman-action/internal/cli/process"
	"github.com/org/foreman-action/internal/cli/rulefiles"
	"github.com/org/foreman-action/internal/command"
	"github.com/org/foreman-action/internal/yamlfile"
)

const help = `Loads the files as a run would, and reports every mistake at once, with its file,
line and column. Variables that are not set here count as set. Without a token an
extended file is not read: a warning names it, and keys that depend on it are not checked.

Formats: text, with the line and a caret; json or --json, one object; sarif, for code scanning;
github, annotations in the log of a workflow.

With --repository the labels, issue forms and workflows of that repository are read over
GitHub's API (GITHUB_TOKEN) and compared with the rules: missing labels, labels that start
a workflow, headings, types and options of forms. Without it the forms and workflows beside
the files, or in the working directory, are used, and the labels in .github/labels.yml; the
report notes when labels could not be checked.

For the workflows that run Foreman on these files it checks their events, whether closing
is allowed (allow-close), whether they may read the memory (actions: read), whether they
can write on the pull requests of forks (not on pull_request), and whether they start on
people's answers to proposals (issue_comment with the types created and edited).
It also checks whether the file of policy.earn.evidence counts for a rule.

Differences that foreman rules import lists in a comment of the file are warnings until that
comment is removed.

Exit codes: 0 no mistake, or warnings only; 1 the repository cannot be read; 2 a mistake.`

// Options are all that the command depends on.
type Options struct {
	Env        process.Env
	Files      []string // empty: the configuration file
	Format     string   // of the report: text, json, sarif or github
	Repository string   // OWNER/NAME on GitHub that uses the rules; empty: the folder of the files
}

// Command returns the command with its flags.
func Command(env process.Env) *cobra.Command {
	o := Options{Env: env}
	c := &cobra.Command{
		Use:   "check [FILE…]",
		Short: "Report every mistake in rule files",
		Long:  help,
		Example: "  foreman rules check\n  foreman rules check --json\n  foreman rules check --format sarif .github/foreman.yml > foreman.sarif\n" +
			"  foreman rules check --repository octo-org/hello",
		RunE: func(c *cobra.Command, files []string) error {
			o.Files = files
			return Run(c.Context(), o)
		},
	}
	c.Flags().StringVar(&o.Format, "format", "text", "`FORMAT` of the report: text, json, sarif or github")
	group.Values(c, "format", "text", "json", "sarif", "github")
	group.JSONFlag(c, "print the report as JSON, like --format json")
	c.Flags().StringVar(&o.Repository, "repository", "", "`OWNER/NAME` on GitHub that the rules are for")
	return c
}

// Run prints the mistakes and warnings. If there are mistakes, the error is a
// [command.ReportedError].
func Run(ctx context.Context, o Options) error {
	write, ok := formats(o.Env.Version)[o.Format]
	if !ok {
		return command.Usagef("--format: want text, json, sarif or github, got %q%s", o.Format,
			yamlfile.DidYouMean(o.Format, []string{"text", "json", "sarif", "github"}))
	}
	cfg, problems, err := rulefiles.Load(ctx, o.Env, config.Spec{Rules: o.Files, Partial: true})
	if err != nil {
		return err
	}
	var notes []string
	if cfg != nil {
		var more yamlfile.Problems
		if more, notes, err = compare(ctx, o.Env, o.Repository, cfg); err != nil {
			return err
		}
		problems = append(problems, more...)
		if more, err = imported(ctx, o.Env, cfg.Files); err != nil {
			return err
		}
		problems = append(problems, more...)
		yamlfile.Sort(problems)
	}
	if err := o.Env.Print(write(problems, notes)); err != nil {
		return err
	}
	if len(yamlfile.Mistakes(problems)) > 0 {
		return command.Reported(command.ExitUsage)
	}
	return nil
}
