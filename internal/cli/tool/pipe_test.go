package tool

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/org/foreman-action/internal/cli/process"
	"github.com/org/foreman-action/internal/testkit/programtest"
)

// TestNamedPipe has a named pipe in place of each file of a work tree that git or a tool reads. No
// process writes to the pipe.
func TestNamedPipe(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct{ pipe, tool, in, want string }{
		"patterns":             {".gitignore", "git_status", `{}`, "perhaps because of a named pipe among the files"},
		"an untracked file":    {"pipe", "git_status", `{}`, `{"ok":true,"files":[]}`},
		"the index":            {".git/index", "git_status", `{}`, "perhaps because of a named pipe among the files"},
		"the references":       {".git/packed-refs", "git_diff_main_head", `{}`, "perhaps because of a named pipe among the files"},
		"a file to be read":    {"a.json", "read_json_file", `{"path": "a.json"}`, "it is not a regular file"},
		"a file to be written": {"a.json", "write_json_file", `{"path": "a.json", "data": 1}`, "it is not a regular file"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			if out, err := exec.CommandContext(t.Context(), "git", "init", "--quiet", dir).CombinedOutput(); err != nil {
				t.Fatalf("git init: %v: %s", err, out)
			}
			if err := programtest.NamedPipe(filepath.Join(dir, filepath.FromSlash(tt.pipe))); err != nil {
				t.Skip("needs a named pipe: ", err)
			}
			var out bytes.Buffer
			env := process.Env{Stdin: strings.NewReader(tt.in), Stdout: &out, Dir: dir, Environ: os.Environ}
			_ = Run(t.Context(), Options{Env: env, Name: tt.tool, Limit: 2 * time.Second}) // the report has the error
			if !strings.Contains(out.String(), tt.want) {
				t.Errorf("got %s, want %s", out.String(), tt.want)
			}
		})
	}
}
