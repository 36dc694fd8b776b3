//go:build unix

package process_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/org/foreman-action/internal/coding/build/process"
	"github.com/org/foreman-action/internal/testkit/programtest"
)

// TestMain runs the tests. The test binary also serves as the supervisor, and as a program that
// runs a command until it is killed.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 {
		switch os.Args[1] {
		case "supervise":
			os.Exit(process.Supervise(os.Stderr, os.Args[2:]))
		case "run":
			_, err := runner().Run(context.Background(), process.Command{Args: os.Args[2:], Env: os.Environ()})
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		case "hidden":
			_, err := runner().Run(context.Background(), process.Command{Args: os.Args[2:], Env: []string{"PATH=" + os.Getenv("PATH")}, Output: os.Stdout})
			if err != nil {
				fmt.Fprintln(os.Stderr, err)
				os.Exit(1)
			}
			os.Exit(0)
		}
	}
	os.Exit(m.Run())
}

func runner() process.Runner {
	return process.Runner{Supervisor: []string{"env", programtest.RaceDetector(os.Getenv), os.Args[0], "supervise"}, Now: time.Now}
}

// shell returns a command that runs a script with sh in an empty folder, and its output.
func shell(t *testing.T, script string) (process.Command, *strings.Builder) {
	t.Helper()
	var out strings.Builder
	// The supervisor is the test binary. If it measures coverage, it needs GOCOVERDIR.
	env := []string{"PATH=" + os.Getenv("PATH"), "GOCOVERDIR=" + t.TempDir()}
	return process.Command{Args: []string{"sh", "-c", script}, Dir: t.TempDir(), Env: env, Output: &out}, &out
}

func run(t *testing.T, c process.Command) process.Result {
	t.Helper()
	result, err := runner().Run(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	return result
}

func TestExitCode(t *testing.T) {
	t.Parallel()
	for script, want := range map[string]int{"exit 0": 0, "exit 7": 7, "kill -9 $$": 137, "kill -TERM $$": 143} {
		c, _ := shell(t, script)
		if got := run(t, c); got.ExitCode != want || got.Cause != process.Exited || got.Left != 0 {
			t.Errorf("%s: %+v, want exit code %d", script, got, want)
		}
	}
}

func TestInputAndOutput(t *testing.T) {
	t.Parallel()
	c, out := shell(t, "cat; echo problem >&2; env; pwd")
	c.Stdin = strings.NewReader("EOF\n$(touch x) `x` \"'\n")
	run(t, c)
	for _, want := range []string{"EOF\n$(touch x) `x` \"'\n", "problem\n", "PATH=", filepath.Base(c.Dir)} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("the output lacks %q:\n%s", want, out)
		}
	}
	if strings.Contains(out.String(), "HOME=") {
		t.Errorf("a variable that was not passed is set:\n%s", out)
	}
}

func TestLargeInputIsNotRead(t *testing.T) {
	t.Parallel()
	c, _ := shell(t, "exit 3")
	c.Stdin = strings.NewReader(strings.Repeat("x", 1<<20))
	if got := run(t, c); got.ExitCode != 3 {
		t.Errorf("%+v, want exit code 3", got)
	}
}

func TestOutputLimit(t *testing.T) {
	t.Parallel()
	c, out := shell(t, "head -c 5000000 /dev/zero; exit 4")
	c.LogBytes = 1000
	if got := run(t, c); !got.Truncated || got.ExitCode != 4 || out.Len() != 1000 {
		t.Errorf("%+v and %d bytes, want 1000 and exit code 4", got, out.Len())
	}
	c, out = shell(t, "printf 1234")
	c.LogBytes = 4
	if got := run(t, c); got.Truncated || out.String() != "1234" {
		t.Errorf("%+v and %q, want all of it", got, out)
	}
}

func TestLimitsOfTime(t *testing.T) {
	t.Parallel()
	c, _ := shell(t, "while :; do echo busy; sleep 0.01; done")
	c.Timeout = 300 * time.Millisecond
	if got := run(t, c); got.Cause != process.TimedOut || got.OK() {
		t.Errorf("busy: %+v, want timeout", got)
	}
	c, out := shell(t, "echo once; sleep 300")
	c.Idle, c.Timeout = 3*time.Second, time.Minute
	if got := run(t, c); got.Cause != process.Idle || out.String() != "once\n" {
		t.Errorf("silent: %+v after %q, want idle", got, out)
	}
	ctx, cancel := context.WithCancel(t.Context())
	c, _ = shell(t, "echo ready; sleep 300")
	c.Output = writer(func() { cancel() })
	got, err := runner().Run(ctx, c)
	if err != nil || got.Cause != process.Canceled {
		t.Errorf("canceled: %+v %v", got, err)
	}
}

func TestGrace(t *testing.T) {
	t.Parallel()
	c, out := shell(t, "trap 'echo asked; exit 5' TERM; echo ready; while :; do sleep 0.01; done")
	ctx, cancel := context.WithCancel(t.Context())
	c.Grace, c.Output = time.Minute, io.MultiWriter(out, writer(cancel))
	got, err := runner().Run(ctx, c)
	if err != nil || got.ExitCode != 5 || !strings.Contains(out.String(), "asked") {
		t.Errorf("asked to end: %+v %v, output %q", got, err, out)
	}
	c, out = shell(t, "trap '' TERM; echo ready; while :; do sleep 0.01; done")
	ctx, cancel = context.WithCancel(t.Context())
	c.Grace, c.Output = 50*time.Millisecond, io.MultiWriter(out, writer(cancel))
	if got, err := runner().Run(ctx, c); err != nil || got.ExitCode != 137 {
		t.Errorf("ignores SIGTERM: %+v %v, want it killed", got, err)
	}
}

// A writer is an io.Writer that calls a function at the first write.
type writer func()

func (w writer) Write(p []byte) (int, error) {
	w()
	return len(p), nil
}

type full struct{}

func (full) Write([]byte) (int, error) { return 0, syscall.ENOSPC }

func TestOutputCannotBeKept(t *testing.T) {
	t.Parallel()
	c, _ := shell(t, "while :; do echo more; done")
	c.Output = full{}
	if _, err := runner().Run(t.Context(), c); !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("error %v, want %v", err, syscall.ENOSPC)
	}
}

func TestNotStarted(t *testing.T) {
	t.Parallel()
	c, _ := shell(t, "")
	c.Args = []string{"no-such-program"}
	if _, err := runner().Run(t.Context(), c); !errors.Is(err, process.ErrNotStarted) || !strings.Contains(err.Error(), "no-such-program") {
		t.Errorf("error %v", err)
	}
	c.Args, c.Dir = []string{"true"}, filepath.Join(c.Dir, "missing")
	if _, err := runner().Run(t.Context(), c); err == nil || !strings.Contains(err.Error(), "missing") {
		t.Errorf("missing folder: error %v", err)
	}
}

// background starts processes that outlive their parent in several ways, and writes their process
// IDs to the file pids. It prints while it waits for them, so that a loaded machine is not taken for
// a process that hangs.
const background = `
sleep 300 & echo $! >>pids
sh -c 'sleep 300 & echo $! >>pids'
setsid sh -c 'echo $$ >>pids; sleep 300' &
setsid sh -c 'trap "" TERM HUP; (setsid sh -c "echo \$\$ >>pids; exec sleep 300") & exit' &
while [ "$(wc -l <pids)" -lt 4 ]; do echo; sleep 0.01; done
`

func TestNothingRemains(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]string{"it ends": "exit 0", "it is killed": "kill -9 $$", "it hangs": "sleep 300"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c, _ := shell(t, background+end)
			c.Idle = time.Second
			got := run(t, c)
			if got.Left < 4 {
				t.Errorf("%d processes were left, want at least 4", got.Left)
			}
			for _, pid := range pids(t, c.Dir) {
				if alive(pid) {
					t.Errorf("process %d is still there", pid)
				}
			}
		})
	}
}

func TestNothingRemainsAfterTheProgramIsKilled(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	program := exec.Command(os.Args[0], "run", "sh", "-c", "cd "+dir+background+"sleep 300")
	if err := program.Start(); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the command has started", func() bool { return len(pids(t, dir)) == 4 })
	if err := program.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = program.Wait()
	eventually(t, "nothing is left", func() bool {
		for _, pid := range pids(t, dir) {
			if alive(pid) {
				return false
			}
		}
		return true
	})
}

func eventually(t *testing.T, what string, holds func() bool) {
	t.Helper()
	for range 2000 {
		if holds() {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Fatalf("never: %s", what)
}

func pids(t *testing.T, dir string) []int {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(dir, "pids"))
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		t.Fatal(err)
	}
	var all []int
	for line := range strings.Lines(string(data)) {
		if pid, err := strconv.Atoi(strings.TrimSpace(line)); err == nil {
			all = append(all, pid)
		}
	}
	return all
}

// alive reports whether a process is running. A zombie, whose parent has not collected it, is not.
func alive(pid int) bool {
	stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return false
	}
	_, after, _ := strings.Cut(string(stat), ") ")
	return !strings.HasPrefix(after, "Z")
}

func TestEnvironment(t *testing.T) {
	t.Parallel()
	environ := []string{"PATH=/bin", "LC_ALL=C", "ANTHROPIC_API_KEY=k", "OTHER=x", "GITHUB_TOKEN=t", "github_token=t", "ACTIONS_ID_TOKEN_REQUEST_TOKEN=t",
		"INPUT_GITHUB-TOKEN=t", "GH_TOKEN=t", "GIT_CONFIG_COUNT=1", "RUNNER_TEMP=/t", "broken"}
	got := strings.Join(process.Environment(environ, []string{"ANTHROPIC_API_KEY", "GITHUB_TOKEN", "GH_TOKEN"}), " ")
	if want := "PATH=/bin LC_ALL=C ANTHROPIC_API_KEY=k"; got != want {
		t.Errorf("passed %s, want %s", got, want)
	}
}
