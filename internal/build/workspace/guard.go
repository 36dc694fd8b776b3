package workspace

import (
	"bytes"
	"context"
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

// A Guard contains the state of protected files before an agent run.
type Guard struct {
	at       place
	readOnly bool
	steering map[string]*entry // git's configuration and hooks, by path in the common folder
	link     *entry            // the file .git of the worktree
	refs     map[string]string // all refs except the branches of runs
	stashes  *entry            // the log of refs/stash, which is the list of stashes
	checkout tree              // state of the consumer's checkout
	work     tree              // state of the worktree; only if readOnly is set
	head     string            // commit of the worktree
}

// A place contains the paths of a worktree and of the consumer's checkout.
type place struct {
	root   string // of the consumer's checkout
	own    string // git folder of the checkout
	common string // git folder that all worktrees share
	dir    string // the worktree
	admin  string // git folder of the worktree, relative to common
	branch string // of the worktree
	git    git.Repo
}

// A tree is the state of a working tree.
type tree struct {
	head   *entry            // the file HEAD
	commit string            // the commit of HEAD
	index  *entry            // the file index
	staged bool              // set by since: the entries of the index differ from those before
	dirty  map[string]*entry // files that differ from the index or are untracked; nil entry: deleted
}

// maxDirty is the most bytes of uncommitted files that a Guard keeps in memory.
const maxDirty = 64 << 20

// Watch records the state before an agent run. With readOnly, the agent may change in the worktree
// only the paths in except.
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
	if g.stashes, err = at.stashes(); err != nil {
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

// Check compares the state after an agent run with the recorded state, and restores protected
// files. It returns the changed paths, sorted. Before it restores a file of the consumer's
// checkout, it moves the agent's version to the folder saved.
func (g *Guard) Check(ctx context.Context, saved string, except []string) ([]string, error) {
	// This comes first and does not call git, because git would run programs that these files name.
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
		inside := []string{"the worktree's git folder"} // reported if git cannot read it
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

// steering reads the files that configure git and the programs that git starts. The keys are paths
// relative to the common folder.
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
		names = append(names, filepath.ToSlash(filepath.Join(own, "HEAD"))) // git needs a valid HEAD
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

// link returns the file .git of the worktree, which contains the path of the worktree's git
// folder.
func (p place) link() (*entry, error) {
	root, err := os.OpenRoot(p.dir)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	return read(root, ".git")
}

// inPlace returns an error if a link has replaced one of the folders. Restoring files through a
// link would change another folder.
func (p place) inPlace() error {
	for _, dir := range []string{p.root, p.common, p.own} {
		if now, err := filepath.EvalSymlinks(dir); err != nil {
			return err
		} else if now != dir {
			return fmt.Errorf("a link in the path %s now leads to %s: put the original folder back", dir, now)
		}
	}
	return nil
}

// folder opens the folder of the worktree. The agent may have removed it or replaced it, for
// example with a link. Then folder makes a new one; replaced is set if there was something else in
// its place.
func (p place) folder() (dir *os.Root, replaced bool, err error) {
	above, name := filepath.Dir(p.dir), filepath.Base(p.dir)
	if err := os.MkdirAll(above, 0o750); err != nil {
		return nil, false, err
	}
	if now, err := filepath.EvalSymlinks(above); err != nil {
		return nil, false, err
	} else if now != above {
		return nil, false, fmt.Errorf("the folder of the worktrees %s now leads to %s through a link: put the original folder back", above, now)
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

// restoreSteering restores git's configuration and hooks. It does not call git.
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
			now[name] = nil // a hook that was removed
		}
	}
	for _, name := range slices.Sorted(maps.Keys(now)) { // a folder comes before its files
		if err := put(common, name, g.steering[name], now[name]); err != nil {
			return changed, err
		}
	}
	return changed, nil
}

// refs returns the target of each ref: a commit, and for a symbolic ref also the name of the other
// ref. It skips the branches of runs, because other runs may be in progress.
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
	stashes, err := r.stashes()
	if err != nil || stashes.equal(g.stashes) {
		return changed, err
	}
	root, err := os.OpenRoot(r.common)
	if err != nil {
		return changed, err
	}
	defer root.Close()
	return append(changed, stash), restore(root, "logs/"+stash, g.stashes)
}

// stash is the ref of the newest stash. Its log lists all of them.
const stash = "refs/stash"

// stashes returns the list of stashes; nil if there are none.
func (p place) stashes() (*entry, error) {
	root, err := os.OpenRoot(p.common)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	return read(root, "logs/"+stash)
}

// setRef sets a ref to a target as refs returns it: to a commit, or as a symbolic ref.
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

// adminDir returns the git folder of the worktree.
func (p place) adminDir() string { return filepath.Join(p.common, p.admin) }

// since returns the current state of a working tree, and resets HEAD and the index to the state
// before. It compares files with the earlier index. The current index may contain marks, such as
// assume-unchanged, that hide changed files from git.
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
	staged := false
	if !index.equal(before.index) {
		g := p.git
		g.Dir = dir
		entries, unreadable := g.Run(ctx, "ls-files", "--stage", "-z")
		if err := restore(own, "index", before.index); err != nil {
			return tree{}, err
		}
		earlier, err := g.Run(ctx, "ls-files", "--stage", "-z")
		staged = unreadable != nil || err != nil || !bytes.Equal(entries, earlier)
		// Many builds of git compare modification times in whole seconds. The index becomes older than
		// all files, so that git compares their contents. Otherwise it misses a change within a second
		// that keeps the size.
		oldest := time.Unix(1, 0)
		if err := own.Chtimes("index", oldest, oldest); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return tree{}, err
		}
	}
	now, err := p.state(ctx, dir, admin, except)
	now.head, now.staged = head, staged
	return now, err
}

// state returns the state of a working tree, without the paths in except.
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
			return t, fmt.Errorf("more than %d MB of uncommitted changes: commit them, or move them out of the checkout", maxDirty>>20)
		}
	}
	return t, nil
}

// differences returns the paths that differ between t and the later state now.
func (t tree) differences(now tree) []string {
	var changed []string
	if !t.head.equal(now.head) || t.commit != now.commit {
		changed = append(changed, "HEAD")
	}
	if now.staged {
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

// restoreCheckout restores the consumer's checkout. It moves the agent's files to the folder
// saved.
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
			continue // HEAD or the index, which since has restored
		}
		if err := g.restoreFile(ctx, files, name, saved); err != nil {
			return named, fmt.Errorf("restore %s: %w", name, err)
		}
	}
	return named, nil
}

// restoreFile restores one file of the checkout.
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
		if now.mode.IsDir() { // an untracked repository, of which git lists only the folder
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
	// Before the agent run, the file was the same as in the index, or did not exist.
	listed, err := r.git.Run(ctx, append([]string{"ls-files", "-z", "--"}, literal([]string{path})...)...)
	if err != nil || string(listed) != path+"\x00" {
		return err
	}
	_, err = r.git.Run(ctx, "checkout-index", "--force", "--", path)
	return err
}
