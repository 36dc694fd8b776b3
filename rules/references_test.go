package rules_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"

	"github.com/org/foreman-action/internal/ruleset"
	"github.com/org/foreman-action/rules"
)

// TestUses lists what the rule file of every archive in testdata/uses names, and where.
func TestUses(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("testdata/uses/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("%d files: %v", len(files), err)
	}
	for _, name := range files {
		t.Run(strings.TrimSuffix(filepath.Base(name), ".txtar"), func(t *testing.T) {
			t.Parallel()
			ar, err := txtar.ParseFile(name)
			if err != nil {
				t.Fatal(err)
			}
			got := uses(mustCompile(t, getFile(ar, "rules.yml")))
			if *update {
				setFile(ar, "want", got)
				if err := os.WriteFile(name, txtar.Format(ar), 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			if diff := cmp.Diff(getFile(ar, "want"), got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func uses(s *rules.Set) string {
	var b strings.Builder
	verbs := map[ruleset.LabelVerb]string{ruleset.LabelAsked: "asked", ruleset.LabelAdded: "added", ruleset.LabelRemoved: "removed"}
	for _, u := range (*ruleset.Set)(s).Rules().Labels() {
		kind := "label"
		if u.Glob {
			kind = "glob"
		}
		fmt.Fprintf(&b, "%d:%d %s %s %q\n", u.Place.Line, u.Place.Column, verbs[u.Verb], kind, u.Label)
	}
	for _, u := range (*ruleset.Set)(s).Rules().Forms() {
		fmt.Fprintf(&b, "%d:%d form %s %q, %d:%d %s\n", u.Place.Line, u.Place.Column, u.Name, u.Heading, u.TypeAt.Line, u.TypeAt.Column, u.Type)
	}
	for _, u := range (*ruleset.Set)(s).Rules().FormTables() {
		fmt.Fprintf(&b, "table %s of form %s:", u.Table, u.Form)
		for _, k := range u.Keys {
			fmt.Fprintf(&b, " %d:%d %q", k.Place.Line, k.Place.Column, k.Key)
		}
		b.WriteString("\n")
	}
	return b.String()
}

func TestNoUses(t *testing.T) {
	t.Parallel()
	var set *rules.Set
	var c *rules.Condition
	if n := len((*ruleset.Set)(set).Rules().Labels()) + len((*ruleset.Set)(set).Rules().Forms()) + len((*ruleset.Set)(set).Rules().FormTables()) + len((*ruleset.Condition)(c).Labels()); n != 0 {
		t.Errorf("nothing names %d", n)
	}
	if n := len((*ruleset.Set)(&rules.Set{}).Rules().Forms()); n != 0 {
		t.Errorf("the zero set names %d forms", n)
	}
}
