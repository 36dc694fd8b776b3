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
	Line  string   // for the container's sh -c; empty: Args
	Args  []string // a program and its arguments, without a shell
	Image string
	Dir   string // in the workspace, with slashes; empty: its root
	// Network lets the command use the network, unless the settings forbid it: for setup.
	Network bool
	// Env are further variables, as NAME=value. Their values are in no argument, which other
	// users of the machine could see.
	Env   []string
	Stdin io.Reader // nil: empty
	// Output receives both streams as they are written, whole and with any secret in them,
	// from one goroutine at a time; an error of it ends the command. nil: dropped.
	Output io.Writer
	// Timeout is in the place of [Settings.CommandTimeout]; 0: that one.
	Timeout time.Duration
	// Idle is how long it may be silent; 0: for ever.
	Idle time.Duration
}

// CodeTimeout is the exit code of commands that ran out of time.
const CodeTimeout = 124

// A Result is how a command ended.
type Result struct {
	ExitCode int  // of the command; [CodeTimeout] where it ran out of time
	TimedOut bool // the command was killed: it or all of them took too long
	Idle     bool // the command was killed: it wrote nothing for too long
	// Reason describes the end in a few words, such as "exit code 1".
	Reason         string
	Duration       time.Duration
	Stdout, Stderr string // the last 20,000 characters of each, redacted
}

// OK reports whether the command ended by itself with exit code 0.
func (r Result) OK() bool { return !r.TimedOut && !r.Idle && r.ExitCode == 0 }

// The causes for which a container is killed.
var (
	errTimeout = errors.New("it took too long")
	errTotal   = errors.New("all commands together took too long")
	errIdle    = errors.New("it printed nothing for too long")
)

// Where volumes are in containers.
const (
	workspacePath = "/workspace"
	cachePath     = "/cache"
)

// caches returns the variables that make tools use the volume for caches. They cannot write
// elsewhere, because the root file system is read-only.
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
		// Java takes the home folder from the list of users, in which ours is missing.
		"MAVEN_OPTS=-Duser.home=" + cachePath + "/home -Dmaven.repo.local=" + cachePath + "/m2",
	}
}

// Run runs a command, and waits until its container is gone. A command that fails or runs out of
// time is not an error; an error is a container that could not be run: [ErrUnavailable],
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
		result.Reason = fmt.Sprintf("exit code %d: killed, as happens above the memory limit of %s", code, s.o.Settings.Memory)
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
		return job{}, fmt.Errorf("the folder %q is outside of the workspace", c.Dir)
	}
	if (c.Line == "") == (len(c.Args) == 0) {
		return job{}, errors.New("want either a line for the shell or arguments")
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
		// Docker adds the proxies of its own configuration, and they may have passwords.
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
		// A proxy may be the same for both.
		if len(environment([]string{variable})) > 0 && !slices.Contains(s.docker.env, variable) {
			return job{}, fmt.Errorf("the variable %q cannot be passed to a container: docker itself reads another value of it", name)
		}
		j.args, j.env = append(j.args, "--env", name), append(j.env, variable)
	}
	return j, nil
}

// limits returns the arguments that bound a container of a user.
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
	what           string // what docker is asked to do, for errors
	args           []string
	env            []string // of the docker program
	image          string
	command        []string
	stdin          io.Reader
	stdout, stderr io.Writer
	idle           time.Duration // 0: none
}

const (
	killTime = 10 * time.Second // for docker kill
	exitTime = 10 * time.Second // for docker run to see that its container was killed
)

// container runs a container, and returns the exit code of its command. Where ctx ends, it
// kills the container by its name and returns the cause.
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
	// A second kill is for a container that was still being made when the first one came.
	cmd.Cancel = func() error { s.kill(name); return nil }
	cmd.WaitDelay = exitTime
	err := cmd.Run()
	if ctx.Err() != nil {
		s.discard(name)
		return 0, context.Cause(ctx)
	}
	if errors.Is(err, exec.ErrWaitDelay) {
		err = nil // the rest is the copy of an input that was not read
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
		// The command ended so itself, or the way to the daemon was lost.
		if _, err := s.docker.output(ctx, "version", "--format", "{{.Server.Version}}"); err != nil {
			return 0, err
		}
	}
	return exit.ExitCode(), nil
}

// kill kills a container.
func (s *Session) kill(name string) {
	ctx, cancel := context.WithTimeout(context.Background(), killTime)
	defer cancel()
	if _, err := s.docker.output(ctx, "kill", name); err != nil {
		s.o.Log.Debug("killing a container failed", "container", name, "error", err)
	}
}

// discard removes a container that did not end by itself, where there is one.
func (s *Session) discard(name string) {
	ctx, cancel := context.WithTimeout(context.Background(), killTime)
	defer cancel()
	if _, err := s.docker.output(ctx, "rm", "--force", "--volumes", name); err != nil {
		s.o.Log.Debug("removing a container failed", "container", name, "error", err)
	}
}

// An activity ends a container that is silent for some time.
type activity struct {
	timer *time.Timer // nil: for ever
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

// A watched forwards the output of a container, and kills the container when that fails.
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
