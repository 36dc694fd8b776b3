package config

import (
	"context"
	"errors"
	"io/fs"
	"slices"
	"testing"

	"github.com/org/foreman-action/internal/yamlfile"
	"github.com/org/foreman-action/rules/facts"
	"github.com/org/foreman-action/triage"
)

// fileMap is files by name.
type fileMap map[string]string

func (m fileMap) Read(_ context.Context, name string) ([]byte, error) {
	data, ok := m[name]
	switch {
	case !ok:
		return nil, fs.ErrNotExist
	case data == "unreadable":
		return nil, errors.New("the disk is on fire")
	}
	return []byte(data), nil
}

func (m fileMap) Glob(context.Context, string) ([]string, error) {
	var names []string
	for name := range m {
		names = append(names, name)
	}
	slices.Sort(names)
	return names, nil
}

// TestIssueForms reads an answer to a form that is known, and to one that is not.
func TestIssueForms(t *testing.T) {
	t.Parallel()
	config := fileMap{DefaultPath: `version: 1
forms: {system: {heading: System, type: list}, part: {heading: Part}}
rules:
  - {id: eleven, when: '"Windows 10, 11" in form.system', then: [add_label: a]}
  - {id: part, when: form.part != nil, then: [add_label: b]}
`}
	known := fileMap{
		".github/ISSUE_TEMPLATE/a.yml":      "unreadable",
		".github/ISSUE_TEMPLATE/b.yaml":     "body: [",
		".github/ISSUE_TEMPLATE/bug.yml":    `body: [{type: dropdown, attributes: {label: System, options: ["Windows 10, 11", Linux]}}, {type: dropdown, attributes: {label: Part, options: [CLI]}}]`,
		".github/ISSUE_TEMPLATE/config.yml": "blank_issues_enabled: false",
		".github/ISSUE_TEMPLATE/old.md":     "### Part",
	}
	issue := triage.Issue{Number: 1, State: "open", Body: "### System\n\nWindows 10, 11, Linux\n\n### Part\n\nNone"}
	for _, tt := range []struct {
		name  string
		forms Files
		want  []string
	}{{"known", known, []string{"eleven"}}, {"no forms", fileMap{}, []string{"part"}}, {"not known", nil, []string{"part"}}} {
		c, err := Load(t.Context(), config, Spec{Path: DefaultPath, IssueForms: tt.forms})
		if err != nil {
			t.Fatal(err)
		}
		got, err := c.Rules.Decide(t.Context(), facts.Facts{Issue: issue, Event: triage.Event{Name: "issues", Action: "opened"}})
		if err != nil || !slices.Equal(got.Fired, tt.want) {
			t.Errorf("%s: fired %v, %v, want %v", tt.name, got.Fired, err, tt.want)
		}
	}
}

// TestUnusualPatterns checks that the entries of an extended file count, and that labels of the
// repository excuse a pattern.
func TestUnusualPatterns(t *testing.T) {
	t.Parallel()
	remote := func(context.Context, RemoteFile) ([]byte, error) {
		return []byte("version: 1\nlabels: {allow: [\"[Type] *\"], deny: [\"prod?\"]}\n"), nil
	}
	files := fileMap{DefaultPath: "version: 1\nextends: o/r:foreman.yml@v1\nlabels: {deny: ['a\\b', c*]}\n"}
	c, err := Load(t.Context(), files, Spec{Path: DefaultPath, Remote: remote})
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		labels []string
		want   int
	}{{nil, 3}, {[]string{"[type] bug", "bug"}, 2}, {[]string{"[Type] Bug", "PROD?", `A\B`}, 0}} {
		if got := c.UnusualPatterns(tt.labels); len(got) != tt.want || len(yamlfile.Mistakes(got)) > 0 {
			t.Errorf("labels %q: got %v, want %d warnings", tt.labels, got, tt.want)
		}
	}
}
