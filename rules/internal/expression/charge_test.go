package expression

import (
	"strings"
	"testing"

	"github.com/org/foreman-action/internal/yamlfile"
	"github.com/org/foreman-action/rules/facts"
	"github.com/org/foreman-action/rules/internal/symbols"
	"github.com/org/foreman-action/triage"
)

// The charge of an expression does not depend on the words of a text.
func TestChargesDoNotDependOnWords(t *testing.T) {
	t.Parallel()
	program, err := NewCompiler(symbols.New()).compile("issue.body matches `(?i)panic\\d` or issue.body matches `x+y`", Bool)
	if err != nil {
		t.Fatal(err)
	}
	charged := func(body string) int {
		v := NewEvaluation(t.Context(), facts.Facts{Issue: triage.Issue{Body: body}})
		if got, err := eval(&v.machine, program, v.env); got != false || err != nil {
			t.Fatalf("got %v, %v", got, err)
		}
		return v.env.Run.meter.Patterns.Spent()
	}
	if a, b := charged(strings.Repeat("a panic ", 50)), charged(strings.Repeat("quiet... ", 50)[:400]); a != b || a == 0 {
		t.Errorf("charged %d and %d, want the same", a, b)
	}
}

// Loops that call functions of rules are charged.
func TestFunctionsAreCharged(t *testing.T) {
	t.Parallel()
	tests := []string{
		`all(1..1000, all(1..90, not command("x")))`,
		`all(1..1000, all(1..90, not semver(form.version, "> 9.0.0")))`,
		`all(1..1000, all(1..90, not (form.logs contains "zzz")))`,
		`all(1..1000, all(1..90, not ("zzz" in form.area)))`,
		`all(1..1000, all(1..90, len(form.area) < 1000))`,
	}
	names := mustDeclare(t)
	facts := facts.Facts{
		Issue: triage.Issue{Body: "### Version\n\n1.2.3\n\n### Affected area\n\n" + strings.Repeat("a,", 100) + "\n\n### Logs\n\n" + strings.Repeat("x", 10_000)},
		Event: triage.Event{Name: "issue_comment", Comment: triage.Comment{Body: strings.Repeat("/foreman a\n", 10)}},
	}
	for _, src := range tests {
		c := NewCompiler(names)
		program, err := c.compile(src, Bool)
		if err != nil {
			t.Errorf("%s: %v", src, err)
			continue
		}
		v := NewEvaluation(t.Context(), facts)
		if _, err := eval(&v.machine, program, v.env); err == nil || !strings.Contains(err.Error(), "more than 100000 steps") {
			t.Errorf("%s: got %v, want too many steps", src, err)
		}
	}
}

func mustDeclare(t testing.TB) *symbols.Table {
	t.Helper()
	f, err := yamlfile.Parse("names.yml", []byte(declarations))
	if err != nil {
		t.Fatal(err)
	}
	v := symbols.New()
	v.Declare(f, yamlfile.Child(f.Root(), "forms"), yamlfile.Child(f.Root(), "tables"))
	if err := f.Err(); err != nil {
		t.Fatal(err)
	}
	return v
}

// declarations declares the names that the examples of the reference use.
const declarations = `
forms:
  version: {heading: Version, type: semver}
  count: {heading: How often, type: number}
  area: {heading: Affected area, type: list}
  logs: {heading: Logs}
tables:
  area_of: {Networking: area/net, CLI: area/cli}
`

// Offsets and indexes into texts count characters, as len does.
func TestOffsetsCountCharacters(t *testing.T) {
	t.Parallel()
	tests := []struct{ src, want string }{
		{`issue.title[0:3]`, "Ой,"},
		{`issue.title[4:9]`, "паник"},
		{`issue.title[:1]`, "О"},
		{`issue.title[-2:]`, "🔥!"},
		{`issue.title[:-2]`, "Ой, паника "},
		{`issue.title[-99:2]`, "Ой"},
		{`issue.title[5:2]`, ""},
		{`issue.title[99:]`, ""},
		{`issue.title[13:99]`, ""},
		{`issue.title[12:99]`, "!"},
		{`"naïve"[2:4]`, "ïv"},
		{`issue.text[:2]`, "Ой"},
		{`string(indexOf(issue.title, "паника"))`, "4"},
		{`string(indexOf(issue.title, "panic"))`, "-1"},
		{`string(indexOf(issue.title, ""))`, "0"},
		{`string(lastIndexOf(issue.title, "а"))`, "9"},
		{`issue.title[indexOf(issue.title, "паника"):]`, "паника 🔥!"},
		{`issue.title[:lastIndexOf(issue.title, "!")]`, "Ой, паника 🔥"},
		{`string(len(issue.title[:6]))`, "6"},
		{`join(map(["день", "ночь"], #[1:3]), " ")`, "ен оч"},
		{`(find(["день"], true) ?? "")[1:3]`, "ен"},
		{`join(["a", "b", "c"][1:], "")`, "bc"},
		{`join((find([["a", "b"]], true) ?? [])[:1], "")`, "a"},
		{`issue.body[1:3]`, "\xff\xfe"}, // each bad byte counts as a character
	}
	v := NewEvaluation(t.Context(), facts.Facts{Issue: triage.Issue{Title: "Ой, паника 🔥!", Body: "a\xff\xfeb"}})
	for _, tt := range tests {
		program, err := NewCompiler(symbols.New()).compile(tt.src, Text)
		if err != nil {
			t.Errorf("%s: %v", tt.src, err)
			continue
		}
		if got, err := eval(&v.machine, program, v.env); got != tt.want || err != nil {
			t.Errorf("%s: got %q, %v, want %q", tt.src, got, err, tt.want)
		}
	}
}
