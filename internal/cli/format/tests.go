package format

import (
	"fmt"
	"slices"
	"strings"

	"github.com/org/foreman-action/internal/sanitize"
	"github.com/org/foreman-action/rules"
	"github.com/org/foreman-action/rules/ruletest"
)

// Failures counts the tests that failed.
func Failures(results []ruletest.Result) int {
	n := 0
	for _, r := range results {
		if !r.Passed() {
			n++
		}
	}
	return n
}

// WriteFailure prints the differences from a test's expectation. The results of the rules may
// contain untrusted text.
func WriteFailure(b *strings.Builder, r ruletest.Result, p Painter) {
	fmt.Fprintf(b, "%s %s\n", p.Paint("31", "FAIL"), p.Bold(sanitize.Line(r.Test.Name)))
	for _, m := range r.Mismatches {
		what := m.Key
		if what == "" {
			what = "a condition fails"
		}
		fmt.Fprintf(b, "  %s:%d:%d: %s\n", r.Test.File, m.Line, m.Column, what)
		fmt.Fprintf(b, "    %s %s\n", p.Paint("32", "want"), indented(m.Want))
		fmt.Fprintf(b, "    %s  %s\n", p.Paint("31", "got"), indented(m.Got))
	}
	for _, f := range r.Refused {
		fmt.Fprintf(b, "  not carried out: %s: %s\n", sanitize.Line(f.Action), sanitize.Line(f.Reason))
	}
	for _, s := range r.Scans {
		if s.Missed != "" {
			fmt.Fprintf(b, "  the scan %q does not find the issue: %s\n", sanitize.Line(s.Query), sanitize.Line(s.Missed))
		}
	}
	for _, w := range r.Rules {
		WriteRule(b, w, p)
	}
	b.WriteString("\n")
}

// Unevaluated lists the terms of searches that the tests could not evaluate, a line for
// each search.
func Unevaluated(results []ruletest.Result) []string {
	var lines []string
	for _, r := range results {
		for _, s := range r.Scans {
			if len(s.Unevaluated) == 0 {
				continue
			}
			line := fmt.Sprintf("the scan %q is only partly evaluated; these terms count as met: %s", sanitize.Line(s.Query), sanitize.Line(strings.Join(s.Unevaluated, ", ")))
			if !slices.Contains(lines, line) {
				lines = append(lines, line)
			}
		}
	}
	return lines
}

// Untested lists the rules that fire in no test, a line for each file. Files without tests are left
// out. results must contain all tests, which passed.
func Untested(set *rules.Set, results []ruletest.Result) []string {
	var files []string
	untested := map[string][]string{} // by file
	for _, i := range rules.Infos(set) {
		tested := slices.ContainsFunc(results, func(r ruletest.Result) bool { return r.Test.File == i.File })
		if !tested || slices.ContainsFunc(results, func(r ruletest.Result) bool { return slices.Contains(r.Fired, i.ID) }) {
			continue
		}
		if untested[i.File] == nil {
			files = append(files, i.File)
		}
		untested[i.File] = append(untested[i.File], i.ID)
	}
	for n, name := range files {
		files[n] = fmt.Sprintf("%s: no test makes these rules fire: %s", sanitize.Line(name), Names(untested[name]))
	}
	return files
}

// indented indents the lines of a value.
func indented(text string) string {
	return strings.ReplaceAll(Lines(text), "\n", "\n         ")
}
