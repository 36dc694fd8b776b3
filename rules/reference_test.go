package rules

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/org/foreman-action/internal/rulesource"
	"github.com/org/foreman-action/rules/facts"
	"github.com/org/foreman-action/rules/internal/expression"
	"github.com/org/foreman-action/triage"
)

// referenceNames declares the forms and the table that the examples of [Reference] use.
const referenceNames = `version: 1
forms:
  version: {heading: Version, type: semver}
  count: {heading: How often, type: number}
  area: {heading: Affected area, type: list}
  logs: {heading: Logs}
tables:
  area_of: {Networking: area/net, CLI: area/cli}
rules: []
`

func TestReferenceHoldsEveryName(t *testing.T) {
	t.Parallel()
	want := expression.Names()
	var got []string
	for _, n := range Reference() {
		got = append(got, n.Name)
	}
	slices.Sort(want)
	slices.Sort(got)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("names (-want +got):\n%s", diff)
	}
}

// Every example contains its name, compiles, and evaluates without an error on an empty issue and
// on a filled-in form.
func TestReferenceExamples(t *testing.T) {
	t.Parallel()
	src, err := Parse("names.yml", []byte(referenceNames))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Compile(src); err != nil {
		t.Fatal(err)
	}
	for _, n := range Reference() {
		name, _, _ := strings.Cut(n.Name, "<")
		if n.Doc == "" || n.Type == "" || !strings.Contains(n.Example, name) {
			t.Errorf("%s: want a type, a sentence and an example that uses it: %+v", n.Name, n)
		}
		c, err := CompileCondition(n.Example, src)
		if err != nil {
			t.Errorf("%s: %v", n.Name, err)
			continue
		}
		for _, body := range []string{"", "### Affected area\n\nCLI, x\n\n### Version\n\n1.2.3\n\n### How often\n\n2.5"} {
			facts := facts.Facts{Issue: triage.Issue{Body: body}, Now: time.Date(2026, 1, 2, 0, 0, 0, 0, time.UTC), Lookup: facts.Known{Joined: time.Date(2025, 1, 2, 0, 0, 0, 0, time.UTC)}}
			if _, err := c.Eval(t.Context(), facts); err != nil {
				t.Errorf("%s: %v", n.Name, err)
			}
		}
	}
}

// A condition may use a form or a table whose declaration is wrong. CompileCondition does not
// report the mistakes in the declaration; Compile does.
func TestConditionLeavesMistakesOfNamesAlone(t *testing.T) {
	t.Parallel()
	src, err := Parse("names.yml", []byte("version: 1\nforms: {a: {heading: A, type: wrong}}\ntables: {b: [x]}\nrules: []\n"))
	if err != nil {
		t.Fatal(err)
	}
	c, err := CompileCondition("form.a == nil and not ('x' in tables.b)", src)
	if n := rulesource.Source(src).Parts().File.ErrorCount(); err != nil || n != 0 {
		t.Fatalf("got %v, and %d mistakes in the file of the names", err, n)
	}
	if ok, err := c.Eval(t.Context(), facts.Facts{}); !ok || err != nil {
		t.Errorf("got %v %v, want true", ok, err)
	}
}

// The explanation of a rule contains the value of a form's field, and nil for an empty one.
func TestExplainForms(t *testing.T) {
	t.Parallel()
	src, err := Parse("r.yml", []byte(strings.Replace(referenceNames, "rules: []", `rules:
  - {id: a, when: 'form.version == nil and form.logs contains "x" or form.count > 2 or len(form.area) > 7', then: [lock]}`, 1)))
	if err != nil {
		t.Fatal(err)
	}
	set, err := Compile(src)
	if err != nil {
		t.Fatal(err)
	}
	for body, want := range map[string]string{
		"": "form.version=nil form.logs=nil form.count=nil len(form.area)=0",
		"### Version\n\nv1\n\n### Logs\n\nx\n\n### How often\n\n7.5": `form.version="1.0.0" form.logs="x" form.count=7.5 len(form.area)=0`,
	} {
		var got []string
		var walk func(w Why)
		walk = func(w Why) {
			if w.Error != "" {
				t.Errorf("%s: %s", w.Text, w.Error)
			}
			if len(w.Parts) == 0 {
				got = append(got, w.Text+"="+w.Value)
			}
			for _, p := range w.Parts {
				walk(p)
			}
		}
		walk(*set.Explain(t.Context(), facts.Facts{Issue: triage.Issue{Body: body}, Event: triage.Event{Name: "issues", Action: "opened"}})[0].Why)
		if got := strings.Join(got, " "); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}

// TestNamesAreBounded checks the limits of the sections forms and tables.
func TestNamesAreBounded(t *testing.T) {
	t.Parallel()
	many := func(n int, line string) string {
		var b strings.Builder
		for i := range n {
			b.WriteString(strings.ReplaceAll(line, "N", "n"+strings.Repeat("x", i%60)+string(rune('a'+i%26))+string(rune('a'+i/26%26))+string(rune('a'+i/676))))
		}
		return b.String()
	}
	tests := []struct{ name, src, Type string }{
		{"100 forms", "forms:\n" + many(100, "  N: {heading: a}\n"), ""},
		{"101 forms", "forms:\n" + many(101, "  N: {heading: a}\n"), "forms: more than 100 names"},
		{"100 tables", "tables:\n" + many(100, "  N: {}\n"), ""},
		{"101 tables", "tables:\n" + many(101, "  N: {}\n"), "tables: more than 100 names"},
		{"10000 rows", "tables:\n  t:\n" + many(9999, "    N: a\n") + "  u: {a: b}\n", ""},
		{"10001 rows", "tables:\n  t:\n" + many(10000, "    N: a\n") + "  u: {a: b}\n", "tables: more than 10000 rows in all"},
		{"long value", "tables:\n  t: {a: " + strings.Repeat("é", 1000) + "}\n", ""},
		{"longer value", "tables:\n  t: {a: " + strings.Repeat("é", 1001) + "}\n", "more than 1000 characters"},
		{"longer key", "tables:\n  t: {" + strings.Repeat("é", 1001) + ": a}\n", "more than 1000 characters"},
		{"long heading", "forms:\n  a: {heading: " + strings.Repeat("é", 200) + "}\n", ""},
		{"longer heading", "forms:\n  a: {heading: " + strings.Repeat("é", 201) + "}\n", "at most 200 characters"},
		{"long name", "forms:\n  " + strings.Repeat("a", 65) + ": {heading: a}\n", "a name is at most 64"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			src, err := Parse("f", []byte("version: 1\nrules: []\n"+tt.src))
			if err != nil {
				t.Fatal(err)
			}
			_, err = Compile(src)
			if (err == nil) != (tt.Type == "") || err != nil && !strings.Contains(err.Error(), tt.Type) {
				t.Errorf("got %.300v, want %q", err, tt.Type)
			}
		})
	}
}
