package snapshot

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/org/foreman-action/internal/coding/git"
)

// A Scratch is a temporary repository for a clone. It borrows the objects of the clone and has a
// copy of its index, but not its configuration, hooks, attributes or refs. The caller closes it.
type Scratch struct {
	// Repo reads objects. It has no index and no files, so that no attributes count.
	Repo git.Repo
	// Files runs git on the files of the workspace, by the copy of its index.
	Files git.Repo

	clone Clone
	dir   string
}

// NewScratch makes the repository in the folder for temporary files.
func NewScratch(c Clone) (*Scratch, error) {
	dir, err := os.MkdirTemp("", "contribflow-")
	if err != nil {
		return nil, fmt.Errorf("make a folder for the snapshot: %w", err)
	}
	s := &Scratch{clone: c, dir: dir, Repo: git.Repo{Dir: dir, Environ: c.Environ, Limit: maxGit, Vars: []string{"GIT_DIR=" + dir}}}
	s.Files = s.Repo
	s.Files.Dir = c.Dir
	s.Files.Vars = append(slices.Clip(s.Repo.Vars), "GIT_WORK_TREE="+c.Dir, "GIT_INDEX_FILE="+filepath.Join(dir, "staged"))
	if err := fill(dir, filepath.Join(c.Dir, ".git")); err != nil {
		s.Close()
		return nil, fmt.Errorf("make a repository for the snapshot: %w", err)
	}
	return s, nil
}

// Close removes the repository.
func (s *Scratch) Close() { _ = os.RemoveAll(s.dir) } // a failure leaves temporary files

// fill writes the files of the temporary repository. clone is the folder .git of the clone.
func fill(dir, clone string) error {
	for _, folder := range []string{"objects/info", "refs", "info"} {
		if err := os.MkdirAll(filepath.Join(dir, folder), 0o700); err != nil {
			return err
		}
	}
	for name, content := range map[string]string{
		"HEAD":                    "ref: refs/heads/none\n",
		"config":                  config(runtime.GOOS),
		"objects/info/alternates": filepath.Join(clone, "objects") + "\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600); err != nil {
			return err
		}
	}
	for from, to := range map[string]string{"index": "staged", "shallow": "shallow", "info/exclude": "info/exclude"} {
		if err := copyFile(clone, from, filepath.Join(dir, to)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

// config returns the configuration that git would write for a new repository on an operating
// system. In addition, it turns off flushing to the disk, because the repository is temporary.
func config(system string) string {
	c := "[core]\n\trepositoryformatversion = 0\n\tfilemode = " + strconv.FormatBool(system != "windows") + "\n\tfsync = none\n"
	switch system {
	case "windows":
		c += "\tsymlinks = false\n\tignorecase = true\n"
	case "darwin":
		c += "\tignorecase = true\n\tprecomposeunicode = true\n"
	}
	return c
}

// copyFile copies a regular file with its modification time. From the time of the index, git knows
// which files it has to read again.
func copyFile(dir, from, to string) error {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer root.Close()
	info, err := root.Lstat(from)
	if err != nil {
		return err
	}
	if !info.Mode().IsRegular() {
		return fmt.Errorf("%s is not a regular file", from)
	}
	in, err := root.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.OpenFile(to, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	if err := errors.Join(err, out.Close()); err != nil {
		return err
	}
	return os.Chtimes(to, time.Time{}, info.ModTime())
}

// changed returns two lists. changed are paths that differ from the index, or are untracked and
// not ignored. hidden are paths whose changes the index hides from git. Two git commands run
// concurrently for this.
func (s *Scratch) changed(ctx context.Context) (changed, hidden []string, err error) {
	var others, tracked []byte
	var errOthers, errTracked error
	var running sync.WaitGroup
	running.Go(func() { others, errOthers = s.Files.Run(ctx, "ls-files", "-z", "--others", "--exclude-standard") })
	running.Go(func() { tracked, errTracked = s.Files.Run(ctx, "ls-files", "-z", "-v", "--cached", "--modified") })
	running.Wait()
	for name := range bytes.SplitSeq(others, []byte{0}) {
		if len(name) > 0 {
			changed = append(changed, strings.TrimSuffix(string(name), "/")) // of a nested repository
		}
	}
	for entry := range bytes.SplitSeq(tracked, []byte{0}) {
		letter, name, ok := bytes.Cut(entry, []byte(" "))
		if !ok {
			continue
		}
		// Git lists a modified file a second time, with a C. It marks assume-unchanged by a lower-case
		// letter, and skip-worktree by an S.
		if letter[0] == 'C' || letter[0] == 'c' {
			changed = append(changed, string(name))
		} else if letter[0] == 'S' || 'a' <= letter[0] && letter[0] <= 'z' {
			hidden = append(hidden, string(name))
		}
	}
	slices.Sort(changed)
	return slices.Compact(changed), hidden, cmp.Or(errOthers, errTracked)
}

// Clean reports whether the workspace is the same as the clone's commit, so that "git status
// --porcelain" would print nothing.
func Clean(ctx context.Context, c Clone) (bool, error) {
	head, err := c.Head(ctx)
	if err != nil {
		return false, err
	}
	s, err := NewScratch(c)
	if err != nil {
		return false, err
	}
	defer s.Close()
	changed, hidden, err := s.changed(ctx)
	if err != nil {
		return false, c.Unreadable(err)
	}
	if len(changed)+len(hidden) > 0 {
		return false, nil
	}
	tree, err := s.Files.Run(ctx, "write-tree", "--missing-ok") // looking for all objects takes long
	if err != nil {
		return false, Problem(err)
	}
	committed, err := s.Repo.Run(ctx, "rev-parse", "--verify", "--quiet", head+"^{tree}")
	return bytes.Equal(tree, committed), Problem(err)
}
