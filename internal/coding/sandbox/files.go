package sandbox

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/org/foreman-action/internal/coding/git"
	"github.com/org/foreman-action/internal/workdir"
)

// maxGit is how long a command of git may take in a workspace. An agent can put a named pipe into
// it, from which git would read without end.
const maxGit = 10 * time.Minute

// maxRepositories is the most git repositories that a workspace may contain.
const maxRepositories = 1000

// list returns the sorted paths of the files in a workspace, with slashes. The error is
// [ErrTooLarge] if the files have more bytes than the limit.
func list(ctx context.Context, w Workspace, limit int64) ([]string, error) {
	files, err := openTree(w.Dir)
	if err != nil {
		return nil, err
	}
	defer files.root.Close()
	var names []string
	if w.All {
		names, err = files.all()
	} else {
		names, err = files.listed(ctx, w)
	}
	if err != nil {
		return nil, err
	}
	slices.Sort(names)
	names = slices.Compact(names)
	left := limit
	for _, name := range names {
		info, err := files.lstat(name)
		if err != nil {
			return nil, err
		}
		if info == nil || !info.Mode().IsRegular() {
			continue
		}
		if info.Size() > left {
			return nil, tooLarge(name, info.Size(), limit)
		}
		left -= info.Size()
	}
	return names, nil
}

// all returns every file and link of the tree, without the .git at its root.
func (t *tree) all() ([]string, error) {
	var names []string
	err := fs.WalkDir(t.root.FS(), ".", func(name string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case name == ".git" && entry.IsDir():
			return fs.SkipDir
		case name != ".git" && !entry.IsDir():
			names = append(names, name)
		}
		return nil
	})
	return names, err
}

// listed returns the files that git lists in a workspace, and in the repositories in it.
func (t *tree) listed(ctx context.Context, w Workspace) ([]string, error) {
	var names []string
	repositories := []string{""}
	for n := 0; n < len(repositories); n++ {
		if n == maxRepositories {
			return nil, fmt.Errorf("it contains more than %d repositories", maxRepositories)
		}
		at := repositories[n]
		repo := git.Repo{Dir: filepath.Join(w.Dir, filepath.FromSlash(at)), Environ: w.Environ, Limit: maxGit}
		out, err := repo.Run(ctx, "ls-files", "-z", "--cached", "--others", "--exclude-standard")
		if err != nil {
			return nil, fmt.Errorf("list its files: %w", err)
		}
		for name := range strings.SplitSeq(string(out), "\x00") {
			if name == "" {
				continue
			}
			name = path.Join(at, name) // Join removes git's slash after an untracked repository
			info, err := t.lstat(name)
			if err != nil {
				return nil, err
			}
			if info != nil && !info.IsDir() {
				names = append(names, name)
			}
			if info == nil || !info.IsDir() {
				continue
			}
			marker, err := t.lstat(name + "/.git")
			if err != nil {
				return nil, err
			}
			if marker != nil { // a repository, such as a submodule
				repositories = append(repositories, name)
			}
		}
	}
	return names, nil
}

// tooLarge returns the error for the file with which a workspace exceeds the limit.
func tooLarge(name string, size, limit int64) error {
	return fmt.Errorf("%w: with the file %q of %d bytes, it exceeds the limit of %d bytes; ignore or remove files that are not needed", ErrTooLarge, name, size, limit)
}

// A tree is a directory that is read without following links.
type tree struct {
	root    *os.Root
	folders map[string]bool // paths that are known to be folders
}

func openTree(dir string) (*tree, error) {
	root, err := os.OpenRoot(dir)
	return &tree{root, map[string]bool{".": true}}, err
}

// lstat describes the file at a path; nil means that it does not exist. A path below a symbolic
// link counts as missing, as in git: git reports a tracked file there as deleted.
func (t *tree) lstat(name string) (fs.FileInfo, error) {
	if folder := path.Dir(name); !t.folders[folder] {
		info, err := t.lstat(folder)
		if info == nil || err != nil {
			return nil, err
		}
		if !info.IsDir() {
			return nil, nil
		}
		t.folders[folder] = true
	}
	info, err := t.root.Lstat(filepath.FromSlash(name))
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
		return nil, nil
	}
	return info, err
}

// shallow makes a repository with the commits from the base of a workspace to its HEAD. It reads
// the objects through an alternates file. A fetch would start git in the workspace, and git
// refuses a repository that another user owns.
func shallow(ctx context.Context, w Workspace, dir string) error {
	source := git.Repo{Dir: w.Dir, Environ: w.Environ, Limit: maxGit}
	head, err := source.Resolve(ctx, "HEAD")
	if err != nil {
		return err
	}
	base, err := source.Resolve(ctx, w.Base)
	if err != nil {
		return err
	}
	cut, err := ends(ctx, source, base, head)
	if err != nil {
		return err
	}
	format, err := source.Run(ctx, "rev-parse", "--show-object-format")
	if err != nil {
		return err
	}
	objects, err := source.Run(ctx, "rev-parse", "--path-format=absolute", "--git-path", "objects")
	if err != nil {
		return err
	}
	target := git.Repo{Dir: dir, Environ: w.Environ}
	if err := os.Mkdir(dir, 0o700); err != nil {
		return err
	}
	if _, err := target.Run(ctx, "init", "--quiet", "--template=", "--object-format="+strings.TrimSpace(string(format))); err != nil {
		return err
	}
	own := filepath.Join(dir, ".git")
	alternates := filepath.Join(own, "objects", "info", "alternates")
	err = errors.Join(os.WriteFile(alternates, objects, 0o600), os.WriteFile(filepath.Join(own, "shallow"), []byte(cut), 0o600))
	if err != nil {
		return err
	}
	for _, args := range [][]string{
		{"update-ref", "refs/sandbox/base", base},
		{"update-ref", "--no-deref", "HEAD", head},
		{"repack", "--quiet", "-a", "-d"},
		{"read-tree", "HEAD"},
	} {
		if _, err := target.Run(ctx, args...); err != nil {
			return err
		}
	}
	return errors.Join(os.Remove(alternates), exclude(ctx, source, dir))
}

// ends returns the commits at which the copied history from base to head begins, one a line. The
// parents of these commits are not copied.
func ends(ctx context.Context, source git.Repo, base, head string) (string, error) {
	out, err := source.Run(ctx, "rev-list", "--boundary", "--end-of-options", base+".."+head)
	if err != nil {
		return "", err
	}
	last := map[string]bool{base: true}
	commits := map[string]bool{base: true}
	for commit := range strings.Lines(string(out)) {
		commit, ok := strings.CutPrefix(strings.TrimSpace(commit), "-")
		last[commit] = last[commit] || ok
		commits[commit] = true
	}
	// If the workspace is a shallow clone, the parents of its first commits are missing, too.
	name, err := source.Run(ctx, "rev-parse", "--path-format=absolute", "--git-path", "shallow")
	if err != nil {
		return "", err
	}
	lines, err := os.ReadFile(strings.TrimSuffix(string(name), "\n"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", err
	}
	for commit := range strings.Lines(string(lines)) {
		commit = strings.TrimSpace(commit)
		last[commit] = commits[commit]
	}
	var all strings.Builder
	for _, commit := range slices.Sorted(maps.Keys(last)) {
		if last[commit] {
			all.WriteString(commit + "\n")
		}
	}
	return all.String(), nil
}

// maxExclude is the most bytes of a repository's own list of ignored files.
const maxExclude = 1 << 20

// exclude copies info/exclude, the list of files that git ignores in this repository only.
func exclude(ctx context.Context, source git.Repo, dir string) error {
	out, err := source.Run(ctx, "rev-parse", "--path-format=absolute", "--git-path", "info/exclude")
	if err != nil {
		return err
	}
	name := strings.TrimSuffix(string(out), "\n")
	list, err := workdir.Dir(filepath.Dir(name)).Read(filepath.Base(name), maxExclude)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	info := filepath.Join(dir, ".git", "info")
	return errors.Join(os.MkdirAll(info, 0o700), os.WriteFile(filepath.Join(info, "exclude"), list, 0o600))
}
