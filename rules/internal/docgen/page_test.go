package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/org/foreman-action/internal/ruleset"
	"github.com/org/foreman-action/internal/rulesource"
	"github.com/org/foreman-action/internal/yamlfile"
	"github.com/org/foreman-action/rules"
	"github.com/org/foreman-action/rules/internal/action"
	"github.com/org/foreman-action/rules/internal/forms"
	"github.com/org/foreman-action/rules/ruletest"
)

// TestPages checks that the generated pages are up to date, and that docs/rules has no others.
func TestPages(t *testing.T) {
	t.Parallel()
	want, got := rendered(t), map[string]string{}
	files, err := filepath.Glob(filepath.Join(docs, "rules", "*"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range append(files, filepath.Join(docs, "rules.md"), filepath.Join(docs, "limits.md")) {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		name, err := filepath.Rel(docs, file)
		if err != nil {
			t.Fatal(err)
		}
		got[filepath.ToSlash(name)] = string(text)
	}
	if diff := cmp.Diff(got, want); diff != "" {
		t.Errorf("the pages are out of date; run go generate ./rules/... (-docs +made):\n%s", diff)
	}
}

func rendered(t *testing.T) map[string]string {
	t.Helper()
	pages, err := render()
	if err != nil {
		t.Fatal(err)
	}
	return pages
}

// Every key and every action has a description.
func TestEveryNameHasASentence(t *testing.T) {
	t.Parallel()
	items := func(schema any) map[string]any {
		list, _ := schema.(map[string]any)
		item, _ := list["items"].(map[string]any)
		return item
	}
	properties := func(schema map[string]any) []string {
		p, _ := schema["properties"].(map[string]any)
		return slices.Collect(maps.Keys(p))
	}
	test := items(ruletest.Schema())
	testProperties, _ := test["properties"].(map[string]any)
	expect, _ := testProperties["expect"].(map[string]any)
	for _, s := range action.Specs() {
		if s.Doc == "" {
			t.Errorf("the action %s has no sentence", s.Name)
		}
	}
	for _, tt := range []struct {
		name string
		docs []entry
		want []string
	}{
		{"rule keys", ruleKeyDocs(), properties(items(rules.Schemas()["rules"]))},
		{"file keys", fileKeyDocs(), fileKeyNames(t)},
		{"form types", formTypeDocs(), forms.Types()},
		{"test keys", testKeyDocs(), properties(test)},
		{"expect keys", expectKeyDocs(), properties(expect)},
	} {
		var got []string
		for _, e := range tt.docs {
			got = append(got, e.name)
			if e.doc == "" {
				t.Errorf("%s: %s has no sentence in text.go", tt.name, e.name)
			}
		}
		slices.Sort(got)
		slices.Sort(tt.want)
		if diff := cmp.Diff(tt.want, got); diff != "" || len(got) == 0 {
			t.Errorf("%s in text.go (-want +got):\n%s", tt.name, diff)
		}
	}
}

// fileKeyNames returns the keys of a configuration file: those of the struct that has both mode and
// rules.
func fileKeyNames(t *testing.T) []string {
	t.Helper()
	files, err := filepath.Glob("../../../config/*.go")
	if err != nil {
		t.Fatal(err)
	}
	var found []string
	for _, name := range files {
		tree, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(tree, func(n ast.Node) bool {
			if s, ok := n.(*ast.StructType); ok {
				if keys := yamlKeys(s); slices.Contains(keys, "mode") && slices.Contains(keys, "rules") {
					found = keys
				}
			}
			return true
		})
	}
	if len(found) == 0 {
		t.Fatal("package config has no struct with the keys mode and rules")
	}
	return found
}

func yamlKeys(s *ast.StructType) []string {
	var keys []string
	for _, f := range s.Fields.List {
		if f.Tag == nil {
			continue
		}
		key, _, _ := strings.Cut(reflect.StructTag(strings.Trim(f.Tag.Value, "`")).Get("yaml"), ",")
		if key != "" {
			keys = append(keys, key)
		}
	}
	return keys
}

// Each trap is a mistake with the expected message, and its correction is valid.
func TestTraps(t *testing.T) {
	t.Parallel()
	for _, d := range docTraps() {
		err := tryWhen(d.written)
		if err == nil || !strings.Contains(err.Error(), d.say) {
			t.Errorf("%s: got %v, want a mistake with %q", d.written, err, d.say)
		}
		if err := tryWhen(d.instead); err != nil {
			t.Errorf("%s: %v", d.instead, err)
		}
	}
}

// All surprises compile.
func TestSurprises(t *testing.T) {
	t.Parallel()
	for _, d := range docSurprises() {
		for _, src := range []string{d.written, d.instead} {
			if err := tryWhen("when: |\n  " + src); err != nil {
				t.Errorf("%s: %v", src, err)
			}
		}
	}
}

// TestDoubts checks that each doubtful condition gets its warning, and that its replacement gets none.
func TestDoubts(t *testing.T) {
	t.Parallel()
	for _, d := range docDoubts() {
		if found := suspicious(t, d.on, d.written); !strings.Contains(found, d.say) || (found == "") != (d.say == "") {
			t.Errorf("%s: got %q, want a warning with %q", d.written, found, d.say)
		}
		if strings.HasPrefix(d.instead, "listen to ") {
			continue
		}
		if found := suspicious(t, d.on, d.instead); found != "" {
			t.Errorf("%s: got %q, want no warning", d.instead, found)
		}
	}
}

// suspicious returns the warnings of a rule with an event and a condition. The repository has every
// folder.
func suspicious(t *testing.T, on, when string) string {
	t.Helper()
	src, err := rules.Parse("when.yml", []byte("version: 1\nrules:\n  - id: r\n    on: "+on+"\n    when: |\n      "+when+"\n    then: [escalate]\n"))
	if err != nil {
		t.Fatal(err)
	}
	set, err := rules.Compile(src)
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	for _, p := range (*ruleset.Set)(set).Rules().Suspicious(func(string) bool { return true }) {
		b.WriteString(p.Message + "\n")
	}
	return b.String()
}

// tryWhen compiles a line of YAML with the key when. It may use the names that the examples of
// [rules.Reference] use.
func tryWhen(line string) error {
	names, err := rules.Parse("names.yml", []byte(referenceNames))
	if err != nil {
		return err
	}
	f, err := yamlfile.Parse("when.yml", []byte(line+"\n"))
	if err != nil {
		return err
	}
	_, err = rules.CompileCondition("", names, rules.Source(rulesource.New(rulesource.Parts{File: f, Condition: f.Root().Content[1]})))
	return err
}
