package rules

import (
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/org/foreman-action/protocol"
	"github.com/org/foreman-action/rules/internal/action"
	"github.com/org/foreman-action/rules/internal/events"
	"github.com/org/foreman-action/rules/internal/forms"
)

const (
	docsPage     = "../docs/rules.md"
	docsTemplate = "testdata/rules.md.in"
)

// TestDocs keeps docs/rules.md as the template and the tables of the code make it.
func TestDocs(t *testing.T) {
	t.Parallel()
	want := renderDocs(t)
	if flag.Lookup("update").Value.String() == "true" {
		if err := os.WriteFile(docsPage, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	got, err := os.ReadFile(docsPage)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(got), want); diff != "" {
		t.Errorf("docs/rules.md is not what %s makes of it; run go test ./rules -run TestDocs -update (-page +made):\n%s", docsTemplate, diff)
	}
}

// renderDocs fills the places of the template.
func renderDocs(t *testing.T) string {
	t.Helper()
	src, err := os.ReadFile(docsTemplate)
	if err != nil {
		t.Fatal(err)
	}
	page := "<!-- Made by go test ./rules -run TestDocs -update from rules/testdata/rules.md.in. -->\n\n" + string(src)
	for place, text := range map[string]string{
		"rule keys":      keyTable(t, structKeys(reflect.TypeFor[ruleKeys]()), ruleKeyDocs()),
		"file keys":      keyTable(t, fileKeyNames(t), fileKeyDocs()),
		"events":         eventTable(),
		"default events": inCodes(events.Defaults(), " and "),
		"names":          referenceTable(false),
		"functions":      referenceTable(true),
		"form types":     keyTable(t, forms.Types(), formTypeDocs()),
		"test keys":      keyTable(t, structKeys(reflect.TypeFor[testKeys]()), testKeyDocs()),
		"expect keys":    keyTable(t, structKeys(reflect.TypeFor[expectKeys]()), expectKeyDocs()),
		"actions":        actionTable(t),
		"traps":          trapTable(t),
		"surprises":      surpriseTable(t),
		"limits":         limitTable(),
	} {
		mark := "<!-- " + place + " -->"
		if strings.Count(page, mark) != 1 {
			t.Errorf("%s: want the place %s once", docsTemplate, mark)
		}
		page = strings.Replace(page, mark, strings.TrimRight(text, "\n"), 1)
	}
	return page
}

// inCode is an inline code span that holds any text, in a cell of a table.
func inCode(s string) string {
	s = strings.ReplaceAll(s, "|", `\|`)
	switch {
	case strings.Contains(s, "`"):
		return "`` " + s + " ``"
	case s == "":
		return ""
	}
	return "`" + s + "`"
}

func inCodes(list []string, last string) string {
	out := make([]string, len(list))
	for i, s := range list {
		out[i] = inCode(s)
	}
	if last == "" || len(out) < 2 {
		return strings.Join(out, ", ")
	}
	return strings.Join(out[:len(out)-1], ", ") + last + out[len(out)-1]
}

func cellText(s string) string { return strings.ReplaceAll(s, "|", `\|`) }

// keyTable is a table of keys and what they say; every key needs a sentence.
func keyTable(t *testing.T, keys []string, docs map[string]string) string {
	t.Helper()
	var b strings.Builder
	b.WriteString("| key | what it says |\n|---|---|\n")
	for _, key := range keys {
		if docs[key] == "" {
			t.Errorf("the key %s needs a sentence in docs_text_test.go", key)
		}
		fmt.Fprintf(&b, "| `%s` | %s |\n", key, cellText(docs[key]))
	}
	return b.String()
}

// structKeys returns the keys in YAML of a struct.
func structKeys(t reflect.Type) []string {
	var keys []string
	for f := range t.Fields() {
		key, _, _ := strings.Cut(f.Tag.Get("yaml"), ",")
		keys = append(keys, key)
	}
	return keys
}

// fileKeyNames returns the keys of a file, which package runner reads: those of its
// struct that has both mode and rules.
func fileKeyNames(t *testing.T) []string {
	t.Helper()
	files, err := filepath.Glob("../config/*.go")
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

// eventTable lists the activities of each event.
func eventTable() string {
	var order []string
	activities := map[string][]string{}
	for _, key := range events.Keys() {
		event, activity, _ := strings.Cut(key, ".")
		if !slices.Contains(order, event) {
			order = append(order, event)
		}
		if activity != "" && activity != "*" {
			activities[event] = append(activities[event], activity)
		}
	}
	var b strings.Builder
	b.WriteString("| event | `event.activity` |\n|---|---|\n")
	for _, event := range order {
		list := inCodes(activities[event], "")
		switch {
		case event == "repository_dispatch":
			list = "none, or a type of your own"
		case list == "":
			list = "none"
		}
		fmt.Fprintf(&b, "| `%s` | %s |\n", event, list)
	}
	return b.String()
}

// referenceTable is the part of [Reference] that holds values, or functions.
func referenceTable(functions bool) string {
	var b strings.Builder
	b.WriteString("| name | is | example |\n|---|---|---|\n")
	for _, n := range Reference() {
		if strings.HasPrefix(n.Type, "(") != functions {
			continue
		}
		name, is := n.Name, n.Type+": "+n.Doc
		if functions {
			end := strings.Index(n.Type, ") ") + 1
			name, is = n.Name+n.Type[:end], strings.TrimSpace(n.Type[end:])+": "+n.Doc
		}
		fmt.Fprintf(&b, "| %s | %s | %s |\n", inCode(name), cellText(is), inCode(n.Example))
	}
	return b.String()
}

// actionTable lists the actions and their parameters.
func actionTable(t *testing.T) string {
	t.Helper()
	docs := actionDocs()
	var b strings.Builder
	b.WriteString("| action | parameters | what it does |\n|---|---|---|\n")
	for _, s := range action.Specs() {
		if docs[s.Name] == "" {
			t.Errorf("the action %s needs a sentence in docs_text_test.go", s.Name)
		}
		var params []string
		for _, p := range s.Params {
			params = append(params, paramText(s, p))
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s |\n", s.Name, strings.Join(params, "; "), docs[s.Name])
	}
	return b.String()
}

func paramText(s protocol.ActionSpec, p protocol.Param) string {
	text := inCode(p.Name)
	if p.Name == s.Main {
		text = "**" + text + "**"
	}
	kind := map[protocol.ParamKind]string{
		protocol.KindMarkdown: "Markdown", protocol.KindTexts: "list of texts",
		protocol.KindInt: "whole number", protocol.KindDuration: "duration",
	}[p.Kind]
	if len(p.Enum) > 0 {
		if kind != "" {
			kind += " of "
		}
		kind += inCodes(p.Enum, "")
	}
	if kind != "" {
		text += ": " + kind
	}
	if !p.Required {
		text += " (optional)"
	}
	return text
}
