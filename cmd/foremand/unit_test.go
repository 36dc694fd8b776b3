package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/org/foreman-action/internal/testkit/freeport"
	"github.com/org/foreman-action/internal/testkit/programtest"
)

// TestUnit runs the packages' systemd unit as systemd would, and has systemd itself check it where
// that is installed. docs/server/install.md shows the same unit.
func TestUnit(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("there is no systemd")
	}
	text := read(t, "packaging/foremand.service")
	shown, _ := block(t, read(t, "../../docs/server/install.md"), "unit")
	if diff := cmp.Diff(text, shown); diff != "" {
		t.Errorf("docs/server/install.md shows another unit (-packaging +docs):\n%s", diff)
	}
	dir := t.TempDir()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	program := filepath.Join(dir, "foremand") // this test is foremand under that name
	if err := os.Symlink(self, program); err != nil {
		t.Fatal(err)
	}
	here := strings.NewReplacer("/usr/bin/foremand", program, "/etc/foremand", dir, "User=foremand", "User=root")
	t.Run("systemd-analyze", func(t *testing.T) {
		t.Parallel()
		analyze, err := exec.LookPath("systemd-analyze")
		if err != nil {
			t.Skip("systemd-analyze is needed, and not installed")
		}
		path := filepath.Join(t.TempDir(), "foremand.service")
		if err := os.WriteFile(path, []byte(here.Replace(text)), 0o600); err != nil {
			t.Fatal(err)
		}
		out, err := exec.CommandContext(t.Context(), analyze, "verify", "--man=no", path).CombinedOutput()
		if err != nil || strings.Contains(string(out), "foremand.service") {
			t.Errorf("%v\n%s", err, out)
		}
		// The threshold is ten times the exposure level that systemd computes from the sandbox.
		path = filepath.Join(filepath.Dir(path), "hardened.service")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil { // as the user foremand
			t.Fatal(err)
		}
		out, err = exec.CommandContext(t.Context(), analyze, "security", "--no-pager", "--offline=true", "--threshold=35", path).CombinedOutput()
		if err != nil && !strings.Contains(string(out), "unrecognized option") { // before systemd 250
			t.Errorf("%v\n%s", err, out)
		}
	})
	t.Run("run", func(t *testing.T) {
		t.Parallel()
		u := unit{settings(t, here.Replace(text)), filepath.Join(dir, "var", "lib")}
		at, err := freeport.Find(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		config := strings.NewReplacer("/var/lib", u.state, "server:\n", fmt.Sprintf("server:\n  port: %d\n", at.Port())).Replace(read(t, "packaging/config.yaml"))
		write(t, filepath.Join(dir, "config.yaml"), config)
		write(t, filepath.Join(dir, "secrets"), "# of the server\nWEBHOOK_SECRET=0123456789abcdef0123456789abcdef\n")
		if code := u.run(t); code != 0 {
			t.Errorf("SIGTERM: got exit code %d, want 0", code)
		}
		var files []string
		list, err := os.ReadDir(filepath.Join(u.state, "foremand"))
		for _, f := range list {
			files = append(files, f.Name())
		}
		if want := []string{"queue.db"}; err != nil || !slices.Equal(files, want) {
			t.Errorf("the state directory has %v, want %v: %v", files, want, err)
		}
		for _, args := range [][]string{{"queue", "ls"}, {"backup", filepath.Join(dir, "backup")}} {
			// The shell of an operator has none of the secrets.
			cmd := exec.CommandContext(t.Context(), program, append(args, "--config", filepath.Join(dir, "config.yaml"))...)
			cmd.Env = []string{"HOME=/nonexistent", programtest.RaceDetector(os.Getenv)}
			if out, err := cmd.CombinedOutput(); err != nil || args[0] == "backup" && strings.Count(string(out), " is copied to ") != 1 {
				t.Errorf("%s beside the unit: %v\n%s", args[0], err, out)
			}
		}
		write(t, filepath.Join(dir, "config.yaml"), "no: such key\n")
		if code := u.run(t); fmt.Sprint(code) != u.settings["RestartPreventExitStatus"] {
			t.Errorf("a mistake in the configuration: got exit code %d, for which systemd restarts it for ever", code)
		}
	})
}

func read(t *testing.T, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// settings returns the lines of a unit by name. A repeated name is an error.
func settings(t *testing.T, text string) map[string]string {
	t.Helper()
	all := map[string]string{}
	for line := range strings.Lines(text) {
		name, value, ok := strings.Cut(strings.TrimSpace(line), "=")
		if _, twice := all[name]; twice {
			t.Errorf("the unit has %s twice", name)
		}
		if ok {
			all[name] = value
		}
	}
	return all
}

// A unit runs the command of a systemd unit.
type unit struct {
	settings map[string]string
	state    string // replaces /var/lib
}

// run starts ExecStart in / with the environment that systemd sets, and waits until it listens.
// Then it ends the program as systemd does, and returns the exit code.
func (u unit) run(t *testing.T) int {
	t.Helper()
	state := filepath.Join(u.state, u.settings["StateDirectory"])
	if err := os.MkdirAll(state, 0o700); err != nil {
		t.Fatal(err)
	}
	env := map[string]string{
		"PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin", "LANG": "C.UTF-8", "HOME": "/nonexistent", "USER": "foremand", "LOGNAME": "foremand",
		"SHELL": "/usr/sbin/nologin", "INVOCATION_ID": "4e3c1c6a2d5f4c0f9a3b", "SYSTEMD_EXEC_PID": "1", "STATE_DIRECTORY": state,
	}
	secrets, err := os.ReadFile(u.settings["EnvironmentFile"])
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(secrets)) {
		if name, value, ok := strings.Cut(strings.TrimSpace(line), "="); ok && !strings.HasPrefix(line, "#") {
			env[name] = value
		}
	}
	argv := strings.Fields(u.settings["ExecStart"])
	for i, arg := range argv {
		argv[i] = os.Expand(arg, func(name string) string { return env[name] })
	}
	ctx, cancel := context.WithTimeout(t.Context(), deadline)
	defer cancel()
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.Dir, cmd.Env = "/", []string{programtest.RaceDetector(os.Getenv)}
	for name, value := range env {
		cmd.Env = append(cmd.Env, name+"="+value)
	}
	log, err := cmd.StderrPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	start := time.Now()
	for lines := bufio.NewScanner(log); lines.Scan(); {
		t.Log(lines.Text())
		if strings.Contains(lines.Text(), "foremand is listening") {
			_ = cmd.Process.Signal(syscall.SIGTERM)
			start = time.Now()
		}
	}
	err = cmd.Wait()
	if stop, perr := time.ParseDuration(u.settings["TimeoutStopSec"] + "s"); perr != nil || time.Since(start) > stop {
		t.Errorf("it took %s to stop, and systemd kills it after %s (%v)", time.Since(start), stop, perr)
	}
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		return exit.ExitCode()
	} else if err != nil {
		t.Fatal(err)
	}
	return 0
}
