package actionstest_test

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/org/foreman-action/internal/actions/actionstest"
)

// A recorder is a testing.TB whose failure does not fail the real test.
type recorder struct {
	testing.TB
	failures []string
}

func (r *recorder) Helper() {}

func (r *recorder) Errorf(format string, args ...any) {
	r.failures = append(r.failures, fmt.Sprintf(format, args...))
}

func TestRunner(t *testing.T) {
	t.Parallel()
	r := actionstest.NewRunner(t)
	r.SetInput("agent-url", "http://agent:8080")
	r.SetInput("two words", "x")
	r.SetInput("gone", "")
	r.SetEvent("issues", []byte(`{"action":"opened"}`))
	for name, want := range map[string]string{
		"GITHUB_ACTIONS": "true", "GITHUB_EVENT_NAME": "issues",
		"INPUT_AGENT-URL": "http://agent:8080", "INPUT_TWO_WORDS": "x", "INPUT_GONE": "",
	} {
		if got := r.Getenv(name); got != want {
			t.Errorf("%s: got %q, want %q", name, got, want)
		}
	}
	if environ := r.Environ(); !slices.Contains(environ, "INPUT_AGENT-URL=http://agent:8080") || !slices.IsSorted(environ) {
		t.Errorf("environ: got %q, want it sorted and with the input", environ)
	}
	if payload, err := os.ReadFile(r.Getenv("GITHUB_EVENT_PATH")); err != nil || string(payload) != `{"action":"opened"}` {
		t.Errorf("event: got %q, %v", payload, err)
	}
	if entries, err := os.ReadDir(r.Getenv("GITHUB_WORKSPACE")); err != nil || len(entries) > 0 {
		t.Errorf("workspace: got %v, %v, want it empty", entries, err)
	}
	fmt.Fprint(r, "::notice::one\n", "two\n")
	appendTo(t, r.Getenv("GITHUB_OUTPUT"), "a=1\nb<<E\n2\nE\n")
	appendTo(t, r.Getenv("GITHUB_STEP_SUMMARY"), "# Hi\n")
	if got, want := r.Log(), "::notice::one\ntwo\n"; got != want {
		t.Errorf("log: got %q, want %q", got, want)
	}
	if got := r.Commands(); len(got) != 1 || got[0].Name != "notice" {
		t.Errorf("commands: got %v, want the notice", got)
	}
	if diff := cmp.Diff(map[string]string{"a": "1", "b": "2"}, r.Outputs()); diff != "" {
		t.Errorf("outputs (-want +got):\n%s", diff)
	}
	if got, want := r.Summary(), "# Hi\n"; got != want {
		t.Errorf("summary: got %q, want %q", got, want)
	}
	r.Untouched()
}

func TestRunnerFails(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, variable, text, want string }{
		{"broken output", "GITHUB_OUTPUT", "text\n", "is neither NAME=VALUE"},
		{"output twice", "GITHUB_OUTPUT", "a=1\na=2\n", "output a is written twice"},
		{"environment", "GITHUB_ENV", "PATH=/evil\n", "GITHUB_ENV: got"},
		{"state", "GITHUB_STATE", "a=1\n", "GITHUB_STATE: got"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			rec := &recorder{TB: t}
			r := actionstest.NewRunner(rec)
			appendTo(t, r.Getenv(tt.variable), tt.text)
			r.Outputs()
			r.Untouched()
			if len(rec.failures) != 1 || !strings.Contains(rec.failures[0], tt.want) {
				t.Errorf("failures: got %q, want one with %q", rec.failures, tt.want)
			}
		})
	}
}

func appendTo(t *testing.T, path, text string) {
	t.Helper()
	f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := f.WriteString(text); err != nil {
		t.Fatal(err)
	}
}
