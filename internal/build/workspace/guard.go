package workspace

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/org/foreman-action/internal/git"
)

// A Guard contains the state of the checkout before an agent or a command of the change runs: the files
// of the checkout, and the files that configure its git or that its git runs. The user's refs, stashes
// and index are not guarded: agents do not share them, and the user's own work must not end a run.
type Guard struct {
	checkout *Checkout
	file     string // stores the state until Check
	state    guarded
}

// A guarded is the stored state of a guard.
type guarded struct {
	// Programs are git's configuration, hooks and info, by path in the common folder.
	Programs map[string]*entry `json:"programs"`
	// Dirty are the files that differ from the index, or are not in it. A nil entry was deleted.
	Dirty map[string]*entry `json:"dirty"`
}

// maxDirty is the most bytes of uncommitted files that a Guard keeps.
const maxDirty = 64 << 20

// Watch records the state of the checkout, and stores it in a file until [Guard.Check] ends.
func Watch(ctx context.Context, c *Checkout, file string) (*Guard, error) {
	g := &Guard{checkout: c, file: file}
	if err := g.copyIndex(); err != nil {
		return nil, fmt.Errorf("read the state of the checkout: %w", err)
	}
	var err error
	if g.state, err = g.now(ctx); err != nil {
		return nil, fmt.Errorf("read the state of the checkout: %w", err)
	}
	data, err := json.Marshal(g.state)
	if err != nil {
		return nil, err
	}
	return g, os.WriteFile(file, data, 0o600)
}

// Interrupted returns the changes of the checkout since a [Guard] was stored in a file, and forgets the
// guard; nil if there is none. It puts nothing back, because the user may have made these changes.
func Interrupted(ctx context.Context, c *Checkout, file string) ([]string, error) {
	data, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	g := &Guard{checkout: c, file: file}
	if err == nil {
		err = json.Unmarshal(data, &g.state)
	}
	if err != nil {
		return nil, errors.Join(err, g.forget())
	}
	now, err := g.now(ctx)
	if err != nil {
		return nil, err
	}
	var changed []string
	for _, name := range differences(g.state.Programs, now.Programs) {
		changed = append(changed, filepath.Join(c.common, name))
	}
	return append(changed, differences(g.state.Dirty, now.Dirty)...), g.forget()
}

// Check compares the state of the checkout with the recorded state, and restores changes. It
// returns the changed paths, sorted. Before it restores a file of the checkout, it moves the agent's
// version to the folder saved.
func (g *Guard) Check(ctx context.Context, saved string) ([]string, error) {
	// This comes first and does not call git, because git would run programs that these files name.
	changed, err := g.restorePrograms()
	if err != nil {
		return changed, err
	}
	now, err := g.now(ctx)
	if err != nil {
		return changed, fmt.Errorf("read the state of the checkout: %w", err)
	}
	files, err := os.OpenRoot(g.checkout.Root)
	if err != nil {
		return changed, err
	}
	defer files.Close()
	for _, name := range differences(g.state.Dirty, now.Dirty) {
		changed = append(changed, "checkout: "+name)
		if err := g.restoreFile(ctx, files, name, saved); err != nil {
			return changed, fmt.Errorf("restore %s: %w", name, err)
		}
	}
	slices.Sort(changed)
	return changed, g.forget()
}

func (g *Guard) index() string { return g.file + ".index" }

// forget removes the stored state.
func (g *Guard) forget() error { return errors.Join(Remove(g.file), Remove(g.index())) }

// copyIndex copies the index of the checkout. It keeps its time: git compares the contents of files that
// are as new as the index.
func (g *Guard) copyIndex() error {
	name := filepath.Join(g.checkout.own, "index")
	info, err := os.Stat(name)
	if errors.Is(err, fs.ErrNotExist) {
		return Remove(g.index())
	}
	if err != nil {
		return err
	}
	data, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	return errors.Join(os.WriteFile(g.index(), data, 0o600), os.Chtimes(g.index(), info.ModTime(), info.ModTime()))
}

// git returns git in the checkout, with the copy of the index.
func (g *Guard) git() git.Repo {
	repo := g.checkout.git
	repo.Limit = maxGit
	repo.Vars = append(slices.Clip(repo.Vars), "GIT_INDEX_FILE="+g.index())
	return repo
}

// now returns the present state.
func (g *Guard) now(ctx context.Context) (guarded, error) {
	state := guarded{Dirty: map[string]*entry{}}
	var err error
	if state.Programs, err = g.programs(); err != nil {
		return state, err
	}
	files, err := os.OpenRoot(g.checkout.Root)
	if err != nil {
		return state, err
	}
	defer files.Close()
	changed, others, err := list(ctx, g.git())
	if err != nil {
		return state, err
	}
	size := 0
	for _, name := range append(changed, others...) {
		if strings.HasPrefix(name, ".foreman/runs/") {
			continue
		}
		e, err := read(files, strings.TrimSuffix(name, "/"))
		if err != nil {
			return state, err
		}
		if state.Dirty[name] = e; e != nil {
			size += len(e.Data)
		}
		if size > maxDirty {
			return state, fmt.Errorf("more than %d MB of uncommitted changes: commit them, or move them out of the checkout", maxDirty>>20)
		}
	}
	return state, nil
}

// differences returns the names whose entries differ, sorted. A name that only one of the maps contains
// differs.
func differences(before, now map[string]*entry) []string {
	var changed []string
	for name, e := range now {
		if was, known := before[name]; !known || !was.equal(e) {
			changed = append(changed, name)
		}
	}
	for name := range before {
		if _, there := now[name]; !there {
			changed = append(changed, name)
		}
	}
	slices.Sort(changed) // a folder comes before its files
	return changed
}

// programs reads the files that configure git and the programs that git starts. The keys are paths
// relative to the common folder.
func (g *Guard) programs() (map[string]*entry, error) {
	root, err := os.OpenRoot(g.checkout.common)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	all := map[string]*entry{}
	add := func(name string) error {
		e, err := read(root, name)
		if err == nil && e != nil {
			all[name] = e
		}
		return err
	}
	own, err := filepath.Rel(g.checkout.common, g.checkout.own)
	if err != nil {
		return nil, err
	}
	for _, name := range []string{"config", filepath.ToSlash(filepath.Join(own, "config.worktree"))} {
		if err := add(name); err != nil {
			return nil, err
		}
	}
	for _, dir := range []string{"hooks", "info"} {
		// A link in place of the folder, which cannot be walked, is an entry, too.
		err := fs.WalkDir(root.FS(), dir, func(name string, _ fs.DirEntry, _ error) error {
			if name == "info/refs" { // git gc writes it, for servers
				return nil
			}
			return add(name)
		})
		if err != nil {
			return nil, err
		}
	}
	return all, nil
}

// restorePrograms restores git's configuration and hooks. It does not call git.
func (g *Guard) restorePrograms() ([]string, error) {
	if err := g.inPlace(); err != nil {
		return nil, err
	}
	now, err := g.programs()
	if err != nil {
		return nil, err
	}
	common, err := os.OpenRoot(g.checkout.common)
	if err != nil {
		return nil, err
	}
	defer common.Close()
	var changed []string
	for _, name := range differences(g.state.Programs, now) {
		changed = append(changed, filepath.Join(g.checkout.common, name))
		if err := restore(common, name, g.state.Programs[name]); err != nil {
			return changed, err
		}
	}
	// A folder that was restored may have lost files that had not changed.
	if now, err = g.programs(); err != nil {
		return changed, err
	}
	for _, name := range slices.Sorted(maps.Keys(g.state.Programs)) {
		if e := g.state.Programs[name]; !e.equal(now[name]) {
			if err := restore(common, name, e); err != nil {
				return changed, err
			}
		}
	}
	return changed, nil
}

// inPlace returns an error if a link has replaced one of the folders. Restoring files through a
// link would change another folder.
func (g *Guard) inPlace() error {
	for _, dir := range []string{g.checkout.Root, g.checkout.common, g.checkout.own} {
		if now, err := filepath.EvalSymlinks(dir); err != nil {
			return err
		} else if now != dir {
			return fmt.Errorf("a link in the path %s now leads to %s: put the original folder back", dir, now)
		}
	}
	return nil
}

// restoreFile restores one file of the checkout.
func (g *Guard) restoreFile(ctx context.Context, files *os.Root, name, saved string) error {
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
		if now.Mode.IsDir() { // an untracked repository, of which git lists only the folder
			return errors.Join(os.RemoveAll(copied), os.Rename(filepath.Join(files.Name(), path), copied))
		}
		if err := os.WriteFile(copied, now.Data, 0o600); err != nil {
			return err
		}
	}
	if before, was := g.state.Dirty[name]; was {
		return restore(files, path, before)
	}
	if err := removeAll(files, path); err != nil {
		return err
	}
	// Before the agent run, the file was the same as in the index, or did not exist.
	listed, err := g.git().Run(ctx, append([]string{"ls-files", "-z", "--"}, literal([]string{path})...)...)
	if err != nil || string(listed) != path+"\x00" {
		return err
	}
	_, err = g.git().Run(ctx, "checkout-index", "--force", "--", path)
	return err
}
