package workspace

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/org/foreman-action/internal/coding/git"
	"github.com/org/foreman-action/internal/workdir"
)

// A Repository is Foreman's own repository of a run: bare, with the branch of the run. It borrows the
// objects of the checkout, through git's alternates, and contains only those of the run.
type Repository struct {
	dir    string // with the repository and the clones
	branch string
	git    git.Repo // its filters and line endings are those of the user's configuration
}

// repoFolder is the name of the repository in the folder of a run.
const repoFolder = "repo.git"

// Options describe the repository of a run.
type Options struct {
	Dir    string // folder of the run, which exists
	Branch string
	Commit string   // of the branch; a killed run may have passed it
	Base   string   // name of the branch that the change starts from; empty: none
	Hidden []string // patterns of files that no commit contains
}

// NewRepository opens the repository of a run, or makes it, and sets its branch.
func NewRepository(ctx context.Context, c *Checkout, o Options) (*Repository, error) {
	config, err := c.filters(ctx, filepath.Join(o.Dir, repoFolder), "--system", "--global")
	if err != nil {
		return nil, fmt.Errorf("read the user's configuration of git: %w", err)
	}
	r := &Repository{dir: o.Dir, branch: o.Branch, git: git.Repo{Dir: filepath.Join(o.Dir, repoFolder), Environ: c.git.Environ, Config: config, Limit: maxGit}}
	if _, err := os.Lstat(r.git.Dir); errors.Is(err, fs.ErrNotExist) {
		err = c.make(ctx, r, o)
		if err != nil {
			return nil, fmt.Errorf("make the repository of the run, %s: %w", r.git.Dir, err)
		}
	}
	_, objects, err := c.objects(ctx)
	if err != nil {
		return nil, err
	}
	if borrowed, err := r.borrowed(); err != nil {
		return nil, err
	} else if string(borrowed) != objects+"\n" {
		return nil, fmt.Errorf("%s is of another checkout, with the objects in %s; remove the folder, or name another one by --worktrees", o.Dir, bytes.TrimSpace(borrowed))
	}
	if _, err := r.git.Resolve(ctx, o.Commit); errors.Is(err, git.ErrNoCommit) {
		return nil, fmt.Errorf("the commit %.12s is missing, because of git gc in the checkout or because %s was removed; start the run again", o.Commit, o.Dir)
	} else if err != nil {
		return nil, err
	}
	_, err = r.git.Run(ctx, "update-ref", "refs/heads/"+o.Branch, o.Commit)
	return r, err
}

// maxGit is how long a command of git may take. An agent can put a named pipe among its files, from
// which git would read without end.
const maxGit = 10 * time.Minute

// make makes the repository. Its clones are copies, so it contains the user's tags, the base
// branch, the address of the remote and the patterns of ignored files.
func (c *Checkout) make(ctx context.Context, r *Repository, o Options) error {
	format, objects, err := c.objects(ctx)
	if err != nil {
		return err
	}
	made := *r
	made.git.Dir += ".new" // renamed at the end, because the program may be killed meanwhile
	if err := errors.Join(Remove(made.git.Dir), os.MkdirAll(made.git.Dir, 0o700)); err != nil {
		return err
	}
	if _, err := made.git.Run(ctx, "init", "--quiet", "--bare", "--template=", "--object-format="+format, "--initial-branch="+r.branch); err != nil {
		return err
	}
	refs, err := c.refs(ctx, o.Base)
	if err != nil {
		return err
	}
	files := map[string][]byte{alternates: []byte(objects + "\n"), "packed-refs": refs}
	for _, name := range []string{"shallow", "info/exclude", "info/attributes", "info/sparse-checkout"} {
		if files[name], err = c.gitFile(ctx, name); err != nil {
			return err
		}
	}
	files["info/exclude"] = append(files["info/exclude"], "\n"+strings.Join(o.Hidden, "\n")+"\n"...)
	if err := os.MkdirAll(filepath.Join(made.git.Dir, "info"), 0o700); err != nil {
		return err
	}
	for name, data := range files {
		if data == nil {
			continue
		}
		if err := os.WriteFile(filepath.Join(made.git.Dir, name), data, 0o600); err != nil {
			return err
		}
	}
	for _, setting := range c.settings(ctx, r.git.Config) {
		name, value, _ := strings.Cut(setting, "=")
		if _, err := made.git.Run(ctx, "config", name, value); err != nil {
			return err
		}
	}
	return os.Rename(made.git.Dir, r.git.Dir)
}

// objects returns the hash that the checkout uses, and the folder of its objects.
func (c *Checkout) objects(ctx context.Context) (format, dir string, err error) {
	out, err := c.git.Run(ctx, "rev-parse", "--show-object-format", "--path-format=absolute", "--git-path", "objects")
	format, dir, _ = strings.Cut(strings.TrimSuffix(string(out), "\n"), "\n")
	return format, dir, err
}

// alternates is the file with the folder from which a repository borrows objects.
const alternates = "objects/info/alternates"

// borrowed returns the content of this file.
func (r *Repository) borrowed() ([]byte, error) {
	const most = 1 << 20
	return workdir.Dir(r.git.Dir).Read(alternates, most)
}

// refs returns the tags of the checkout, and its base branch as the branch of the remote, in the form of
// the file packed-refs.
func (c *Checkout) refs(ctx context.Context, base string) ([]byte, error) {
	patterns := []string{"refs/tags"}
	if base != "" {
		patterns = append(patterns, "refs/remotes/origin/"+base)
	}
	list, err := c.git.Run(ctx, append([]string{"for-each-ref", "--format=%(objectname) %(refname)"}, patterns...)...)
	if err != nil || base == "" || strings.Contains(string(list), " refs/remotes/origin/"+base+"\n") {
		return list, err
	}
	commit, err := c.git.Resolve(ctx, "refs/heads/"+base)
	if errors.Is(err, git.ErrNoCommit) {
		return list, nil
	}
	return append([]byte(commit+" refs/remotes/origin/"+base+"\n"), list...), err
}

// gitFile returns a file of the checkout's git folder; nil if it does not exist.
func (c *Checkout) gitFile(ctx context.Context, name string) ([]byte, error) {
	out, err := c.git.Run(ctx, "rev-parse", "--path-format=absolute", "--git-path", name)
	if err != nil {
		return nil, err
	}
	data, err := os.ReadFile(strings.TrimSuffix(string(out), "\n"))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return data, err
}

// settings returns the configuration of the clones: the remote, without credentials, a sparse checkout,
// and the user's line endings.
func (c *Checkout) settings(ctx context.Context, config []string) []string {
	var all []string
	get := func(name string) string {
		out, _ := c.git.Run(ctx, "config", "--get", name) // exits 1 if it is not set
		return strings.TrimSuffix(string(out), "\n")
	}
	if address := get("remote.origin.url"); address != "" {
		if u, err := url.Parse(address); err == nil && u.User != nil && u.Scheme != "ssh" { // of ssh, the user is no secret
			u.User = nil
			address = u.String()
		}
		all = append(all, "remote.origin.url="+address, "remote.origin.fetch=+refs/heads/*:refs/remotes/origin/*")
	}
	for _, name := range []string{"core.sparseCheckout", "core.sparseCheckoutCone"} {
		if value := get(name); value != "" {
			all = append(all, name+"="+value)
		}
	}
	for _, setting := range config {
		if name, _, _ := strings.Cut(setting, "="); name == "core.autocrlf" || name == "core.eol" {
			all = append(all, setting)
		}
	}
	return all
}

// filters returns the filters and the line endings of scopes of the user's configuration of git. The rest
// of this configuration, such as hooks and signatures, has no effect on runs.
//
// The commands of filters run in the folder dir. git would run them among files that an agent could
// write, where "python3 -m NAME", for example, prefers a file NAME.py of the agent.
func (c *Checkout) filters(ctx context.Context, dir string, scopes ...string) ([]string, error) {
	g := c.git
	g.UserConfig = true
	var all []string
	for _, scope := range scopes {
		out, err := g.Run(ctx, "config", scope, "--includes", "--null", "--list")
		if _, failed := errors.AsType[*git.Error](err); failed && ctx.Err() == nil {
			continue // there is no such file
		} else if err != nil {
			return nil, err
		}
		for entry := range strings.SplitSeq(string(out), "\x00") {
			name, value, ok := strings.Cut(entry, "\n")
			switch {
			case !ok || strings.Contains(name, "="): // git cannot take such a name as an argument
			case strings.HasPrefix(name, "filter.") && value != "" && !strings.HasSuffix(name, ".required"):
				all = append(all, name+"=cd '"+strings.ReplaceAll(dir, "'", `'\''`)+"' || exit 1; "+value)
			case strings.HasPrefix(name, "filter."), name == "core.autocrlf", name == "core.eol":
				all = append(all, name+"="+value)
			}
		}
	}
	if out, err := g.Run(ctx, "config", "--type=path", "--get", "core.attributesFile"); err == nil {
		all = append(all, "core.attributesFile="+strings.TrimSuffix(string(out), "\n"))
	} else if file := c.attributes(); file != "" {
		all = append(all, "core.attributesFile="+file)
	}
	return all, ctx.Err()
}

// attributes returns the path of the user's attributes if the configuration names no file; empty: unknown.
func (c *Checkout) attributes() string {
	env := map[string]string{}
	for _, variable := range c.git.Environ {
		name, value, _ := strings.Cut(variable, "=")
		env[name] = value
	}
	switch {
	case env["XDG_CONFIG_HOME"] != "":
		return filepath.Join(env["XDG_CONFIG_HOME"], "git", "attributes")
	case env["HOME"] != "":
		return filepath.Join(env["HOME"], ".config", "git", "attributes")
	}
	return ""
}

// Contains returns an error if the branch of the run does not contain a commit of its branch in the
// checkout.
func (r *Repository) Contains(ctx context.Context, commit string) error {
	foreign, err := r.foreign(ctx, commit)
	return errors.Join(foreign, err)
}

func (r *Repository) foreign(ctx context.Context, commit string) (foreign, err error) {
	out, err := r.git.Run(ctx, "rev-list", "--max-count=1", commit, "^refs/heads/"+r.branch)
	if len(out) > 0 {
		foreign = fmt.Errorf("the branch %s in the checkout has commits that are not of the run, such as %.12s; rename or remove the branch", r.branch, out)
	}
	return foreign, err
}

// Diff returns the change from base to the branch, at most limit bytes of it, and the list of its
// files. It ignores the attributes of the files, and a NUL in them: with either, a change could hide
// itself. Only files whose names are those of pictures, archives and the like may be binary.
func (r *Repository) Diff(ctx context.Context, base string, limit int) (diff []byte, cut bool, stat string, err error) {
	// git reads attributes from the files, from the index, or, in a bare repository, from HEAD.
	empty, err := os.MkdirTemp("", "foreman-diff-")
	if err != nil {
		return nil, false, "", fmt.Errorf("make an empty folder: %w", err)
	}
	defer os.RemoveAll(empty)
	attributes := "* diff\n*." + strings.Join(binaries, " !diff\n*.") + " !diff\n"
	if err := os.WriteFile(filepath.Join(empty, ".gitattributes"), []byte(attributes), 0o600); err != nil {
		return nil, false, "", fmt.Errorf("write attributes for the diff: %w", err)
	}
	g := r.git
	g.Dir, g.Config = empty, nil // no attributes of the user
	g.Vars = []string{"GIT_DIR=" + r.git.Dir, "GIT_WORK_TREE=" + empty, "GIT_INDEX_FILE=" + filepath.Join(empty, "index")}
	diff, cut, err = g.Diff(ctx, base, "HEAD", limit)
	if err != nil {
		return nil, false, "", err
	}
	out, err := g.Run(ctx, "diff", "--stat=120", "--no-color", "--no-ext-diff", "--no-textconv", base+"...HEAD", "--")
	return diff, cut, string(out), err
}

// binaries are the extensions of files for which git decides whether they are text.
var binaries = strings.Fields("7z avi bin bmp bz2 class dll doc docx eot exe gif gz ico jar jpeg jpg mov mp3 mp4 o ogg otf pdf png pptx psd pyc rar so sqlite tar tgz tif tiff ttf wasm webm webp whl woff woff2 xlsx xz zip zst")

// SameTree reports whether two commits have the same files.
func (r *Repository) SameTree(ctx context.Context, a, b string) (bool, error) {
	out, err := r.git.Run(ctx, "rev-parse", a+"^{tree}", b+"^{tree}")
	if err != nil {
		return false, err
	}
	first, second, _ := strings.Cut(strings.TrimSpace(string(out)), "\n")
	return first == second, nil
}

// Bundle writes the commits of the branch that come after the commit since to a file.
func (r *Repository) Bundle(ctx context.Context, file, since string) error {
	if _, err := r.git.Run(ctx, "bundle", "create", "--quiet", file, "refs/heads/"+r.branch, "^"+since); err != nil {
		return fmt.Errorf("write the bundle %s: %w", file, err)
	}
	return nil
}

// An Author is the author of the commits that Foreman makes.
type Author struct{ Name, Email string }

// An UnfitError is the error for files that cannot be committed.
type UnfitError struct{ Err error }

// Error returns the text of the cause.
func (e *UnfitError) Error() string { return e.Err.Error() }

// Unwrap returns the cause.
func (e *UnfitError) Unwrap() error { return e.Err }

// unfit returns an [UnfitError] if a command of git failed or took too long, and not because the run
// ended. It returns other errors unchanged.
func unfit(ctx context.Context, err error) error {
	if _, ok := errors.AsType[*git.Error](err); ok && ctx.Err() == nil {
		return &UnfitError{err}
	}
	return err
}
