package e2e

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/org/foreman-action/internal/actions/actionstest"
)

const token = "ghs_endToEnd"

// A step is one step of a container action. Its files have the same paths in the container as
// under the Actions runner.
type step struct {
	*actionstest.Runner
	t     *testing.T
	home  string   // folder on this machine with the step's files, such as outputs and event
	extra []string // additional options of docker run
}

// newStep returns a step on the event, with a token and the given configuration in
// its workspace; empty: none.
func newStep(t *testing.T, apiURL, config string) *step {
	t.Helper()
	r := actionstest.NewRunner(t)
	s := &step{Runner: r, t: t, home: filepath.Dir(r.Getenv("GITHUB_OUTPUT"))}
	s.setEvent(opened(t))
	r.SetInput("token", token)
	r.Setenv("GITHUB_API_URL", apiURL)
	r.Setenv("GITHUB_REPOSITORY", repo)
	r.Setenv("RUNNER_OS", "Linux")
	r.Setenv("RUNNER_TEMP", s.folder("runner_temp"))
	r.Setenv("HOME", s.folder("home"))
	if config != "" {
		path := filepath.Join(r.Getenv("GITHUB_WORKSPACE"), ".github", "foreman.yml")
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, read(t, config), 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	return s
}

func (s *step) setEvent(payload []byte) {
	s.t.Helper()
	path := filepath.Join(s.folder("workflow"), "event.json")
	if err := os.WriteFile(path, payload, 0o644); err != nil {
		s.t.Fatal(err)
	}
	s.Setenv("GITHUB_EVENT_NAME", "issues")
	s.Setenv("GITHUB_EVENT_PATH", path)
}

func (s *step) folder(name string) string {
	s.t.Helper()
	path := filepath.Join(s.home, name)
	if err := os.MkdirAll(path, 0o755); err != nil {
		s.t.Fatal(err)
	}
	return path
}

// mounts returns the folders of the runner, and their paths in the container. The folder that
// contains the others is last, because translate uses the first match.
func (s *step) mounts() [][2]string {
	return [][2]string{
		{filepath.Join(s.home, "runner_temp"), "/github/runner_temp"},
		{filepath.Join(s.home, "home"), "/github/home"},
		{filepath.Join(s.home, "workflow"), "/github/workflow"},
		{s.Getenv("GITHUB_WORKSPACE"), "/github/workspace"},
		{s.home, "/github/file_commands"},
	}
}

// translate replaces a path on this machine by the one in the container.
func (s *step) translate(value string) string {
	for _, m := range s.mounts() {
		if rest, ok := strings.CutPrefix(value, m[0]); ok {
			return m[1] + rest
		}
	}
	return value
}

// command returns the command that the runner executes. It passes variables by name; their values
// are in the environment of the docker client.
func (s *step) command(ctx context.Context) *exec.Cmd {
	args := []string{"run", "--rm", "--workdir", "/github/workspace"}
	environ := slices.DeleteFunc(os.Environ(), func(v string) bool { return !strings.HasPrefix(v, "DOCKER_") && !strings.HasPrefix(v, "PATH=") })
	for _, v := range s.Environ() {
		name, value, _ := strings.Cut(v, "=")
		args = append(args, "-e", name)
		environ = append(environ, name+"="+s.translate(value))
	}
	args = append(args, "--entrypoint", "/foreman", "-v", "/var/run/docker.sock:/var/run/docker.sock")
	for _, m := range s.mounts() {
		args = append(args, "-v", m[0]+":"+m[1])
	}
	cmd := exec.CommandContext(ctx, "docker", append(append(args, s.extra...), image, "action")...)
	cmd.Env = environ
	return cmd
}

// run runs the step to its end and returns the exit code.
func (s *step) run() int {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(s.t.Context(), timeout)
	defer cancel()
	var log bytes.Buffer
	cmd := s.command(ctx)
	cmd.Stdout, cmd.Stderr = &log, &log
	err := cmd.Run()
	if _, writeErr := s.Write(log.Bytes()); writeErr != nil {
		s.t.Fatal(writeErr)
	}
	if exit, ok := errors.AsType[*exec.ExitError](err); ok && exit.Exited() {
		return exit.ExitCode()
	}
	if err != nil {
		s.t.Fatalf("docker run: %v\n%s", err, log.Bytes())
	}
	return 0
}
