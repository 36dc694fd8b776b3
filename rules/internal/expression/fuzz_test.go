package expression

import (
	"errors"
	"testing"
	"unicode/utf8"

	"github.com/org/foreman-action/rules/facts"
	"github.com/org/foreman-action/rules/internal/cost"
	"github.com/org/foreman-action/triage"
)

// FuzzExpression checks that no expression makes the compiler or the virtual machine panic or
// exceed its limits, and that check finds all mistakes of an expression.
func FuzzExpression(f *testing.F) {
	for _, h := range hostile {
		if len(h.src) < 2*MaxLength {
			f.Add(h.src, "body")
		}
	}
	f.Add("issue.text matches `(?i)\\b(panic|segfault)\\b` and not label(\"x\")", "segfault")
	f.Add("any(issue.labels, # startsWith 'a' and # in issue.labels) ? 1 : 2.5", "")
	f.Add("let v = form.version; v != nil and semver(v, '<2.0.0 || ^1.2') or (form?.count ?? 1) > 2", "### Version\n\n1.2")
	f.Add("map(filter(form.area, # in tables.area_of), tables.area_of[#])", "### Affected area\n\nCLI, a")
	f.Add("command('x') or now - issue.created_at > duration('1w2d') or form.logs == nil", "/foreman x")
	names := mustDeclare(f)
	f.Fuzz(func(t *testing.T, src, body string) {
		for _, w := range []Type{Bool, Text, Texts, Int, Any} {
			c := NewCompiler(names)
			x, err := c.check(src, w)
			if err != nil {
				checkExprError(t, src, err)
				continue
			}
			program, err := x.compiled()
			if err != nil {
				t.Fatalf("%q: a mistake that is found late: %v", src, err)
			}
			v := NewEvaluation(t.Context(), facts.Facts{Issue: triage.Issue{Number: 1, Title: "t", Body: body, Labels: []string{"a", "B"}}})
			if _, err := eval(&v.machine, program, v.env); err != nil {
				checkExprError(t, src, err)
			}
			if r := v.env.Run; r.meter.Steps.Spent() > cost.MaxSteps+len(body)+cost.MaxSteps || r.meter.Text.Spent() > 2*cost.MaxText+len(body) {
				t.Errorf("steps %d, made %d", r.meter.Steps.Spent(), r.meter.Text.Spent())
			}
		}
	})
}

func checkExprError(t *testing.T, src string, err error) {
	t.Helper()
	xe, ok := errors.AsType[*Error](err)
	if !ok || xe.line < 1 || xe.col < 1 || xe.msg == "" {
		t.Errorf("%q: got %#v", src, err)
	}
	if utf8.ValidString(src) && xe.line > 1+len(src) {
		t.Errorf("%q: line %d", src, xe.line)
	}
}
