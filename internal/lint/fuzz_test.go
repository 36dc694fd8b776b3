package lint_test

import (
	"testing"

	"github.com/org/foreman-action/internal/lint"
)

// FuzzForm: no issue form makes the parser panic, and no field is without a label.
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

// FuzzWorkflow: no workflow makes the parser or its conditions panic.
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
