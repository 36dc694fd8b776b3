package actions_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/org/foreman-action/internal/actions"
	"github.com/org/foreman-action/internal/actions/actionstest"
)

func TestSetOutput(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, value, want string }{
		{name: "text", value: "hello", want: "hello"},
		{name: "empty", value: "", want: ""},
		{name: "lines", value: "a\nb\n", want: "a\nb\n"},
		{name: "line break alone", value: "\n", want: "\n"},
		{name: "carriage returns", value: "a\r\nb\r", want: "a\r\nb\r"},
		{name: "looks like a pair", value: "x\nforged=1\n", want: "x\nforged=1\n"},
		{name: "looks like a heredoc", value: "x<<E\nE", want: "x<<E\nE"},
		{name: "the library's delimiter", want: "x\n_GitHubActionsFileCommandDelimeter_\nforged=1",
			value: "x\n_GitHubActionsFileCommandDelimeter_\nforged=1"},
		{name: "not UTF-8", value: "a\xffb", want: "a\uFFFDb"},
		{name: "json", value: `[{"type":"add_label","label":"kind/bug"}]`, want: `[{"type":"add_label","label":"kind/bug"}]`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			r, step := newRuntime(t)
			for name, value := range map[string]string{"first": "1", actions.OutputRationale: tt.value} {
				if err := r.Files.SetOutput(name, value); err != nil {
					t.Fatal(err)
				}
			}
			want := map[string]string{"first": "1", "rationale": tt.want}
			if diff := cmp.Diff(want, step.Outputs()); diff != "" {
				t.Errorf("outputs (-want +got):\n%s", diff)
			}
			checkLog(t, step, "")
			step.Untouched()
		})
	}
}

func TestSetOutputDelimitersDiffer(t *testing.T) {
	t.Parallel()
	r, step := newRuntime(t)
	for _, name := range []string{"a", "b"} {
		if err := r.Files.SetOutput(name, "x"); err != nil {
			t.Fatal(err)
		}
	}
	lines := strings.Split(readFile(t, step.Getenv("GITHUB_OUTPUT")), "\n")
	if len(lines) != 7 || lines[2] == lines[5] || len(lines[2]) < 32 {
		t.Errorf("got %q, want two long and different delimiters", lines)
	}
}

func TestSetOutputRefusesNames(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"", "a=b", "a<<b", "a\nb", "a\r", "a b", "-a", "1a", "é", "a\x00"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r, step := newRuntime(t)
			checkError(t, r.Files.SetOutput(name, "x"), "want a name of letters")
			if got := readFile(t, step.Getenv("GITHUB_OUTPUT")); got != "" {
				t.Errorf("got %q written, want nothing", got)
			}
		})
	}
}

func TestSetOutputErrors(t *testing.T) {
	t.Parallel()
	zeros := make([]byte, 16)
	tests := []struct {
		name    string
		prepare func(t *testing.T, step *actionstest.Runner, o *actions.Options)
		value   string
		want    string
	}{
		{name: "file missing", want: syscall.ENOENT.Error(), prepare: func(t *testing.T, step *actionstest.Runner, _ *actions.Options) {
			step.Setenv("GITHUB_OUTPUT", filepath.Join(t.TempDir(), "gone"))
		}},
		{name: "a folder", want: "is a directory", prepare: func(t *testing.T, step *actionstest.Runner, _ *actions.Options) {
			step.Setenv("GITHUB_OUTPUT", t.TempDir())
		}},
		{name: "no randomness", want: "make a delimiter: broken", prepare: func(_ *testing.T, _ *actionstest.Runner, o *actions.Options) {
			o.Random = brokenReader{}
		}},
		{name: "too little randomness", want: "unexpected EOF", prepare: func(_ *testing.T, _ *actionstest.Runner, o *actions.Options) {
			o.Random = bytes.NewReader(zeros[:8])
		}},
		{name: "guessed delimiter", want: "the value contains the delimiter", value: "x\nforeman_" + strings.Repeat("00", 16) + "\nforged=1",
			prepare: func(_ *testing.T, _ *actionstest.Runner, o *actions.Options) { o.Random = bytes.NewReader(zeros) }},
		{name: "too long", want: "GitHub keeps at most 1048576", value: strings.Repeat("x", 1<<19),
			prepare: func(*testing.T, *actionstest.Runner, *actions.Options) {}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			step := actionstest.NewRunner(t)
			file := step.Getenv("GITHUB_OUTPUT")
			o := actions.Options{Getenv: step.Getenv, Stdout: step}
			tt.prepare(t, step, &o)
			err := actions.New(o).Files.SetOutput("decision", tt.value)
			checkError(t, err, tt.want)
			checkError(t, err, "set output decision: ")
			if got := readFile(t, file); got != "" {
				t.Errorf("got %q written, want nothing", got)
			}
		})
	}
}

func TestSetOutputMissingFileIsNotMade(t *testing.T) {
	t.Parallel()
	r, step := newRuntime(t)
	gone := filepath.Join(t.TempDir(), "gone")
	step.Setenv("GITHUB_OUTPUT", gone)
	checkError(t, r.Files.SetOutput("a", "b"), syscall.ENOENT.Error())
	if _, err := os.Stat(gone); !os.IsNotExist(err) {
		t.Errorf("got %v, want no file", err)
	}
}

// TestSetOutputLimit checks that the limit applies to all outputs together, in UTF-16. After an
// output that is too long, shorter outputs can still be set.
func TestSetOutputLimit(t *testing.T) {
	t.Parallel()
	r, step := newRuntime(t)
	half := strings.Repeat("😀", 1<<17) // four bytes of UTF-16 each
	if err := r.Files.SetOutput("a", half); err != nil {
		t.Fatal(err)
	}
	checkError(t, r.Files.SetOutput("b", half), "set output b: the outputs would have 1048580 bytes")
	if err := r.Files.SetOutput("c", half[4:]); err != nil {
		t.Error(err)
	}
	if got := len(step.Outputs()); got != 2 {
		t.Errorf("got %d outputs, want 2", got)
	}
}

func TestSetOutputWithoutFile(t *testing.T) {
	t.Parallel()
	r, step := newRuntime(t)
	step.Setenv("GITHUB_OUTPUT", "")
	if err := r.Files.SetOutput("rationale", "::error::secret"); err != nil {
		t.Error(err)
	}
	checkLog(t, step, "::debug::output rationale is dropped: GITHUB_OUTPUT is not set\n")
}

func TestSetOutputConcurrently(t *testing.T) {
	t.Parallel()
	r, step := newRuntime(t)
	var wg sync.WaitGroup
	want := map[string]string{}
	for i := range 20 {
		name, value := fmt.Sprintf("o%d", i), strings.Repeat(fmt.Sprintln(i), 100)
		want[name] = value
		wg.Go(func() {
			if err := r.Files.SetOutput(name, value); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if diff := cmp.Diff(want, step.Outputs()); diff != "" {
		t.Errorf("outputs (-want +got):\n%s", diff)
	}
}
