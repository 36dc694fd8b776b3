package workspace

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/org/foreman-action/internal/git"
)

// A Guard keeps the state of protected files before an agent ran.
type Guard struct {
	at       place
	readOnly bool
	steering map[string]*entry // git's configuration and hooks, by path below the common folder
	link     *entry            // the file .git of the worktree
	refs     map[string]string // the repository's, without the branches of runs
	checkout tree              // the consumer's
	work     tree              // the worktree; only of a guard that is read-only
	head     string            // the worktree's commit
}

// A place contains the folders of a worktree and of the checkout beside it.
type place struct {
	root   string // of the consumer's checkout
	own    string // the folder of git of that checkout
	common string // the folder of git that all worktrees share
	dir    string // of the worktree
	admin  string // the worktree's folder of git, relative to the common one
	branch string // of the worktree
	git    git.Repo
}

// A tree is the state of a working tree.
type tree struct {
	head   *entry            // the file HEAD
	commit string            // its commit
	index  *entry            // the file index
	staged string            // digest of the index's entries
	dirty  map[string]*entry // files that differ from the index or are untracked; nil: deleted
}

// maxDirty is how much of uncommitted changes in the consumer's checkout is kept in
// memory.
const maxDirty = 64 << 20

// Watch takes the state before an agent runs. With readOnly, the agent must not change the
// worktree either, except the paths in except.
func Watch(ctx context.Context, w *Worktree, readOnly bool, except []string) (*Guard, error) {
	at, err := w.place()
	if err != nil {
		return nil, err
	}
	g := &Guard{at: at, readOnly: readOnly}
	if g.steering, err = at.steering(); err != nil {
		return nil, err
	}
	if g.link, err = at.link(); err != nil {
		return nil, err
	}
	if g.refs, err = at.refs(ctx); err != nil {
		return nil, err
	}
	if g.head, _, err = w.Head(ctx); err != nil {
		return nil, err
	}
	if g.checkout, err = at.state(ctx, at.root, at.own, nil); err != nil {
		return nil, fmt.Errorf("read the state of the checkout: %w", err)
	}
	if readOnly {
		if g.work, err = at.work(ctx, except); err != nil {
			return nil, fmt.Errorf("read the state of the worktree: %w", err)
		}
	}
	return g, nil
}

// Check compares the state after an agent ran, restores protected files, and returns the
// changed paths, sorted. Files of the consumer's checkout are moved to the folder saved before
// they are put back, so that nothing is lost.
func (g *Guard) Check(ctx context.Context, saved string, except []string) ([]string, error) {
	// First without git: it would execute what these files name.
	changed, err := g.restoreSteering()
	if err != nil {
		return changed, err
	}
	refs, err := g.restoreRefs(ctx)
	if err != nil {
		return changed, err
	}
	changed = append(changed, refs...)
	outside, err := g.restoreCheckout(ctx, saved)
	if err != nil {
		return changed, err
	}
	changed = append(changed, outside...)
	if g.readOnly {
		inside := []string{"the worktree's folder of git"} // which git cannot read any more
		if now, err := g.at.since(ctx, g.work, g.at.dir, g.at.adminDir(), except); err == nil {
			inside = g.work.differences(now)
		}
		if len(inside) > 0 {
			changed = append(changed, inside...)
			if err := g.at.reset(ctx, g.head); err != nil {
				return changed, err
			}
		}
	}
	slices.Sort(changed)
	return slices.Compact(changed), nil
}

// steering reads the files that configure git and the programs that it starts, by path below
// the common folder.
func (p place) steering() (map[string]*entry, error) {
	root, err := os.OpenRoot(p.common)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	names := []string{
		"config", "config.worktree", "info", "info/attributes", "info/exclude", "info/grafts", "info/sparse-checkout",
		"objects", "objects/info", "objects/info/alternates", "shallow", "hooks", "worktrees", p.admin,
		p.admin + "/gitdir", p.admin + "/commondir", p.admin + "/config.worktree",
	}
	if own, err := filepath.Rel(p.common, p.own); err == nil {
		names = append(names, filepath.ToSlash(filepath.Join(own, "HEAD"))) // a broken one is not a repository for git
	}
	if dir, err := root.Open("hooks"); err == nil {
		hooks, err := dir.Readdirnames(-1)
		dir.Close()
		if err != nil && !errors.Is(err, syscall.ENOTDIR) {
			return nil, err
		}
		for _, hook := range hooks {
			names = append(names, "hooks/"+hook)
		}
	}
	all := map[string]*entry{}
	for _, name := range names {
		if all[name], err = read(root, name); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// link returns the file .git of the worktree, which leads git to its folder.
func (p place) link() (*entry, error) {
	root, err := os.OpenRoot(p.dir)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	return read(root, ".git")
}

// inPlace reports folders that a link has taken the place of: restoring files below them would
// change another folder.
func (p place) inPlace() error {
	for _, dir := range []string{p.root, p.common, p.own} {
		if now, err := filepath.EvalSymlinks(dir); err != nil {
			return err
		} else if now != dir {
			return fmt.Errorf("%s leads to %s now: move the folder back to its place", dir, now)
		}
	}
	return nil
}

// folder opens the folder of the worktree. The agent may have removed it, or put something
// else in its place, such as a link to another folder; that goes, and replaced is set.
func (p place) folder() (dir *os.Root, replaced bool, err error) {
	above, name := filepath.Dir(p.dir), filepath.Base(p.dir)
	if err := os.MkdirAll(above, 0o750); err != nil {
		return nil, false, err
	}
	if now, err := filepath.EvalSymlinks(above); err != nil {
		return nil, false, err
	} else if now != above {
		return nil, false, fmt.Errorf("the folder for worktrees %s leads to %s now: move it back to its place", above, now)
	}
	root, err := os.OpenRoot(above)
	if err != nil {
		return nil, false, err
	}
	defer root.Close()
	info, err := root.Lstat(name)
	if err == nil && !info.IsDir() {
		replaced = true
		if err := root.Remove(name); err != nil {
			return nil, replaced, err
		}
	}
	if err != nil || replaced {
		if err := root.Mkdir(name, 0o750); err != nil {
			return nil, replaced, err
		}
	}
	dir, err = root.OpenRoot(name)
	return dir, replaced, err
}

// restoreSteering restores git's configuration and hooks, without git.
func (g *Guard) restoreSteering() ([]string, error) {
	var changed []string
	put := func(root *os.Root, name string, before, after *entry) error {
		if before.equal(after) {
			return nil
		}
		changed = append(changed, filepath.Join(root.Name(), name))
		return restore(root, name, before)
	}
	if err := g.at.inPlace(); err != nil {
		return nil, err
	}
	dir, replaced, err := g.at.folder()
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	if replaced {
		changed = append(changed, g.at.dir)
	}
	link, err := read(dir, ".git")
	if err != nil {
		return nil, err
	}
	if err := put(dir, ".git", g.link, link); err != nil {
		return changed, err
	}
	common, err := os.OpenRoot(g.at.common)
	if err != nil {
		return changed, err
	}
	defer common.Close()
	now, err := g.at.steering()
	if err != nil {
		return changed, err
	}
	for name := range g.steering {
		if _, listed := now[name]; !listed {
			now[name] = nil // a hook that is gone
		}
	}
	for _, name := range slices.Sorted(maps.Keys(now)) { // folders come before their files
		if err := put(common, name, g.steering[name], now[name]); err != nil {
			return changed, err
		}
	}
	return changed, nil
}

// refs returns all refs with their commits and the refs that they stand for, except the
// branches of runs: other runs may be in progress.
func (p place) refs(ctx context.Context) (map[string]string, error) {
	out, err := p.git.Run(ctx, "for-each-ref", "--format=%(refname) %(objectname) %(symref)")
	if err != nil {
		return nil, err
	}
	refs := map[string]string{}
	for line := range strings.Lines(string(out)) {
		name, target, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		if !strings.HasPrefix(name, "refs/heads/"+BranchPrefix) {
			refs[name] = target
		}
	}
	return refs, nil
}

func (g *Guard) restoreRefs(ctx context.Context) ([]string, error) {
	r := g.at
	now, err := r.refs(ctx)
	if err != nil {
		return nil, err
	}
	var changed []string
	for name, target := range now {
		before, known := g.refs[name]
		switch {
		case !known:
			_, err = r.git.Run(ctx, "update-ref", "--no-deref", "-d", name)
		case before != target:
			err = r.setRef(ctx, name, before)
		default:
			continue
		}
		changed = append(changed, name)
		if err != nil {
			return changed, err
		}
	}
	for name, target := range g.refs {
		if _, there := now[name]; !there {
			changed = append(changed, name)
			if err := r.setRef(ctx, name, target); err != nil {
				return changed, err
			}
		}
	}
	return changed, nil
}

// setRef makes a ref lead to a commit, or where there is one behind it, stand for a ref.
func (p place) setRef(ctx context.Context, name, target string) error {
	hash, ref, _ := strings.Cut(target, " ")
	if _, err := p.git.Run(ctx, "update-ref", "--no-deref", name, hash); err != nil || ref == "" {
		return err
	}
	_, err := p.git.Run(ctx, "symbolic-ref", name, ref)
	return err
}

// work returns the state of the worktree.
func (p place) work(ctx context.Context, except []string) (tree, error) {
	return p.state(ctx, p.dir, p.adminDir(), except)
}

// adminDir returns the worktree's folder of git.
func (p place) adminDir() string { return filepath.Join(p.common, p.admin) }

// since resets HEAD and the index of a working tree to an earlier state, and returns the state
// before. Files are compared with the earlier index: a later one can have marks by which git
// takes a changed file for unchanged.
func (p place) since(ctx context.Context, before tree, dir, admin string, except []string) (tree, error) {
	own, err := os.OpenRoot(admin)
	if err != nil {
		return tree{}, err
	}
	defer own.Close()
	head, err := read(own, "HEAD")
	if err != nil {
		return tree{}, err
	}
	if !head.equal(before.head) {
		if err := restore(own, "HEAD", before.head); err != nil {
			return tree{}, err
		}
	}
	index, err := read(own, "index")
	if err != nil {
		return tree{}, err
	}
	staged := before.staged
	if !index.equal(before.index) {
		g := p.git
		g.Dir = dir
		if staged, err = listed(ctx, g); err != nil {
			staged = "" // git cannot read it
		}
		if err := restore(own, "index", before.index); err != nil {
			return tree{}, err
		}
		// Many builds of git compare whole seconds. With an index older than all files git compares
		// their contents, and finds a file of the same size that changed within a second.
		oldest := time.Unix(1, 0)
		if err := own.Chtimes("index", oldest, oldest); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return tree{}, err
		}
	}
	now, err := p.state(ctx, dir, admin, except)
	now.head, now.staged = head, staged
	return now, err
}

// listed returns a digest of an index's entries.
func listed(ctx context.Context, g git.Repo) (string, error) {
	out, err := g.Run(ctx, "ls-files", "--stage", "-z")
	sum := sha256.Sum256(out)
	return string(sum[:]), err
}

// state returns the state of a working tree, except some paths.
func (p place) state(ctx context.Context, dir, admin string, except []string) (tree, error) {
	g := p.git
	g.Dir = dir
	t := tree{dirty: map[string]*entry{}}
	own, err := os.OpenRoot(admin)
	if err != nil {
		return t, err
	}
	defer own.Close()
	files, err := os.OpenRoot(dir)
	if err != nil {
		return t, err
	}
	defer files.Close()
	if t.head, err = read(own, "HEAD"); err != nil {
		return t, err
	}
	if t.index, err = read(own, "index"); err != nil {
		return t, err
	}
	if t.commit, err = g.Resolve(ctx, "HEAD"); err != nil {
		return t, err
	}
	if t.staged, err = listed(ctx, g); err != nil {
		return t, err
	}
	changes, err := g.Status(ctx, true)
	if err != nil {
		return t, err
	}
	size := 0
	for _, c := range changes {
		if slices.Contains(except, c.Path) || strings.HasPrefix(c.Path, ".foreman/runs/") {
			continue
		}
		e, err := read(files, strings.TrimSuffix(c.Path, "/"))
		if err != nil {
			return t, err
		}
		if t.dirty[c.Path] = e; e != nil {
			size += len(e.data)
		}
		if size > maxDirty {
			return t, fmt.Errorf("uncommitted changes of more than %d MB: commit them or move them away", maxDirty>>20)
		}
	}
	return t, nil
}

// differences returns the paths in which a later state of a working tree differs.
func (t tree) differences(now tree) []string {
	var changed []string
	if !t.head.equal(now.head) || t.commit != now.commit {
		changed = append(changed, "HEAD")
	}
	if t.staged != now.staged {
		changed = append(changed, "the index")
	}
	for name, content := range now.dirty {
		before, known := t.dirty[name]
		if !known || !before.equal(content) {
			changed = append(changed, name)
		}
	}
	for name := range t.dirty {
		if _, there := now.dirty[name]; !there {
			changed = append(changed, name)
		}
	}
	slices.Sort(changed)
	return changed
}

// restoreCheckout puts the consumer's checkout back. The agent's files there are moved to the
// folder saved.
func (g *Guard) restoreCheckout(ctx context.Context, saved string) ([]string, error) {
	r := g.at
	now, err := r.since(ctx, g.checkout, r.root, r.own, nil)
	if err != nil {
		return nil, err
	}
	changed := g.checkout.differences(now)
	if len(changed) == 0 {
		return nil, nil
	}
	var named []string
	for _, name := range changed {
		named = append(named, "checkout: "+name)
	}
	files, err := os.OpenRoot(r.root)
	if err != nil {
		return named, err
	}
	defer files.Close()
	for _, name := range changed {
		_, was := g.checkout.dirty[name]
		_, is := now.dirty[name]
		if !was && !is {
			continue // HEAD and the index
		}
		if err := g.restoreFile(ctx, files, name, saved); err != nil {
			return named, fmt.Errorf("put %s back: %w", name, err)
		}
	}
	return named, nil
}

// restoreFile puts one file of the checkout back.
func (g *Guard) restoreFile(ctx context.Context, files *os.Root, name, saved string) error {
	r := g.at
	path := strings.TrimSuffix(name, "/")
	now, err := read(files, path)
	if err != nil {
		return err
	}
	if now != nil {
		copied := filepath.Join(saved, path)
		if err := os.MkdirAll(filepath.Dir(copied), 0o750); err != nil {
			return err
		}
		if now.mode.IsDir() { // a repository of its own, which git does not look into
			return errors.Join(os.RemoveAll(copied), os.Rename(filepath.Join(r.root, path), copied))
		}
		if err := os.WriteFile(copied, now.data, 0o600); err != nil { //nolint:gosec // git lists the path, below the root
			return err
		}
	}
	if before, was := g.checkout.dirty[name]; was {
		return restore(files, path, before)
	}
	if err := removeAll(files, path); err != nil {
		return err
	}
	// The file was equal to its version in the index, or it did not exist.
	listed, err := r.git.Run(ctx, append([]string{"ls-files", "-z", "--"}, literal([]string{path})...)...)
	if err != nil || string(listed) != path+"\x00" {
		return err
	}
	_, err = r.git.Run(ctx, "checkout-index", "--force", "--", path)
	return err
}
