package workspace

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/org/foreman-action/internal/git"
)

// A Guard holds what an agent must not change, as it was before it ran.
type Guard struct {
	at       place
	readOnly bool
	steering map[string]*entry // what steers git, by its path below the common folder
	link     *entry            // the file .git of the worktree
	refs     map[string]string // the repository's, without the branches of runs
	checkout tree              // the consumer's
	work     tree              // the worktree; only of a guard that is read-only
	head     string            // the worktree's commit
}

// A place is what belongs to a worktree and to the checkout beside it.
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
	commit string            // what it leads to
	index  *entry            // the file index
	staged string            // what the index lists, whatever else its file holds
	dirty  map[string]*entry // files that differ from the index or are untracked; nil: deleted
}

// maxDirty is how much of uncommitted changes in the consumer's checkout is kept in
// memory.
const maxDirty = 64 << 20

// Watch takes the state before an agent runs. With readOnly, the agent must not change the
// worktree either, but for the paths in except.
func Watch(ctx context.Context, w *Worktree, readOnly bool, except []string) (*Guard, error) {
	at := place{root: w.repo.Root, own: w.repo.own, common: w.repo.common, dir: w.Dir, admin: w.admin, branch: w.Branch, git: w.repo.git}
	g := &Guard{at: at, readOnly: readOnly}
	var err error
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

// Check compares the state after an agent ran, puts back what it must not change, and
// returns the paths of that, sorted. Files of the consumer's checkout are moved to the
// folder saved before they are put back, so that nothing is lost.
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
		now, err := g.at.work(ctx, except)
		if err != nil {
			return changed, err
		}
		if inside := g.work.differences(now); len(inside) > 0 {
			changed = append(changed, inside...)
			worktree := g.at.git
			worktree.Dir = g.at.dir
			if err := reset(ctx, worktree, g.at.branch, g.head); err != nil {
				return changed, err
			}
		}
	}
	slices.Sort(changed)
	return slices.Compact(changed), nil
}

// steering reads what decides what git does and which programs it starts, by its path
// below the common folder.
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

// restoreSteering puts back what steers git, without git.
func (g *Guard) restoreSteering() ([]string, error) {
	var changed []string
	put := func(root *os.Root, name string, before, after *entry) error {
		if before.equal(after) {
			return nil
		}
		changed = append(changed, filepath.Join(root.Name(), name))
		return restore(root, name, before)
	}
	if err := os.MkdirAll(g.at.dir, 0o750); err != nil { // the agent may have removed it
		return nil, err
	}
	dir, err := os.OpenRoot(g.at.dir)
	if err != nil {
		return nil, err
	}
	defer dir.Close()
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
	for _, name := range slices.Sorted(maps.Keys(now)) { // folders come before what is in them
		if err := put(common, name, g.steering[name], now[name]); err != nil {
			return changed, err
		}
	}
	return changed, nil
}

// refs returns all refs with their targets, but for the branches of runs: other runs may go
// on at the same time.
func (p place) refs(ctx context.Context) (map[string]string, error) {
	out, err := p.git.Run(ctx, "for-each-ref", "--format=%(objectname) %(refname)")
	if err != nil {
		return nil, err
	}
	refs := map[string]string{}
	for line := range strings.Lines(string(out)) {
		hash, name, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		if !strings.HasPrefix(name, "refs/heads/"+BranchPrefix) {
			refs[name] = hash
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
	for name, hash := range now {
		before, known := g.refs[name]
		switch {
		case !known:
			_, err = r.git.Run(ctx, "update-ref", "--no-deref", "-d", name)
		case before != hash:
			_, err = r.git.Run(ctx, "update-ref", "--no-deref", name, before)
		default:
			continue
		}
		changed = append(changed, name)
		if err != nil {
			return changed, err
		}
	}
	for name, hash := range g.refs {
		if _, there := now[name]; !there {
			changed = append(changed, name)
			if _, err := r.git.Run(ctx, "update-ref", "--no-deref", name, hash); err != nil {
				return changed, err
			}
		}
	}
	return changed, nil
}

// work returns the state of the worktree.
func (p place) work(ctx context.Context, except []string) (tree, error) {
	return p.state(ctx, p.dir, filepath.Join(p.common, p.admin), except)
}

// state returns the state of a working tree, but for some paths.
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
	staged, err := g.Run(ctx, "ls-files", "--stage", "-z")
	if err != nil {
		return t, err
	}
	sum := sha256.Sum256(staged)
	t.staged = string(sum[:])
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

// restoreCheckout puts the consumer's checkout back. What the agent left there moves to the
// folder saved.
func (g *Guard) restoreCheckout(ctx context.Context, saved string) ([]string, error) {
	r := g.at
	now, err := r.state(ctx, r.root, r.own, nil)
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
	own, err := os.OpenRoot(r.own)
	if err != nil {
		return named, err
	}
	defer own.Close()
	if !g.checkout.head.equal(now.head) {
		if err := restore(own, "HEAD", g.checkout.head); err != nil {
			return named, err
		}
	}
	if g.checkout.staged != now.staged {
		if err := restore(own, "index", g.checkout.index); err != nil {
			return named, err
		}
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
	// It was as the index has it, or not there.
	listed, err := r.git.Run(ctx, append([]string{"ls-files", "-z", "--"}, literal([]string{path})...)...)
	if err != nil || string(listed) != path+"\x00" {
		return err
	}
	_, err = r.git.Run(ctx, "checkout-index", "--force", "--", path)
	return err
}
