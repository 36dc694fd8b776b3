package app

import (
	"context"
	"fmt"
	"regexp"

	"github.com/spf13/cobra"

	"github.com/org/foreman-action/internal/command"
	"github.com/org/foreman-action/rules/ruletest"
	"github.com/org/foreman-action/runner"
)

const testHelp = `Runs the tests that stand beside the rules, under tests:, and shows what is not as
they expect: what was wanted and what came out, and for a rule that should have fired
or should not have, its condition part by part. Nothing is read but the files. What
the rules ask for counts as done, but for labels that the policy keeps.

Exit codes: 0 all tests passed, 1 a test failed, 2 a mistake in arguments or files.`

func (a App) rulesTestCommand(code *int) *cobra.Command {
	var run string
	var asJSON bool
	c := &cobra.Command{
		Use:     "test [FILE…]",
		Short:   "Run the tests beside the rules",
		Long:    testHelp,
		Example: "  foreman rules test\n  foreman rules test --run 'crash|panic' .github/foreman.yml",
		RunE: func(c *cobra.Command, files []string) error {
			wanted, err := regexp.Compile(run)
			if err != nil {
				return usagef("--run: %w", err)
			}
			results, text, err := a.testRules(c.Context(), files, wanted)
			if err != nil {
				return err
			}
			if failures(results) > 0 {
				*code = command.ExitFailed
			}
			if asJSON {
				text = encode(testReportOf(results), "  ") + "\n"
			}
			_, err = fmt.Fprint(a.Stdout, text)
			return printed(err)
		},
	}
	fl := c.Flags()
	fl.StringVar(&run, "run", "", "only the tests whose name matches `REGEXP`")
	fl.BoolVar(&asJSON, "json", false, "print the results as JSON")
	return c
}

// testRules runs the tests of the files, and returns what came out with its text.
func (a App) testRules(ctx context.Context, names []string, wanted *regexp.Regexp) ([]ruletest.Result, string, error) {
	config, problems, err := a.loadFiles(ctx, names)
	if err != nil {
		return nil, "", err
	}
	if errs := problems.Errors(); len(errs) > 0 {
		return nil, "", &usageError{errs}
	}
	var results []ruletest.Result
	for _, t := range config.Tests {
		if !wanted.MatchString(t.Name) {
			continue
		}
		if ctx.Err() != nil {
			return nil, "", command.Failed(context.Cause(ctx))
		}
		results = append(results, runner.Test(config, t))
	}
	if len(results) == 0 && len(config.Tests) > 0 {
		return nil, "", usagef("--run: none of %s matches %s", count(len(config.Tests), "test"), wanted)
	}
	return results, testText(config, results, painter{a.Colour}), nil
}

// testReport is what test --json prints: one object, stable.
type testReport struct {
	Version int          `json:"version"` // of this form
	Failed  int          `json:"failed"`
	Tests   []testResult `json:"tests"`
}

type testResult struct {
	Name       string         `json:"name"`
	File       string         `json:"file"`
	Line       int            `json:"line"`
	Passed     bool           `json:"passed"`
	Fired      []string       `json:"fired"`
	Mismatches []testMismatch `json:"mismatches"`
	Rules      []ruleWhyJSON  `json:"rules"` // those that should have fired or should not have
}

type testMismatch struct {
	Key    string `json:"key"` // of expect; empty: a condition fails
	Line   int    `json:"line"`
	Column int    `json:"column"`
	Want   string `json:"want"`
	Got    string `json:"got"`
}

func testReportOf(results []ruletest.Result) testReport {
	out := testReport{Version: 1, Failed: failures(results), Tests: make([]testResult, 0, len(results))}
	for _, r := range results {
		t := testResult{
			Name: r.Test.Name, File: r.Test.File, Line: r.Test.Line, Passed: r.Passed(),
			Fired: append([]string{}, r.Fired...), Mismatches: []testMismatch{}, Rules: []ruleWhyJSON{},
		}
		for _, m := range r.Mismatches {
			t.Mismatches = append(t.Mismatches, testMismatch(m))
		}
		for _, w := range r.Rules {
			t.Rules = append(t.Rules, ruleWhyOf(w))
		}
		out.Tests = append(out.Tests, t)
	}
	return out
}
