// Package workspace manages the clone of a repository in which a contribution is made.
//
// The repository may be hostile. So git clones it without the user's configuration, hooks,
// filters, templates and submodules.
package workspace

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/org/foreman-action/internal/coding/contrib/contract"
	"github.com/org/foreman-action/internal/coding/contrib/controller"
	"github.com/org/foreman-action/internal/coding/contrib/session"
	"github.com/org/foreman-action/internal/coding/contrib/snapshot"
	"github.com/org/foreman-action/internal/text"
	"github.com/org/foreman-action/triage"
)

// A Workspace is a clone that exists.
type Workspace struct {
	Record contract.Workspace // as checkout wrote it
	Files  controller.Files
	Clone  snapshot.Clone
}

// Open returns the workspace of an issue. The error is a [contract.Problem]. Its code is
// [contract.CodeNoWorkspace] if there is no workspace, and [contract.CodeWorkspaceMismatch] if
// checkout did not make the folder.
func Open(s session.Session, issue triage.Ref, files controller.Files) (*Workspace, error) {
	w := &Workspace{Files: files, Clone: snapshot.Clone{Dir: s.Controller.Abs(files.Workspace), Name: files.Workspace, Issue: issue.String(), Environ: s.Environ}}
	found, err := s.Controller.Read(files.WorkspaceState, &w.Record)
	if p, ok := controller.Invalid(err); ok {
		return nil, p.With(contract.Instruct(contract.ActionCheckout,
			"Remove "+files.WorkspaceState+", move "+files.Workspace+" away, then run: contribflow checkout "+issue.String()+" --json"))
	}
	if err != nil {
		return nil, err
	}
	again := contract.Run(contract.ActionCheckout, "contribflow checkout "+issue.String()+" --json")
	none := contract.Fail(contract.CodeNoWorkspace, "%s has no workspace; make it with: contribflow checkout %s", issue, issue).With(again)
	if !found {
		return nil, none
	}
	if err := plain(w.Clone.Dir); errors.Is(err, fs.ErrNotExist) {
		return nil, none
	} else if err != nil {
		return nil, w.Clone.Mismatch("%s", err.Error())
	}
	if !strings.EqualFold(w.Record.Issue, issue.String()) {
		return nil, w.Clone.Mismatch("%s is the workspace of %s", files.Workspace, w.Record.Issue)
	}
	if err := plain(filepath.Join(w.Clone.Dir, ".git")); err != nil {
		return nil, w.Clone.Mismatch("%s is not a clone: %v", files.Workspace, err)
	}
	if err := w.Clone.Check(); err != nil {
		return nil, err
	}
	return w, nil
}

// plain returns an error if a path is a link or a file instead of a folder.
func plain(dir string) error {
	info, err := os.Lstat(dir)
	if err != nil {
		return err
	}
	if !info.IsDir() {
		return fmt.Errorf("%s is not a folder", filepath.Base(dir))
	}
	return nil
}

// Verify checks that the clone is of the right repository and has checked out the issue's branch.
func (w *Workspace) Verify(ctx context.Context) error {
	out, err := w.Clone.Refs().Run(ctx, "config", "--local", "--no-includes", "-z", "--get-all", "remote.origin.url")
	if exit, ok := errors.AsType[*exec.ExitError](err); ok && exit.ExitCode() == 1 {
		out, err = nil, nil
	}
	if err != nil {
		return snapshot.Problem(err)
	}
	if url := strings.TrimSuffix(string(out), "\x00"); url != w.Record.CloneURL {
		return w.Clone.Mismatch("%s is a clone of %q instead of %s", w.Files.Workspace, text.Quote(url), w.Record.CloneURL)
	}
	return w.OnBranch(ctx)
}

// OnBranch checks that the clone has checked out the issue's branch.
func (w *Workspace) OnBranch(ctx context.Context) error {
	out, err := w.Clone.Refs().Run(ctx, "rev-parse", "--symbolic-full-name", "HEAD")
	if err != nil {
		return w.Clone.Unreadable(err)
	}
	want := "refs/heads/" + w.Record.Branch
	if at := strings.TrimSpace(string(out)); at != want {
		return contract.Fail(contract.CodeWorkspaceMismatch, "%s is at %q instead of the branch %s", w.Files.Workspace, text.Quote(strings.TrimPrefix(at, "refs/heads/")), w.Record.Branch).
			With(contract.Run(contract.ActionCheckout, "git -C "+w.Files.Workspace+" switch "+w.Record.Branch))
	}
	return nil
}
