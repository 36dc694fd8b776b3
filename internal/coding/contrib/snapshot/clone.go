package snapshot

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/org/foreman-action/internal/coding/contrib/contract"
	"github.com/org/foreman-action/internal/coding/git"
)

// A Clone is the folder of a workspace.
type Clone struct {
	Dir     string   // its absolute path
	Name    string   // path in messages
	Issue   string   // issue to which the workspace belongs
	Environ []string // environment for git
}

// Refs returns git for commands that read refs in the clone's folder .git. It must not be used for
// commands that read files, because the clone's configuration would apply to them.
func (c Clone) Refs() git.Repo {
	dir := filepath.Join(c.Dir, ".git")
	return git.Repo{Dir: c.Dir, Environ: c.Environ, Limit: maxGit, Vars: []string{"GIT_DIR=" + dir, "GIT_COMMON_DIR=" + dir, "GIT_WORK_TREE=" + c.Dir}}
}

// maxGit is how long a command of git may take in a clone.
const maxGit = 2 * time.Minute

// Check returns a problem if the folder .git contains anything but files and folders where git
// reads. A named pipe has no end, and a link may lead anywhere.
func (c Clone) Check() error {
	dir := filepath.Join(c.Dir, ".git")
	strange := func(path string) error {
		return c.Mismatch("%s is not a clone: %s is neither a file nor a folder", c.Name, filepath.ToSlash(strings.TrimPrefix(path, c.Dir+string(filepath.Separator))))
	}
	return filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) || path == dir { // removed meanwhile, or .git itself
			return nil
		}
		if err != nil {
			return fmt.Errorf("look at %s: %w", c.Name, err)
		}
		top := filepath.Dir(path) == dir
		switch kept := top && slices.Contains([]string{"refs", "objects", "info"}, entry.Name()); {
		case kept && !entry.IsDir():
			return strange(path)
		case top && (entry.Name() == "hooks" || entry.Name() == "logs") && !entry.IsDir(): // unused by git
			return nil
		case top && entry.IsDir() && !kept:
			return fs.SkipDir
		case entry.Type()&^(fs.ModeDir|fs.ModeSocket) != 0: // git cannot open a socket
			return strange(path)
		}
		return nil
	})
}

// Head returns the commit of the clone.
func (c Clone) Head(ctx context.Context) (string, error) {
	head, err := c.Refs().Resolve(ctx, "HEAD")
	if err != nil {
		return "", c.Unreadable(err)
	}
	return head, nil
}

// Mismatch returns the problem of a folder that checkout did not make.
func (c Clone) Mismatch(format string, args ...any) *contract.Problem {
	return contract.Fail(contract.CodeWorkspaceMismatch, format, args...).
		With(contract.Instruct(contract.ActionCheckout, "Move "+c.Name+" away, then run: contribflow checkout "+c.Issue+" --json"))
}

// Unreadable returns the problem of a clone that git cannot read.
func (c Clone) Unreadable(err error) error {
	if errors.Is(err, exec.ErrNotFound) || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return Problem(err)
	}
	return c.Mismatch("git cannot read %s: %v", c.Name, err)
}

// Problem returns the error of git as a problem with a code, if there is a code for it.
func Problem(err error) error {
	if errors.Is(err, exec.ErrNotFound) {
		return &contract.Problem{Code: contract.CodeGitMissing, Err: err, Next: contract.Instruct(contract.ActionFixError, "Install git, then run the command again.")}
	}
	return err
}
