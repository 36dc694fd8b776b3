//go:build unix

package sandbox_test

import (
	"archive/tar"
	"bytes"
	"context"
	"errors"
	"flag"
	"io"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/org/foreman-action/internal/coding/sandbox"
	"github.com/org/foreman-action/internal/filelock"
	"github.com/org/foreman-action/internal/testkit/programtest"
)

var update = flag.Bool("update", false, "rewrite golden files")

// shim is a shell script in place of docker. It records its arguments and its environment. Files
// beside it control it: if fail-NAME exists, the docker command NAME fails and prints the file to
// stderr. The script run replaces the command of a container. The workspace is copied to and from
// tar files.
const shim = `#!/bin/sh
here=${0%/*}
{ printf '%s\037' "$@"; printf '\036'; } >>"$here/argv"
env >>"$here/env"
if [ -e "$here/fail-$1" ]; then cat "$here/fail-$1" >&2; exit 1; fi
case $1 in
kill) : >"$here/killed"; exit 0 ;;
ps|volume) [ -e "$here/list-$1" ] && [ "$2" != create ] && cat "$here/list-$1"; exit 0 ;;
run) ;;
*) exit 0 ;;
esac
previous= ; cid=
for argument; do
	[ "$previous" = --cidfile ] && cid=$argument
	case "$previous $argument" in
	"tar -x") [ -e "$here/no-load" ] && exit 3; echo id >"$cid"; exec cat >"$here/loaded.tar" ;;
	"tar -c") echo id >"$cid"; exec cat "$here/export.tar" ;;
	esac
	previous=$argument
done
export cid here
exec sh "$here/run"
`

// An engine is a folder with the docker script shim.
type engine struct{ dir string }

func newEngine(t *testing.T, run string) engine {
	t.Helper()
	e := engine{t.TempDir()}
	e.set(t, "docker", shim)
	e.set(t, "run", "echo id >$cid\n"+run)
	return e
}

func (e engine) set(t *testing.T, name, content string) {
	t.Helper()
	if err := programtest.Write(filepath.Join(e.dir, name), content); err != nil {
		t.Fatal(err)
	}
}

func (e engine) read(t *testing.T, name string) string {
	t.Helper()
	content, err := os.ReadFile(filepath.Join(e.dir, name))
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}

// calls returns the arguments of all calls, one call a line.
func (e engine) calls(t *testing.T) string {
	t.Helper()
	calls := strings.NewReplacer("\x1f\x1e", "\n", "\x1f", " ", "\n", "\\n").Replace(e.read(t, "argv"))
	calls = regexp.MustCompile(`\.owner=[a-z0-9-]+`).ReplaceAllString(calls, ".owner=OWNER")
	return regexp.MustCompile(`--cidfile \S+/(\S+)`).ReplaceAllString(calls, "--cidfile …/$1")
}

// options returns the options of a session on the engine.
func (e engine) options(t *testing.T) sandbox.Options {
	t.Helper()
	return sandbox.Options{
		Docker: filepath.Join(e.dir, "docker"), Name: "contribflow", RunID: "r1", Locks: filepath.Join(e.dir, "locks"), Now: time.Now,
		Environ: []string{"PATH=" + os.Getenv("PATH"), "DOCKER_HOST=tcp://engine:2375", "GITHUB_TOKEN=ghs_secret", "GH_TOKEN=ghs_secret", "MY_SECRET=ghs_secret"},
	}
}

// loaded is a session with a workspace.
func (e engine) loaded(t *testing.T, o sandbox.Options) *sandbox.Session {
	t.Helper()
	s, err := sandbox.Open(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	if err := s.Load(t.Context(), sandbox.Workspace{Dir: repository(t, map[string]string{"a": "b"}), Image: "go:1", Environ: os.Environ()}); err != nil {
		t.Fatal(err)
	}
	return s
}

// repository makes a git repository with files that are not committed.
func repository(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	gitIn(t, dir, "init", "-q")
	for name, content := range files {
		writeFile(t, filepath.Join(dir, name), content)
	}
	return dir
}

func writeFile(t *testing.T, name, content string) {
	t.Helper()
	if err := errors.Join(os.MkdirAll(filepath.Dir(name), 0o755), os.WriteFile(name, []byte(content), 0o644)); err != nil {
		t.Fatal(err)
	}
}

func gitIn(t *testing.T, dir string, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "git", append([]string{"-c", "user.name=A", "-c", "user.email=a@example.com"}, args...)...)
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("git %s: %v\n%s", args, err, out)
	}
	return strings.TrimSpace(string(out))
}

// TestArguments compares every call of docker in a session with a golden file.
func TestArguments(t *testing.T) {
	t.Parallel()
	e := newEngine(t, "echo out; echo err >&2; exit 3")
	var archive bytes.Buffer
	if err := tar.NewWriter(&archive).Close(); err != nil {
		t.Fatal(err)
	}
	e.set(t, "export.tar", archive.String())
	s := e.loaded(t, e.options(t))
	for _, c := range []sandbox.Command{
		{Line: "npm ci --ignore-scripts", Image: "node:22", Network: true},
		{Line: "npm test; echo \"$HOME\" '\n'", Dir: "a/b", Image: "node:22"},
		{Args: []string{"agent", "--prompt", "do $(it)"}, Image: "agent:1", Network: true, Env: []string{"KEY=ghs_secret"}, Stdin: strings.NewReader("prompt")},
	} {
		got, err := s.Run(t.Context(), c)
		if err != nil {
			t.Fatal(err)
		}
		if got.Duration = 0; got != (sandbox.Result{ExitCode: 3, Reason: "exit code 3", Stdout: "out\n", Stderr: "err\n"}) {
			t.Errorf("%+v", got)
		}
	}
	if err := s.Export(t.Context(), t.TempDir()); err != nil {
		t.Error(err)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	got := e.calls(t)
	if *update {
		if err := os.WriteFile("testdata/arguments.txt", []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile("testdata/arguments.txt")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("the calls of docker differ (-want +got):\n%s", diff)
	}
	if strings.Contains(got, "ghs_") {
		t.Error("a secret is in the arguments")
	}
	env := e.read(t, "env")
	if strings.Contains(env, "TOKEN") || strings.Contains(env, "MY_SECRET") || !strings.Contains(env, "DOCKER_HOST=tcp://engine:2375") {
		t.Errorf("docker got the environment\n%s", env)
	}
}

// TestNoNetwork forbids the network also for setup commands.
func TestNoNetwork(t *testing.T) {
	t.Parallel()
	e := newEngine(t, "")
	o := e.options(t)
	o.Settings.Network = sandbox.NoNetwork
	if _, err := e.loaded(t, o).Run(t.Context(), sandbox.Command{Line: "setup", Image: "i", Network: true}); err != nil {
		t.Fatal(err)
	}
	for call := range strings.Lines(e.calls(t)) {
		if strings.HasPrefix(call, "run ") && !strings.Contains(call, " --network none ") {
			t.Errorf("a container with a network: %s", call)
		}
	}
}

// TestProcessors checks that a container asks for at most as many processors as the engine has.
func TestProcessors(t *testing.T) {
	t.Parallel()
	e := newEngine(t, "")
	e.set(t, "docker", strings.Replace(shim, "case $1 in", "case $1 in\ninfo) echo 1; exit 0 ;;", 1))
	o := e.options(t)
	o.Settings.CPUs = 8
	e.loaded(t, o)
	if calls := e.calls(t); !strings.Contains(calls, " --cpus 1 ") {
		t.Errorf("calls:\n%s", calls)
	}
	other := newEngine(t, "")
	o = other.options(t)
	o.Settings.CPUs = math.Inf(1)
	other.loaded(t, o)
	if calls := other.calls(t); strings.Contains(calls, " --cpus ") {
		t.Errorf("all processors:\n%s", calls)
	}
}

// TestTimeout kills the container by its name. If that does not end docker run, docker run is
// killed.
func TestTimeout(t *testing.T) {
	t.Parallel()
	const until = `echo before; while [ ! -e "$here/killed" ]; do sleep 0.01; done; exit 137`
	for name, c := range map[string]struct {
		settings sandbox.Settings
		command  sandbox.Command
		want     sandbox.Result
	}{
		"command": {sandbox.Settings{CommandTimeout: 3 * time.Second}, sandbox.Command{}, sandbox.Result{ExitCode: 124, TimedOut: true, Reason: "timed out after 3s"}},
		"own":     {sandbox.Settings{}, sandbox.Command{Timeout: 3 * time.Second}, sandbox.Result{ExitCode: 124, TimedOut: true, Reason: "timed out after 3s"}},
		"all":     {sandbox.Settings{TotalTimeout: 4 * time.Second}, sandbox.Command{}, sandbox.Result{ExitCode: 124, TimedOut: true, Reason: "timed out: all commands together took longer than 4s"}},
		"idle":    {sandbox.Settings{}, sandbox.Command{Idle: 3 * time.Second}, sandbox.Result{ExitCode: 124, Idle: true, Reason: "printed nothing for 3s"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := newEngine(t, until)
			o := e.options(t)
			o.Settings = c.settings
			s := e.loaded(t, o)
			c.command.Line, c.command.Image = "sleep", "i"
			got, err := s.Run(t.Context(), c.command)
			got.Duration, c.want.Stdout = 0, "before\n"
			if err != nil || got != c.want || got.OK() {
				t.Errorf("got %+v %v, want %+v", got, err, c.want)
			}
			calls := e.calls(t)
			if !strings.Contains(calls, "\nkill contribflow-r1-2\n") || !strings.Contains(calls, "\nrm --force --volumes contribflow-r1-2\n") {
				t.Errorf("the container was not killed by its name:\n%s", calls)
			}
		})
	}
}

func TestCanceled(t *testing.T) {
	t.Parallel()
	e := newEngine(t, `echo started; while [ ! -e "$here/killed" ]; do sleep 0.01; done`)
	s := e.loaded(t, e.options(t))
	ctx, cancel := context.WithCancel(t.Context())
	if _, err := s.Run(ctx, sandbox.Command{Line: "sleep", Image: "i", Output: writer(func([]byte) error { cancel(); return nil })}); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want %v", err, context.Canceled)
	}
	if calls := e.calls(t); !strings.Contains(calls, "\nkill contribflow-r1-2\n") {
		t.Errorf("the container was not killed:\n%s", calls)
	}
	full := errors.New("the disk is full")
	if _, err := s.Run(t.Context(), sandbox.Command{Line: "sleep", Image: "i", Output: writer(func([]byte) error { return full })}); !errors.Is(err, full) {
		t.Errorf("output that cannot be kept: got %v, want %v", err, full)
	}
}

// TestUnavailable makes the engine unavailable at each step.
func TestUnavailable(t *testing.T) {
	t.Parallel()
	const problem = "Cannot connect to the Docker daemon at tcp://engine:2375. Is the docker daemon running?\n"
	open := func(t *testing.T, o sandbox.Options) error {
		t.Helper()
		s, err := sandbox.Open(t.Context(), o)
		if err != nil {
			return err
		}
		defer s.Close()
		if err := s.Load(t.Context(), sandbox.Workspace{Dir: repository(t, nil), Image: "i", Environ: os.Environ()}); err != nil {
			return err
		}
		_, err = s.Run(t.Context(), sandbox.Command{Line: "true", Image: "i"})
		return err
	}
	for _, step := range []string{"ps", "volume", "image", "run"} {
		t.Run(step, func(t *testing.T) {
			t.Parallel()
			e := newEngine(t, "")
			e.set(t, "docker", strings.Replace(shim, "exit 1; fi", "exit 125; fi", 1))
			e.set(t, "fail-"+step, problem)
			err := open(t, e.options(t))
			if !errors.Is(err, sandbox.ErrUnavailable) || !strings.Contains(err.Error(), "Cannot connect") {
				t.Errorf("got %v, want %v", err, sandbox.ErrUnavailable)
			}
			if errors.Is(err, sandbox.ErrImage) {
				t.Errorf("it is not about the image: %v", err)
			}
		})
	}
	t.Run("no program", func(t *testing.T) {
		t.Parallel()
		e := newEngine(t, "")
		o := e.options(t)
		o.Docker = filepath.Join(e.dir, "missing")
		if err := open(t, o); !errors.Is(err, sandbox.ErrUnavailable) || !strings.Contains(err.Error(), "install Docker") {
			t.Errorf("got %v", err)
		}
	})
	t.Run("image", func(t *testing.T) {
		t.Parallel()
		e := newEngine(t, "")
		e.set(t, "fail-image", "Error: No such image: i\n")
		e.set(t, "fail-pull", "Error response from daemon: manifest for i not found\n")
		if err := open(t, e.options(t)); !errors.Is(err, sandbox.ErrImage) || errors.Is(err, sandbox.ErrUnavailable) || !strings.Contains(err.Error(), "manifest for i not found") {
			t.Errorf("got %v, want %v", err, sandbox.ErrImage)
		}
	})
	t.Run("tar fails", func(t *testing.T) {
		t.Parallel()
		e := newEngine(t, "")
		e.set(t, "no-load", "")
		if err := open(t, e.options(t)); err == nil || !strings.Contains(err.Error(), "tar in the image i ended with exit code 3") {
			t.Errorf("got %v", err)
		}
	})
}

// TestExitCode125 distinguishes a command that exits with 125 from a failure of docker, which has
// the same exit code.
func TestExitCode125(t *testing.T) {
	t.Parallel()
	e := newEngine(t, "exit 125")
	s := e.loaded(t, e.options(t))
	if got, err := s.Run(t.Context(), sandbox.Command{Line: "x", Image: "i"}); err != nil || got.ExitCode != 125 {
		t.Errorf("the command's: %+v %v", got, err)
	}
	e.set(t, "run", "echo 'docker: Error response from daemon: no space' >&2; exit 125")
	if _, err := s.Run(t.Context(), sandbox.Command{Line: "x", Image: "i"}); err == nil || !strings.Contains(err.Error(), "no space") {
		t.Errorf("docker's: %v", err)
	}
	e.set(t, "run", "echo id >$cid; exit 125")
	e.set(t, "fail-version", "error during connect: EOF")
	if _, err := s.Run(t.Context(), sandbox.Command{Line: "x", Image: "i"}); !errors.Is(err, sandbox.ErrUnavailable) {
		t.Errorf("the daemon went away: %v", err)
	}
	e.set(t, "run", "echo id >$cid; exit 137")
	if got, err := s.Run(t.Context(), sandbox.Command{Line: "x", Image: "i"}); err != nil || !strings.Contains(got.Reason, "memory limit of 4g") {
		t.Errorf("killed: %+v %v", got, err)
	}
}

// TestOutput keeps the end of long output. It contains no secret, even where the output is cut
// within one.
func TestOutput(t *testing.T) {
	t.Parallel()
	e := newEngine(t, `head -c 300000 /dev/zero | tr '\0' x; i=0; while [ $i -lt 3000 ]; do echo "ghs_secret é"; i=$((i+1)); done; printf 'a\377b' >&2`)
	o := e.options(t)
	o.Redact = func(s string) string { return strings.ReplaceAll(s, "ghs_secret", "***") }
	got, err := e.loaded(t, o).Run(t.Context(), sandbox.Command{Line: "x", Image: "i"})
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(got.Stdout, "secret") || len([]rune(got.Stdout)) != 3000*len([]rune("*** é\n")) && len([]rune(got.Stdout)) != 20_000 || !strings.HasSuffix(got.Stdout, "*** é\n") {
		t.Errorf("got %d characters: %.40q … %q", len([]rune(got.Stdout)), got.Stdout, got.Stdout[len(got.Stdout)-10:])
	}
	if got.Stderr != "a\uFFFDb" {
		t.Errorf("standard error %q", got.Stderr)
	}
}

func TestRefused(t *testing.T) {
	t.Parallel()
	e := newEngine(t, "")
	s := e.loaded(t, e.options(t))
	calls := e.calls(t)
	for name, c := range map[string]sandbox.Command{
		"folder above":       {Line: "x", Image: "i", Dir: "../x"},
		"absolute folder":    {Line: "x", Image: "i", Dir: "/etc"},
		"option as an image": {Line: "x", Image: "--privileged"},
		"no image":           {Line: "x"},
		"nothing to run":     {Image: "i"},
		"two commands":       {Line: "x", Args: []string{"x"}, Image: "i"},
		"variable of docker": {Line: "x", Image: "i", Env: []string{"DOCKER_HOST=x"}},
		"variable":           {Line: "x", Image: "i", Env: []string{"x"}},
	} {
		if _, err := s.Run(t.Context(), c); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	if after := e.calls(t); after != calls {
		t.Errorf("docker was called:\n%s", strings.TrimPrefix(after, calls))
	}
	for name, change := range map[string]func(*sandbox.Options){
		"name":    func(o *sandbox.Options) { o.Name = "A b" },
		"run id":  func(o *sandbox.Options) { o.RunID = "../x" },
		"memory":  func(o *sandbox.Options) { o.Settings.Memory = "4 gigs" },
		"network": func(o *sandbox.Options) { o.Settings.Network = "host" },
		"cpus":    func(o *sandbox.Options) { o.Settings.CPUs = -1 },
		"taken":   func(o *sandbox.Options) { o.RunID = "r1" },
	} {
		o := e.options(t)
		o.RunID = "r2"
		change(&o)
		if s, err := sandbox.Open(t.Context(), o); err == nil {
			_ = s.Close()
			t.Errorf("%s: no error", name)
		}
	}
}

// TestCloseInUse closes a session whose volumes docker reports as in use a few times.
func TestCloseInUse(t *testing.T) {
	t.Parallel()
	e := newEngine(t, "")
	s, err := sandbox.Open(t.Context(), e.options(t))
	if err != nil {
		t.Fatal(err)
	}
	e.set(t, "list-volume", "v1\n")
	// Each failed call removes one character.
	e.set(t, "in-use", "xxx")
	e.set(t, "docker", strings.Replace(shim, "case $1 in\nkill)", `case "$1 $2" in
"volume rm") left=$(cat "$here/in-use"); if [ "$left" ]; then printf %s "${left#x}" >"$here/in-use"; echo "volume is in use" >&2; exit 1; fi ;;
esac
case $1 in
kill)`, 1))
	e.set(t, "argv", "")
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	calls := e.calls(t)
	if n := strings.Count(calls, "volume rm --force v1\n"); n != 4 {
		t.Errorf("%d tries, want 4; calls:\n%s", n, calls)
	}
	if calls := strings.Count(calls, "ps --all"); calls != 4 {
		t.Errorf("the containers were listed %d times, want 4", calls)
	}
}

// TestLeftovers removes the containers and volumes of dead runs, but not those of a live run.
func TestLeftovers(t *testing.T) {
	t.Parallel()
	e := newEngine(t, "")
	o := e.options(t)
	s, err := sandbox.Open(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	locks, err := os.OpenRoot(o.Locks)
	if err != nil {
		t.Fatal(err)
	}
	defer locks.Close()
	unlock, err := filelock.Try(locks, "alive.lock")
	if err != nil {
		t.Fatal(err)
	}
	defer unlock()
	if err := errors.Join(locks.WriteFile("dead.lock", nil, 0o600), locks.Mkdir("dead", 0o700)); err != nil {
		t.Fatal(err)
	}
	e.set(t, "list-ps", "alive\ndead\n../x\n\n")
	e.set(t, "argv", "")
	if s, err = sandbox.Open(t.Context(), o); err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	calls := e.calls(t)
	if !strings.Contains(calls, "ps --all --filter label=contribflow.run=dead --filter label=contribflow.owner=OWNER --quiet\n") || strings.Contains(calls, "run=alive") {
		t.Errorf("calls:\n%s", calls)
	}
	if !strings.Contains(calls, "\nrm --force --volumes alive dead ../x\n") { // the shim's ids
		t.Errorf("calls:\n%s", calls)
	}
	entries, err := os.ReadDir(o.Locks)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, entry := range entries {
		names = append(names, entry.Name())
	}
	if want := []string{"alive.lock", "owner", "r1", "r1.lock"}; !slices.Equal(names, want) {
		t.Errorf("the directory of locks has %q, want %q", names, want)
	}
}

// TestWorkspace copies a hostile working tree, and reads the archive.
func TestWorkspace(t *testing.T) {
	t.Parallel()
	e := newEngine(t, "")
	o := e.options(t)
	o.Settings.MaxBytes = 1 << 20
	s, err := sandbox.Open(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	long := strings.Repeat("long/", 60) + "name"
	dir := repository(t, map[string]string{
		".gitignore": "ignored\n", "tracked": "1", "deleted": "", "folder/in": "", "new\nline \xff": "2", long: "3", "-rf": "", "ignored": "", "run.sh": "", "nested/.keep": "",
	})
	outside := filepath.Join(t.TempDir(), "outside")
	writeFile(t, filepath.Join(outside, "in"), "secret")
	gitIn(t, dir, "add", "-A")
	gitIn(t, dir, "commit", "-q", "-m", "first")
	base := gitIn(t, dir, "rev-parse", "HEAD")
	writeFile(t, filepath.Join(dir, "tracked"), "changed")
	gitIn(t, dir, "commit", "-q", "-a", "-m", "second")
	gitIn(t, dir, "config", "core.fsmonitor", "touch "+filepath.Join(outside, "executed"))
	gitIn(t, filepath.Join(dir, "nested"), "init", "-q")
	writeFile(t, filepath.Join(dir, "untracked"), "4")
	err = errors.Join(
		os.Remove(filepath.Join(dir, "deleted")), os.RemoveAll(filepath.Join(dir, "folder")), os.Symlink(outside, filepath.Join(dir, "folder")),
		os.Symlink("/etc/passwd", filepath.Join(dir, "link")), os.Symlink("missing", filepath.Join(dir, "dangling")),
		os.Chmod(filepath.Join(dir, "run.sh"), 0o755), syscall.Mkfifo(filepath.Join(dir, "pipe"), 0o600),
	)
	if err != nil {
		t.Fatal(err)
	}
	w := sandbox.Workspace{Dir: dir, Image: "i", Base: base, Environ: os.Environ()}
	if err := s.Load(t.Context(), w); err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	archive := tar.NewReader(strings.NewReader(e.read(t, "loaded.tar")))
	repository := t.TempDir()
	for {
		h, err := archive.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		content, err := io.ReadAll(archive)
		if err != nil {
			t.Fatal(err)
		}
		if h.Uid != 1000 || h.Gid != 1000 || h.Uname != "" {
			t.Errorf("%q belongs to %d:%d %q", h.Name, h.Uid, h.Gid, h.Uname)
		}
		if name, ok := strings.CutPrefix(h.Name, "workspace/.git/"); ok {
			if h.Typeflag == tar.TypeReg {
				writeFile(t, filepath.Join(repository, ".git", name), string(content))
			} else if err := os.MkdirAll(filepath.Join(repository, ".git", name), 0o755); err != nil {
				t.Fatal(err)
			}
			continue
		}
		if h.Typeflag != tar.TypeDir || strings.Count(h.Name, "/") < 2 {
			got[h.Name] = string(h.Typeflag) + " " + string(content) + h.Linkname
		}
		if h.Name == "workspace/run.sh" && h.Mode != 0o755 {
			t.Errorf("run.sh has the mode %o", h.Mode)
		}
	}
	want := map[string]string{
		"workspace/": "5 ", "cache/": "5 ",
		"workspace/.gitignore": "0 ignored\n", "workspace/tracked": "0 changed", "workspace/untracked": "0 4", "workspace/new\nline \xff": "0 2", "workspace/" + long: "0 3",
		"workspace/-rf": "0 ", "workspace/run.sh": "0 ", "workspace/nested/.keep": "0 ",
		"workspace/folder": "2 " + outside, "workspace/link": "2 /etc/passwd", "workspace/dangling": "2 missing",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the archive differs (-want +got):\n%s", diff)
	}
	if log := gitIn(t, repository, "log", "--format=%s"); log != "second\nfirst" {
		t.Errorf("the history is %q", log)
	}
	if diff := gitIn(t, repository, "diff", "--stat", base, "HEAD", "--", "tracked"); !strings.Contains(diff, "1 file changed") {
		t.Errorf("the diff to the base is %q", diff)
	}
	if config := gitIn(t, repository, "config", "--local", "--list"); strings.Contains(config, "fsmonitor") {
		t.Errorf("the configuration was copied:\n%s", config)
	}
	if _, err := os.Lstat(filepath.Join(outside, "executed")); err == nil {
		t.Error("a program of the repository's configuration was executed")
	}

	if err := os.Truncate(filepath.Join(dir, "untracked"), 2<<30); err != nil { // sparse
		t.Fatal(err)
	}
	if err := s.Load(t.Context(), w); !errors.Is(err, sandbox.ErrTooLarge) || !strings.Contains(err.Error(), `"untracked" of 2147483648 bytes`) {
		t.Errorf("a file of 2 GB: %v", err)
	}
	if err := errors.Join(os.Remove(filepath.Join(dir, "untracked")), os.Remove(filepath.Join(dir, "tracked")), syscall.Mkfifo(filepath.Join(dir, "tracked"), 0o600)); err != nil {
		t.Fatal(err)
	}
	if err := s.Load(t.Context(), w); err == nil || !strings.Contains(err.Error(), `"tracked" is a named pipe`) {
		t.Errorf("a named pipe in the place of a file: %v", err)
	}
}

// TestHistory copies histories of several forms, and reads them with git.
func TestHistory(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ script, base, want string }{
		"none since the base": {"commit a; commit b", "HEAD", "b"},
		"two":                 {"commit a; commit b; commit c; commit d", "HEAD~2", "d c b"},
		"merged":              {"commit a; commit b; git checkout -q -b side HEAD~1; commit s; git checkout -q main; commit c; git merge -q --no-edit -m m side", "HEAD~1", "m s a c"},
		"another branch":      {"commit a; git checkout -q -b side; commit s; git checkout -q main; commit c", "side", "c a"},
		"shallow":             {"commit a; commit b; commit c; git clone -q --depth 1 --no-local . ../clone; git fetch -q; cp ../clone/.git/shallow .git/shallow; commit d", "HEAD~1", "d c"},
		"first commit":        {"commit a", "HEAD", "a"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := filepath.Join(t.TempDir(), "work")
			cmd := exec.CommandContext(t.Context(), "sh", "-e", "-c", "git init -q -b main "+dir+"; cd "+dir+"; commit() { echo $1 >>$1; git add -A; git commit -q -m $1; }; "+c.script+"; echo out >>.git/info/exclude")
			cmd.Env = append(os.Environ(), "GIT_AUTHOR_NAME=A", "GIT_AUTHOR_EMAIL=a", "GIT_COMMITTER_NAME=A", "GIT_COMMITTER_EMAIL=a", "GIT_CONFIG_GLOBAL=/dev/null",
				"GIT_AUTHOR_DATE=2026-01-01T00:00:00Z", "GIT_COMMITTER_DATE=2026-01-01T00:00:00Z")
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
			head := gitIn(t, dir, "rev-parse", "HEAD")
			base := gitIn(t, dir, "rev-parse", c.base)
			e := newEngine(t, "")
			s, err := sandbox.Open(t.Context(), e.options(t))
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close()
			writeFile(t, filepath.Join(dir, "out"), "")
			if err := s.Load(t.Context(), sandbox.Workspace{Dir: dir, Image: "i", Base: base, All: true, Environ: os.Environ()}); err != nil {
				t.Fatal(err)
			}
			copied := t.TempDir()
			if out, err := exec.CommandContext(t.Context(), "tar", "-x", "-o", "-f", filepath.Join(e.dir, "loaded.tar"), "-C", copied, "--strip-components", "1", "workspace").CombinedOutput(); err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
			if got := gitIn(t, copied, "rev-parse", "HEAD"); got != head {
				t.Errorf("HEAD is %s, want %s", got, head)
			}
			if got := strings.Fields(gitIn(t, copied, "log", "--topo-order", "--format=%s", "HEAD")); len(got) != len(strings.Fields(c.want)) || !slices.Equal(slices.Sorted(slices.Values(got)), slices.Sorted(slices.Values(strings.Fields(c.want)))) {
				t.Errorf("the history is %q, want %q", got, c.want)
			}
			gitIn(t, copied, "diff", base, head)
			gitIn(t, copied, "fsck", "--full", "--no-dangling")
			if got := gitIn(t, copied, "status", "--porcelain"); got != "" {
				t.Errorf("status: %s", got)
			}
			if _, err := os.Stat(filepath.Join(copied, ".git/objects/info/alternates")); err == nil {
				t.Error("the copy leads to the objects of this machine")
			}
		})
	}
}

// A writer makes an io.Writer of a function.
type writer func([]byte) error

func (w writer) Write(p []byte) (int, error) { return len(p), w(p) }
