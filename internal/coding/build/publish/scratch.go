package publish

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"github.com/org/foreman-action/internal/coding/build"
	"github.com/org/foreman-action/internal/coding/build/config"
	"github.com/org/foreman-action/internal/coding/git"
	"github.com/org/foreman-action/internal/secret"
)

// A scratch is a new repository in a temporary folder. It shares the objects of the checkout, but
// has no configuration, hooks or refs of it.
type scratch struct {
	git    git.Repo
	remote git.Repo // the same repository, for commands that connect to GitHub
	url    string   // of the repository on GitHub
	lfs    store
	hide   []string // secrets to remove from errors
}

// The refs of the scratch repository.
const (
	refBase  = "refs/foreman/base"  // the base branch as it is on GitHub
	refTrunk = "refs/foreman/trunk" // the default branch as it is on GitHub, if it is another one
	refHead  = "refs/foreman/head"  // the change, of a bundle
)

// newScratch makes the repository. The caller closes it.
func newScratch(ctx context.Context, o Options) (*scratch, error) {
	checkout := git.Repo{Dir: o.Dir, Environ: o.Environ}
	out, err := checkout.Run(ctx, "rev-parse", "--is-shallow-repository", "--show-object-format", "--path-format=absolute", "--git-path", "objects")
	if err != nil {
		return nil, failed("git", err)
	}
	shallow, rest, _ := strings.Cut(strings.TrimSuffix(string(out), "\n"), "\n")
	format, objects, _ := strings.Cut(rest, "\n")
	if shallow != "false" {
		return nil, failed("base", errors.New("the checkout is shallow: check out with fetch-depth: 0"))
	}
	dir, err := os.MkdirTemp("", "foreman-publish-")
	if err != nil {
		return nil, failed("git", fmt.Errorf("make a repository: %w", err))
	}
	remote := git.Remote{Server: o.Server, Token: o.Token, Environ: o.Environ}
	s := &scratch{
		git:  git.Repo{Dir: dir, Environ: o.Environ},
		url:  o.Server + "/" + o.Owner + "/" + o.Repo + ".git",
		hide: remote.Secrets(),
	}
	s.lfs = newStore(s.url, o.Token)
	s.remote = s.git
	s.remote.Vars = remote.Vars()
	if _, err = s.git.Run(ctx, "init", "--quiet", "--bare", "--template=", "--object-format="+format, "."); err == nil {
		err = os.WriteFile(filepath.Join(dir, "objects", "info", "alternates"), []byte(objects+"\n"), 0o600)
	}
	if err != nil {
		s.close()
		return nil, failed("git", fmt.Errorf("make a repository: %w", err))
	}
	return s, nil
}

func (s *scratch) close() { _ = os.RemoveAll(s.git.Dir) } // a failure leaves temporary files

// reach runs a git command that connects to GitHub. Its error does not contain the token.
func (s *scratch) reach(ctx context.Context, args ...string) ([]byte, error) {
	out, err := s.remote.Run(ctx, args...)
	if err != nil {
		return nil, errors.New(secret.Redact(err.Error(), s.hide...))
	}
	return out, nil
}

// file returns a file of a commit; nil if the commit has no such file. It compares the objects on
// the way to the file with their hashes.
func (s *scratch) file(ctx context.Context, commit, path string) ([]byte, error) {
	listed, err := s.git.Run(ctx, "ls-tree", "-r", "-t", "-z", "--full-tree", commit, "--", path)
	if err != nil {
		return nil, err
	}
	names, blob := []string{commit, commit + "^{tree}"}, ""
	for entry := range strings.SplitSeq(strings.TrimSuffix(string(listed), "\x00"), "\x00") {
		about, name, ok := strings.Cut(entry, "\t")
		if !ok {
			break
		}
		hash := about[strings.LastIndexByte(about, ' ')+1:]
		if names = append(names, hash); name == path {
			if blob = hash; !strings.HasPrefix(about, "100") {
				return nil, fmt.Errorf("read %s of %.12s: it is not a regular file", path, commit)
			}
		}
	}
	var content []byte
	err = s.git.Objects(ctx, names, func(hash string, data []byte) {
		if hash == blob {
			content = data
		}
	})
	return content, err
}

// policy returns the policy of a branch on GitHub. A branch without the configuration has the default
// one.
func (s *scratch) policy(ctx context.Context, branch, ref string) (policy, error) {
	of := "the branch " + branch + " on GitHub"
	source, err := s.file(ctx, ref, config.Name)
	if err != nil {
		return policy{}, fmt.Errorf("read the configuration of %s: %w", of, err)
	}
	if source == nil {
		return policy{of, config.DefaultPublish()}, nil
	}
	c, err := config.Parse(source)
	if err != nil {
		return policy{}, fmt.Errorf("the configuration of %s is invalid: correct it there, or update foreman if it is of a newer version, then publish again: %w", of, err)
	}
	return policy{of, c.Publish}, nil
}

// A listing is the state of the branches on GitHub.
type listing struct {
	change string // commit of the branch of the change; empty: the branch is not there
	trunk  string // name of the default branch; empty: it is the base branch, or there is none
}

// list lists the branches on GitHub. The error is a [problem] if the base branch is not there.
func (s *scratch) list(ctx context.Context, r build.Report) (there listing, err error) {
	const heads, head = "refs/heads/", "HEAD"
	base, branch := heads+r.BaseBranch, heads+r.Branch
	out, err := s.reach(ctx, "ls-remote", "--symref", s.url, head, base, branch)
	if err != nil {
		return there, failed("git", fmt.Errorf("list the branches of %s: %w%s", s.url, err, access(err, "contents: read")))
	}
	found := false
	for line := range strings.Lines(string(out)) {
		commit, name, _ := strings.Cut(strings.TrimSpace(line), "\t")
		if target, ok := strings.CutPrefix(commit, "ref: "+heads); ok {
			if name == head && target != r.BaseBranch {
				there.trunk = target
			}
			continue
		}
		switch name {
		case base:
			found = true
		case branch:
			there.change = commit
		}
	}
	if !found {
		return there, failed("base", fmt.Errorf("the run started from %s, which is not a branch on GitHub: push the branch, or start a new run with --base BRANCH", r.BaseBranch))
	}
	return there, nil
}

// fetch fetches the base branch and the default branch from GitHub, and finds the change in the checkout
// or in a bundle. It ignores other branches of a bundle.
func (s *scratch) fetch(ctx context.Context, checkout string, r build.Report, bundle string) (there listing, err error) {
	base := "refs/heads/" + r.BaseBranch
	if _, err := s.git.Run(ctx, "check-ref-format", base); err != nil {
		return there, failed("base", fmt.Errorf("the run started from %s, not from a branch: start a new run with --base BRANCH", cmp.Or(r.BaseBranch, "a detached HEAD")))
	}
	if there, err = s.list(ctx, r); err != nil {
		return there, err
	}
	args := []string{"fetch", "--quiet", "--no-tags", "--no-write-fetch-head", s.url, "+" + base + ":" + refBase}
	if there.trunk != "" {
		args = append(args, "+refs/heads/"+there.trunk+":"+refTrunk)
	}
	if _, err := s.reach(ctx, args...); err != nil {
		return there, failed("git", fmt.Errorf("fetch the branch %s: %w", r.BaseBranch, err))
	}
	if err := s.change(ctx, checkout, r, bundle); err != nil {
		return there, err
	}
	// The configuration is trusted only if the base commit is on the base branch on GitHub.
	for _, order := range []struct{ older, newer, message string }{
		{r.BaseSHA, refBase, fmt.Sprintf("the base commit %.12s is not on the branch %s on GitHub: push it, or start a new run from a commit of that branch", r.BaseSHA, r.BaseBranch)},
		{r.BaseSHA, r.HeadSHA, fmt.Sprintf("the change %.12s does not start from the base commit %.12s", r.HeadSHA, r.BaseSHA)},
	} {
		is, err := s.git.IsAncestor(ctx, order.older, order.newer)
		if err != nil {
			return there, failed("git", err)
		}
		if !is {
			return there, failed("base", errors.New(order.message))
		}
	}
	return there, nil
}

// change checks that the commit of the report is the one in the bundle, or on the branch in the
// checkout.
func (s *scratch) change(ctx context.Context, checkout string, r build.Report, bundle string) error {
	g, ref, where := git.Repo{Dir: checkout, Environ: s.git.Environ}, "refs/heads/"+r.Branch, "the branch "+r.Branch
	if bundle != "" {
		where = "the bundle " + bundle
		if err := s.unbundle(ctx, bundle, ref); err != nil {
			return failed("bundle", fmt.Errorf("read %s: %w", where, err))
		}
		g, ref = s.git, refHead
	}
	commit, err := g.Resolve(ctx, ref)
	if err != nil {
		return failed("branch", fmt.Errorf("find %s: %w; pass the bundle of the run with --bundle, or run the task again", where, err))
	}
	if commit != r.HeadSHA {
		return failed("moved", fmt.Errorf("%s is at %.12s, but the report is for %.12s: run foreman build review --task-id %s", where, commit, r.HeadSHA, r.TaskID))
	}
	return nil
}

// unbundle reads only one branch of a bundle.
func (s *scratch) unbundle(ctx context.Context, bundle, branch string) error {
	info, err := os.Lstat(bundle)
	if err != nil {
		return err
	}
	if !info.Mode().IsRegular() { // git would read a folder as a repository
		return errors.New("it is not a regular file")
	}
	g := s.git
	g.Vars = []string{"GIT_ALLOW_PROTOCOL=file"}
	_, err = g.Run(ctx, "fetch", "--quiet", "--no-tags", "--no-write-fetch-head", bundle, "+"+branch+":"+refHead)
	return err
}

// push pushes the change, unless the branch on GitHub already has it. It overwrites the branch
// only if the open pull request shows that we pushed its commit. It never overwrites other
// commits.
func (s *scratch) push(ctx context.Context, r build.Report, there, ours string) error {
	if there == r.HeadSHA {
		return nil
	}
	branch := "refs/heads/" + r.Branch
	args := []string{"push", "--quiet", "--no-verify", "--no-follow-tags"}
	if there != "" && there == ours {
		args = append(args, "--force-with-lease="+branch+":"+there)
	}
	_, err := s.reach(ctx, append(args, s.url, r.HeadSHA+":"+branch)...)
	if err == nil {
		return nil
	}
	return failed("push", fmt.Errorf("push the branch %s: %w%s", r.Branch, err, pushAdvice(err)))
}

// pushAdvice returns the remedy for a failed push.
func pushAdvice(err error) string {
	text := strings.ToLower(err.Error())
	switch {
	case strings.Contains(text, "refusing to allow"):
		return ": the change contains workflow files, which GITHUB_TOKEN may never push; use a token with the permission workflows: write"
	case strings.Contains(text, "fetch first"), strings.Contains(text, "non-fast-forward"), strings.Contains(text, "stale info"):
		return ": the branch on GitHub has commits of another run or of people; delete the branch there, or use another task id"
	}
	return access(err, "contents: write")
}

// access returns a remedy for an error that means missing permissions; empty for other errors.
func access(err error, need string) string {
	text := strings.ToLower(err.Error())
	for _, refusal := range []string{"403", "denied", "not granted", "401", "authentication failed", "could not read username", "not found"} {
		if strings.Contains(text, refusal) {
			return ": the token needs the permission " + need
		}
	}
	return ""
}

// escape escapes a branch name for a URL path. It keeps slashes.
func escape(name string) string { return (&url.URL{Path: name}).EscapedPath() }
