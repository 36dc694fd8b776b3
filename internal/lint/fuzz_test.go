package lint_test

import (
	"slices"
	"testing"

	"github.com/org/foreman-action/config"
	"github.com/org/foreman-action/internal/lint"
	"github.com/org/foreman-action/internal/yamlfile"
)

// FuzzForm checks that no issue form makes the parser panic, and that every field has a label.
func FuzzForm(f *testing.F) {
	f.Add("a.yml", []byte("name: Bug\nbody:\n  - type: dropdown\n    attributes: {label: Area, multiple: true, options: [a, {label: b}]}\n"))
	f.Add("a.yml", []byte("body: &a [*a]\n"))
	f.Add("a.md", []byte("---\nname: Bug\n---\n## Version\n#\n"))
	f.Fuzz(func(t *testing.T, name string, src []byte) {
		form, err := lint.ParseForm(name, src)
		if err != nil && len(form.Fields) > 0 {
			t.Errorf("an error and %d fields", len(form.Fields))
		}
		for _, field := range form.Fields {
			if field.Label == "" {
				t.Error("a field without a label")
			}
		}
	})
}

// FuzzWorkflow checks that no workflow makes the parser or its conditions panic.
func FuzzWorkflow(f *testing.F) {
	f.Add("{issues: {types: [labeled]}}", "${{ contains(github.event.issue.labels.*.name, 'deploy') }}", "deploy")
	f.Add("[pull_request]", "github.event.label.name != 'it''s' && !(fromJSON('[\"a\"]')[0] == 'b')", "a")
	f.Add("issues", "((", "")
	f.Fuzz(func(t *testing.T, on, condition, label string) {
		w, err := lint.ParseWorkflow("w.yml", []byte("on: "+on+"\njobs:\n  a:\n    if: "+condition+"\n    steps: [{if: "+condition+"}]\n"))
		if err != nil {
			return
		}
		w.Any()
		w.Names(label)
		for _, c := range w.Candidates() {
			w.Names(c)
		}
	})
}

// FuzzRuns checks that no workflow makes the parser, or the check of rules against it, panic.
func FuzzRuns(f *testing.F) {
	f.Add("{issues: {types: [opened]}, schedule: [{cron: x}]}", "{issues: write}", "{config: foreman.yml, allow-close: true}")
	f.Add("issues", "read-all", "{rules: \"a/*.yml\\nb.yml\", token: '${{ github.token }}'}")
	f.Add("[pull_request_target, workflow_call]", "&a [*a]", "{config: '[', memory: file}")
	f.Fuzz(func(t *testing.T, on, permissions, with string) {
		src := "on: " + on + "\njobs:\n  a:\n    permissions: " + permissions + "\n    steps: [{uses: org/foreman-action@v1, with: " + with + "}]\n"
		runs, err := lint.ParseRuns("w.yml", []byte(src))
		if err != nil {
			return
		}
		rule := []byte("version: 1\nrules: [{id: a, on: [issues.opened, pull_request.closed], when: label(\"a\"), else_undo: true, then: [{close_issue: {after: 1h}}]}]\n")
		cfg, err := config.Parse("foreman.yml", rule, nil)
		if err != nil {
			t.Fatal(err)
		}
		file, err := yamlfile.Parse("foreman.yml", rule)
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range lint.Check(cfg, []*yamlfile.File{file}, &lint.Repository{Runs: runs}) {
			place := p.File == "foreman.yml" && p.Line == 2 || p.File == "w.yml" && p.Line >= 1
			if !place || p.Column < 1 || !p.Warning {
				t.Errorf("got %+v", p)
			}
		}
	})
}

// FuzzLabels checks that a file of labels gives either labels or an error.
func FuzzLabels(f *testing.F) {
	f.Add([]byte("- name: bug\n  color: red\n- docs\n"))
	f.Add([]byte(`{"labels": [{"name": "a"}]}`))
	f.Add([]byte("- &a [*a]\n"))
	f.Fuzz(func(t *testing.T, src []byte) {
		labels, err := lint.ParseLabels("labels.yml", src)
		if (err == nil) != (len(labels) > 0) || slices.Contains(labels, "") {
			t.Errorf("got %q, %v", labels, err)
		}
	})
}
