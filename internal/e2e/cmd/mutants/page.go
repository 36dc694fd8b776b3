package main

import (
	"fmt"
	"strings"
)

// page returns the page of the documentation about the results.
func page(results []result) string {
	var b strings.Builder
	b.WriteString(`# Mutants of the refusals

The program ` + "`internal/e2e/cmd/mutants`" + ` turns each refusing or skipping return and verdict of the packages ` + "`policy`" + `
and ` + "`runner/internal/plan`" + ` into a permitting one, one at a time, and runs the tests of these packages, then those of
` + "`runner`" + `. A mutant survives when all of them pass.

` + "<!-- not run: it needs a checkout -->\n```sh\nmake mutants\n```" + `

The changes are:

- a verdict ` + "`triage.Refuse` or `triage.Skip`" + ` becomes ` + "`triage.Do`" + `;
- a reason to refuse or skip becomes the empty text, which permits, also where a function is called with it;
- a condition for skipping is false, at each call;
- a function that reports whether a limit holds reports that it does not;
- a name or limit that is left out stays;
- of two merged policies the looser value counts.

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
	fmt.Fprintf(&b, "**%d mutants, %d survived.** The columns name the first package whose tests notice a mutant.\n\n", len(results), survived)
	b.WriteString("| file | mutants | `policy` | `runner/internal/plan` | `runner` | survived |\n|---|--:|--:|--:|--:|--:|\n")
	for _, r := range rows {
		n := 0
		for _, c := range r.count {
			n += c
		}
		fmt.Fprintf(&b, "| `%s` | %d | %d | %d | %d | %d |\n", r.file, n, r.count[policyDir], r.count[planDir], r.count["runner"], r.count[""])
	}
	return b.String()
}
