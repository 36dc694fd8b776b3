package recipes_test

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/org/foreman-action/config"
	"github.com/org/foreman-action/docs/recipes"
	"github.com/org/foreman-action/internal/cli"
	"github.com/org/foreman-action/internal/cli/process"
	"github.com/org/foreman-action/rules"
	"github.com/org/foreman-action/rules/ruletest"
)

var update = flag.Bool("update", false, "rewrite README.md")

func all(t testing.TB) []recipes.Recipe {
	t.Helper()
	list, err := recipes.All()
	if err != nil {
		t.Fatal(err)
	}
	if len(list) < 60 {
		t.Fatalf("%d recipes", len(list))
	}
	return list
}

// TestRecipes checks each file as foreman rules check and foreman rules test do, and requires
// that each of its rules fires in one of its tests, and that one test shows what does not fire.
func TestRecipes(t *testing.T) {
	t.Parallel()
	for _, r := range all(t) {
		t.Run(r.Name, func(t *testing.T) {
			t.Parallel()
			for _, command := range []struct{ name, want string }{{"check", "0 mistakes, 0 warnings\n"}, {"test", " tests, 0 failed\n"}} {
				var out bytes.Buffer
				code := cli.Main(t.Context(), process.Env{Stdout: &out, Stderr: &out}, []string{"rules", command.name, r.Name + ".yml"})
				if code != 0 || !strings.Contains(out.String(), command.want) || strings.Contains(out.String(), "count as met") {
					t.Errorf("foreman rules %s ends with %d:\n%s", command.name, code, out.String())
				}
			}
			fired, quiet := run(t, r.Rules)
			for _, info := range rules.Infos(load(t, r.Rules).Rules) {
				if !slices.Contains(fired, info.ID) {
					t.Errorf("no test in which the rule %s fires", info.ID)
				}
			}
			if !quiet {
				t.Error("every rule fires in every test")
			}
			if line := flow(r.Rules); line != "" {
				t.Errorf("a mapping in braces: write it in block style: %s", line)
			}
		})
	}
}

// flow returns the first line with a YAML mapping in braces; "" if there is none.
func flow(text string) string {
	for line := range strings.Lines(text) {
		value := strings.TrimPrefix(strings.TrimSpace(line), "- ")
		if _, after, ok := strings.Cut(value, ": "); ok {
			value = after
		}
		if strings.HasPrefix(value, "{") {
			return line
		}
	}
	return ""
}

// run runs the tests of a rule file. It returns the rules that fire in any of them, and whether a
// rule does not fire in some test.
func run(t *testing.T, text string) (fired []string, quiet bool) {
	t.Helper()
	c := load(t, text)
	for _, test := range c.Tests {
		got := ruletest.Run(t.Context(), c.Rules, test, c.Policy)
		ids := got.Fired
		quiet = quiet || len(ids) < len(rules.Infos(c.Rules))
		fired = append(fired, ids...)
	}
	return fired, quiet
}

func load(t *testing.T, text string) *config.Config {
	t.Helper()
	c, err := config.Load(t.Context(), memory(text), config.Spec{Path: config.DefaultPath, Tests: true})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// A memory is a repository with this rule file alone.
type memory string

func (m memory) Read(_ context.Context, name string) ([]byte, error) {
	if name != config.DefaultPath {
		return nil, fs.ErrNotExist
	}
	return []byte(m), nil
}

func (memory) Glob(context.Context, string) ([]string, error) { return nil, nil }

// TestJoin checks that all recipes together are a valid file, and so each set of them: names of
// forms, tables and tests, and ids of rules are unique, and no rules wait for each other's labels.
func TestJoin(t *testing.T) {
	t.Parallel()
	list := all(t)
	titles := map[string]string{}
	for _, r := range list {
		if other := titles[r.Title]; other != "" {
			t.Errorf("%s and %s have the same title", other, r.Name)
		}
		titles[r.Title] = r.Name
		if got := recipes.Join([]recipes.Recipe{r}); got != r.Rules {
			t.Errorf("%s alone (-want +got):\n%s", r.Name, cmp.Diff(r.Rules, got))
		}
	}
	load(t, recipes.Join(list))
}

// TestIndex compares README.md with the recipes.
func TestIndex(t *testing.T) {
	t.Parallel()
	want := recipes.Index(all(t))
	if *update {
		if err := os.WriteFile("README.md", []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, string(got)); diff != "" {
		t.Errorf("go test ./docs/recipes -update rewrites README.md (-want +got):\n%s", diff)
	}
	if names, err := filepath.Glob("*.yml"); err != nil || len(names) != len(all(t)) {
		t.Errorf("%d files, %d recipes: %v", len(names), len(all(t)), err)
	}
}

func ExampleJoin() {
	list, err := recipes.All()
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, r := range list {
		if r.Name == "popular" {
			fmt.Print(strings.SplitAfter(recipes.Join([]recipes.Recipe{r}), "when:")[0], "\n")
		}
	}
	// Output:
	// version: 1
	// rules:
	//   - id: popular
	//     on: [schedule]
	//     scan: "is:open is:issue reactions:>=20 -label:popular"
	//     when:
}

// TestExplained checks that a recipe's page links to the pages about what the recipe uses.
func TestExplained(t *testing.T) {
	t.Parallel()
	for _, r := range all(t) {
		page := r.Page()
		for word, link := range map[string]string{
			"scan:": "../rules/schedule.md", "form.": "../rules/forms.md", "command(": "../rules/commands.md", "{{": "../rules/texts.md",
		} {
			if strings.Contains(r.Rules, word) != strings.Contains(page, "("+link+")") {
				t.Errorf("%s: %q, and a link to %s: one without the other", r.Name, word, link)
			}
		}
	}
}
