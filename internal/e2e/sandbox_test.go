package e2e

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/org/foreman-action/internal/coding/sandbox"
)

// sandboxName begins the names of containers and volumes of these tests.
const sandboxName = "foreman-e2e-sandbox"

// TestMain runs the tests. The test binary also serves as a program that opens a sandbox and is
// killed.
func TestMain(m *testing.M) {
	if dir := os.Getenv("FOREMAN_E2E_ABANDON"); dir != "" {
		abandon(dir, os.Getenv("FOREMAN_E2E_IMAGE"))
	}
	os.Exit(m.Run())
}

// makeImage builds an image with make and a shell.
func makeImage(t *testing.T) string { return programImage(t, "foreman-e2e-make:test", "make") }

// programImage makes an image with a program of this machine and a shell.
func programImage(t *testing.T, tag, program string) string {
	t.Helper()
	path, err := exec.LookPath(program)
	if err != nil {
		if require() {
			t.Fatal(err)
		}
		t.Skipf("no %s to put into an image: %v", program, err)
	}
	_, job := images(t)
	dir := t.TempDir()
	files := []string{path}
	for line := range strings.Lines(output(t, ".", "ldd", path)) {
		if lib := regexp.MustCompile(`/\S+`).FindString(line); lib != "" {
			files = append(files, lib)
		}
	}
	for _, name := range files {
		content := read(t, name)
		target := filepath.Join(dir, "root", name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(target), 0o755), os.WriteFile(target, content, 0o755)); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "Dockerfile"), []byte("FROM "+job+"\nCOPY root /\nENV PATH=/bin:/usr/bin\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	output(t, ".", "docker", "build", "-q", "-t", tag, dir)
	return tag
}

// repository makes a git repository with one commit of these files.
func repository(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	write(t, dir, files)
	output(t, dir, "git", "init", "-q", "-b", "main")
	output(t, dir, "git", "add", "-A")
	output(t, dir, "git", "-c", "user.name=A", "-c", "user.email=a@example.com", "commit", "-q", "-m", "first")
	return dir
}

func write(t *testing.T, dir string, files map[string]string) {
	t.Helper()
	for name, content := range files {
		path := filepath.Join(dir, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(content), 0o644)); err != nil {
			t.Fatal(err)
		}
	}
}

func openSandbox(t *testing.T, locks string, settings sandbox.Settings) *sandbox.Session {
	t.Helper()
	s, err := sandbox.Open(t.Context(), sandbox.Options{Name: sandboxName, Locks: locks, Settings: settings, Environ: os.Environ(), Now: time.Now})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

func load(t *testing.T, s *sandbox.Session, dir, image string) {
	t.Helper()
	w := sandbox.Workspace{Dir: dir, Image: image, Base: output(t, dir, "git", "rev-parse", "HEAD"), Environ: os.Environ()}
	if err := s.Load(t.Context(), w); err != nil {
		t.Fatal(err)
	}
}

// in runs a command in the sandbox.
func in(t *testing.T, s *sandbox.Session, c sandbox.Command) sandbox.Result {
	t.Helper()
	result, err := s.Run(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	return result
}

// leftovers returns the containers and volumes of sandboxes that still exist.
func leftovers(t *testing.T) string {
	t.Helper()
	return output(t, ".", "docker", "ps", "--all", "--quiet", "--filter", "name="+sandboxName) +
		output(t, ".", "docker", "volume", "ls", "--quiet", "--filter", "name="+sandboxName)
}

var goProject = map[string]string{
	"go.mod": "module example.com/sum\n\ngo 1.21\n", ".gitignore": "dist/\n",
	"sum.go": "package main\n\nfunc main() {}\n\nfunc Sum(a, b int) int { return a + b }\n",
	"sum_test.go": `package main

import "testing"

func TestSum(t *testing.T) {
	if Sum(1, 2) != 3 {
		t.Error("wrong")
	}
}
`,
	"nested/nested.go": "package nested\n",
}

// TestSandbox validates a Go project and a Make project on a real engine without the network. It
// also checks that no containers or volumes are left. Its subtests run one after another, because
// they share the engine.
func TestSandbox(t *testing.T) {
	needEngine(t)
	goImage, jobImage := images(t)

	t.Run("Go project", func(t *testing.T) {
		t.Setenv("GITHUB_TOKEN", "ghs_notforyou")
		dir := repository(t, goProject)
		s := openSandbox(t, t.TempDir(), sandbox.Settings{})
		load(t, s, dir, goImage)
		for _, c := range []sandbox.Command{
			{Line: "go test ./..."},
			{Line: "go list . && test $PWD = /workspace/nested", Dir: "nested"},
			{Args: []string{"go", "build", "-o", "dist/", "."}},
			{Line: "echo made >dist/out && echo changed >sum.go"},
			{Line: `test "$(cat dist/out sum.go)" = "made
changed"`},
		} {
			c.Image = goImage
			if got := in(t, s, c); !got.OK() {
				t.Errorf("%+v: %s\n%s%s", c, got.Reason, got.Stdout, got.Stderr)
			}
		}
		if got := in(t, s, sandbox.Command{Line: "env; cat /proc/self/environ; ls -la /var/run", Image: goImage}); strings.Contains(got.Stdout, "ghs_") || strings.Contains(got.Stdout, "docker") {
			t.Errorf("the token or the socket of the host is visible:\n%s", got.Stdout)
		}
		if status := output(t, dir, "git", "status", "--porcelain", "--ignored"); status != "" {
			t.Errorf("the workspace changed:\n%s", status)
		}
		out := t.TempDir()
		if err := s.Export(t.Context(), out); err != nil {
			t.Fatal(err)
		}
		if got := string(read(t, out, "sum.go")); got != "changed\n" {
			t.Errorf("copied out: %q", got)
		}
		if _, err := os.Lstat(filepath.Join(out, ".git")); err == nil {
			t.Error("the .git of the sandbox was copied out")
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})

	t.Run("Make project", func(t *testing.T) {
		image := makeImage(t)
		dir := repository(t, map[string]string{"Makefile": "test: check\n\techo tested >dist.txt\ncheck:\n\ttest -f input\n", "input": ""})
		s := openSandbox(t, t.TempDir(), sandbox.Settings{})
		load(t, s, dir, image)
		if got := in(t, s, sandbox.Command{Line: "make test", Image: image}); !got.OK() || !strings.Contains(got.Stdout, "echo tested") {
			t.Errorf("%+v", got)
		}
		if got := in(t, s, sandbox.Command{Line: "make nothing", Image: image}); got.ExitCode != 2 || !strings.Contains(got.Stderr, "No rule") {
			t.Errorf("%+v, want exit code 2", got)
		}
	})

	t.Run("walls", func(t *testing.T) {
		dir := repository(t, map[string]string{"a": ""})
		s := openSandbox(t, t.TempDir(), sandbox.Settings{Memory: "64m", PIDs: 32})
		load(t, s, dir, jobImage)
		for line, want := range map[string]string{
			"cat /proc/net/dev | grep -v -e lo: -e '|' | wc -l": "0\n", // only the loopback interface
			"id -u; id -g": "1000\n1000\n",
			"grep -c 'Cap.*:.0000000000000000$' /proc/self/status":                             "5\n",
			"grep NoNewPrivs /proc/self/status | tr -d '\\t '":                                 "NoNewPrivs:1\n",
			"touch /x 2>/dev/null || echo no":                                                  "no\n",
			"touch /etc/passwd 2>/dev/null || echo no":                                         "no\n",
			"cat /sys/fs/cgroup/memory.max || cat /sys/fs/cgroup/memory/memory.limit_in_bytes": "67108864\n",
			"cp /bin/busybox /tmp/echo && /tmp/echo yes":                                       "yes\n",
			"grep -c -e /workspace -e /cache -e /tmp /proc/mounts":                             "3\n",
			"for i in $(busybox seq 100); do sleep 5 & done 2>&1 | grep -c -m1 fork":           "1\n",
			"echo $CI $HOME": "1 /cache/home\n",
		} {
			if got := in(t, s, sandbox.Command{Line: line, Image: jobImage}); got.Stdout != want {
				t.Errorf("%s: got %q, want %q\n%s", line, got.Stdout, want, got.Stderr)
			}
		}
		if got := in(t, s, sandbox.Command{Line: "cat /proc/net/dev | grep -c eth0", Image: jobImage, Network: true}); got.Stdout != "1\n" {
			t.Errorf("setup has no network: %+v", got)
		}
		if got := in(t, s, sandbox.Command{Line: "head -c 200m /dev/zero | tail -c 150m | wc -c", Image: jobImage}); got.Stdout == "157286400\n" {
			t.Errorf("used more memory than its limit: %+v", got)
		}
	})

	t.Run("timeouts", func(t *testing.T) {
		dir := repository(t, map[string]string{"a": ""})
		s := openSandbox(t, t.TempDir(), sandbox.Settings{CommandTimeout: 10 * time.Second})
		load(t, s, dir, jobImage)
		got := in(t, s, sandbox.Command{Line: "echo before; trap '' TERM; sleep 300", Image: jobImage})
		if !got.TimedOut || got.ExitCode != sandbox.CodeTimeout || got.Stdout != "before\n" || !strings.Contains(got.Reason, "timed out") || got.Duration > time.Minute {
			t.Errorf("%+v, want a timeout", got)
		}
		if got := in(t, s, sandbox.Command{Line: "sleep 300", Image: jobImage, Timeout: time.Minute, Idle: time.Second}); !got.Idle {
			t.Errorf("%+v, want it idle", got)
		}
		ctx, cancel := context.WithCancel(t.Context())
		_, err := s.Run(ctx, sandbox.Command{Line: "echo started; sleep 300", Image: jobImage, Output: called(cancel)})
		if !errors.Is(err, context.Canceled) {
			t.Errorf("canceled: %v", err)
		}
		if left := output(t, ".", "docker", "ps", "--all", "--quiet", "--filter", "name="+sandboxName); left != "" {
			t.Errorf("containers are left: %s", left)
		}
	})

	t.Run("image that is nowhere", func(t *testing.T) {
		s := openSandbox(t, t.TempDir(), sandbox.Settings{})
		dir := repository(t, map[string]string{"a": ""})
		if err := s.Load(t.Context(), sandbox.Workspace{Dir: dir, Image: "localhost:1/none:none"}); !errors.Is(err, sandbox.ErrImage) {
			t.Errorf("got %v, want %v", err, sandbox.ErrImage)
		}
	})

	t.Run("killed", func(t *testing.T) {
		locks := t.TempDir()
		alive := openSandbox(t, locks, sandbox.Settings{})
		load(t, alive, repository(t, map[string]string{"a": ""}), jobImage)
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), "FOREMAN_E2E_ABANDON="+locks, "FOREMAN_E2E_IMAGE="+jobImage)
		cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
		var stderr strings.Builder
		cmd.Stderr = &stderr
		pipe, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		if _, err := pipe.Read(make([]byte, 1)); err != nil {
			t.Fatalf("it never started its command: %v\n%s", err, &stderr)
		}
		if err := syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL); err != nil {
			t.Fatal(err)
		}
		_ = cmd.Wait()
		before := leftovers(t)
		if !strings.Contains(before, "abandoned") {
			t.Fatalf("nothing is left of the killed run: %q", before)
		}
		other := openSandbox(t, t.TempDir(), sandbox.Settings{})
		if err := other.Close(); err != nil {
			t.Fatal(err)
		}
		if after := leftovers(t); after != before {
			t.Errorf("a run with other locks changed what is left from %q to %q", before, after)
		}
		next := openSandbox(t, locks, sandbox.Settings{})
		if left := leftovers(t); strings.Contains(left, "abandoned") {
			t.Errorf("the next run left %q", left)
		}
		if got := in(t, alive, sandbox.Command{Line: "echo alive", Image: jobImage}); got.Stdout != "alive\n" {
			t.Errorf("the run that lives: %+v", got)
		}
		for _, s := range []*sandbox.Session{alive, next} {
			if err := s.Close(); err != nil {
				t.Error(err)
			}
		}
		if files := names(t, locks); !slices.Equal(files, []string{"owner"}) {
			t.Errorf("left in the directory of locks: %q", files)
		}
	})

	if left := leftovers(t); left != "" {
		t.Errorf("left on the engine: %s", left)
	}
}

// abandon opens a sandbox, and runs a command that does not end.
func abandon(locks, image string) {
	dir, err := os.MkdirTemp(locks, "repository-")
	if err == nil {
		err = exec.Command("git", "-C", dir, "init", "-q").Run()
	}
	s, openErr := sandbox.Open(context.Background(), sandbox.Options{Name: sandboxName, RunID: "abandoned", Locks: locks, Environ: os.Environ(), Now: time.Now})
	if err = errors.Join(err, openErr); err == nil {
		err = s.Load(context.Background(), sandbox.Workspace{Dir: dir, Image: image, Environ: os.Environ()})
	}
	if err = errors.Join(err, os.RemoveAll(dir)); err == nil {
		_, err = s.Run(context.Background(), sandbox.Command{Line: "echo started; sleep 300", Image: image, Output: os.Stdout})
	}
	os.Stderr.WriteString(err.Error())
	os.Exit(1)
}

// called is a writer that calls a function.
type called func()

func (c called) Write(p []byte) (int, error) {
	c()
	return len(p), nil
}

func names(t *testing.T, dir string) []string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}
