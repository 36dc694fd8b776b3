package publish

import (
	"context"
	"os"
	"slices"
	"strings"

	"github.com/org/foreman-action/internal/coding/contrib/snapshot"
	"github.com/org/foreman-action/internal/coding/git"
)

// A repository is the temporary repository of a snapshot, in which the contribution is committed
// and from which it is pushed. Nothing of it stays for the next attempt.
type repository struct {
	git    git.Repo   // works in a temporary folder with the files
	remote git.Remote // the server
	branch string     // a ref
	fork   string     // URL of the fork
}

// newRepository checks the files of the snapshot out in a separate folder. In the workspace, git
// would also run inside nested repositories and use their configuration.
//
// The branch starts at the base of the patch. Commits of the workspace are never published: they
// may contain lines that a later commit removes, which the reviewed patch does not show.
func newRepository(ctx context.Context, taken *snapshot.Snapshot, r Request, by author, remote git.Remote) (*repository, error) {
	files, err := os.MkdirTemp("", "contribflow-publish-")
	if err != nil {
		return nil, err
	}
	p := &repository{git: taken.Repo, remote: remote, branch: "refs/heads/" + r.Branch, fork: r.address()}
	p.git.Dir, p.git.Limit = files, 0 // the network may be slow
	p.git.Vars = slices.Concat(p.git.Vars, []string{"GIT_WORK_TREE=" + files}, by.vars())
	for _, args := range [][]string{
		{"update-ref", p.branch, taken.Base},
		{"symbolic-ref", "HEAD", p.branch},
		{"read-tree", taken.Tree},
		{"checkout-index", "--all", "--force", "--index", "--quiet"},
	} {
		if _, err := p.git.Run(ctx, args...); err != nil {
			p.close()
			return nil, err
		}
	}
	return p, nil
}

// close removes the files.
func (p *repository) close() { _ = os.RemoveAll(p.git.Dir) } // a failure leaves temporary files

// resume moves the branch to the commit that an earlier attempt made, if that commit is on the
// fork. A further change then becomes a second commit.
func (p *repository) resume(ctx context.Context, made string) error {
	public, err := p.public(ctx)
	if err != nil || public != made {
		return err
	}
	if _, err := p.network().Run(ctx, "fetch", "--quiet", "--no-tags", "--no-recurse-submodules", "--no-write-fetch-head", p.fork, p.branch+":refs/contribflow/made"); err != nil {
		return err
	}
	_, err = p.git.Run(ctx, "update-ref", p.branch, made)
	return err
}

// public returns the commit of the branch on the fork, or "" if there is none.
func (p *repository) public(ctx context.Context) (string, error) {
	out, err := p.network().Run(ctx, "ls-remote", "--heads", p.fork, p.branch)
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

// line runs git and returns its output, which is one line.
func (p *repository) line(ctx context.Context, args ...string) (string, error) {
	out, err := p.git.Run(ctx, args...)
	return strings.TrimSpace(string(out)), err
}
