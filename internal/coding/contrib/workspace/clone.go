package workspace

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"

	"github.com/org/foreman-action/internal/coding/contrib/contract"
	"github.com/org/foreman-action/internal/coding/contrib/controller"
	"github.com/org/foreman-action/internal/coding/contrib/session"
	"github.com/org/foreman-action/internal/coding/contrib/snapshot"
	"github.com/org/foreman-action/internal/coding/git"
	"github.com/org/foreman-action/internal/secret"
	"github.com/org/foreman-action/internal/text"
	"github.com/org/foreman-action/triage"
)

// A Source names a repository to clone, and how.
type Source struct {
	Issue triage.Ref
	Files controller.Files
	Depth int       // number of commits; 0: all
	Log   io.Writer // output of git; it may contain secrets
}

// repository returns the name of the repository.
func (o Source) repository() string { return o.Issue.Owner + "/" + o.Issue.Repo }

// Branch returns the name of an issue's branch.
func Branch(s session.Session, issue triage.Ref) string {
	return s.Config.BranchPrefix + "issue-" + strconv.Itoa(issue.Number)
}

// Clone clones a repository into a temporary folder beside the workspace, and returns its record.
// [Publish] moves the clone into place.
func Clone(ctx context.Context, s session.Session, o Source) (contract.Workspace, error) {
	temp := s.Controller.Abs(o.Files.Workspace) + ".tmp"
	if err := os.MkdirAll(filepath.Dir(temp), 0o700); err != nil {
		return contract.Workspace{}, fmt.Errorf("make the folder of workspaces: %w", err)
	}
	c := cloning{Source: o, session: s, temp: temp, url: s.Server() + "/" + o.repository() + ".git"}
	token, _ := s.Token(session.HostOf(s.Server()))
	err := c.run(ctx, "")
	if err != nil && token != "" && refused(err) {
		err = c.run(ctx, token) // the repository may be private
	}
	if err != nil {
		return contract.Workspace{}, errors.Join(c.explain(err, token != ""), os.RemoveAll(temp))
	}
	record, err := c.branch(ctx)
	if err != nil {
		return contract.Workspace{}, errors.Join(err, os.RemoveAll(temp))
	}
	return record, nil
}

// Publish moves a clone into place. It replaces an existing workspace, so the caller must have
// checked that the old one contains no work.
func Publish(s session.Session, files controller.Files) error {
	dir := s.Controller.Abs(files.Workspace)
	old := dir + ".old"
	if err := os.Rename(dir, old); err != nil && !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("replace the workspace: %w", err)
	}
	if err := os.Rename(dir+".tmp", dir); err != nil {
		return fmt.Errorf("put the clone in its place: %w", err)
	}
	return Tidy(s, files)
}

// Tidy removes the temporary folders of an interrupted checkout.
func Tidy(s session.Session, files controller.Files) error {
	dir := s.Controller.Abs(files.Workspace)
	if err := errors.Join(os.RemoveAll(dir+".tmp"), os.RemoveAll(dir+".old")); err != nil {
		return fmt.Errorf("remove an unfinished checkout: %w", err)
	}
	return nil
}

// A cloning is one call of Clone.
type cloning struct {
	Source
	session session.Session
	temp    string
	url     string
}

// git runs git in the clone.
func (c cloning) git() git.Repo {
	return git.Repo{Dir: c.temp, Environ: c.session.Environ, Vars: []string{
		"GIT_LFS_SKIP_SMUDGE=1", "GIT_DIR=" + filepath.Join(c.temp, ".git"), "GIT_WORK_TREE=" + c.temp,
		// Names that Windows or macOS treat as .git are refused on every system.
		"GIT_CONFIG_COUNT=2", "GIT_CONFIG_KEY_0=core.protectNTFS", "GIT_CONFIG_VALUE_0=true", "GIT_CONFIG_KEY_1=core.protectHFS", "GIT_CONFIG_VALUE_1=true",
	}}
}

// run clones without checking files out.
func (c cloning) run(ctx context.Context, token string) error {
	if err := os.RemoveAll(c.temp); err != nil {
		return fmt.Errorf("remove an unfinished clone: %w", err)
	}
	remote := git.Remote{Server: c.session.Server(), Token: token, Environ: c.session.Environ, Rewrites: true}
	repo := git.Repo{Dir: filepath.Dir(c.temp), Environ: c.session.Environ, Vars: append(remote.Vars(), "GIT_LFS_SKIP_SMUDGE=1")}
	args := []string{
		"-c", "protocol.ext.allow=never",
		"clone", "--progress", "--no-checkout", "--no-tags", "--single-branch", "--no-recurse-submodules", "--template=", "--origin=origin",
	}
	if c.Depth > 0 {
		args = append(args, "--depth="+strconv.Itoa(c.Depth))
	}
	progress := &progress{report: func(done int) {
		const whole = 100
		c.session.Report(session.Progress{What: "clone " + c.repository(), Done: done, Total: whole})
	}}
	err := repo.Stream(ctx, git.Streams{Err: io.MultiWriter(c.Log, progress)}, append(args, "--", c.url, filepath.Base(c.temp))...)
	if failed, ok := errors.AsType[*git.Error](err); ok {
		shown := secret.RedactForms(secret.Redact(failed.Stderr, remote.Secrets()...))
		return &git.Error{Command: "clone", Stderr: shown, Err: failed.Err}
	}
	return err
}

// branch makes the branch of the issue and checks it out.
func (c cloning) branch(ctx context.Context) (contract.Workspace, error) {
	r := c.git()
	const prefix = "refs/remotes/origin/"
	out, err := r.Run(ctx, "symbolic-ref", "--quiet", prefix+"HEAD")
	base := strings.TrimPrefix(strings.TrimSpace(string(out)), prefix)
	if err != nil || base == "" {
		return contract.Workspace{}, contract.Fail(contract.CodeNoWorkspace, "%s has no commits, or no default branch", c.repository())
	}
	sha, err := r.Resolve(ctx, prefix+base)
	if err != nil {
		return contract.Workspace{}, err
	}
	name := Branch(c.session, c.Issue)
	steps := [][]string{{"checkout", "--quiet", "--detach", sha}}
	if base == name || strings.HasPrefix(name, base+"/") || strings.HasPrefix(base, name+"/") { // git cannot have both
		steps = append(steps, []string{"update-ref", "-d", "refs/heads/" + base})
	}
	steps = append(steps, []string{"checkout", "--quiet", "--no-track", "-b", name, sha})
	for _, args := range steps {
		fmt.Fprintf(c.Log, "$ git %s\n", strings.Join(args, " "))
		if _, err := r.Run(ctx, args...); err != nil {
			return contract.Workspace{}, snapshot.Problem(fmt.Errorf("check out %s: %w", c.repository(), err))
		}
	}
	return contract.Workspace{
		Issue: c.Issue.String(), WorkspacePath: c.Files.Workspace, Repo: c.repository(), Branch: name,
		BaseBranch: base, BaseSHA: sha, CloneURL: c.url, LogPath: c.Files.CheckoutLog,
	}, nil
}

// refused reports whether a server requires authentication.
func refused(err error) bool {
	return mentions(err, "could not read username", "authentication failed", "not found", "error: 403", "error: 401")
}

func mentions(err error, words ...string) bool {
	message := strings.ToLower(err.Error())
	for _, word := range words {
		if strings.Contains(message, word) {
			return true
		}
	}
	return false
}

// explain adds a remedy to an error of git.
func (c cloning) explain(err error, token bool) error {
	again := "contribflow checkout " + c.Issue.String() + " --json"
	switch {
	case !errors.As(err, new(*git.Error)):
		return err
	case refused(err) && !token:
		return &contract.Problem{
			Code: contract.CodeAuth, Err: fmt.Errorf("clone %s: it does not exist or is not public, and there is no token: %w", c.repository(), err),
			Next: contract.Instruct(contract.ActionAuthenticate, "Set "+session.Tokens(session.HostOf(c.session.Server()))[0]+" to a token that can read "+c.repository()+", then run: "+again),
		}
	case refused(err):
		return &contract.Problem{
			Code: contract.CodeIssueNotFound, Err: fmt.Errorf("clone %s: it does not exist, or the token cannot read it: %w", c.repository(), err),
			Next: contract.Run(contract.ActionDiscover, "contribflow discover --json"),
		}
	case mentions(err, "could not resolve host", "failed to connect", "couldn't connect", "timed out", "operation too slow", "connection refused", "connection reset", "early eof", "the requested url returned error: 5"):
		return &contract.Problem{
			Code: contract.CodeUnreachable, Err: fmt.Errorf("clone %s: %w", c.repository(), err), Next: contract.Run(contract.ActionCheckout, again),
		}
	}
	return snapshot.Problem(fmt.Errorf("clone %s: %w", c.repository(), err))
}

// Refresh updates the base of the workspace after a fetch and a rebase. The new base is the
// clone's newest commit of the base branch. The server must have this commit on that branch.
// Refresh reports whether the base changed.
func Refresh(ctx context.Context, s session.Session, w *Workspace) (bool, error) {
	newest, err := w.Clone.Refs().Resolve(ctx, "refs/remotes/origin/"+w.Record.BaseBranch)
	if errors.Is(err, git.ErrNoCommit) || newest == w.Record.BaseSHA {
		return false, nil
	}
	if err != nil {
		return false, snapshot.Problem(err)
	}
	public, err := w.public(ctx, s, newest, "")
	if err != nil {
		return false, err
	}
	if !public {
		return false, fmt.Errorf("the clone's origin/%s is at %.12s, which is not on the branch %s of %s", w.Record.BaseBranch, newest, text.Quote(w.Record.BaseBranch), w.Record.Repo)
	}
	w.Record.BaseSHA = newest
	return true, nil
}

// CheckBase returns an error if the base is not on the server's base branch. This check is needed
// because an editor of the workspace may also be able to change the record. Commits before the
// base are published without a review.
func (w *Workspace) CheckBase(ctx context.Context, s session.Session, token string) error {
	public, err := w.public(ctx, s, w.Record.BaseSHA, token)
	if _, ok := errors.AsType[*contract.Problem](err); ok {
		return err
	}
	if err != nil {
		return &contract.Problem{Code: contract.CodeUnreachable, Err: fmt.Errorf("look for the base of the change: %w", err)}
	}
	if !public {
		return w.Clone.Mismatch("the base of %s, %.12s, is not on the branch %s of %s", w.Files.Workspace, w.Record.BaseSHA, text.Quote(w.Record.BaseBranch), w.Clone.Issue)
	}
	return nil
}

// public reports whether the server has a commit on the base branch. It uses only the name of this
// branch from the record.
func (w *Workspace) public(ctx context.Context, s session.Session, commit, token string) (bool, error) {
	scratch, err := snapshot.NewScratch(w.Clone)
	if err != nil {
		return false, err
	}
	defer scratch.Close()
	const tip = "refs/heads/tip"
	repository, _, _ := strings.Cut(w.Clone.Issue, "#")
	remote := git.Remote{Server: s.Server(), Token: token, Environ: s.Environ, Rewrites: true}
	fetch := scratch.Repo
	fetch.Limit = 0 // the network may be slow
	fetch.Vars = append(append([]string{}, fetch.Vars...), remote.Vars()...)
	if _, err := fetch.Run(ctx, "fetch", "--quiet", "--no-tags", "--no-recurse-submodules", "--no-write-fetch-head",
		s.Server()+"/"+repository+".git", "+refs/heads/"+w.Record.BaseBranch+":"+tip); err != nil {
		return false, errors.New(secret.RedactForms(secret.Redact(err.Error(), remote.Secrets()...)))
	}
	return scratch.Before(ctx, commit, tip)
}

// A progress parses git's progress from its output.
type progress struct {
	report func(percent int)
	line   []byte
	last   int
}

var percent = regexp.MustCompile(`^(?:remote: )?(Receiving objects|Resolving deltas): +(\d+)%`)

// Write reads lines, which end in a line break or a carriage return.
func (p *progress) Write(data []byte) (int, error) {
	const longest = 1 << 10
	for _, b := range data {
		if b != '\n' && b != '\r' {
			if len(p.line) < longest {
				p.line = append(p.line, b)
			}
			continue
		}
		if m := percent.FindSubmatch(p.line); m != nil {
			n, err := strconv.Atoi(string(m[2]))
			const receiving = 90 // of 100 steps; the rest is for deltas
			if string(m[1]) == "Receiving objects" {
				n = n * receiving / 100
			} else {
				n = receiving + n/10
			}
			if err == nil && n > p.last {
				p.last = n
				p.report(n)
			}
		}
		p.line = p.line[:0]
	}
	return len(data), nil
}
