// Package git runs git in a directory whose files, configuration and history are untrusted,
// because an agent may have written them, for example.
//
// Arguments are passed as a list, without a shell. The package builds git's environment from
// scratch: variables such as GIT_DIR in the program's environment have no effect, git never asks
// for a password, and it fetches only from a [Remote]. A repository's configuration can name
// programs for hooks, the file system monitor, the pager, signatures and diffs; git does not run
// them. But git runs the programs of filter.*.clean and filter.*.smudge, because it has no switch
// for all of them. A caller that does not trust the configuration must compare it with a trusted
// state first, without git.
package git

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"time"
)

// A Repo runs git in a directory.
type Repo struct {
	Dir     string   // a folder in the working tree; git accepts it even if another user owns it
	Environ []string // the program's environment; git receives its search path and its folder for temporary files
	Vars    []string // additional variables, such as GIT_AUTHOR_NAME=…; they override the others

	Config []string // additional configuration, such as core.eol=lf; it overrides every other

	// UserConfig lets git read the configuration of the user and of the machine, as in the user's own
	// shell. Without it, git prints the same for every user.
	UserConfig bool

	// Limit is how long a command may take; 0: until its context ends. A limit is needed because an
	// untrusted folder may contain a named pipe, such as .gitignore, from which git reads without
	// end.
	Limit time.Duration
}

// MaxOutput is the most bytes that a command of git may print.
const MaxOutput = 64 << 20

// ErrTooLarge is the error of a command that prints more than [MaxOutput].
var ErrTooLarge = fmt.Errorf("the output exceeds %d bytes", MaxOutput)

// An Error is a command of git that failed.
type Error struct {
	Command string // such as "status"
	Stderr  string // the output on stderr, without line breaks, at most 4 KiB
	Err     error  // an [*exec.ExitError] if git started
}

// Error returns the command and why it failed.
func (e *Error) Error() string {
	if errors.Is(e.Err, exec.ErrNotFound) {
		return "git " + e.Command + ": git is not in PATH; install it"
	}
	if e.Stderr == "" {
		return "git " + e.Command + ": " + e.Err.Error()
	}
	return "git " + e.Command + ": " + e.Stderr
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// Run runs a command of git and returns its output. An error is an [*Error].
func (r Repo) Run(ctx context.Context, args ...string) ([]byte, error) {
	out, over, err := r.run(ctx, MaxOutput, args)
	if err == nil && over {
		err = &Error{args[0], "", ErrTooLarge}
	}
	if err != nil {
		return nil, err
	}
	return out, nil
}

// run runs a git command, and ends it when it prints more than limit bytes.
func (r Repo) run(ctx context.Context, limit int, args []string) (out []byte, over bool, err error) {
	stdout := capture{limit: limit, stop: true}
	err = r.Stream(ctx, Streams{Out: &stdout}, args...)
	if stdout.over {
		return stdout.buf.Bytes(), true, nil
	}
	if err != nil {
		return nil, false, err
	}
	return stdout.buf.Bytes(), false, nil
}

// Streams are the input and output of a command. Each may be nil.
type Streams struct {
	In       io.Reader
	Out, Err io.Writer // if Out returns an error, the command ends
}

// Stream runs a command of git with streams. An error is an [*Error].
func (r Repo) Stream(ctx context.Context, s Streams, args ...string) error {
	if r.Limit > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, r.Limit, fmt.Errorf("it took longer than %s, perhaps because of a named pipe among the files", r.Limit))
		defer cancel()
	}
	const stderrLimit = 4 << 10
	stderr := capture{limit: stderrLimit}
	cmd := exec.CommandContext(ctx, "git", append(r.flags(), args...)...) //nolint:gosec // its callers choose the arguments
	cmd.Dir, cmd.Env = r.Dir, r.env()
	cmd.Stdin, cmd.Stdout, cmd.Stderr = s.In, s.Out, &stderr
	if s.Err != nil {
		cmd.Stderr = io.MultiWriter(&stderr, s.Err)
	}
	if r.Limit > 0 {
		group(cmd) // git fetch, for example, starts a git in the folder, which would wait on
	}
	cmd.WaitDelay = time.Second // git may have left child processes that still have its pipes open
	err := cmd.Run()
	if err == nil || errors.Is(err, exec.ErrWaitDelay) {
		return nil
	}
	if ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	return &Error{args[0], strings.Join(strings.Fields(stderr.buf.String()), " "), err}
}

// flags returns the arguments before the name of the git command.
func (r Repo) flags() []string {
	config := []string{
		"safe.directory=" + r.Dir,
		"core.fsmonitor=false", "core.hooksPath=" + os.DevNull,
		"core.quotePath=false", "log.showSignature=false",
		"commit.gpgSign=false", "tag.gpgSign=false",
		"gc.auto=0", "maintenance.auto=false", // they go on in the background
		"submodule.recurse=false",
		"core.commitGraph=false",       // it may name other parents and trees than the commits
		"diff.orderFile=" + os.DevNull, // git status fails if the configured file does not exist
	}
	if !r.UserConfig {
		config = append(config, "core.excludesFile="+os.DevNull, "core.attributesFile="+os.DevNull)
	}
	flags := []string{"--no-pager"}
	for _, c := range append(config, r.Config...) {
		flags = append(flags, "-c", c)
	}
	return flags
}

// env returns the environment of git.
func (r Repo) env() []string {
	keep := []string{"PATH", "TMPDIR", "TMP", "TEMP", "SYSTEMROOT"}
	env := []string{
		"LC_ALL=C",
		"GIT_TERMINAL_PROMPT=0", "GIT_OPTIONAL_LOCKS=0",
		"GIT_NO_REPLACE_OBJECTS=1", // a replacement object hides a change
		// A partial clone fetches missing objects from its server, with a program that its configuration
		// names.
		"GIT_NO_LAZY_FETCH=1", "GIT_ALLOW_PROTOCOL=",
	}
	if r.UserConfig {
		keep = append(keep, "HOME", "XDG_CONFIG_HOME", "USERPROFILE", "HOMEDRIVE", "HOMEPATH")
	} else {
		env = append(env, "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_ATTR_NOSYSTEM=1")
	}
	for _, v := range r.Environ {
		if name, _, _ := strings.Cut(v, "="); slices.Contains(keep, strings.ToUpper(name)) {
			env = append(env, v)
		}
	}
	return append(env, r.Vars...)
}

// errFull ends a git command that prints too much.
var errFull = errors.New("the output has reached its limit")

// A capture keeps the first limit bytes that are written to it.
type capture struct {
	buf   bytes.Buffer
	limit int
	stop  bool // return an error for further bytes instead of dropping them
	over  bool
}

// Write keeps as many bytes as still fit.
func (c *capture) Write(p []byte) (int, error) {
	room := min(len(p), c.limit-c.buf.Len())
	c.buf.Write(p[:room])
	if room < len(p) {
		c.over = true
		if c.stop {
			return room, errFull
		}
	}
	return len(p), nil
}
