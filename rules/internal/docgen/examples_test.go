package main

import (
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"gopkg.in/yaml.v3"

	"github.com/org/foreman-action/internal/rulesource"
	"github.com/org/foreman-action/internal/yamlfile"
	"github.com/org/foreman-action/rules"
	"github.com/org/foreman-action/rules/facts"
	"github.com/org/foreman-action/rules/internal/events"
	"github.com/org/foreman-action/rules/internal/expression"
	"github.com/org/foreman-action/rules/internal/symbols"
	"github.com/org/foreman-action/rules/ruletest"
	"github.com/org/foreman-action/triage"
)

// TestDocsFiles compiles the YAML examples of the pages without a mistake or a warning. It
// evaluates their rules for every event and runs their tests. An example that begins with "- id:"
// is a list of rules, which may use the names of [rules.Reference].
func TestDocsFiles(t *testing.T) {
	t.Parallel()
	blocks := docsBlocks(t)
	if len(blocks) < 10 {
		t.Fatalf("%d blocks of YAML, want at least 10", len(blocks))
	}
	for i, block := range blocks {
		switch {
		case strings.HasPrefix(block, "- id:"):
			block = strings.Replace(referenceNames, "rules: []", "rules:", 1) + "  " + strings.ReplaceAll(block, "\n", "\n  ")
		case strings.HasPrefix(block, "tests:"):
			if i == 0 {
				t.Fatal("tests come before the file that they belong to")
			}
			block = blocks[0] + block
		}
		src, err := rules.Parse("page.yml", []byte(ruleSections(t, block)))
		if err != nil {
			t.Fatalf("%s: %v", block, err)
		}
		set, err := rules.Compile(src)
		if err != nil || len(set.Warnings()) > 0 {
			t.Errorf("%s\n%v %v", block, err, set.Warnings())
			continue
		}
		tests, err := ruletest.Parse(src)
		for _, test := range tests {
			if r := ruletest.Run(t.Context(), set, test, nil); !r.Passed() {
				t.Errorf("%s: %+v", test.Name, r.Mismatches)
			}
		}
		if err != nil {
			t.Errorf("%s\n%v", block, err)
		}
		for _, key := range events.Keys() {
			name, action, _ := strings.Cut(key, ".")
			if _, err := set.Decide(t.Context(), docsFacts(name, action)); err != nil {
				t.Errorf("%s\n%s: %v", block, key, err)
			}
		}
	}
}

// docsFacts returns the facts of an event on an empty issue.
func docsFacts(name, action string) facts.Facts {
	return facts.Facts{
		Issue: triage.Issue{Number: 1, Author: "octocat", State: "open", CreatedAt: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)},
		Event: triage.Event{Name: name, Action: action, Label: "wontfix"}, Now: time.Date(2026, 6, 1, 0, 0, 0, 0, time.UTC), Lookup: facts.Known{Joined: time.Date(2025, 1, 2, 0, 0, 0, 0, time.UTC)},
	}
}

var docsBlock = regexp.MustCompile("(?s)\n```yaml\n(.*?\n)```\n")

func docsBlocks(t *testing.T) []string {
	t.Helper()
	pages := rendered(t)
	var blocks []string
	// The block that the tests of another page belong to comes first.
	names := append([]string{"rules.md"}, slices.DeleteFunc(slices.Sorted(maps.Keys(pages)), func(name string) bool { return name == "rules.md" })...)
	for _, name := range names {
		found := docsBlock.FindAllStringSubmatch(pages[name], -1)
		for _, m := range found {
			blocks = append(blocks, m[1])
		}
		if all := strings.Count(pages[name], "\n```"); all != 2*len(found) {
			t.Errorf("%s: %d fences, want %d: a block on the page is YAML", name, all, 2*len(found))
		}
	}
	return blocks
}

// ruleSections returns an example without the keys that package rules does not read. Package runner
// tests those.
func ruleSections(t *testing.T, block string) string {
	t.Helper()
	var doc yaml.Node
	if err := yaml.Unmarshal([]byte(block), &doc); err != nil {
		t.Fatalf("%s: %v", block, err)
	}
	root := doc.Content[0]
	for i := 0; i+1 < len(root.Content); {
		if slices.Contains([]string{"version", "forms", "tables", "rules", "tests"}, root.Content[i].Value) {
			i += 2
			continue
		}
		root.Content = slices.Delete(root.Content, i, i+2)
	}
	out, err := yaml.Marshal(&doc)
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}

var (
	docsSpan = regexp.MustCompile("`` (.+?) ``|`([^`\n]+)`")
	// docsCondition matches code of the rule language: a call, an operator or a comparison.
	docsCondition = regexp.MustCompile(`[a-z_]\(| ([!=]=|[<>]=?|in|contains|matches|startsWith|endsWith|and|or|\?) `)
)

// TestDocsConditions compiles all code in texts and tables that looks like a condition, and
// evaluates it for an empty issue.
func TestDocsConditions(t *testing.T) {
	t.Parallel()
	names, err := rules.Parse("names.yml", []byte(referenceNames))
	if err != nil {
		t.Fatal(err)
	}
	var text string
	for name, page := range rendered(t) {
		if name != "rules/traps.md" {
			text += docsBlock.ReplaceAllString(page, "")
		}
	}
	n := 0
	for _, m := range docsSpan.FindAllStringSubmatch(text, -1) {
		src := strings.ReplaceAll(m[1]+m[2], `\|`, "|")
		if !docsCondition.MatchString(src) || strings.Contains(src, "{{") || docsSignature(src) {
			continue
		}
		n++
		f, err := yamlfile.Parse("page.yml", []byte("when: |\n  "+src+"\n"))
		if err != nil {
			t.Fatal(err)
		}
		table := symbols.New()
		parts := rulesource.Source(names).Parts()
		table.Declare(parts.File, parts.Forms, parts.Tables)
		c := expression.NewCompiler(table)
		x := c.Compile(expression.Source{File: f, Node: f.Root().Content[1], Text: src}, expression.Any)
		if x == nil {
			t.Errorf("%s: %v", src, f.Err())
			continue
		}
		v := expression.NewEvaluation(t.Context(), docsFacts("issues", "opened"))
		if _, err := v.Eval(x); err != nil && !strings.HasPrefix(src, "int(issue.title)") {
			t.Errorf("%s: %v", src, err)
		}
	}
	if n < 100 {
		t.Errorf("%d conditions, want at least 100", n)
	}
}

// docsSignature reports whether code is the name of a function with its arguments.
func docsSignature(src string) bool {
	return slices.ContainsFunc(rules.Reference(), func(n rules.Name) bool {
		end := strings.Index(n.Type, ") ") + 1
		return end > 0 && src == n.Name+n.Type[:end]
	})
}

// referenceNames declares the forms and the table that the examples of [rules.Reference] use.
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
