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
		{"a command for rules", []string{"rules", "check", "--help"}, command.ExitOK, "foreman rules check"},
		{"a command that needs git", []string{"build"}, command.ExitUsage, `unknown command "build"`},
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
