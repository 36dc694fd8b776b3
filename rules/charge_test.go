package rules

import (
	"strings"
	"testing"

	"github.com/org/foreman-action/rules/facts"
	"github.com/org/foreman-action/triage"
)

// What an expression is charged does not depend on the words of a text.
func TestChargesDoNotDependOnWords(t *testing.T) {
	t.Parallel()
	program, err := newExprCompiler().compile("issue.body matches `(?i)panic\\d` or issue.body matches `x+y`", wantBool)
	if err != nil {
		t.Fatal(err)
	}
	charged := func(body string) int {
		v := &evaluation{env: newEnv(facts.Facts{Issue: triage.Issue{Body: body}})}
		if got, err := eval(&v.machine, program, v.env); got != false || err != nil {
			t.Fatalf("got %v, %v", got, err)
		}
		return v.env.Run.meter.Patterns.Spent()
	}
	if a, b := charged(strings.Repeat("a panic ", 50)), charged(strings.Repeat("quiet... ", 50)[:400]); a != b || a == 0 {
		t.Errorf("charged %d and %d, want the same", a, b)
	}
}
