package cli

import (
	"strings"
	"testing"

	"github.com/org/foreman-action/internal/cli/process"
	"github.com/org/foreman-action/internal/command"
)

// TestMainEnds shows how each kind of end is reported: an error on standard error, unless
// the command reported it itself.
func TestMainEnds(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name   string
		args   []string
		env    map[string]string
		code   int
		stdout string // a part; empty: nothing
		stderr string
	}{
		{"done", []string{"rules", "schema"}, nil, command.ExitOK, `"$schema"`, ""},
		{"no command", nil, nil, command.ExitUsage, "", "foreman: name a command\n"},
		{"no command of a group", []string{"rules"}, nil, command.ExitUsage, "", "foreman: name a command\n"},
		{"an unknown flag", []string{"init", "--bogus"}, nil, command.ExitUsage, "", "foreman: unknown flag: --bogus\n"},
		{"reported", []string{"rules", "check", "--format", "json", "go.mod"}, nil, command.ExitUsage, `"severity": "error"`, ""},
		{"the action by itself", nil, map[string]string{"GITHUB_ACTIONS": "true"}, command.ExitUsage, "::error", ""},
		{"a command in Actions", []string{"rules"}, map[string]string{"GITHUB_ACTIONS": "true"}, command.ExitUsage, "", "foreman: name a command\n"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			var out, errs strings.Builder
			env := process.Env{Dir: "../..", Stdout: &out, Stderr: &errs, Getenv: func(name string) string { return tt.env[name] }}
			if code := Main(t.Context(), env, tt.args); code != tt.code {
				t.Errorf("got exit code %d, want %d", code, tt.code)
			}
			if !strings.Contains(out.String(), tt.stdout) || (out.Len() > 0) != (tt.stdout != "") {
				t.Errorf("got standard output %q, want %q", out.String(), tt.stdout)
			}
			if !strings.HasSuffix(errs.String(), tt.stderr) || (errs.Len() > 0) != (tt.stderr != "") {
				t.Errorf("got standard error %q, want %q", errs.String(), tt.stderr)
			}
		})
	}
}

// TestVersion prints the version of the build.
func TestVersion(t *testing.T) {
	t.Parallel()
	var out strings.Builder
	code := Main(t.Context(), process.Env{Stdout: &out, Stderr: &out}, []string{"--version"})
	if want := "foreman version " + command.Version(buildVersion) + "\n"; code != command.ExitOK || out.String() != want {
		t.Errorf("got exit code %d and %q, want %q", code, out.String(), want)
	}
}
