// Package workspace provides the folders in which a run works. The user's checkout is only read, and
// gets one branch at the end. Each run has a repository of its own, which agents do not know. Agents
// work in clones of it, in which they may do what they like: Foreman never runs git in a folder that
// an agent could write. It fetches the agent's commits, and adds files with its own repository and
// its own index.
//
// A [Guard] compares the files of the checkout, and the files that configure its git, before and
// after each agent.
package workspace

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/org/foreman-action/internal/coding/git"
)

// A Checkout is the user's checkout.
type Checkout struct {
	Root   string // absolute, without links
	common string // git folder that all worktrees share; absolute
	own    string // git folder of this checkout; absolute
	git    git.Repo
}

// Open finds the repository that a folder is in.
func Open(ctx context.Context, dir string, environ []string) (*Checkout, error) {
	g := git.Repo{Dir: dir, Environ: environ, Vars: home(environ)}
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
	for i, dir := range lines[1:] {
		if lines[i+1], err = filepath.EvalSymlinks(dir); err != nil {
			return nil, fmt.Errorf("open the repository in %s: %w", dir, err)
		}
	}
	root, common, own := lines[1], lines[2], lines[3]
	if info, err := os.Stat(filepath.Join(own, "index")); err == nil && !info.Mode().IsRegular() { // git would wait for a pipe
		return nil, fmt.Errorf("open the repository in %s: %s is not a regular file; remove it and run: git reset", dir, filepath.Join(own, "index"))
	}
	// An agent without a sandbox could lead git to another folder, by a file .git or commondir.
	g.Dir, g.Vars = root, []string{"GIT_DIR=" + own, "GIT_COMMON_DIR=" + common, "GIT_WORK_TREE=" + root}
	g.Vars = append(g.Vars, home(environ)...) // the user's configuration may include ~/file
	if _, err := g.Resolve(ctx, "HEAD"); errors.Is(err, git.ErrNoCommit) {
		return nil, fmt.Errorf("open the repository in %s: it has no commit yet; make the first one", dir)
	} else if err != nil {
		return nil, fmt.Errorf("open the repository in %s, whose working tree is %s: %w", dir, root, err)
	}
	return &Checkout{Root: root, common: common, own: own, git: g}, nil
}

// home returns the variable HOME of an environment, as a list.
func home(environ []string) []string {
	return slices.DeleteFunc(slices.Clone(environ), func(v string) bool { return !strings.HasPrefix(v, "HOME=") })
}

// Base returns the commit from which a change starts, and the name of its branch. It resolves ref,
// or origin/ref. If ref is empty, it uses the default branch of the remote origin, or else HEAD.
// branch is empty if HEAD is detached. If ref is a commit hash, branch is this hash.
func (c *Checkout) Base(ctx context.Context, ref string) (commit, branch string, err error) {
	if ref == "" {
		if out, err := c.git.Run(ctx, "symbolic-ref", "--quiet", "--short", "refs/remotes/origin/HEAD"); err == nil {
			ref = strings.TrimSpace(string(out))
		}
	}
	candidates := []string{ref, "origin/" + ref}
	if ref == "" {
		candidates = []string{"HEAD"}
		if out, err := c.git.Run(ctx, "symbolic-ref", "--quiet", "--short", "HEAD"); err == nil {
			branch = strings.TrimSpace(string(out))
		}
	} else {
		branch = strings.TrimPrefix(ref, "origin/")
	}
	for _, candidate := range candidates {
		commit, err = c.git.Resolve(ctx, candidate)
		if err == nil || !errors.Is(err, git.ErrNoCommit) {
			return commit, branch, err
		}
	}
	return "", "", fmt.Errorf("find the base: no branch or commit is named %s; in a workflow, check out with fetch-depth: 0", ref)
}

// Refs returns the refs of the checkout with their commits, without the branches of runs.
func (c *Checkout) Refs(ctx context.Context) (map[string]string, error) {
	out, err := c.git.Run(ctx, "for-each-ref", "--format=%(refname) %(objectname)")
	if err != nil {
		return nil, err
	}
	refs := map[string]string{}
	for line := range strings.Lines(string(out)) {
		if name, commit, _ := strings.Cut(strings.TrimSpace(line), " "); !strings.HasPrefix(name, "refs/heads/"+BranchPrefix) {
			refs[name] = commit
		}
	}
	return refs, nil
}

// Dirty reports whether the checkout has changed or untracked files.
func (c *Checkout) Dirty(ctx context.Context) (bool, error) {
	g := c.git
	g.Limit = maxGit
	changes, err := g.Status(ctx, false)
	return len(changes) > 0, err
}

// File returns the content of a file in a commit; nil if the commit has no such file.
func (c *Checkout) File(ctx context.Context, commit, path string) ([]byte, error) {
	listed, err := c.git.Run(ctx, "ls-tree", "-z", commit, "--", path)
	if err != nil || len(listed) == 0 {
		return nil, err
	}
	if !strings.HasPrefix(string(listed), "100") {
		return nil, fmt.Errorf("read %s of %.12s: it is not a regular file", path, commit)
	}
	return c.git.Run(ctx, "cat-file", "blob", commit+":"+path)
}

// Folder writes all files of a folder in a commit to the folder to. It skips links.
func (c *Checkout) Folder(ctx context.Context, commit, path, to string) error {
	out, err := c.git.Run(ctx, "ls-tree", "-r", "-z", "--full-tree", commit, "--", strings.TrimSuffix(path, "/")+"/")
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
		data, err := c.git.Run(ctx, "cat-file", "blob", fields[2])
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

// Exclude adds patterns to info/exclude, so that git does not list their files.
func (c *Checkout) Exclude(patterns ...string) error {
	name := filepath.Join(c.common, "info", "exclude")
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

// CheckOutside returns an error for a folder in the checkout that git does not ignore: its files would
// count as changes of the checkout.
func (c *Checkout) CheckOutside(ctx context.Context, dir string) error {
	above := dir
	resolved, err := filepath.EvalSymlinks(above)
	for ; errors.Is(err, os.ErrNotExist) && above != filepath.Dir(above); resolved, err = filepath.EvalSymlinks(above) {
		above = filepath.Dir(above)
	}
	if err != nil {
		return err
	}
	if name, err := filepath.Rel(c.Root, resolved); err == nil && !filepath.IsLocal(name) {
		return nil
	}
	if _, err := c.git.Run(ctx, "check-ignore", "--quiet", "--", dir); err != nil {
		return fmt.Errorf("the folder for clones, %s, is in the checkout: name one outside of it, or one that git ignores", dir)
	}
	return nil
}

// BranchPrefix is the prefix of the branch names of runs.
const BranchPrefix = "foreman/"

// Branch returns the commit of a run's branch; empty if the branch does not exist. It returns an error
// if the run could not write the branch at its end: the name is not valid, another branch or ref is in
// the way, or a worktree has the branch checked out.
func (c *Checkout) Branch(ctx context.Context, branch string) (commit string, err error) {
	if _, err := c.git.Run(ctx, "check-ref-format", "--branch", branch); err != nil {
		return "", fmt.Errorf("git does not accept the branch name %q: choose another task id", branch)
	}
	for i, letter := range branch {
		if letter != '/' {
			continue
		}
		if _, err := c.git.Resolve(ctx, "refs/heads/"+branch[:i]); err == nil {
			return "", fmt.Errorf("make the branch %s: the branch %s exists, and git cannot have both; rename that branch", branch, branch[:i])
		}
	}
	below, err := c.git.Run(ctx, "for-each-ref", "--count=1", "--format=%(refname)", "refs/heads/"+branch+"/")
	if err != nil {
		return "", err
	}
	if name := strings.TrimSpace(string(below)); name != "" {
		return "", fmt.Errorf("make the branch %s: the ref %s exists, and git cannot have both; rename it", branch, name)
	}
	if err := c.free(ctx, branch); err != nil {
		return "", err
	}
	out, err := c.git.Run(ctx, "for-each-ref", "--format=%(objectname)", "refs/heads/"+branch)
	return strings.TrimSpace(string(out)), err
}

// free returns an error if a worktree has a branch checked out.
func (c *Checkout) free(ctx context.Context, branch string) error {
	dir, err := c.find(ctx, func(_, ref string) bool { return ref == "refs/heads/"+branch })
	if err != nil || dir == "" {
		return err
	}
	todo := "check out another branch there"
	if _, err := os.Lstat(dir); errors.Is(err, os.ErrNotExist) {
		todo = "the folder is missing: put it back, or run: git worktree remove --force " + dir
	}
	return fmt.Errorf("make the branch %s: it is checked out in %s; %s", branch, dir, todo)
}

// find returns the path of the first worktree that match accepts; empty if there is none. match
// gets the path of a worktree, and the ref of its branch; empty if no branch is checked out.
func (c *Checkout) find(ctx context.Context, match func(path, ref string) bool) (path string, err error) {
	out, err := c.git.Run(ctx, "worktree", "list", "--porcelain", "-z")
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

// A MovedError is the error for a branch of the checkout that has changed during the run.
type MovedError struct {
	Branch string
	Dir    string // Foreman's repository, which has the branch of the run
}

// Error returns what happened and what to do.
func (e *MovedError) Error() string {
	return fmt.Sprintf("write the branch %[1]s: it has changed in this checkout during the run; to fetch the work of the run under another name, run: git fetch %[2]s refs/heads/%[1]s:refs/heads/%[1]s-2", e.Branch, e.Dir)
}

// Deliver copies the branch of a run into the checkout: first its commits, then the ref, if it still is
// at the commit before; empty: if it does not exist. The error is a [*MovedError] if it is not.
func (c *Checkout) Deliver(ctx context.Context, r *Repository, commit, before string) error {
	g := c.git
	g.Vars = append(slices.Clip(g.Vars), "GIT_ALLOW_PROTOCOL=file")
	ref := "refs/heads/" + r.branch
	if _, err := g.Run(ctx, "fetch", "--quiet", "--no-tags", "--no-write-fetch-head", "--no-auto-maintenance", "--no-recurse-submodules", r.git.Dir, ref); err != nil {
		return fmt.Errorf("copy the commits of the run from %s: %w", r.git.Dir, err)
	}
	if err := copyLFS(os.DirFS(r.git.Dir), objectsLFS, filepath.Join(c.common, objectsLFS)); err != nil {
		return fmt.Errorf("copy the files of Git LFS: %w", err)
	}
	if err := c.free(ctx, r.branch); err != nil {
		return err
	}
	if before == "" {
		before = strings.Repeat("0", len(commit))
	}
	if _, err := g.Run(ctx, "update-ref", "--no-deref", ref, commit, before); err != nil {
		return errors.Join(&MovedError{r.branch, r.git.Dir}, err)
	}
	return nil
}

// Forget removes the branch of a run, whose repository is in the folder dir. It also removes the folders
// that are worktrees of the checkout: an earlier version made them. If the branch has other commits than
// those of the run, Forget returns an error.
func (c *Checkout) Forget(ctx context.Context, branch, dir string, former ...string) error {
	r := Repository{branch: branch, git: git.Repo{Dir: filepath.Join(dir, repoFolder), Environ: c.git.Environ, Limit: maxGit}}
	if tip, err := c.git.Resolve(ctx, "refs/heads/"+branch); err == nil {
		if foreign, err := r.foreign(ctx, tip); err == nil && foreign != nil { // the repository may be missing or broken
			return foreign
		}
	}
	for _, dir := range append(former, dir) {
		if above, err := filepath.EvalSymlinks(filepath.Dir(dir)); err == nil {
			dir = filepath.Join(above, filepath.Base(dir))
		}
		found, err := c.find(ctx, func(path, _ string) bool { return path == dir && path != c.Root })
		if err != nil {
			return err
		}
		if found == "" {
			continue
		}
		// By name, because "worktree prune" would also remove the user's worktrees on a disk that is not
		// mounted. Twice --force removes a locked one.
		if _, err := c.git.Run(ctx, "worktree", "remove", "--force", "--force", "--", dir); err != nil {
			return fmt.Errorf("remove the worktree %s: %w", dir, err)
		}
	}
	if err := c.free(ctx, branch); err != nil {
		return fmt.Errorf("remove the branch: %w", err)
	}
	_, err := c.git.Run(ctx, "update-ref", "--no-deref", "-d", "refs/heads/"+branch)
	return err
}
