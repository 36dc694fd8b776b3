package entry_test

import (
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"

	"gopkg.in/yaml.v3"

	"github.com/org/foreman-action/internal/release/entry"
)

// slim is the script of slim/action.yml, pinned to a release on a server of this test.
type slim struct {
	script string
	env    []string
	temp   string
	calls  *atomic.Int32
}

// newSlim pins a program and serves what stands in its place; empty: nothing.
func newSlim(t *testing.T, program, served string) slim {
	t.Helper()
	for _, name := range []string{"bash", "curl"} {
		if _, err := exec.LookPath(name); err != nil {
			t.Skipf("no %s: %v", name, err)
		}
	}
	if runtime.GOOS == "windows" {
		t.Skip("the program of this test is a shell script")
	}
	s := slim{temp: t.TempDir(), calls: new(atomic.Int32)}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.calls.Add(1)
		if r.URL.Path != "/octo-org/foreman-action/releases/download/v1.2.3/foreman-linux-arm64" || served == "" {
			http.NotFound(w, r)
			return
		}
		_, _ = w.Write([]byte(served))
	}))
	t.Cleanup(server.Close)
	sums := map[string]string{}
	for _, platform := range entry.Platforms() {
		sums[entry.File("foreman", platform)] = sum(platform)
	}
	sums["foreman-linux-arm64"] = sum(program)
	address, err := entry.Downloads(server.URL, entry.Repository{Owner: "octo-org", Name: "foreman-action"}, "v1.2.3")
	if err != nil {
		t.Fatal(err)
	}
	text, err := entry.PinPrograms(read(t, entry.SlimFile), address, sums)
	if err != nil {
		t.Fatal(err)
	}
	s.load(t, text)
	return s
}

func sum(text string) string {
	h := sha256.Sum256([]byte(text))
	return hex.EncodeToString(h[:])
}

// load takes the script and its variables from the file; an input's value is its expression.
func (s *slim) load(t *testing.T, text string) {
	t.Helper()
	var file struct {
		Runs struct {
			Steps []struct {
				Run string
				Env map[string]string
			}
		}
	}
	if err := yaml.Unmarshal([]byte(text), &file); err != nil {
		t.Fatal(err)
	}
	step := file.Runs.Steps[0]
	s.script = step.Run
	for name, value := range step.Env {
		s.env = append(s.env, name+"="+value)
	}
}

// run runs the script as the runner does, and returns its output.
func (s *slim) run(t *testing.T, system, machine string) (string, error) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "script.sh")
	if err := os.WriteFile(file, []byte(s.script), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), "bash", "--noprofile", "--norc", "-eo", "pipefail", file)
	cmd.Env = append([]string{"PATH=" + os.Getenv("PATH"), "RUNNER_TEMP=" + s.temp, "RUNNER_OS=" + system, "RUNNER_ARCH=" + machine}, s.env...)
	out, err := cmd.CombinedOutput()
	return string(out), err
}

const program = "#!/bin/sh\necho \"ran $1 with $INPUT_DRY_RUN\"\nexit 3\n"

// The program runs with the action's inputs, and its exit code is that of the step. A second
// step does not download again, and notices when the file changed.
func TestSlim(t *testing.T) {
	t.Parallel()
	s := newSlim(t, program, program)
	for range 2 {
		out, err := s.run(t, "Linux", "ARM64")
		if want := "ran action with ${{ inputs.dry-run }}\n"; out != want || err == nil || !strings.Contains(err.Error(), "exit status 3") {
			t.Fatalf("got %q and the error %v, want %q and exit status 3", out, err, want)
		}
	}
	if n := s.calls.Load(); n != 1 {
		t.Errorf("got %d downloads, want one", n)
	}
	path := filepath.Join(s.temp, "foreman-"+sum(program), "foreman-linux-arm64")
	if err := os.WriteFile(path, []byte("#!/bin/sh\necho changed\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	if out, _ := s.run(t, "Linux", "ARM64"); !strings.Contains(out, "ran action") || s.calls.Load() != 2 {
		t.Errorf("a changed file: got %q and %d downloads, want the program from a second download", out, s.calls.Load())
	}
}

// Another program is not run: one error names both checksums, and no file is left.
func TestSlimMismatch(t *testing.T) {
	t.Parallel()
	const other = "#!/bin/sh\necho ran the other\n"
	s := newSlim(t, program, other)
	out, err := s.run(t, "Linux", "ARM64")
	if err == nil || strings.Count(out, "\n") != 1 || !strings.HasPrefix(out, "::error title=Foreman::") ||
		!strings.Contains(out, sum(program)) || !strings.Contains(out, sum(other)) {
		t.Errorf("got %q and the error %v, want one error with %s and %s", out, err, sum(program), sum(other))
	}
	left, err := filepath.Glob(filepath.Join(s.temp, "*", "*"))
	if err != nil || len(left) > 0 {
		t.Errorf("the files %q are left", left)
	}
}

func TestSlimRefusals(t *testing.T) {
	t.Parallel()
	t.Run("no such file", func(t *testing.T) {
		t.Parallel()
		s := newSlim(t, program, "")
		out, err := s.run(t, "Linux", "ARM64")
		if err == nil || !strings.Contains(out, "::error title=Foreman::The download of http://") {
			t.Errorf("got %q and the error %v", out, err)
		}
	})
	t.Run("no such platform", func(t *testing.T) {
		t.Parallel()
		s := newSlim(t, program, program)
		out, err := s.run(t, "Linux", "X86")
		if err == nil || !strings.Contains(out, "::error title=Foreman::No release for Linux on X86") || s.calls.Load() != 0 {
			t.Errorf("got %q and the error %v", out, err)
		}
	})
	t.Run("no release", func(t *testing.T) {
		t.Parallel()
		s := newSlim(t, program, program)
		s.env = nil
		s.load(t, read(t, entry.SlimFile))
		out, err := s.run(t, "Linux", "ARM64")
		if err == nil || strings.Count(out, "\n") != 1 || !strings.Contains(out, "::error title=Foreman::This commit pins no release") || s.calls.Load() != 0 {
			t.Errorf("got %q and the error %v", out, err)
		}
	})
}
