// Package contained runs commands of the pipeline in Docker containers, each on a copy of the
// worktree. Only files of the clone are copied back. Commits, processes and all other files are
// removed with the container.
package contained

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/org/foreman-action/internal/coding/build/process"
	"github.com/org/foreman-action/internal/coding/sandbox"
)

// Root is the path of the clone in the containers.
const Root = "/workspace"

// A Runner runs commands as [process.Runner] does, in containers. It is not for concurrent
// use.
type Runner struct {
	Session *sandbox.Session
	Image   string
	Base    string // commit at which the copied history begins
	Network bool   // they may use the network
	Back    Back
	Environ []string // environment for git
	// Env are the names of variables in [process.Command] that commands receive.
	Env []string
}

// ErrBroken is the error of a failure of the sandbox that the command did not cause.
var ErrBroken = errors.New("the sandbox failed")

// Back selects the files that are copied back into the clone after a command.
type Back struct {
	All  bool     // replace all files of the clone
	Only []string // otherwise copy only these paths, with slashes; empty: copy no file
}

// Run copies the clone, in which the command starts, into the sandbox. Then it runs the command
// and copies files back. The error is [ErrBroken], or [sandbox.ErrTooLarge] if the command leaves
// more bytes than the limit.
func (r Runner) Run(ctx context.Context, c process.Command) (process.Result, error) {
	result, err := r.run(ctx, c)
	if err != nil && !errors.Is(err, sandbox.ErrTooLarge) {
		err = fmt.Errorf("%w: %w", ErrBroken, err)
	}
	return result, err
}

func (r Runner) run(ctx context.Context, c process.Command) (process.Result, error) {
	workspace := sandbox.Workspace{Dir: c.Dir, Image: r.Image, Base: r.Base, All: true, Environ: r.Environ}
	if err := r.Session.Load(ctx, workspace); err != nil {
		return process.Result{}, err
	}
	output := &limited{to: c.Output, left: c.LogBytes, unlimited: c.LogBytes == 0}
	ended, err := r.Session.Run(ctx, sandbox.Command{
		Args: c.Args, Image: r.Image, Network: r.Network, Env: r.passed(c.Env),
		Stdin: c.Stdin, Output: output, Timeout: c.Timeout, Idle: c.Idle,
	})
	result := process.Result{Cause: process.Exited, ExitCode: ended.ExitCode, Truncated: output.truncated, Wall: ended.Duration}
	switch {
	case err != nil:
		return result, err
	case ended.Idle:
		result.Cause = process.Idle
	case ended.TimedOut:
		result.Cause = process.TimedOut
	}
	if r.Back.All || len(r.Back.Only) > 0 {
		err = r.back(ctx, c.Dir)
	}
	return result, err
}

// passed returns the variables that the command gets.
func (r Runner) passed(env []string) []string {
	var passed []string
	for _, variable := range env {
		name, _, _ := strings.Cut(variable, "=")
		if !process.Local(name) && (slices.Contains(r.Env, name) || strings.HasPrefix(name, "GIT_AUTHOR_") || strings.HasPrefix(name, "GIT_COMMITTER_")) {
			passed = append(passed, variable)
		}
	}
	return passed
}

// Temporary returns the folder, beside the clone, into which files are first copied back. It
// remains if the process is killed meanwhile.
func Temporary(dir string) string {
	return filepath.Join(filepath.Dir(dir), "."+filepath.Base(dir)+"-left") // no task id begins with a dot
}

// back copies files out of the sandbox into the temporary folder, and moves them into the clone
// from there. Links cannot redirect a move to another folder.
func (r Runner) back(ctx context.Context, dir string) (err error) {
	root, err := os.OpenRoot(filepath.Dir(dir))
	if err != nil {
		return err
	}
	defer root.Close()
	tree, left := filepath.Base(dir), filepath.Base(Temporary(dir))
	if err := errors.Join(root.RemoveAll(left), root.Mkdir(left, 0o750)); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, root.RemoveAll(left)) }()
	if err := r.Session.Export(ctx, filepath.Join(root.Name(), left)); err != nil {
		return err
	}
	if r.Back.All {
		err = replace(root, tree, left)
	} else {
		err = moveFiles(root, tree, left, r.Back.Only)
	}
	if err != nil {
		return fmt.Errorf("move the files of the sandbox into the clone: %w", err)
	}
	return nil
}

// replace replaces the content of a clone, except its .git, by that of another folder.
func replace(root *os.Root, tree, left string) error {
	for _, folder := range []string{tree, left} {
		dir, err := root.Open(folder)
		if err != nil {
			return err
		}
		names, err := dir.Readdirnames(-1)
		dir.Close()
		if err != nil {
			return err
		}
		for _, name := range names {
			if folder == left {
				err = root.Rename(filepath.Join(left, name), filepath.Join(tree, name))
			} else if name != ".git" {
				err = root.RemoveAll(filepath.Join(tree, name))
			}
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// moveFiles moves the files of names that exist.
func moveFiles(root *os.Root, tree, left string, names []string) error {
	for _, name := range names {
		from, to := filepath.Join(left, filepath.FromSlash(name)), filepath.Join(tree, filepath.FromSlash(name))
		if _, err := root.Lstat(from); err != nil || behindLink(root, left, name) {
			continue // the command did not write this file, or wrote it behind a link
		}
		if behindLink(root, tree, name) {
			return fmt.Errorf("the path of %s in the clone leads through a symbolic link", name)
		}
		if path.Dir(name) != "." {
			if err := root.MkdirAll(filepath.Dir(to), 0o750); err != nil {
				return err
			}
		}
		if err := errors.Join(root.RemoveAll(to), root.Rename(from, to)); err != nil {
			return err
		}
	}
	return nil
}

// behindLink reports whether a folder in the path of name, below folder, is a link. A link could
// lead to the clone of another run.
func behindLink(root *os.Root, folder, name string) bool {
	at := folder
	for part := range strings.SplitSeq(path.Dir(name), "/") {
		at = filepath.Join(at, part)
		if info, err := root.Lstat(at); err == nil && info.Mode()&fs.ModeSymlink != 0 {
			return true
		}
	}
	return false
}

// A limited forwards output until its limit is reached.
type limited struct {
	to        io.Writer
	left      int64
	unlimited bool
	truncated bool
}

func (l *limited) Write(p []byte) (int, error) {
	pass := p
	if !l.unlimited && int64(len(pass)) > l.left {
		pass, l.truncated = pass[:l.left], true
	}
	l.left -= int64(len(pass))
	if l.to == nil || len(pass) == 0 {
		return len(p), nil
	}
	if _, err := l.to.Write(pass); err != nil {
		return 0, err
	}
	return len(p), nil
}
