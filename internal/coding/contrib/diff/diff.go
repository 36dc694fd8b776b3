// Package diff records the change in the workspace of the active issue.
package diff

import (
	"context"

	"github.com/org/foreman-action/internal/coding/contrib/contract"
	"github.com/org/foreman-action/internal/coding/contrib/patch"
	"github.com/org/foreman-action/internal/coding/contrib/session"
	"github.com/org/foreman-action/internal/coding/contrib/snapshot"
	"github.com/org/foreman-action/internal/coding/contrib/workspace"
)

// Run returns the document of "diff". It writes the document and the patch to files. It does not
// change the workspace or its index.
func Run(ctx context.Context, s session.Session) (contract.Patch, error) {
	issue, files, err := s.Active()
	if err != nil {
		return contract.Patch{}, err
	}
	w, err := workspace.Open(s, issue, files)
	if err != nil {
		return contract.Patch{}, err
	}
	if err := w.OnBranch(ctx); err != nil {
		return contract.Patch{}, err
	}
	taken, err := snapshot.Take(ctx, w.Clone, w.Record.BaseSHA)
	if err != nil {
		return contract.Patch{}, err
	}
	defer taken.Close()
	document, text, err := patch.Make(ctx, taken, s.Config.SensitivePaths)
	if err != nil {
		return contract.Patch{}, err
	}
	document.Issue, document.WorkspacePath, document.ArtifactPath = w.Record.Issue, files.Workspace, files.Patch
	document.CreatedAt = contract.Time(s.Now())
	document.Next = contract.Run(contract.ActionValidate, "contribflow validate --json")
	if !document.HasChanges {
		document.Next = contract.Run(contract.ActionEdit, "contribflow diff --json")
	}
	// The patch is written first, so that a document never lacks its patch.
	if err := s.Controller.WriteFile(files.Diff, text); err != nil {
		return contract.Patch{}, err
	}
	return document, s.Controller.Write(files.Patch, document)
}
