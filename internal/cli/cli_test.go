package cli

import (
	"context"
	"io"
	"os"
	"strings"
	"syscall"
	"testing"

	"github.com/spf13/cobra"

	"github.com/org/foreman-action/internal/cli/process"
	"github.com/org/foreman-action/internal/command"
)

// TestMainEnds checks how errors are reported: on standard error, unless the command reported the
// error itself.
func TestMainEnds(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name   string
		args   []string
		env    map[string]string
		code   int
		stdout string // a part of it; empty: no output
		stderr string
	}{
		{"done", []string{"rules", "schema"}, nil, command.ExitOK, `"$schema"`, ""},
		{"no command", nil, nil, command.ExitUsage, "", "foreman: name a command: action, agent, build, completion, help, init, man, memory, report, rules, schema, tool, triage, validate, version\n"},
		{"no command of a group", []string{"rules"}, nil, command.ExitUsage, "", "foreman: name a command: backtest, check, explain, import, permissions, record, schema, test\n"},
		{"an unknown flag", []string{"init", "--bogus"}, nil, command.ExitUsage, "", "foreman: unknown flag: --bogus; foreman init --help lists the flags\n"},
		{"a misspelt flag", []string{"rules", "check", "--repositry", "x/y"}, nil, command.ExitUsage, "", "foreman: unknown flag: --repositry; did you mean --repository?\n"},
		{"a misspelt command", []string{"triag"}, nil, command.ExitUsage, "", "foreman: unknown command \"triag\" for \"foreman\"; did you mean triage?\n"},
		{"a misspelt command of a group", []string{"rules", "chek"}, nil, command.ExitUsage, "", "foreman: unknown command \"chek\" for \"foreman rules\"; did you mean check?\n"},
		{"a strange command of a group", []string{"agent", "dance"}, nil, command.ExitUsage, "", "foreman: unknown command \"dance\" for \"foreman agent\"; want one of check, serve\n"},
		{"help", []string{"help", "rules", "check"}, nil, command.ExitOK, "foreman rules check", ""},
		{"help on a misspelt command", []string{"help", "triag"}, nil, command.ExitUsage, "", "foreman: unknown command \"triag\" for \"foreman\"; did you mean triage?\n"},
		{"help on a misspelt command of a group", []string{"help", "rules", "chek"}, nil, command.ExitUsage, "", "foreman: unknown command \"chek\" for \"foreman rules\"; did you mean check?\n"},
		{"help on a strange command", []string{"help", "nonsense"}, nil, command.ExitUsage, "", "; want one of action, agent, build, completion, help, init, man, memory, report, rules, schema, tool, triage, validate, version\n"},
		{"help on what holds no commands", []string{"help", "triage", "x"}, nil, command.ExitUsage, "", "foreman: unknown command \"x\" for \"foreman triage\"\n"},
		{"reported", []string{"rules", "check", "--format", "json", "go.mod"}, nil, command.ExitUsage, `"severity": "error"`, ""},
		{"the action by itself", nil, map[string]string{"GITHUB_ACTIONS": "true"}, command.ExitUsage, "::error", ""},
		{"a command in Actions", []string{"rules"}, map[string]string{"GITHUB_ACTIONS": "true"}, command.ExitUsage, "", "foreman: name a command: backtest, check, explain, import, permissions, record, schema, test\n"},
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

// TestJSONCommands checks that the script about --json contains every command with that flag, with
// good input and with mistakes.
func TestJSONCommands(t *testing.T) {
	t.Parallel()
	script, err := os.ReadFile("../../testdata/script/json.txtar")
	if err != nil {
		t.Fatal(err)
	}
	var walk func(c *cobra.Command)
	walk = func(c *cobra.Command) {
		for _, sub := range c.Commands() {
			walk(sub)
		}
		if c.Flags().Lookup("json") == nil {
			return
		}
		n := 0
		for line := range strings.Lines(string(script)) {
			if strings.HasPrefix(line, "document ") && strings.Contains(line, " "+c.CommandPath()+" ") {
				n++
			}
		}
		if n < 2 {
			t.Errorf("%s: the script has %d lines, want 2 or more", c.CommandPath(), n)
		}
	}
	walk(Commands())
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

// A brokenStream takes no writes.
type brokenStream struct{}

func (brokenStream) Write([]byte) (int, error) { return 0, syscall.EPIPE }

// TestClosedOutput checks that a closed output is a failure, even if the printing library drops the
// error.
func TestClosedOutput(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{{"--help"}, {"--version"}, {"rules", "schema"}, {"completion", "bash"}} {
		var errs strings.Builder
		code := Main(t.Context(), process.Env{Stdout: brokenStream{}, Stderr: &errs}, args)
		if code != command.ExitFailed || !strings.Contains(errs.String(), syscall.EPIPE.Error()) {
			t.Errorf("%v: got exit code %d and %q", args, code, errs.String())
		}
	}
}

// TestInterrupted checks the exit code: the one that shells use for a program that a signal ended.
func TestInterrupted(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	in, _ := io.Pipe() // never ends
	var errs strings.Builder
	env := process.Env{Dir: t.TempDir(), Stdin: in, Stdout: io.Discard, Stderr: &errs}
	if code := Main(ctx, env, []string{"triage", "--event", "-"}); code != command.ExitInterrupted {
		t.Errorf("got exit code %d and %q", code, errs.String())
	}
	if code := Main(ctx, env, []string{"rules", "schema"}); code != command.ExitOK {
		t.Errorf("what is done all the same: got exit code %d", code)
	}
}
