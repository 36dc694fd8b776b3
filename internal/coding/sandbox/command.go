package sandbox

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// A Command is one command in a container of its own.
type Command struct {
	Line  string   // passed to sh -c in the container; empty: Args is used
	Args  []string // a program and its arguments, without a shell
	Image string
	Dir   string // folder in the workspace, with slashes; empty: its root
	// Network lets the command use the network, for setup. [Settings.Network] can forbid it.
	Network bool
	// Env are additional variables, as NAME=value. The values are not among docker's arguments,
	// because other users of the machine can see arguments.
	Env   []string
	Stdin io.Reader // nil: empty
	// Output receives stdout and stderr as they are written, unlimited and with any secret in them.
	// It is called from one goroutine at a time. An error of Output ends the command. nil: the output
	// is only kept for the [Result].
	Output io.Writer
	// Timeout replaces [Settings.CommandTimeout]; 0: that setting applies.
	Timeout time.Duration
	// Idle is how long the command may print nothing; 0: no limit.
	Idle time.Duration
}

// CodeTimeout is the exit code in a [Result] of a command that was killed because of a time limit.
const CodeTimeout = 124

// A Result is how a command ended.
type Result struct {
	ExitCode int  // exit code of the command; [CodeTimeout] if a time limit ended it
	TimedOut bool // killed because this command, or all commands together, took too long
	Idle     bool // killed because it printed nothing for too long
	// Reason describes the end in a few words, such as "exit code 1".
	Reason         string
	Duration       time.Duration
	Stdout, Stderr string // the last 20,000 characters of each, redacted
}

// OK reports whether the command ended by itself with exit code 0.
func (r Result) OK() bool { return !r.TimedOut && !r.Idle && r.ExitCode == 0 }

// The reasons for killing a container.
var (
	errTimeout = errors.New("it took too long")
	errTotal   = errors.New("all commands together took too long")
	errIdle    = errors.New("it printed nothing for too long")
)

// The paths of the volumes in containers.
const (
	workspacePath = "/workspace"
	cachePath     = "/cache"
)

// caches returns the variables that make tools write to the cache volume. The root file system is
// read-only, so tools cannot use their default folders.
func caches() []string {
	return []string{
		"CI=1",
		"HOME=" + cachePath + "/home",
		"XDG_CACHE_HOME=" + cachePath + "/xdg",
		"GOPATH=" + cachePath + "/go",
		"GOMODCACHE=" + cachePath + "/go/mod",
		"GOCACHE=" + cachePath + "/go/build",
		"npm_config_cache=" + cachePath + "/npm",
		"COREPACK_HOME=" + cachePath + "/corepack",
		"YARN_CACHE_FOLDER=" + cachePath + "/yarn",
		"BUN_INSTALL_CACHE_DIR=" + cachePath + "/bun",
		"CARGO_HOME=" + cachePath + "/cargo",
		"PIP_CACHE_DIR=" + cachePath + "/pip",
		"UV_CACHE_DIR=" + cachePath + "/uv",
		"GRADLE_USER_HOME=" + cachePath + "/gradle",
		"DENO_DIR=" + cachePath + "/deno",
		// Java looks the home folder up in /etc/passwd, which has no entry for our user.
		"MAVEN_OPTS=-Duser.home=" + cachePath + "/home -Dmaven.repo.local=" + cachePath + "/m2",
	}
}

// Run runs a command, and waits until its container is removed. A command that fails or exceeds a
// time limit is not an error. An error means that the container could not run: [ErrUnavailable],
// [ErrImage], or the cause of ctx.
func (s *Session) Run(ctx context.Context, c Command) (Result, error) {
	if s.workspace == "" {
		return Result{}, errors.New("run a command in the sandbox: no workspace is loaded")
	}
	job, err := s.job(c)
	if err != nil {
		return Result{}, fmt.Errorf("run a command in the sandbox: %w", err)
	}
	started := s.o.Now()
	total, cancelTotal := context.WithTimeoutCause(ctx, s.deadline.Sub(started), errTotal)
	defer cancelTotal()
	stdout, stderr := &tail{limit: tailBytes}, &tail{limit: tailBytes}
	job.stdout, job.stderr = stdout, stderr
	if c.Output != nil {
		both := &serial{to: c.Output}
		job.stdout, job.stderr = io.MultiWriter(stdout, both), io.MultiWriter(stderr, both)
	}
	limit := orElse(c.Timeout, s.o.Settings.CommandTimeout)
	var code int
	if err = s.have(total, c.Image); err == nil {
		limited, cancel := context.WithTimeoutCause(total, limit, errTimeout)
		defer cancel()
		code, err = s.container(limited, job)
	}
	result := Result{ExitCode: code, Duration: s.o.Now().Sub(started), Stdout: stdout.output(s.o.Redact), Stderr: stderr.output(s.o.Redact)}
	switch {
	case errors.Is(err, errTimeout):
		result.Reason = "timed out after " + limit.String()
	case errors.Is(err, errTotal):
		result.Reason = "timed out: all commands together took longer than " + s.o.Settings.TotalTimeout.String()
	case errors.Is(err, errIdle):
		result.Idle, result.Reason = true, "printed nothing for "+c.Idle.String()
	case err != nil:
		return result, fmt.Errorf("run a command in the sandbox: %w", err)
	case code == 128+9:
		result.Reason = fmt.Sprintf("exit code %d: killed, perhaps because of the memory limit of %s", code, s.o.Settings.Memory)
	default:
		result.Reason = "exit code " + strconv.Itoa(code)
	}
	if err != nil {
		result.TimedOut, result.ExitCode = !result.Idle, CodeTimeout
	}
	return result, nil
}

// job returns the container of a command.
func (s *Session) job(c Command) (job, error) {
	if c.Dir != "" && !filepath.IsLocal(filepath.FromSlash(c.Dir)) {
		return job{}, fmt.Errorf("the folder %q is outside the workspace", c.Dir)
	}
	if (c.Line == "") == (len(c.Args) == 0) {
		return job{}, errors.New("want either a shell line or arguments")
	}
	j := job{what: "run", args: s.limits("1000:1000"), image: c.Image, command: c.Args, stdin: c.Stdin, idle: c.Idle}
	if c.Line != "" {
		j.command = []string{"sh", "-c", c.Line}
	}
	j.args = append(j.args, "--tmpfs", "/tmp:exec,size="+s.o.Settings.Temp,
		"--mount", "type=volume,source="+s.workspace+",target="+workspacePath,
		"--mount", "type=volume,source="+s.cache()+",target="+cachePath,
		"--workdir", path.Join(workspacePath, c.Dir))
	if !c.Network || s.o.Settings.Network == NoNetwork {
		j.args = append(j.args, "--network", "none")
		// Docker would add the proxies of its own configuration, whose URLs may contain passwords.
		for _, name := range []string{"HTTP_PROXY", "HTTPS_PROXY", "FTP_PROXY", "NO_PROXY", "ALL_PROXY"} {
			j.args = append(j.args, "--env", name+"=", "--env", strings.ToLower(name)+"=")
		}
	}
	for _, variable := range caches() {
		j.args = append(j.args, "--env", variable)
	}
	for _, variable := range c.Env {
		name, _, ok := strings.Cut(variable, "=")
		if !ok || name == "" || name == "PATH" {
			return job{}, fmt.Errorf("the variable %q cannot be passed to a container", name)
		}
		// Docker passes variables on by name, so docker itself sees this value. A variable that docker
		// reads is accepted only if docker already has the same value.
		if len(environment([]string{variable})) > 0 && !slices.Contains(s.docker.env, variable) {
			return job{}, fmt.Errorf("the variable %q cannot be passed to a container: docker itself uses another value of it", name)
		}
		j.args, j.env = append(j.args, "--env", name), append(j.env, variable)
	}
	return j, nil
}

// limits returns the docker arguments that restrict a container, whose processes run as user.
func (s *Session) limits(user string) []string {
	set := s.o.Settings
	args := []string{
		"--pull", "missing", "--log-driver", "none", "--read-only", "--user", user,
		"--cap-drop", "ALL", "--security-opt", "no-new-privileges",
		"--memory", set.Memory, "--memory-swap", set.Memory, "--pids-limit", strconv.Itoa(set.PIDs),
	}
	if !math.IsInf(set.CPUs, 1) {
		args = append(args, "--cpus", strconv.FormatFloat(set.CPUs, 'f', -1, 64))
	}
	return args
}

// A serial forwards the writes of several goroutines, one at a time.
type serial struct {
	to io.Writer
	mu sync.Mutex
}

func (s *serial) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.to.Write(p)
}

// A job is one container from its start to its end.
type job struct {
	what           string // the docker command, for error messages
	args           []string
	env            []string // of the docker program
	image          string
	command        []string
	stdin          io.Reader
	stdout, stderr io.Writer
	idle           time.Duration // how long the container may print nothing; 0: no limit
}

const (
	killTime = 10 * time.Second // for docker kill
	exitTime = 10 * time.Second // for docker run to exit after its container was killed
)

// container runs a container, and returns the exit code of its command. When ctx ends, it kills
// the container by its name and returns the cause.
func (s *Session) container(ctx context.Context, j job) (int, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	if ctx.Err() != nil {
		return 0, context.Cause(ctx)
	}
	s.started++
	name := s.o.Name + "-" + s.run + "-" + strconv.Itoa(s.started)
	cid := filepath.Join(s.scratch, strconv.Itoa(s.started)+".cid")
	args := append([]string{"run", "--rm", "--name", name, "--cidfile", cid}, s.labels...)
	if j.stdin != nil {
		args = append(args, "--interactive")
	}
	args = append(append(args, j.args...), "--entrypoint", "", j.image)
	cmd := exec.CommandContext(ctx, s.docker.program, append(args, j.command...)...) //nolint:gosec // a container is made for the command
	cmd.Env = append(append([]string{}, s.docker.env...), j.env...)
	problem := &tail{limit: maxProblem}
	activity := s.activity(j.idle, cancel)
	defer activity.stop()
	cmd.Stdin = j.stdin
	cmd.Stdout, cmd.Stderr = &watched{j.stdout, activity, cancel}, &watched{io.MultiWriter(problem, j.stderr), activity, cancel}
	// If the container does not exist yet, this kill fails; discard below removes the container.
	cmd.Cancel = func() error { s.kill(name); return nil }
	cmd.WaitDelay = exitTime
	err := cmd.Run()
	if ctx.Err() != nil {
		s.discard(name)
		return 0, context.Cause(ctx)
	}
	if errors.Is(err, exec.ErrWaitDelay) {
		err = nil // the command succeeded; only the copy of its unread input was still running
	}
	const fromDocker = 125
	exit, ok := errors.AsType[*exec.ExitError](err)
	switch {
	case err == nil:
		return 0, nil
	case !ok:
		return 0, dockerError(j.what, "", err)
	case exit.ExitCode() == fromDocker || exit.ExitCode() < 0:
		if id, readErr := os.ReadFile(cid); readErr != nil || len(id) == 0 || exit.ExitCode() < 0 {
			s.discard(name)
			return 0, dockerError(j.what, problem.String(), err)
		}
		// Either the command itself exited with 125, or docker lost the connection to its daemon. The
		// next call fails only in the second case.
		if _, err := s.docker.output(ctx, "version", "--format", "{{.Server.Version}}"); err != nil {
			return 0, err
		}
	}
	return exit.ExitCode(), nil
}

// kill kills the container with that name.
func (s *Session) kill(name string) {
	ctx, cancel := context.WithTimeout(context.Background(), killTime)
	defer cancel()
	if _, err := s.docker.output(ctx, "kill", name); err != nil {
		s.o.Log.Debug("killing a container failed", "container", name, "error", err)
	}
}

// discard removes a container that did not end by itself. The container may not exist.
func (s *Session) discard(name string) {
	ctx, cancel := context.WithTimeout(context.Background(), killTime)
	defer cancel()
	if _, err := s.docker.output(ctx, "rm", "--force", "--volumes", name); err != nil {
		s.o.Log.Debug("removing a container failed", "container", name, "error", err)
	}
}

// An activity ends a container that is silent for some time.
type activity struct {
	timer *time.Timer // nil: no limit
	idle  time.Duration
}

func (s *Session) activity(idle time.Duration, cancel context.CancelCauseFunc) *activity {
	if idle <= 0 {
		return &activity{}
	}
	return &activity{time.AfterFunc(idle, func() { cancel(errIdle) }), idle}
}

func (a *activity) note() {
	if a.timer != nil {
		a.timer.Reset(a.idle)
	}
}

func (a *activity) stop() {
	if a.timer != nil {
		a.timer.Stop()
	}
}

// A watched forwards the output of a container. If forwarding fails, it kills the container.
type watched struct {
	to       io.Writer
	activity *activity
	cancel   context.CancelCauseFunc
}

func (w *watched) Write(p []byte) (int, error) {
	w.activity.note()
	n, err := w.to.Write(p)
	if err != nil {
		w.cancel(err)
	}
	return n, err
}
