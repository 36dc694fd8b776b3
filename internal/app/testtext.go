package app

import (
	"fmt"
	"slices"
	"strings"

	"github.com/org/foreman-action/config"
	"github.com/org/foreman-action/internal/sanitize"
	"github.com/org/foreman-action/rules/ruletest"
)

func failures(results []ruletest.Result) int {
	n := 0
	for _, r := range results {
		if !r.Passed() {
			n++
		}
	}
	return n
}

func testText(cfg *config.Config, results []ruletest.Result, p painter) string {
	var b strings.Builder
	for _, name := range cfg.Files {
		if !slices.ContainsFunc(cfg.Tests, func(t ruletest.Test) bool { return t.File == name }) {
			fmt.Fprintf(&b, "%s has no tests\n", name)
		}
	}
	for _, r := range results {
		if !r.Passed() {
			writeFailure(&b, r, p)
		}
	}
	fmt.Fprintf(&b, "%s, %d failed\n", count(len(results), "test"), failures(results))
	return b.String()
}

// writeFailure shows what is not as a test expects. What the rules made of it may be
// foreign text.
func writeFailure(b *strings.Builder, r ruletest.Result, p painter) {
	fmt.Fprintf(b, "%s %s\n", p.paint("31", "FAIL"), p.bold(sanitize.Line(r.Test.Name)))
	for _, m := range r.Mismatches {
		what := m.Key
		if what == "" {
			what = "a condition fails"
		}
		fmt.Fprintf(b, "  %s:%d:%d: %s\n", r.Test.File, m.Line, m.Column, what)
		fmt.Fprintf(b, "    %s %s\n", p.paint("32", "want"), indented(m.Want))
		fmt.Fprintf(b, "    %s  %s\n", p.paint("31", "got"), indented(m.Got))
	}
	for _, w := range r.Rules {
		writeRule(b, w, p)
	}
	b.WriteString("\n")
}

// indented puts the lines of a value below each other.
func indented(text string) string {
	return strings.ReplaceAll(sanitizeLines(text), "\n", "\n         ")
}
