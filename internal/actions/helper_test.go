package actions_test

import (
	"errors"
	"flag"
	"os"
	"strings"
	"testing"

	"github.com/org/foreman-action/internal/actions"
	"github.com/org/foreman-action/internal/actions/actionstest"
)

var update = flag.Bool("update", false, "rewrite the golden files and what is generated from the tables")

// newRuntime returns a runtime inside a step, and the step.
func newRuntime(t testing.TB) (*actions.Runtime, *actionstest.Runner) {
	t.Helper()
	step := actionstest.NewRunner(t)
	return newRuntimeOf(step), step
}

func newRuntimeOf(step *actionstest.Runner) *actions.Runtime {
	return actions.New(actions.Options{Getenv: step.Getenv, Stdout: step})
}

// newLocal returns a runtime outside Actions, with its output in the step's log.
func newLocal(t testing.TB, debug bool) (*actions.Runtime, *actionstest.Runner) {
	t.Helper()
	step := actionstest.NewRunner(t)
	env := func(name string) string {
		if debug && name == "RUNNER_DEBUG" {
			return "1"
		}
		return ""
	}
	return actions.New(actions.Options{Getenv: env, Stdout: step}), step
}

func checkLog(t *testing.T, step *actionstest.Runner, want string) {
	t.Helper()
	if got := step.Log(); got != want {
		t.Errorf("log:\ngot  %q\nwant %q", got, want)
	}
}

func checkError(t *testing.T, err error, want string) {
	t.Helper()
	switch {
	case err == nil && want != "":
		t.Errorf("got no error, want %q", want)
	case err != nil && (want == "" || !strings.Contains(err.Error(), want)):
		t.Errorf("got error %q, want %q", err, want)
	}
}

// The methods of brokenWriter and brokenReader always fail.
type (
	brokenWriter struct{}
	brokenReader struct{}
)

func (brokenWriter) Write([]byte) (int, error) { return 0, errors.New("broken") }
func (brokenReader) Read([]byte) (int, error)  { return 0, errors.New("broken") }

func readFile(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func writeFile(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}
