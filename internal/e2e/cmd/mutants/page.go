package main

import (
	"cmp"
	"fmt"
	"path"
	"strings"
)

// page returns the page of the documentation about the results.
func page(results []result, reasons map[string]string) string {
	var b strings.Builder
	b.WriteString(`# Mutants of the refusals

The program ` + "`internal/e2e/cmd/mutants`" + ` turns each refusing or skipping return and verdict of the packages ` + "`policy`" + `
and ` + "`runner/internal/plan`" + ` into a permitting one. In ` + "`runner`" + `, ` + "`agent`" + `, ` + "`internal/sanitize`" + `,
the packages ` + "`labels`, `proposal` and `command` of `runner/internal`" + ` and the file ` + "`propose.go` of the plan" + ` it makes each condition before
a ` + "`return`, `continue` or `break`" + `, each assigned condition and each case without a value false. It makes one change at a time, and runs the tests
that reach it: those of the package, and for those of the policy, the plan, proposals and commands those of ` + "`runner`" + `, too. A mutant survives when all of
them pass.

` + "<!-- not run: it needs a checkout -->\n```sh\nmake mutants\n```" + `

The changes are:

- a verdict ` + "`triage.Refuse` or `triage.Skip`" + ` becomes ` + "`triage.Do`" + `;
- a reason to refuse or skip becomes the empty text, which permits, also where a function is called with it;
- a condition for skipping is false, at each call;
- a function that reports whether a limit holds reports that it does not;
- a name or limit that is left out stays;
- of two merged policies the looser value counts;
- a proposal that is withheld is made;
- of the conditions that must all hold for a tick or a permission, one counts as fulfilled;
- in the other packages, a condition is false, also one that is assigned; if it has alternatives (` + "`||`" + `), one of them. Conditions that only pass
  on an error (` + "`err != nil`" + `) stay.

All mutants of a package are compiled together, and several run at a time (` + "`-parallel`" + `). A mutant with which
the tests do not end is noticed, too. The first run on two cores takes about half an hour. The file ` + "`bin/mutants.json`" + `
(` + "`-hints`" + `) remembers the test that noticed each mutant: it runs first next time, so that another run takes a few minutes.
` + "`-match runner/run.go`" + ` tries the mutants of one file.

`)
	survived := 0
	type row struct {
		file  string
		count map[string]int
	}
	var rows []row
	for _, r := range results {
		if r.by == "" {
			survived++
		}
		file := r.dir + "/" + r.file
		if len(rows) == 0 || rows[len(rows)-1].file != file {
			rows = append(rows, row{file, map[string]int{}})
		}
		rows[len(rows)-1].count[r.by]++
	}
	fmt.Fprintf(&b, "**%d mutants, %d survived.** The column names the package whose tests notice a mutant: its own, or another.\n\n", len(results), survived)
	b.WriteString("| file | mutants | its own package | another | survived |\n|---|--:|--:|--:|--:|\n")
	for _, r := range rows {
		n := 0
		for _, c := range r.count {
			n += c
		}
		own := r.count[path.Dir(r.file)]
		fmt.Fprintf(&b, "| `%s` | %d | %d | %d | %d |\n", r.file, n, own, n-own-r.count[""], r.count[""])
	}
	if survived > 0 {
		b.WriteString("\nThe survivors, with the reason:\n\n")
	}
	for _, r := range results {
		if r.by == "" {
			fmt.Fprintf(&b, "- `%s/%s`, `%s`: %s: %s\n", r.dir, r.file, r.function, code(r.from), cmp.Or(reasons[r.key()], "**a test is missing**"))
		}
	}
	return b.String()
}

// code returns inline code.
func code(s string) string {
	if strings.Contains(s, "`") {
		return "`` " + s + " ``"
	}
	return "`" + s + "`"
}
