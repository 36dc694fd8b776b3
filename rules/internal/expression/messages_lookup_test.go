package expression

import (
	"strings"
	"testing"

	"github.com/org/foreman-action/rules/facts"
	"github.com/org/foreman-action/rules/internal/symbols"
)

// Common conditions on commit messages work on the largest pull request: 250 commits with messages
// of 10,000 characters.
func TestOrdinaryConditionsFitTheLongestMessages(t *testing.T) {
	t.Parallel()
	known := facts.Known{}
	for range 250 {
		known.Commits = append(known.Commits, strings.Repeat("fix: BREAKING \n", 10_000/15))
	}
	for _, src := range []string{
		"any(pr.commit_messages, # matches `(?m)^BREAKING[ -]CHANGE: `)",
		"all(pr.commit_messages, # matches `(?i)^(feat|fix|docs|chore)(\\(.*\\))?!?: `)",
		`any(pr.commit_messages, # contains "Signed-off-by: ")`,
		`all(pr.commit_messages, # startsWith "fix: ") and len(pr.commit_messages) == 250`,
		`any(pr.commit_messages, lower(#) contains "[skip ci]")`,
	} {
		v := NewEvaluation(t.Context(), facts.Facts{Lookup: known})
		program, err := NewCompiler(symbols.New()).compile(src, Bool)
		if err != nil {
			t.Fatalf("%s: %v", src, err)
		}
		if _, err := eval(&v.machine, program, v.env); err != nil {
			t.Errorf("%s: %v", src, err)
		}
	}
}
