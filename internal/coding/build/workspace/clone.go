package workspace

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/org/foreman-action/internal/coding/git"
	"github.com/org/foreman-action/internal/workdir"
)

// A Clone is a folder that an agent or a check works in, with a .git of its own. It may break, remove or
// replace everything in the folder.
type Clone struct {
	Dir   string // absolute
	repo  *Repository
	git   git.Repo // Foreman's repository, with the files of the clone and the index of Foreman
	index string   // path of this index, which contains the files as they were cloned
}

// NewClone makes a clone with the branch of the run checked out. name is that of its folder, in which an
// earlier clone is removed. In the clone, the files of steering are as in the base commit.
func NewClone(ctx context.Context, r *Repository, name string, steering Steering) (*Clone, error) {
	c := &Clone{Dir: filepath.Join(r.dir, name), repo: r, git: r.git, index: filepath.Join(r.dir, name+".index")}
	c.git.Vars = []string{"GIT_DIR=" + r.git.Dir, "GIT_WORK_TREE=" + c.Dir, "GIT_INDEX_FILE=" + c.index, skipLFS}
	if err := c.make(ctx, steering); err != nil {
		return nil, errors.Join(fmt.Errorf("make the clone %s: %w", c.Dir, err), c.Remove())
	}
	return c, nil
}

func (c *Clone) make(ctx context.Context, steering Steering) error {
	if err := c.Remove(); err != nil {
		return err
	}
	own := filepath.Join(c.Dir, ".git")
	if err := os.CopyFS(own, os.DirFS(c.repo.git.Dir)); err != nil { // no file is a link to one of the repository
		return err
	}
	if err := os.RemoveAll(filepath.Join(own, refs)); err != nil {
		return err
	}
	g := c.repo.git
	g.Dir = c.Dir
	g.Vars = []string{"GIT_DIR=" + own, "GIT_WORK_TREE=" + c.Dir, skipLFS}
	for _, args := range [][]string{{"config", "core.bare", "false"}, {"read-tree", "-m", "-u", "HEAD"}} {
		if _, err := g.Run(ctx, args...); err != nil {
			return err
		}
	}
	if err := steering.undo(ctx, g); err != nil {
		return err
	}
	index, err := os.ReadFile(filepath.Join(own, "index"))
	if err != nil {
		return err
	}
	if err := os.WriteFile(c.index, index, 0o600); err != nil { //nolint:gosec // the name is Foreman's
		return err
	}
	// Many builds of git compare modification times in whole seconds. The index is older than all files,
	// so that git compares their contents. Otherwise it misses a change within a second that keeps the size.
	return os.Chtimes(c.index, time.Unix(1, 0), time.Unix(1, 0))
}

// skipLFS lets a checkout contain the pointers of Git LFS. Without it a checkout without network fails, or
// asks for a password.
const skipLFS = "GIT_LFS_SKIP_SMUDGE=1"

// Remove removes the clone. It may be missing.
func (c *Clone) Remove() error { return errors.Join(Remove(c.Dir), Remove(c.index)) }

// Size returns the bytes of the files below a folder. It leaves out what it cannot read.
func Size(dir string) (bytes int64) {
	_ = filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error {
		if err != nil {
			return nil //nolint:nilerr // see above
		}
		if info, err := d.Info(); err == nil && info.Mode().IsRegular() {
			bytes += info.Size()
		}
		return nil
	})
	return bytes
}

// Remove removes a file or a folder, even if folders have no write permission. It may be missing.
func Remove(name string) error {
	root, err := os.OpenRoot(filepath.Dir(name))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer root.Close()
	return removeAll(root, filepath.Base(name))
}

// open opens the folder of the clone. An agent may have removed it, or replaced it by a link.
func (c *Clone) open() (*os.Root, error) {
	above, err := os.OpenRoot(c.repo.dir)
	if err != nil {
		return nil, err
	}
	defer above.Close()
	name := filepath.Base(c.Dir)
	if info, err := above.Lstat(name); err != nil || !info.IsDir() {
		return nil, &UnfitError{fmt.Errorf("the folder %s was removed or replaced", c.Dir)}
	}
	root, err := above.OpenRoot(name)
	if err != nil {
		return nil, &UnfitError{fmt.Errorf("open the folder %s: %w", c.Dir, err)}
	}
	return root, nil
}

// list returns the files that differ from the index: those in the index that are changed or missing, and
// those that are not in the index and not ignored. A folder with a repository ends in a slash. git starts
// no program for these commands, except the user's filters; for others it starts git in repositories
// within the folder.
func list(ctx context.Context, g git.Repo) (changed, others []string, err error) {
	for args, names := range map[string]*[]string{"--modified --deleted": &changed, "--others --exclude-standard": &others} {
		out, err := g.Run(ctx, append([]string{"ls-files", "-z"}, strings.Fields(args)...)...)
		if err != nil {
			return nil, nil, err
		}
		for name := range strings.SplitSeq(string(out), "\x00") {
			if name != "" {
				*names = append(*names, name)
			}
		}
		slices.Sort(*names)
		*names = slices.Compact(*names)
	}
	return changed, others, nil
}

// Changed returns the files that differ from those that were cloned, sorted, without the paths in except.
func (c *Clone) Changed(ctx context.Context, except []string) ([]string, error) {
	root, err := c.open()
	if unfit, ok := errors.AsType[*UnfitError](err); ok {
		return []string{unfit.Error()}, nil
	}
	if err != nil {
		return nil, err
	}
	root.Close()
	changed, others, err := list(ctx, c.git)
	all := slices.DeleteFunc(append(changed, others...), func(name string) bool { return within(except, name) })
	slices.Sort(all)
	return all, err
}

// within reports whether a path is one of the paths, or below one of them.
func within(paths []string, name string) bool {
	return slices.ContainsFunc(paths, func(p string) bool { return name == p || strings.HasPrefix(name, p+"/") })
}

// Restore puts the files back that differ from those that were cloned. It removes files that git does
// not ignore and that were not there.
func (c *Clone) Restore(ctx context.Context) error {
	root, err := c.open()
	if err != nil {
		return err
	}
	defer root.Close()
	changed, others, err := list(ctx, c.git)
	if err != nil {
		return err
	}
	for _, name := range append(others, changed...) {
		if err := removeAll(root, strings.TrimSuffix(name, "/")); err != nil {
			return err
		}
	}
	return c.stream(ctx, changed, "checkout-index", "--force", "-z", "--stdin")
}

// stream runs a command of git that reads paths.
func (c *Clone) stream(ctx context.Context, paths []string, args ...string) error {
	if len(paths) == 0 {
		return nil
	}
	return c.git.Stream(ctx, git.Streams{In: lines(paths)}, args...)
}

func lines(paths []string) io.Reader { return strings.NewReader(strings.Join(paths, "\x00") + "\x00") }

// A Change is the input of a commit of a clone's files.
type Change struct {
	Start   string // the commit that was cloned
	By      Author // of Foreman's own commit
	Message string // of Foreman's own commit
	Without []string
}

// Commit commits the files of the clone, except the paths in Without, and returns the new head of the
// branch. It keeps commits that the agent made, if they descend from Start and none of them contains a path
// in Without; otherwise one commit has all changes.
//
// note is the reason why the agent's own commits could not be read; empty: they could. An error is an
// [UnfitError] if the files are the cause.
func (c *Clone) Commit(ctx context.Context, change Change) (head, note string, err error) {
	return c.commit(ctx, "refs/heads/"+c.repo.branch, change)
}

// Keep is like [Clone.Commit] for an attempt that does not count: the ref refs/foreman/NAME has its
// commits, and the branch stays.
func (c *Clone) Keep(ctx context.Context, name string, change Change) error {
	_, _, err := c.commit(ctx, refs+name, change)
	return err
}

// refs begins the names of refs in Foreman's repository that no clone has.
const refs = "refs/foreman/"

func (c *Clone) commit(ctx context.Context, ref string, change Change) (head, note string, err error) {
	root, err := c.open()
	if err != nil {
		return "", "", err
	}
	defer root.Close()
	parent, note, err := c.commits(ctx, root, change)
	if err != nil {
		return "", "", err
	}
	if parent != change.Start {
		// -i, because the files need not be those of a commit.
		if _, err := c.git.Run(ctx, "read-tree", "-i", "-m", change.Start, parent); err != nil {
			return "", "", err
		}
	}
	if err := c.add(ctx, root, change); err != nil {
		return "", "", err
	}
	out, err := c.git.Run(ctx, "write-tree")
	if err != nil {
		return "", "", err
	}
	tree := strings.TrimSpace(string(out))
	before, err := c.repo.git.Run(ctx, "rev-parse", parent+"^{tree}")
	if err != nil {
		return "", "", err
	}
	head = parent
	if strings.TrimSpace(string(before)) != tree {
		g := c.repo.git
		g.Vars = []string{"GIT_AUTHOR_NAME=" + change.By.Name, "GIT_AUTHOR_EMAIL=" + change.By.Email, "GIT_COMMITTER_NAME=" + change.By.Name, "GIT_COMMITTER_EMAIL=" + change.By.Email}
		if out, err = g.Run(ctx, "commit-tree", "-p", parent, "-m", change.Message, tree); err != nil {
			return "", "", err
		}
		head = strings.TrimSpace(string(out))
	}
	if err := copyLFS(root.FS(), ".git/"+objectsLFS, filepath.Join(c.repo.git.Dir, objectsLFS)); err != nil {
		return "", "", err
	}
	_, err = c.repo.git.Run(ctx, "update-ref", ref, head)
	return head, note, err
}

// The limits of a clone.
const (
	maxObjects = 4 << 30         // bytes of its git folder
	maxChange  = 4 << 30         // bytes of its changed files
	maxFetch   = 1 * time.Minute // to read its commits
)

// refAttempt is the ref of the agent's commits in Foreman's repository.
const refAttempt = refs + "fetched"

// commits fetches the commits that the agent made after start, and returns the last one; start if there
// are none, or if they do not count. note is the reason why they could not be read.
func (c *Clone) commits(ctx context.Context, root *os.Root, change Change) (last, note string, err error) {
	r, start, without := c.repo, change.Start, change.Without
	if unread := c.fetch(ctx, root); unread != nil {
		return start, "the agent's own commits could not be read: " + unread.Error(), ctx.Err()
	}
	if last, err = r.git.Resolve(ctx, refAttempt); err != nil {
		return "", "", err
	}
	if _, err := r.git.Run(ctx, "update-ref", "-d", refAttempt); err != nil {
		return "", "", err
	}
	if descends, err := r.git.IsAncestor(ctx, start, last); err != nil || !descends || last == start {
		return start, "", err
	}
	if len(without) > 0 {
		touched, err := r.git.Run(ctx, append([]string{"log", "--full-history", "--format=%H", "--max-count=1", start + ".." + last, "--"}, literal(without)...)...)
		if err != nil {
			return "", "", err
		}
		if len(bytes.TrimSpace(touched)) > 0 {
			return start, "", nil
		}
	}
	return last, "", nil
}

// fetch fetches HEAD of the clone. First it checks that the git folder of the clone is in place, and reads
// objects of no other repository, which may be private.
func (c *Clone) fetch(ctx context.Context, root *os.Root) error {
	if info, err := root.Lstat(".git"); err != nil || !info.IsDir() {
		return errors.New(".git is not a folder")
	}
	var size int64
	err := fs.WalkDir(root.FS(), ".git", func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		switch base := path.Base(name); {
		case TooDeep(name):
			return errors.New(".git has more than 1,000 folders in each other")
		case d.Type()&fs.ModeSymlink != 0 && (d.Name() == "HEAD" || strings.HasPrefix(name, ".git/refs") || strings.HasPrefix(name, ".git/objects")), base == "commondir" && path.Dir(name) == ".git":
			return fmt.Errorf("%s leads to another repository", name)
		case d.Type().IsRegular():
			info, err := d.Info()
			if err != nil {
				return err
			}
			size += info.Size()
		}
		if size > maxObjects {
			return fmt.Errorf(".git has more than %d GB", maxObjects>>30)
		}
		return nil
	})
	if err != nil {
		return err
	}
	ours, err := c.repo.borrowed()
	if err != nil {
		return err
	}
	theirs, err := workdir.Dir(c.Dir).Read(".git/"+alternates, int64(len(ours)))
	if err != nil && !errors.Is(err, fs.ErrNotExist) || err == nil && !bytes.Equal(ours, theirs) {
		return errors.New(".git/" + alternates + " has changed, and could lead to another repository")
	}
	g := c.repo.git
	g.Limit = maxFetch
	g.Config = append(slices.Clip(g.Config), "protocol.version=2", "fetch.fsckObjects=true")
	g.Vars = []string{"GIT_ALLOW_PROTOCOL=file"}
	_, err = g.Run(ctx, "fetch", "--quiet", "--upload-pack", "git -c 'safe.directory=*' upload-pack", "--no-tags", "--no-write-fetch-head",
		"--no-auto-maintenance", "--no-recurse-submodules", "--no-prune", filepath.Join(c.Dir, ".git"), "+HEAD:"+refAttempt)
	return err
}

// add adds the changed files to Foreman's index.
func (c *Clone) add(ctx context.Context, root *os.Root, change Change) error {
	changed, others, err := list(ctx, c.git)
	if err != nil {
		return unfit(ctx, err)
	}
	var gone, keep []string
	var size int64
	for _, name := range append(changed, others...) { // a file that a folder replaces goes before the folder's files come
		name = strings.TrimSuffix(name, "/")
		if within(change.Without, name) {
			continue
		}
		info, err := root.Lstat(name)
		switch {
		case belowNoFolder(root, name) || errors.Is(err, fs.ErrNotExist):
			gone = append(gone, name)
			continue
		case err != nil:
			return &UnfitError{err}
		case info.Mode().IsRegular():
			size += info.Size()
		}
		if size > maxChange {
			return &UnfitError{fmt.Errorf("the changed files have more than %d GB; ignore or remove those that are not needed", maxChange>>30)}
		}
		keep = append(keep, name)
	}
	if err := c.stream(ctx, gone, "update-index", "-z", "--force-remove", "--stdin"); err != nil {
		return err
	}
	if err := c.checkFilters(ctx, root, keep); err != nil {
		return err
	}
	if len(keep) == 0 {
		return c.checkNested(ctx, change.Start)
	}
	var told bytes.Buffer
	if err := c.git.Stream(ctx, git.Streams{In: lines(keep), Err: &told}, "update-index", "-z", "--add", "--remove", "--replace", "--stdin"); err != nil {
		for _, name := range others { // a repository without commits
			if name, ok := strings.CutSuffix(name, "/"); ok && strings.Contains(err.Error(), name) {
				return nested(name)
			}
		}
		return unfit(ctx, err)
	}
	if name, ok := strings.CutPrefix(told.String(), "Ignoring path "); ok { // git's exit code is 0
		name, _, _ = strings.Cut(name, "\n")
		return &UnfitError{fmt.Errorf("git accepts no file %s: some systems take a part of the path for git's own folder; rename or remove it", name)}
	}
	return c.checkNested(ctx, change.Start)
}

// checkFilters returns an error for a path whose filter has no command: git would commit the raw content.
// Attributes of the files and of the index count.
func (c *Clone) checkFilters(ctx context.Context, root *os.Root, paths []string) error {
	if len(paths) == 0 {
		return nil
	}
	for _, from := range [][]string{{"--cached"}, nil} {
		var out bytes.Buffer
		err := c.git.Stream(ctx, git.Streams{In: lines(paths), Out: &out}, append(append([]string{"check-attr"}, from...), "-z", "--stdin", "filter")...)
		if err != nil {
			return unfit(ctx, err)
		}
		fields := strings.Split(out.String(), "\x00")
		const perPath = 3 // the path, the name of the attribute, its value
		for ; len(fields) > perPath; fields = fields[perPath:] {
			name, filter := fields[0], fields[2]
			if filter == "unspecified" || filter == "unset" || filter == "set" || c.filters(filter) {
				continue
			}
			if info, err := root.Lstat(name); err == nil && info.Mode().IsRegular() {
				return &UnfitError{fmt.Errorf("the attributes of %s name the filter %s, for which your configuration of git has no command: install it, for example with git lfs install, or git config --global filter.%s.clean …", name, filter, filter)}
			}
		}
	}
	return nil
}

// filters reports whether the user's configuration has a command that cleans files by a filter.
func (c *Clone) filters(filter string) bool {
	return slices.ContainsFunc(c.git.Config, func(setting string) bool {
		name, value, _ := strings.Cut(setting, "=")
		return value != "" && (name == "filter."+filter+".clean" || name == "filter."+filter+".process")
	})
}

// checkNested returns an error for a repository in the clone that is not a submodule, because a
// commit does not contain its files.
func (c *Clone) checkNested(ctx context.Context, start string) error {
	out, err := c.git.Run(ctx, "diff-index", "--cached", "--raw", "-z", "--no-abbrev", "--no-renames", start, "--")
	if err != nil {
		return err
	}
	changes, err := git.ParseRaw(out)
	if err != nil {
		return err
	}
	for _, change := range changes {
		if change.Mode != git.ModeSubmodule || change.OldMode == git.ModeSubmodule {
			continue
		}
		named, err := c.git.Run(ctx, "config", "--blob", ":.gitmodules", "--get-regexp", `^submodule\..*\.path$`)
		if err != nil || !strings.Contains(string(named), " "+change.Path+"\n") {
			return nested(change.Path)
		}
	}
	return nil
}

func nested(name string) error {
	return &UnfitError{fmt.Errorf("%s contains a git repository, so a commit would not include its files: remove %s/.git, or the folder", name, name)}
}

// literal returns the paths as pathspecs in which no character is a pattern.
func literal(paths []string) []string {
	all := make([]string, 0, len(paths))
	for _, path := range paths {
		all = append(all, ":(top,literal)"+path)
	}
	return all
}
