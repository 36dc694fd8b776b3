package sandbox

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"slices"
	"strings"
	"time"
)

// A docker runs the docker program.
type docker struct {
	program string
	env     []string
}

// environment returns the variables of environ that docker receives: they name its daemon, its
// configuration and the proxies.
func environment(environ []string) []string {
	keep := []string{
		"PATH", "HOME", "USER", "LOGNAME", "TMPDIR", "TMP", "TEMP", "XDG_CONFIG_HOME", "XDG_RUNTIME_DIR", "SSH_AUTH_SOCK",
		"HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "SYSTEMROOT", "USERPROFILE", "APPDATA", "LOCALAPPDATA", "PROGRAMDATA", "PROGRAMFILES",
	}
	env := []string{}
	for _, variable := range environ {
		name, _, _ := strings.Cut(variable, "=")
		if name = strings.ToUpper(name); strings.HasPrefix(name, "DOCKER_") || slices.Contains(keep, name) {
			env = append(env, variable)
		}
	}
	return env
}

// maxAnswer is the most bytes that are stored of the output of a docker command other than run.
const maxAnswer = 4 << 20

// output runs a docker command other than run, and returns its output. The error is
// [ErrUnavailable] if docker or its daemon is missing.
func (d docker) output(ctx context.Context, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, d.program, args...) //nolint:gosec // the caller chooses the program, this package the arguments
	cmd.Env = d.env
	stdout, stderr := &tail{limit: maxAnswer}, &tail{limit: maxProblem}
	cmd.Stdout, cmd.Stderr = stdout, stderr
	cmd.WaitDelay = time.Second
	if err := cmd.Run(); err != nil {
		if ctx.Err() != nil {
			return "", fmt.Errorf("docker %s: %w", args[0], context.Cause(ctx))
		}
		return "", dockerError(args[0], stderr.String(), err)
	}
	return stdout.String(), nil
}

// maxProblem is the most bytes that are kept of docker's error messages.
const maxProblem = 2 << 10

// dockerError returns the error for a docker command that failed.
func dockerError(command, stderr string, err error) error {
	problem := strings.Join(strings.Fields(stderr), " ")
	switch {
	case !isExit(err):
		return fmt.Errorf("%w: docker %s: %w; install Docker and start it", ErrUnavailable, command, err)
	case problem == "":
		return fmt.Errorf("docker %s: %w", command, err)
	case unreachable(problem):
		return fmt.Errorf("%w: docker %s: %s", ErrUnavailable, command, problem)
	}
	return fmt.Errorf("docker %s: %s", command, problem)
}

func isExit(err error) bool {
	_, ok := errors.AsType[*exec.ExitError](err)
	return ok
}

// unreachable reports whether an error message of docker means that it cannot connect to its
// daemon.
func unreachable(problem string) bool {
	problem = strings.ToLower(problem)
	return slices.ContainsFunc([]string{
		"cannot connect to the", "daemon running", "daemon is running", "error during connect",
		"permission denied while trying to connect", "failed to connect to the docker api",
	}, func(part string) bool { return strings.Contains(problem, part) })
}
