package image

import (
	"bytes"
	"strings"
	"testing"

	"github.com/org/foreman-action/internal/cli/process"
	"github.com/org/foreman-action/internal/command"
)

func TestMain(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		args []string
		code int
		want string
	}{
		{"the action", nil, command.ExitUsage, "GITHUB_EVENT_PATH"},
		{"the action by its name", []string{"action"}, command.ExitUsage, "GITHUB_EVENT_PATH"},
		{"an argument of the action", []string{"action", "x"}, command.ExitUsage, `foreman: action: this image runs only`},
		{"a command for rules", []string{"rules", "check"}, command.ExitUsage, "foreman's archive at https://github.com/org/foreman-action/releases"},
		{"help", []string{"--help"}, command.ExitUsage, "the other commands are in foreman's archive"},
		{"the version", []string{"--version"}, command.ExitOK, "foreman version " + command.Version(buildVersion)},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			var out bytes.Buffer
			code := Main(t.Context(), process.Env{Stdout: &out, Stderr: &out, Dir: t.TempDir()}, c.args)
			if code != c.code || !strings.Contains(out.String(), c.want) {
				t.Errorf("code %d, want %d; the output has no %q:\n%s", code, c.code, c.want, out.String())
			}
		})
	}
}
