// Package test is the command that runs the tests beside rules.
package test

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/org/foreman-action/config"
	"github.com/org/foreman-action/internal/cli/document"
	"github.com/org/foreman-action/internal/cli/format"
	"github.com/org/foreman-action/internal/cli/process"
	"github.com/org/foreman-action/internal/cli/rulefiles"
	"github.com/org/foreman-action/internal/command"
	"github.com/org/foreman-action/rules/ruletest"
)

const help = `Runs the tests beside the rules, under tests:, and prints the differences: the expected
and the actual result, and for a rule that fired or did not fire unexpectedly, its
condition part by part. It reads only the files. Actions of the rules count as carried
out, except those that the policy refuses: by its lists of labels and actions, and by its
limits for an event. An issue gets no actions for pull requests, and with "together: true"
one such action prevents the others. A failed test shows them with the reason. Of the scan
of a scheduled rule, the simple terms are evaluated. The others count as met, and a note
lists them. If all tests run and pass, another note names the rules that fire in none.
Rules in files without tests are left out.

Exit codes: 0 all tests passed, 1 a test failed, 2 a mistake in arguments or files.`

// Options are all that the command depends on.
type Options struct {
	Env   process.Env
	Files []string // empty: the configuration file
	Match string   // regular expression of the names of the tests to run; empty: all
	JSON  bool     // print the results as JSON
}

// Command returns the command with its flags.
func Command(env process.Env) *cobra.Command {
	o := Options{Env: env}
	c := &cobra.Command{
		Use:     "test [FILE…]",
		Short:   "Run the tests beside the rules",
		Long:    help,
		Example: "  foreman rules test\n  foreman rules test --run 'crash|panic' .github/foreman.yml",
		RunE: func(c *cobra.Command, files []string) error {
			o.Files = files
			return Run(c.Context(), o)
		},
	}
	fl := c.Flags()
	fl.StringVar(&o.Match, "run", "", "only the tests whose name matches `REGEXP`")
	fl.BoolVar(&o.JSON, "json", false, "print the results as JSON")
	return c
}

// Run runs the tests and prints the results. Tests that fail are a
// [command.ReportedError].
func Run(ctx context.Context, o Options) error {
	wanted, err := regexp.Compile(o.Match)
	if err != nil {
		return command.Usagef("--run: %w", err)
	}
	cfg, err := rulefiles.LoadValid(ctx, o.Env, o.Files)
	if err != nil {
		return err
	}
	results, err := runTests(ctx, cfg, wanted)
	if err != nil {
		return err
	}
	printed := text(cfg, results, format.Painter{On: o.Env.Coloured()})
	if o.JSON {
		printed = format.JSON(document.TestsOf(results), "  ") + "\n"
	}
	if err := o.Env.Print(printed); err != nil {
		return err
	}
	if format.Failures(results) > 0 {
		return command.Reported(command.ExitFailed)
	}
	return nil
}

// runTests runs the tests of a configuration whose names match.
func runTests(ctx context.Context, cfg *config.Config, wanted *regexp.Regexp) ([]ruletest.Result, error) {
	var results []ruletest.Result
	for _, t := range cfg.Tests {
		if !wanted.MatchString(t.Name) {
			continue
		}
		if ctx.Err() != nil {
			return nil, command.Failed(context.Cause(ctx))
		}
		results = append(results, ruletest.Run(ctx, cfg.Rules, t, cfg.Policy))
	}
	if len(results) == 0 && len(cfg.Tests) > 0 {
		return nil, command.Usagef("--run: none of %s matches %s", format.Count(len(cfg.Tests), "test"), wanted)
	}
	return results, nil
}

// text returns the results of tests for people.
func text(cfg *config.Config, results []ruletest.Result, p format.Painter) string {
	var b strings.Builder
	for _, name := range cfg.Files {
		if !slices.ContainsFunc(cfg.Tests, func(t ruletest.Test) bool { return t.File == name }) {
			fmt.Fprintf(&b, "%s has no tests\n", name)
		}
	}
	for _, r := range results {
		if !r.Passed() {
			format.WriteFailure(&b, r, p)
		}
	}
	notes := format.Unevaluated(results)
	if len(results) == len(cfg.Tests) && format.Failures(results) == 0 {
		notes = append(notes, format.Untested(cfg.Rules, results)...)
	}
	for _, line := range notes {
		b.WriteString("note: " + line + "\n")
	}
	fmt.Fprintf(&b, "%s, %d failed\n", format.Count(len(results), "test"), format.Failures(results))
	return b.String()
}
