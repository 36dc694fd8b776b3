package e2e

import (
	"fmt"
	"strings"
	"testing"

	"cel.dev/cel-go/cel"
	"cel.dev/cel-go/ext"

	"github.com/org/foreman-action/rules"
	"github.com/org/foreman-action/rules/facts"
	"github.com/org/foreman-action/triage"
)

// shapes are the ten conditions in the benchmarks of package rules, in our syntax and in CEL.
// %[1]d is the number of the rule.
var shapes = [][2]string{
	{"issue.title matches `(?i)(docker|podman)-compose%[1]d`", "issue.title.matches(r'(?i)(docker|podman)-compose%[1]d')"},
	{"issue.body matches `(?im)^### Version\\s+v?%[1]d\\.\\d+`", "issue.body.matches(r'(?im)^### Version\\s+v?%[1]d\\.\\d+')"},
	{"label(\"area/%[1]d\")", "issue.labels.exists(l, l.lowerAscii() == 'area/%[1]d')"},
	{"issue.association in [\"OWNER\", \"MEMBER\"] and issue.comments > %[1]d", "issue.association in ['OWNER', 'MEMBER'] && issue.comments > %[1]d"},
	{"issue.body contains \"error E%[1]d\"", "issue.body.contains('error E%[1]d')"},
	{"any(issue.labels, {# startsWith \"kind/%[1]d\"})", "issue.labels.exists(l, l.startsWith('kind/%[1]d'))"},
	{"len(issue.body) > 100000 + %[1]d", "size(issue.body) > 100000 + %[1]d"},
	{"issue.title matches `(?i)panic%[1]d` or issue.body matches `(?i)segfault%[1]d`", "issue.title.matches(r'(?i)panic%[1]d') || issue.body.matches(r'(?i)segfault%[1]d')"},
	{"(issue.number + %[1]d) %% 1009 == 1000", "(issue.number + %[1]d) %% 1009 == 1000"},
	{"issue.title contains \"crash%[1]d\" and issue.author not in [\"bot%[1]d\"]", "issue.title.contains('crash%[1]d') && !(issue.author in ['bot%[1]d'])"},
}

func ruleSet(b *testing.B, n int) *rules.Set {
	b.Helper()
	var src strings.Builder
	src.WriteString("version: 1\nrules:\n")
	for i := range n {
		fmt.Fprintf(&src, "- id: r%d\n  when: |-\n    %s\n  then: [add_label: l%d]\n", i, fmt.Sprintf(shapes[i%len(shapes)][0], i), i)
	}
	s, err := rules.Parse("rules.yml", []byte(src.String()))
	if err != nil {
		b.Fatal(err)
	}
	set, err := rules.Compile(s)
	if err != nil {
		b.Fatal(err)
	}
	return set
}

func celPrograms(b *testing.B, n int) []cel.Program {
	b.Helper()
	env, err := cel.NewEnv(cel.Variable("issue", cel.MapType(cel.StringType, cel.DynType)), ext.Strings())
	if err != nil {
		b.Fatal(err)
	}
	list := make([]cel.Program, n)
	for i := range list {
		ast, issues := env.Compile(fmt.Sprintf(shapes[i%len(shapes)][1], i))
		if issues.Err() != nil {
			b.Fatal(issues.Err())
		}
		if list[i], err = env.Program(ast, cel.EvalOptions(cel.OptOptimize)); err != nil {
			b.Fatal(err)
		}
	}
	return list
}

// BenchmarkRulesBesideCEL evaluates 1,000 rules of ten shapes for one issue, with package rules
// and with CEL. Their results must be equal.
func BenchmarkRulesBesideCEL(b *testing.B) {
	set, programs := ruleSet(b, 1000), celPrograms(b, 1000)
	for _, size := range []int{1500, 64 << 10} {
		body := "### Version\n\nv77.3.1\n\nAfter the upgrade it stops: error E14, segfault7.\n"
		body += strings.Repeat("08:12:31.412 worker 7 of 40: panic: invalid memory address, retry in 1.5s\n", size/74)[:size-len(body)]
		issue := triage.Issue{
			Number: 77, Title: "Panic37 with Podman-Compose120, crash9", Body: body, Author: "octocat",
			Association: "MEMBER", Labels: []string{"kind/5", "AREA/22", "needs-info"}, Comments: 50,
		}
		event := facts.Facts{Issue: issue, Event: triage.Event{Name: "issues", Action: "opened"}}
		vars := map[string]any{"issue": map[string]any{
			"number": issue.Number, "title": issue.Title, "body": issue.Body, "author": issue.Author,
			"association": issue.Association, "labels": issue.Labels, "comments": issue.Comments,
		}}
		r, err := set.Decide(b.Context(), event)
		if err != nil {
			b.Fatal(err)
		}
		for i, p := range programs {
			got, _, err := p.Eval(vars)
			if want := r.Trace[i].Outcome == rules.Matched; err != nil || got.Value() != want {
				b.Fatalf("%s: rules say %v, CEL %v, %v", r.Trace[i].Condition, want, got, err)
			}
		}
		b.Run(fmt.Sprintf("body=%d/rules", size), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := set.Decide(b.Context(), event); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run(fmt.Sprintf("body=%d/cel", size), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				for _, p := range programs {
					if _, _, err := p.Eval(vars); err != nil {
						b.Fatal(err)
					}
				}
			}
		})
	}
}

// BenchmarkCompileCEL does the same as BenchmarkCompile in package rules, but with CEL.
func BenchmarkCompileCEL(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		celPrograms(b, 1000)
	}
}
