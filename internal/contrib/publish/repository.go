package publish

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/org/foreman-action/internal/contrib/snapshot"
	"github.com/org/foreman-action/internal/git"
	"github.com/org/foreman-action/internal/workdir"
)

// A repository is the git repository in which a contribution is committed and from which it is
// pushed. It has a copy of the files, borrows the objects of the workspace, and has a separate
// configuration. Git does not read the configuration of the workspace, which may name programs and
// other servers.
type repository struct {
	git    git.Repo   // works in a temporary folder with the files
	remote git.Remote // the server
	dir    string     // git folder
	branch string
	fork   string // URL of the fork
	author author
	title  string // of the commit
	signed bool   // the commit is signed off
}

// open prepares the repository. It keeps the objects and perhaps the branch of an earlier attempt.
//
// The files of the snapshot are checked out in a separate folder. In the workspace, git would also
// run inside nested repositories and use their configuration.
//
// The branch starts at the base of the patch. It stays at an earlier attempt's commit if that
// commit has exactly this change, author and title, or is already pushed. Commits of the workspace are never
// published: they may contain lines that a later commit removes, which the reviewed patch does not
// show.
func (p *repository) open(ctx context.Context, taken *snapshot.Snapshot, clone string) error {
	if err := p.fill(filepath.Join(clone, ".git"), taken.Repo.Dir); err != nil {
		return fmt.Errorf("make the repository to publish from: %w", err)
	}
	p.git.Vars = append([]string{"GIT_DIR=" + p.dir, "GIT_WORK_TREE=" + p.git.Dir}, p.git.Vars...)
	if !p.keep(ctx, taken) {
		if _, err := p.git.Run(ctx, "update-ref", "refs/heads/"+p.branch, taken.Base); err != nil {
			return err
		}
	}
	for _, args := range [][]string{{"read-tree", taken.Tree}, {"checkout-index", "--all", "--force", "--index", "--quiet"}} {
		if _, err := p.git.Run(ctx, args...); err != nil {
			return err
		}
	}
	return nil
}

// keep reports whether the branch of an earlier attempt can stay.
func (p *repository) keep(ctx context.Context, taken *snapshot.Snapshot) bool {
	at, err := p.git.Resolve(ctx, "refs/heads/"+p.branch)
	if err != nil {
		return false
	}
	parent, err := p.line(ctx, "rev-parse", "--verify", "--quiet", at+"^")
	if err != nil {
		return false
	}
	tree, err := p.line(ctx, "rev-parse", "--verify", "--quiet", at+"^{tree}")
	if err == nil && parent == taken.Base && tree == taken.Tree {
		want := p.author.name + "\n" + p.author.email + "\n" + p.title
		if p.signed {
			want += "\n" + p.author.name + " <" + p.author.email + ">"
		}
		const by = "%an%n%ae%n%s%n%(trailers:key=Signed-off-by,valueonly)"
		if made, err := p.line(ctx, "log", "-1", "--format="+by, at); err == nil && made == want {
			return true
		}
	}
	public, err := p.remoteHead(ctx)
	return err == nil && public == at
}

// remoteHead returns the commit of the branch on the fork, or "" if there is none.
func (p *repository) remoteHead(ctx context.Context) (string, error) {
	out, err := p.network().Run(ctx, "ls-remote", "--heads", p.fork, "refs/heads/"+p.branch)
	hash, _, _ := strings.Cut(strings.TrimSpace(string(out)), "\t")
	return hash, err
}

// network returns git with the settings for the server and the token. Only commands that connect
// to the server use it.
func (p *repository) network() git.Repo {
	r := p.git
	r.Vars = append(slices.Clip(r.Vars), p.remote.Vars()...)
	return r
}

// fill writes the files of the git folder, and removes lock files of an interrupted attempt.
func (p *repository) fill(clone, scratch string) error {
	for _, name := range []string{"index", "index.lock", "HEAD.lock", "config.lock", "refs/heads/" + p.branch + ".lock"} {
		if err := os.Remove(filepath.Join(p.dir, filepath.FromSlash(name))); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	for _, dir := range []string{"objects/info", "refs/heads", "info"} {
		if err := os.MkdirAll(filepath.Join(p.dir, dir), 0o700); err != nil {
			return err
		}
	}
	for name, content := range map[string]string{
		"HEAD":                    "ref: refs/heads/" + p.branch + "\n",
		"objects/info/alternates": filepath.Join(clone, "objects") + "\n" + filepath.Join(scratch, "objects") + "\n",
		"config":                  "[core]\n\trepositoryformatversion = 0\n",
	} {
		if err := os.WriteFile(filepath.Join(p.dir, name), []byte(content), 0o600); err != nil {
			return err
		}
	}
	shallow, err := workdir.Dir(clone).Read("shallow", maxFile)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("read which commits the clone has: %w", err)
	}
	return os.WriteFile(filepath.Join(p.dir, "shallow"), shallow, 0o600)
}

// maxFile is how many bytes of a file of the clone are read.
const maxFile = 1 << 20

// tree returns the tree of the newest commit.
func (p *repository) tree(ctx context.Context) (string, error) {
	return p.line(ctx, "rev-parse", "--verify", "HEAD^{tree}")
}

// staged returns the tree that a commit would have.
func (p *repository) staged(ctx context.Context) (string, error) { return p.line(ctx, "write-tree") }

// line runs git and returns its output, which is one line.
func (p *repository) line(ctx context.Context, args ...string) (string, error) {
	out, err := p.git.Run(ctx, args...)
	return strings.TrimSpace(string(out)), err
}
