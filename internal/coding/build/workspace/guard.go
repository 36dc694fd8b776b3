package workspace

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/org/foreman-action/internal/coding/git"
	"github.com/org/foreman-action/internal/workdir"
)

// A Guard contains the state of the checkout before an agent or a command of the change runs: the files
// of the checkout, and the files that configure its git or that its git runs. The user's refs, stashes
// and index are not guarded: agents do not share them, and the user's own work must not end a run.
type Guard struct {
	checkout *Checkout
	dir      string   // of the run; stores the state until Check
	config   []string // the user's filters and line endings
	files    []byte   // index of the checkout; nil: none
	time     time.Time
	state    guarded
}

// A guarded is the stored state of a guard.
type guarded struct {
	// Watched are the absolute paths of files and folders that configure git, and of programs that it
	// runs, in the checkout and in Foreman's repository. They need not exist.
	Watched []string `json:"watched"`
	// Programs are those that exist, and what the folders contain.
	Programs map[string]*entry `json:"programs"`
	// Dirty are the files that differ from the index, or are not in it. A nil entry was deleted.
	Dirty map[string]*entry `json:"dirty"`
}

// maxDirty is the most bytes of uncommitted files that a Guard keeps.
const maxDirty = 64 << 20

// Watch records the state of the checkout, and stores it in the folder of a run until [Guard.Check] ends.
func Watch(ctx context.Context, c *Checkout, dir string) (*Guard, error) {
	g := &Guard{checkout: c, dir: dir}
	if err := g.watch(ctx); err != nil {
		return nil, fmt.Errorf("read the state of the checkout: %w", err)
	}
	data, err := json.Marshal(g.state)
	if err != nil {
		return nil, err
	}
	return g, workdir.Dir(dir).WritePrivate(stateFile, data)
}

const stateFile = "checkout.json"

func (g *Guard) watch(ctx context.Context) error {
	if err := g.copyIndex(); err != nil {
		return err
	}
	err := g.filters(ctx)
	if err != nil {
		return err
	}
	if g.state.Watched, err = g.configured(ctx); err != nil {
		return err
	}
	if g.state.Programs, err = g.programs(); err != nil {
		return err
	}
	g.state.Dirty, err = g.dirty(ctx)
	return err
}

// Interrupted returns the changes of the checkout since a [Guard] was stored in the folder of a run, and
// forgets the guard; nil if there is none. It puts nothing back, because the user may have made these
// changes.
func Interrupted(ctx context.Context, c *Checkout, dir string) ([]string, error) {
	const most = 4 * maxDirty // JSON takes a third more
	data, err := workdir.Dir(dir).Read(stateFile, most)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	g := &Guard{checkout: c, dir: dir}
	if err == nil {
		err = json.Unmarshal(data, &g.state)
	}
	if err != nil {
		return nil, errors.Join(err, g.forget())
	}
	programs, err := g.programs()
	if err != nil {
		return nil, err
	}
	changed := differences(g.state.Programs, programs)
	if err := g.filters(ctx); err != nil {
		return nil, err
	}
	dirty, err := g.dirty(ctx)
	if err != nil {
		return nil, err
	}
	return append(changed, differences(g.state.Dirty, dirty)...), g.forget()
}

// Check compares the state of the checkout with the recorded state, and restores changes. It
// returns the changed paths, sorted. Before it restores a file of the checkout, it moves the agent's
// version to the folder saved.
func (g *Guard) Check(ctx context.Context, saved string) ([]string, error) {
	// This comes first and does not call git, because git would run programs that these files name.
	changed, err := g.restorePrograms()
	if err == nil {
		err = g.writeIndex()
	}
	if err != nil {
		return changed, err
	}
	dirty, err := g.dirty(ctx)
	if err != nil {
		return changed, fmt.Errorf("read the state of the checkout: %w", err)
	}
	files, err := os.OpenRoot(g.checkout.Root)
	if err != nil {
		return changed, err
	}
	defer files.Close()
	if err := Remove(saved); err != nil { // an agent may have put links there
		return changed, err
	}
	for _, name := range differences(g.state.Dirty, dirty) {
		changed = append(changed, "checkout: "+name)
		if err := g.restoreFile(ctx, files, name, saved); err != nil {
			return changed, fmt.Errorf("restore %s: %w", name, err)
		}
	}
	slices.Sort(changed)
	return changed, g.forget()
}

func (g *Guard) index() string { return filepath.Join(g.dir, "checkout.index") }

// forget removes the stored state.
func (g *Guard) forget() error {
	return errors.Join(Remove(filepath.Join(g.dir, stateFile)), Remove(g.index()))
}

// maxIndex is the most bytes of an index of git.
const maxIndex = 1 << 30

// copyIndex copies the index of the checkout. It keeps its time: git compares the contents of files that
// are as new as the index.
func (g *Guard) copyIndex() error {
	info, err := os.Stat(filepath.Join(g.checkout.own, "index"))
	if errors.Is(err, fs.ErrNotExist) {
		return Remove(g.index())
	}
	if err != nil {
		return err
	}
	g.time = info.ModTime()
	if g.files, err = workdir.Dir(g.checkout.own).Read("index", maxIndex); err != nil {
		return fmt.Errorf("%s: %w", filepath.Join(g.checkout.own, "index"), err)
	}
	return g.writeIndex()
}

// writeIndex writes the copy of the index. An agent may have changed it, or put a pipe or a link in its place.
func (g *Guard) writeIndex() error {
	err := Remove(g.index())
	if err != nil || g.files == nil {
		return err
	}
	return errors.Join(os.WriteFile(g.index(), g.files, 0o600), os.Chtimes(g.index(), g.time, g.time))
}

// filters reads the user's filters and line endings: files of Git LFS, for example, are as in the index, and
// are restored, only with them.
func (g *Guard) filters(ctx context.Context) (err error) {
	g.config, err = g.checkout.filters(ctx, g.dir, "--system", "--global", "--local")
	return err
}

// git returns git in the checkout, with the copy of the index.
func (g *Guard) git() git.Repo {
	repo := g.checkout.git
	repo.Limit = maxGit
	repo.Config = append(slices.Clip(repo.Config), g.config...)
	repo.Vars = append(slices.Clip(repo.Vars), "GIT_INDEX_FILE="+g.index())
	return repo
}

// limit returns how many bytes of a file are read. Before the agent runs, that is maxDirty. Afterwards,
// a file that has become larger has changed, whatever it contains.
func limit(before map[string]*entry, name string) int64 {
	if before == nil {
		return maxDirty
	}
	if was := before[name]; was != nil {
		return was.Size
	}
	return -1
}

// programs reads the files that configure git and the programs that git starts.
func (g *Guard) programs() (map[string]*entry, error) {
	root, err := os.OpenRoot(top)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	all := map[string]*entry{}
	for _, start := range g.state.Watched {
		// A link in place of a folder, which cannot be walked, is an entry, too.
		err := fs.WalkDir(root.FS(), below(start), func(name string, _ fs.DirEntry, _ error) error {
			full := filepath.Join(top, name)
			if full == filepath.Join(g.checkout.common, "info", "refs") { // git gc writes it, for servers
				return nil
			}
			const small = 1 << 20
			e, err := read(root, name, max(small, limit(g.state.Programs, full)))
			if err == nil && e != nil {
				all[full] = e
			}
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	return all, nil
}

// top is the folder above all others. Paths without links can be opened below it.
var top = filepath.VolumeName(os.TempDir()) + string(filepath.Separator)

// below returns an absolute path relative to top.
func below(name string) string { return filepath.ToSlash(strings.TrimPrefix(name, top)) }

// restorePrograms restores git's configuration and hooks. It does not call git.
func (g *Guard) restorePrograms() ([]string, error) {
	if err := g.inPlace(); err != nil {
		return nil, err
	}
	root, err := os.OpenRoot(top)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	var changed []string
	for range 2 { // a folder that was restored may have lost files that had not changed
		now, err := g.programs()
		if err != nil {
			return changed, err
		}
		for _, name := range differences(g.state.Programs, now) {
			changed = append(changed, name)
			if err := restore(root, below(name), g.state.Programs[name]); err != nil {
				return changed, err
			}
		}
	}
	slices.Sort(changed)
	return slices.Compact(changed), nil
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
	now, err := read(files, path, -1)
	if err != nil {
		return err
	}
	before, was := g.state.Dirty[name]
	if now != nil && (!now.Mode.IsDir() || before == nil || !before.Mode.IsDir()) {
		if err := move(files, path, saved); err != nil {
			return err
		}
	}
	if was {
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

// move moves a file, or an untracked repository, of which git lists only the folder, to the folder saved.
func move(files *os.Root, name, saved string) error {
	to := filepath.Join(saved, name)
	if err := os.MkdirAll(filepath.Dir(to), 0o750); err != nil {
		return err
	}
	err := os.Rename(filepath.Join(files.Name(), name), to)
	if info, statErr := files.Lstat(name); !errors.Is(err, syscall.EXDEV) || statErr != nil || !info.Mode().IsRegular() {
		return err
	}
	from, err := files.Open(name)
	if err != nil {
		return err
	}
	defer from.Close()
	out, err := os.OpenFile(to, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, from)
	return errors.Join(err, out.Close())
}

// dirty returns the present files that differ from the index, or are not in it.
func (g *Guard) dirty(ctx context.Context) (map[string]*entry, error) {
	files, err := os.OpenRoot(g.checkout.Root)
	if err != nil {
		return nil, err
	}
	defer files.Close()
	changed, others, err := list(ctx, g.git())
	if err != nil {
		return nil, err
	}
	all := map[string]*entry{}
	var size int64
	for _, name := range append(changed, others...) {
		if strings.HasPrefix(name, ".foreman/runs/") || g.nested(name) {
			continue
		}
		e, err := read(files, strings.TrimSuffix(name, "/"), limit(g.state.Dirty, name))
		if err != nil {
			return nil, err
		}
		if all[name] = e; e != nil {
			size += e.Size
		}
		if size > maxDirty && g.state.Dirty == nil {
			return nil, fmt.Errorf("more than %d MB of uncommitted changes: commit them, or move them out of the checkout", maxDirty>>20)
		}
	}
	return all, nil
}

// nested reports whether a file is in a folder that was a repository of its own before. The files of such
// folders are not guarded.
func (g *Guard) nested(name string) bool {
	for dir := path.Dir(strings.TrimSuffix(name, "/")); dir != "."; dir = path.Dir(dir) {
		if g.state.Dirty[dir+"/"] != nil {
			return true
		}
	}
	return false
}

// differences returns the names whose entries differ, sorted. A name that only one of the maps contains
// differs.
func differences(before, now map[string]*entry) []string {
	var changed []string
	for name, e := range now {
		if was, known := before[name]; !known || !was.equal(e) && (!filepath.IsAbs(name) || filepath.Base(name) != "config" || !onlyBranches(was, e)) {
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

// branchSection is the settings of a branch in a configuration, in the form in which git writes them.
var branchSection = regexp.MustCompile(`(?m)^\[branch "[^"\\\n\]]*"\]\n(\t[A-Za-z-]+ = [^"\\\n\[]*\n)*`)

// onlyBranches reports whether two versions of git's configuration differ only by the settings of
// branches, which start no program: the user's own git writes them with branches.
func onlyBranches(was, now *entry) bool {
	if was == nil || now == nil || was.Mode != now.Mode {
		return false
	}
	return bytes.Equal(branchSection.ReplaceAll(was.Data, nil), branchSection.ReplaceAll(now.Data, nil))
}

// configured returns the files that configure git in the checkout, or would if they existed.
func (g *Guard) configured(ctx context.Context) ([]string, error) {
	c := g.checkout
	dir, err := filepath.EvalSymlinks(g.dir)
	if err != nil {
		return nil, err
	}
	repo := filepath.Join(dir, repoFolder)
	names := []string{
		filepath.Join(c.common, "config"), filepath.Join(c.common, "commondir"), filepath.Join(c.common, "hooks"), filepath.Join(c.common, "info"),
		filepath.Join(c.own, "config.worktree"), filepath.Join(c.own, "commondir"),
		filepath.Join(repo, "config"), filepath.Join(repo, "commondir"), filepath.Join(repo, "hooks"), filepath.Join(repo, "info"),
	}
	if file := filepath.Join(c.Root, ".git"); file != c.own {
		names = append(names, file)
	}
	out, err := c.git.Run(ctx, "config", "--list", "--show-origin", "--includes", "--null")
	if err != nil {
		return nil, err
	}
	fields := strings.Split(string(out), "\x00")
	for ; len(fields) > 1; fields = fields[2:] { // the origin, then the setting
		origin, isFile := strings.CutPrefix(fields[0], "file:")
		key, value, _ := strings.Cut(fields[1], "\n")
		if !isFile || key != "include.path" && (!strings.HasPrefix(key, "includeif.") || !strings.HasSuffix(key, ".path")) {
			continue
		}
		if rest, ok := strings.CutPrefix(value, "~/"); ok {
			value = filepath.Join(strings.TrimPrefix(strings.Join(home(c.git.Environ), ""), "HOME="), rest)
		} else if !filepath.IsAbs(value) {
			value = filepath.Join(filepath.Dir(origin), value)
		}
		if dir, err := filepath.EvalSymlinks(filepath.Dir(value)); err == nil {
			names = append(names, filepath.Join(dir, filepath.Base(value)))
		}
		if target, err := filepath.EvalSymlinks(value); err == nil {
			names = append(names, target)
		}
	}
	return names, nil
}
