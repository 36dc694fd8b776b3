// Package git runs git in a directory whose files, configuration and history are untrusted,
// because an agent may have written them, for example.
//
// Arguments are a list, never a shell's line. The environment is built from scratch: git's
// variables in the environment of the program have no effect, no prompt waits for an answer, and
// git only fetches from a [Remote]. Programs that a repository's configuration names for hooks,
// the file system monitor, the pager, signatures and diffs do not run. Those of filter.*.clean
// and smudge do, because git cannot switch them off together: a caller that does not trust the
// configuration has to compare it with an earlier state first, without git.
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
	Dir     string   // in the working tree; it counts as safe with any owner
	Environ []string // the surrounding environment, of which git gets the search path and the folder for temporary files
	Vars    []string // more variables for git, such as GIT_AUTHOR_NAME=…; they win over the others

	// UserConfig lets git read the configuration of the user and of the machine, which the
	// user's own git sees. Without it a repository looks the same to everybody.
	UserConfig bool

	// Limit is how long a command may take; 0: as long as its context. An untrusted folder may contain
	// named pipes, such as .gitignore, which git reads for ever.
	Limit time.Duration
}

// MaxOutput is the most bytes that a command of git may print.
const MaxOutput = 64 << 20

// ErrTooLarge is the error of a command that prints more than [MaxOutput].
var ErrTooLarge = fmt.Errorf("it prints more than %d bytes", MaxOutput)

// An Error is a command of git that failed.
type Error struct {
	Command string // such as "status"
	Stderr  string // its output, without line breaks; may be cut
	Err     error  // an [*exec.ExitError] where git ran
}

// Error returns the command and why it failed.
func (e *Error) Error() string {
	if errors.Is(e.Err, exec.ErrNotFound) {
		return "git " + e.Command + ": there is no program git in PATH; install it"
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

// run runs a command of git, and ends it when it prints more than a number of bytes.
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
	Out, Err io.Writer // an error of Out ends the command
}

// Stream runs a command of git with streams. An error is an [*Error].
func (r Repo) Stream(ctx context.Context, s Streams, args ...string) error {
	if r.Limit > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, r.Limit, fmt.Errorf("it took longer than %s; perhaps there is a named pipe among the files, which has no end", r.Limit))
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
	cmd.WaitDelay = time.Second // for programs that git started and left behind with its pipes
	err := cmd.Run()
	if err == nil || errors.Is(err, exec.ErrWaitDelay) {
		return nil
	}
	if ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	return &Error{args[0], strings.Join(strings.Fields(stderr.buf.String()), " "), err}
}

// flags are the arguments before the command.
func (r Repo) flags() []string {
	config := []string{
		"safe.directory=" + r.Dir,
		"core.fsmonitor=false", "core.hooksPath=" + os.DevNull,
		"core.quotePath=false", "log.showSignature=false",
		"commit.gpgSign=false", "tag.gpgSign=false",
		"gc.auto=0", "maintenance.auto=false", // they go on in the background
		"submodule.recurse=false",
		"diff.orderFile=" + os.DevNull, // status fails without the file that is named
	}
	if !r.UserConfig {
		config = append(config, "core.excludesFile="+os.DevNull, "core.attributesFile="+os.DevNull)
	}
	flags := []string{"--no-pager"}
	for _, c := range config {
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
		"GIT_NO_REPLACE_OBJECTS=1", // a replaced object hides a change
		// A clone without all objects asks its server for them, by a program of its own choice.
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

// errFull ends a program that prints too much.
var errFull = errors.New("the output has reached its limit")

// A capture keeps the first bytes that are written to it.
type capture struct {
	buf   bytes.Buffer
	limit int
	stop  bool // fail when there is more, rather than drop it
	over  bool
}

// Write keeps as much as fits.
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
