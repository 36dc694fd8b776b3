package action

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/org/foreman-action/internal/cli/process"
)

// BenchmarkAction measures the program's own work on one event with ten rules that do not match,
// without process start and calls.
func BenchmarkAction(b *testing.B) {
	payload, err := filepath.Abs("../../../testdata/events/issues/opened.payload.json")
	if err != nil {
		b.Fatal(err)
	}
	dir := b.TempDir()
	rules := "version: 1\nrules:\n"
	for i := range 10 {
		rules += "  - {id: r" + string(rune('a'+i)) + ", on: issues.opened, when: 'issue.text matches `(?i)(docker|podman)-compose" + string(rune('a'+i)) + "`', then: [{add_label: docs}]}\n"
	}
	if err := os.MkdirAll(filepath.Join(dir, ".github"), 0o755); err != nil {
		b.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, ".github/foreman.yml"), []byte(rules), 0o644); err != nil {
		b.Fatal(err)
	}
	env := map[string]string{
		"GITHUB_ACTIONS": "true", "GITHUB_EVENT_NAME": "issues", "GITHUB_EVENT_PATH": payload,
		"GITHUB_WORKSPACE": dir, "GITHUB_RUN_ID": "1", "GITHUB_REPOSITORY": "o/r", "INPUT_TOKEN": "t0ken",
	}
	b.ReportAllocs()
	for b.Loop() {
		var out strings.Builder
		e := process.Env{Getenv: func(name string) string { return env[name] }, Stdout: &out, Stderr: &out}.Complete()
		if err := Run(b.Context(), e); err != nil {
			b.Fatalf("%v: %s", err, out.String())
		}
	}
}
