// Package workspace provides the folder in which a run works, and the guard of protected files.
// The folder is a worktree of the consumer's repository with a separate branch.
//
// A worktree shares the configuration, hooks and refs of the repository, so an agent could change
// how git works in the consumer's checkout. After every agent run, the guard compares the files
// that configure git and restores them before it calls git.
package workspace

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/org/foreman-action/internal/git"
)

// A Repository is the consumer's checkout.
type Repository struct {
	Root   string // of the checkout; absolute
	common string // git folder that all worktrees share; absolute
	own    string // git folder of this checkout; absolute
	git    git.Repo
}

// Open finds the repository that a folder is in.
func Open(ctx context.Context, dir string, environ []string) (*Repository, error) {
	g := git.Repo{Dir: dir, Environ: environ}
	out, err := g.Run(ctx, "rev-parse", "--path-format=absolute", "--is-inside-work-tree", "--show-toplevel", "--git-common-dir", "--absolute-git-dir")
	if err != nil { // in a bare repository, --show-toplevel fails
		if inside, failed := g.Run(ctx, "rev-parse", "--is-inside-work-tree"); failed == nil && strings.TrimSpace(string(inside)) != "true" {
			return nil, fmt.Errorf("open the repository in %s: it has no working tree", dir)
		}
		return nil, fmt.Errorf("open the repository in %s: %w", dir, err)
	}
	lines := strings.Split(strings.TrimSuffix(string(out), "\n"), "\n")
	const wanted = 4
	switch {
	case len(lines) != wanted:
		return nil, fmt.Errorf("open the repository in %s: its path contains a line break; rename the folder", dir)
	case lines[0] != "true":
		return nil, fmt.Errorf("open the repository in %s: it has no working tree", dir)
	}
	root, common, own := lines[1], lines[2], lines[3]
	g.Dir = root
	if _, err := g.Resolve(ctx, "HEAD"); errors.Is(err, git.ErrNoCommit) {
		return nil, fmt.Errorf("open the repository in %s: it has no commit yet; make the first one", dir)
	} else if err != nil {
		return nil, fmt.Errorf("open the repository in %s, whose working tree is %s: %w", dir, root, err)
	}
	return &Repository{Root: root, common: common, own: own, git: g}, nil
}

// Base returns the commit from which a change starts, and the name of its branch. It resolves ref,
// or origin/ref. If ref is empty, it uses the default branch of the remote origin, or else HEAD.
// branch is empty if HEAD is detached. If ref is a commit hash, branch is this hash.
func (r *Repository) Base(ctx context.Context, ref string) (commit, branch string, err error) {
	if ref == "" {
		if out, err := r.git.Run(ctx, "symbolic-ref", "--quiet", "--short", "refs/remotes/origin/HEAD"); err == nil {
			ref = strings.TrimSpace(string(out))
		}
	}
	candidates := []string{ref, "origin/" + ref}
	if ref == "" {
		candidates = []string{"HEAD"}
		if out, err := r.git.Run(ctx, "symbolic-ref", "--quiet", "--short", "HEAD"); err == nil {
			branch = strings.TrimSpace(string(out))
		}
	} else {
		branch = strings.TrimPrefix(ref, "origin/")
	}
	for _, candidate := range candidates {
		commit, err = r.git.Resolve(ctx, candidate)
		if err == nil || !errors.Is(err, git.ErrNoCommit) {
			return commit, branch, err
		}
	}
	return "", "", fmt.Errorf("find the base: no branch or commit is named %s; in a workflow, check out with fetch-depth: 0", ref)
}

// File returns the content of a file in a commit; nil if the commit has no such file.
func (r *Repository) File(ctx context.Context, commit, path string) ([]byte, error) {
	listed, err := r.git.Run(ctx, "ls-tree", "-z", commit, "--", path)
	if err != nil || len(listed) == 0 {
		return nil, err
	}
	if !strings.HasPrefix(string(listed), "100") {
		return nil, fmt.Errorf("read %s of %.12s: it is not a regular file", path, commit)
	}
	return r.git.Run(ctx, "cat-file", "blob", commit+":"+path)
}

// Folder writes all files of a folder in a commit to the folder to. It skips links.
func (r *Repository) Folder(ctx context.Context, commit, path, to string) error {
	out, err := r.git.Run(ctx, "ls-tree", "-r", "-z", "--full-tree", commit, "--", strings.TrimSuffix(path, "/")+"/")
	if err != nil {
		return err
	}
	if len(out) == 0 {
		return fmt.Errorf("read the folder %s of %.12s: it does not exist", path, commit)
	}
	root, err := os.OpenRoot(to)
	if err != nil {
		return err
	}
	defer root.Close()
	for entry := range strings.SplitSeq(strings.TrimRight(string(out), "\x00"), "\x00") {
		about, name, ok := strings.Cut(entry, "\t")
		fields := strings.Fields(about)
		if !ok || len(fields) != 3 || !strings.HasPrefix(fields[0], "100") {
			continue
		}
		data, err := r.git.Run(ctx, "cat-file", "blob", fields[2])
		if err != nil {
			return err
		}
		below := strings.TrimPrefix(name, strings.TrimSuffix(path, "/")+"/")
		if err := root.MkdirAll(filepath.Dir(below), 0o750); err != nil {
			return err
		}
		if err := root.WriteFile(below, data, 0o644); err != nil {
			return err
		}
	}
	return nil
}

// Exclude adds patterns to info/exclude, so that git add --all skips their files in all worktrees.
func (r *Repository) Exclude(patterns ...string) error {
	name := filepath.Join(r.common, "info", "exclude")
	old, err := os.ReadFile(name)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	text := string(old)
	if text != "" && !strings.HasSuffix(text, "\n") {
		text += "\n"
	}
	for _, pattern := range patterns {
		if !strings.Contains("\n"+text, "\n"+pattern+"\n") {
			text += pattern + "\n"
		}
	}
	if text == string(old) {
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		return err
	}
	return os.WriteFile(name, []byte(text), 0o644) //nolint:gosec // as git makes it
}

// Bundle writes the commits of a branch that come after the commit since to a file.
func (r *Repository) Bundle(ctx context.Context, file, branch, since string) error {
	if _, err := r.git.Run(ctx, "bundle", "create", "--quiet", file, "refs/heads/"+branch, "^"+since); err != nil {
		return fmt.Errorf("write the bundle %s: %w", file, err)
	}
	return nil
}
