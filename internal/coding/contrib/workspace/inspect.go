package workspace

import (
	"context"
	"errors"

	"github.com/org/foreman-action/internal/coding/contrib/contract"
	"github.com/org/foreman-action/internal/coding/contrib/controller"
	"github.com/org/foreman-action/internal/coding/contrib/session"
	"github.com/org/foreman-action/internal/coding/contrib/snapshot"
	"github.com/org/foreman-action/triage"
)

// Facts are the facts about a workspace from which the progress of a contribution is derived.
type Facts struct {
	Exists  bool   // the clone exists
	Changed bool   // it differs from its base
	Digest  string // of the current change; empty if it cannot be computed
	// Problem is the reason why Digest is empty: the folder is not the expected clone, or its change
	// is too large.
	Problem *contract.Problem
}

// Inspect returns the facts of an issue's workspace. It changes nothing.
func Inspect(ctx context.Context, s session.Session, issue triage.Ref, files controller.Files) (Facts, error) {
	facts, err := inspect(ctx, s, issue, files)
	if p, ok := errors.AsType[*contract.Problem](err); ok {
		if p.Code == contract.CodeNoWorkspace {
			return Facts{}, nil
		}
		if p.Code == contract.CodeWorkspaceMismatch || p.Code == contract.CodeRecord || p.Code == contract.CodePatchTooLarge {
			return Facts{Exists: true, Changed: true, Problem: p}, nil
		}
	}
	return facts, err
}

func inspect(ctx context.Context, s session.Session, issue triage.Ref, files controller.Files) (Facts, error) {
	w, err := Open(s, issue, files)
	if err != nil {
		return Facts{}, err
	}
	taken, err := snapshot.Take(ctx, w.Clone, w.Record.BaseSHA)
	if err != nil {
		return Facts{}, err
	}
	defer taken.Close()
	patch, _, err := taken.Patch(ctx)
	if err != nil {
		return Facts{}, err
	}
	return Facts{Exists: true, Changed: len(patch) > 0, Digest: taken.Digest(patch)}, nil
}
