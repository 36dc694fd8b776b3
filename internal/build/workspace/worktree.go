package workspace

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/org/foreman-action/internal/git"
)

// BranchPrefix is the prefix of the branch names of runs.
const BranchPrefix = "foreman/"

// A Worktree is the folder that agents work in.
type Worktree struct {
	Dir    string // absolute
	Branch string // checked out there; only this run uses it
	repo   *Repository
	git    git.Repo
	admin  string // git folder of the worktree, relative to the common folder
}

// An Author is the author of the commits that Foreman makes.
type Author struct{ Name, Email string }

// Add makes a worktree with a branch at a commit. If the branch exists, Add resets it. If an
// earlier run left a worktree in dir, Add removes it. Errors: another folder that is not empty, or
// a branch that is checked out in another worktree.
func (r *Repository) Add(ctx context.Context, dir, branch, commit string) (*Worktree, error) {
	if err := r.checkBranch(ctx, branch); err != nil {
		return nil, err
	}
	w := r.worktree(dir, branch)
	if err := w.Remove(ctx); err != nil {
		return nil, err
	}
	if entries, err := os.ReadDir(dir); err == nil && len(entries) > 0 {
		return nil, fmt.Errorf("make the worktree %s: the folder is not empty and is not a worktree of this repository; move it away", dir)
	}
	if err := os.MkdirAll(filepath.Dir(dir), 0o750); err != nil {
		return nil, fmt.Errorf("make the worktree %s: %w", dir, err)
	}
	if err := r.freeBranch(branch); err != nil {
		return nil, fmt.Errorf("make the worktree %s: %w", dir, err)
	}
	// --force permits a dir that git still lists. It does not permit the reset of a branch that
	// another worktree has checked out.
	if _, err := r.git.Run(ctx, "worktree", "add", "--quiet", "--force", "-B", branch, "--", dir, commit); err != nil {
		if other, _ := r.find(ctx, func(_, checkedOut string) bool { return checkedOut == "refs/heads/"+branch }); other != "" {
			todo := "; check out another branch there"
			if _, err := os.Lstat(other); errors.Is(err, os.ErrNotExist) {
				todo = ", which is missing; put the folder back, or run: git worktree remove --force " + other
			}
			return nil, fmt.Errorf("make the worktree %s: the branch %s is checked out in %s%s", dir, branch, other, todo)
		}
		return nil, fmt.Errorf("make the worktree %s: %w", dir, err)
	}
	admin, err := adminFolder(r.common, dir)
	w.admin = admin
	return w, err
}

func (r *Repository) worktree(dir, branch string) *Worktree {
	g := r.git
	g.Dir = dir
	return &Worktree{Dir: dir, Branch: branch, repo: r, git: g}
}

// adminFolder returns git's administrative folder of a worktree, relative to the common folder.
func adminFolder(common, dir string) (string, error) {
	data, err := os.ReadFile(filepath.Join(dir, ".git"))
	if err != nil {
		return "", err
	}
	target, ok := strings.CutPrefix(strings.TrimSpace(string(data)), "gitdir: ")
	name, err := filepath.Rel(common, target)
	if !ok || err != nil || !strings.HasPrefix(filepath.ToSlash(name), "worktrees/") {
		return "", fmt.Errorf("the file .git of the worktree %s does not name a git folder of this repository", dir)
	}
	return filepath.ToSlash(name), nil
}

// checkBranch returns an error if git does not accept the branch name. It also returns an error if
// a branch exists whose name is a folder of this name, such as "foreman" for "foreman/t1".
func (r *Repository) checkBranch(ctx context.Context, branch string) error {
	if _, err := r.git.Run(ctx, "check-ref-format", "--branch", branch); err != nil {
		return fmt.Errorf("git does not accept the branch name %q: choose another task id", branch)
	}
	for i, c := range branch {
		if c != '/' {
			continue
		}
		if _, err := r.git.Resolve(ctx, "refs/heads/"+branch[:i]); err == nil {
			return fmt.Errorf("make the branch %s: the branch %s exists, and git cannot have both; rename that branch", branch, branch[:i])
		}
	}
	return nil
}

// Remove removes a worktree and its folder, but not the branch. A missing worktree is not an
// error.
func (w *Worktree) Remove(ctx context.Context) error {
	ours, err := w.registered(ctx)
	if err != nil {
		return err
	}
	if !ours {
		return nil
	}
	// Not "worktree prune": it would also remove the user's worktrees on a disk that is not mounted.
	remove := []string{"worktree", "remove", "--force", "--force", "--", w.Dir}
	if _, err = w.repo.git.Run(ctx, remove...); err != nil {
		// git fails if the folder has lost its .git, or files their permissions, but not if the folder is
		// missing.
		if err = w.removeFolder(); err == nil {
			_, err = w.repo.git.Run(ctx, remove...)
		}
	}
	if err != nil {
		return fmt.Errorf("remove the worktree %s: %w", w.Dir, err)
	}
	return nil
}

func (w *Worktree) removeFolder() error {
	root, err := os.OpenRoot(filepath.Dir(w.Dir))
	if err != nil {
		return err
	}
	defer root.Close()
	return removeAll(root, filepath.Base(w.Dir))
}

// registered reports whether git lists the worktree.
func (w *Worktree) registered(ctx context.Context) (bool, error) {
	dir := w.Dir
	if parent, err := filepath.EvalSymlinks(filepath.Dir(dir)); err == nil {
		dir = filepath.Join(parent, filepath.Base(dir))
	}
	path, err := w.repo.find(ctx, func(path, _ string) bool { return path == dir || path == w.Dir })
	return path != "" && path != w.repo.Root, err
}

// find returns the path of the first worktree that match accepts; empty if there is none. match
// gets the path of a worktree, and the ref of its branch; empty if no branch is checked out.
func (r *Repository) find(ctx context.Context, match func(path, ref string) bool) (path string, err error) {
	out, err := r.git.Run(ctx, "worktree", "list", "--porcelain", "-z")
	if err != nil {
		return "", err
	}
	for entry := range strings.SplitSeq(string(out), "\x00\x00") {
		var ref string
		for field := range strings.SplitSeq(entry, "\x00") {
			if value, ok := strings.CutPrefix(field, "worktree "); ok {
				path = value
			}
			if value, ok := strings.CutPrefix(field, "branch "); ok {
				ref = value
			}
		}
		if entry != "" && match(path, ref) {
			return path, nil
		}
	}
	return "", nil
}

// Head returns the commit that is checked out, and its tree.
func (w *Worktree) Head(ctx context.Context) (commit, tree string, err error) {
	out, err := w.git.Run(ctx, "rev-parse", "HEAD^{commit}", "HEAD^{tree}")
	if err != nil {
		return "", "", err
	}
	commit, tree, _ = strings.Cut(strings.TrimSpace(string(out)), "\n")
	return commit, tree, nil
}

// An UnfitError is the error for files that cannot be committed.
type UnfitError struct{ Err error }

// Error returns the text of the cause.
func (e *UnfitError) Error() string { return e.Err.Error() }

// Unwrap returns the cause.
func (e *UnfitError) Unwrap() error { return e.Err }

// unfit returns an [UnfitError] if git itself exited with an error. It returns other errors
// unchanged.
func unfit(ctx context.Context, err error) error {
	if _, ok := errors.AsType[*exec.ExitError](err); ok && ctx.Err() == nil {
		return &UnfitError{err}
	}
	return err
}

// Commit commits all changes since start, except the paths in without, and returns the new HEAD.
// It keeps commits that agents made since start. It replaces them by one commit if one of them
// contains a path in without, or if they do not descend from start. message is the message of
// Foreman's own commit. An error is an [UnfitError] if the files are the cause.
func (w *Worktree) Commit(ctx context.Context, start string, by Author, message string, without []string) (head string, err error) {
	p, err := w.place()
	if err != nil {
		return "", err
	}
	if err := p.settle(ctx, start); err != nil {
		return "", err
	}
	touched, err := w.touches(ctx, start, without)
	if err != nil {
		return "", err
	}
	if touched {
		if _, err := w.git.Run(ctx, "reset", "--quiet", "--soft", start); err != nil {
			return "", err
		}
	}
	if _, err := w.git.Run(ctx, "add", "--all", "--", "."); err != nil {
		return "", unfit(ctx, err)
	}
	if len(without) > 0 {
		// Restore these paths from the start commit. A path that it does not contain is removed from the
		// index.
		reset := append([]string{"reset", "--quiet", start, "--"}, literal(without)...)
		if _, err := w.git.Run(ctx, reset...); err != nil {
			return "", err
		}
	}
	if err := w.checkNested(ctx, start); err != nil {
		return "", err
	}
	head, _, err = w.Head(ctx)
	if err != nil {
		return "", err
	}
	if _, err := w.git.Run(ctx, "diff", "--cached", "--quiet", "--no-ext-diff", head, "--"); err == nil {
		return head, nil
	}
	g := w.git
	g.Vars = append(g.Vars, "GIT_AUTHOR_NAME="+by.Name, "GIT_AUTHOR_EMAIL="+by.Email, "GIT_COMMITTER_NAME="+by.Name, "GIT_COMMITTER_EMAIL="+by.Email)
	if _, err := g.Run(ctx, "commit", "--quiet", "--no-verify", "--cleanup=whitespace", "--message", message); err != nil {
		return "", err
	}
	head, _, err = w.Head(ctx)
	return head, err
}

// checkNested returns an error for a repository in the worktree that is not a submodule, because a
// commit does not contain its files.
func (w *Worktree) checkNested(ctx context.Context, start string) error {
	out, err := w.git.Run(ctx, "diff", "--cached", "--raw", "-z", "--no-renames", "--no-ext-diff", start, "--")
	if err != nil {
		return err
	}
	fields := strings.Split(string(out), "\x00")
	for i := 0; i+1 < len(fields); i += 2 {
		modes := strings.Fields(fields[i]) // the form is ":mode-before mode-after …"
		if len(modes) < 2 || modes[0] == ":160000" || modes[1] != "160000" {
			continue
		}
		path := fields[i+1]
		named, err := w.git.Run(ctx, "config", "--file", filepath.Join(w.Dir, ".gitmodules"), "--get-regexp", `^submodule\..*\.path$`)
		if err != nil || !strings.Contains(string(named), " "+path+"\n") {
			return &UnfitError{fmt.Errorf("%s contains a git repository, so a commit would not include its files: remove %s/.git, or the folder", path, path)}
		}
	}
	return nil
}

// touches reports whether a commit since start changes one of the paths.
func (w *Worktree) touches(ctx context.Context, start string, paths []string) (bool, error) {
	if len(paths) == 0 {
		return false, nil
	}
	out, err := w.git.Run(ctx, append([]string{"log", "--full-history", "--format=%H", "--max-count=1", start + "..HEAD", "--"}, literal(paths)...)...)
	return len(bytes.TrimSpace(out)) > 0, err
}

// literal returns the paths as pathspecs in which no character is a pattern.
func literal(paths []string) []string {
	all := make([]string, 0, len(paths))
	for _, path := range paths {
		all = append(all, ":(top,literal)"+path)
	}
	return all
}

// Reset sets the branch, the index and the files to a commit. It removes untracked files, but not
// ignored ones.
func (w *Worktree) Reset(ctx context.Context, commit string) error {
	p, err := w.place()
	if err != nil {
		return err
	}
	return p.reset(ctx, commit)
}

// Diff returns the change from base to HEAD, at most limit bytes of it, and the list of its
// files. It ignores the attributes of the files: with "-diff" a change could hide itself.
func (w *Worktree) Diff(ctx context.Context, base string, limit int) (diff []byte, cut bool, stat string, err error) {
	// git reads attributes from the working tree, or else from the index.
	empty, err := os.MkdirTemp("", "foreman-diff-")
	if err != nil {
		return nil, false, "", fmt.Errorf("make an empty folder: %w", err)
	}
	defer os.RemoveAll(empty)
	g := w.git
	g.Dir = empty
	g.Vars = append(slices.Clip(g.Vars), "GIT_DIR="+filepath.Join(w.repo.common, filepath.FromSlash(w.admin)), "GIT_WORK_TREE="+empty, "GIT_INDEX_FILE="+filepath.Join(empty, "index"))
	diff, cut, err = g.Diff(ctx, base, "HEAD", limit)
	if err != nil {
		return nil, false, "", err
	}
	out, err := g.Run(ctx, "diff", "--stat=120", "--no-color", "--no-ext-diff", "--no-textconv", base+"...HEAD", "--")
	return diff, cut, string(out), err
}

// SameTree reports whether two commits have the same files.
func (w *Worktree) SameTree(ctx context.Context, a, b string) (bool, error) {
	out, err := w.git.Run(ctx, "rev-parse", a+"^{tree}", b+"^{tree}")
	if err != nil {
		return false, err
	}
	first, second, _ := strings.Cut(strings.TrimSpace(string(out)), "\n")
	return first == second, nil
}

// Remove removes the worktree in dir, if there is one. It does not remove its branch.
func (r *Repository) Remove(ctx context.Context, dir string) error {
	return r.worktree(dir, "").Remove(ctx)
}

// Forget removes the worktree in dir, its folder and its branch.
func (r *Repository) Forget(ctx context.Context, dir, branch string) error {
	if err := r.Remove(ctx, dir); err != nil {
		return err
	}
	if err := r.freeBranch(branch); err != nil {
		return fmt.Errorf("remove the branch %s: %w", branch, err)
	}
	if _, err := r.git.Resolve(ctx, "refs/heads/"+branch); errors.Is(err, git.ErrNoCommit) {
		return nil
	}
	_, err := r.git.Run(ctx, "branch", "--quiet", "-D", "--", branch)
	return err
}
