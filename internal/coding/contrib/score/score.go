// Package score reads one issue and its repository, and rates how well it suits the contributor.
package score

import (
	"context"
	"errors"

	"github.com/org/foreman-action/internal/coding/contrib/contract"
	"github.com/org/foreman-action/internal/coding/contrib/hub"
	"github.com/org/foreman-action/internal/coding/contrib/session"
	"github.com/org/foreman-action/internal/scoring/evidence"
	"github.com/org/foreman-action/triage"
)

// Options are the flags of the command.
type Options struct {
	Issue triage.Ref
	// NoDuplicates skips the search for work on the issue and for existing text.
	NoDuplicates bool
}

// Run reads and scores an issue. It returns a [contract.Score], which it also stores in the
// controller's folder, or a [contract.BlockedLookup].
func Run(ctx context.Context, s session.Session, o Options) (contract.Document, error) {
	h, err := hub.Open(ctx, s)
	if err != nil {
		return nil, err
	}
	a, err := Appraise(ctx, s, h, Look{Issue: o.Issue, Scope: contract.ScopeScore, Duplicates: !o.NoDuplicates})
	if blocked, ok := errors.AsType[*hub.BlockedError](err); ok {
		return blocked.Document(o.Issue.String()), nil
	}
	if err != nil {
		return nil, err
	}
	r := a.Result
	d := contract.Score{
		Candidate: contract.ScoredIssue{
			ID: "github:" + a.Ref.String(), FullName: a.Ref.Owner + "/" + a.Ref.Repo, Number: a.Ref.Number, Title: evidence.Title(a.Issue.Title),
		},
		Score: r.Score, ScoreBand: r.Band, Recommendation: r.Band, RiskLevel: r.Risk, DuplicateEvidence: a.Evidence,
		Breakdown: r.Breakdown, Explanation: r.Explanation, RiskFlags: r.Flags, EstimatedEffortHours: r.EffortHours, Warnings: a.Warnings,
		Next: contract.Run(contract.ActionDiscover, "contribflow discover --json"),
	}
	if r.Recommended() {
		d.Next = contract.Run(contract.ActionPlan, "contribflow plan "+a.Ref.String()+" --json")
	}
	files, err := s.Files(a.Ref)
	if err != nil {
		return nil, err
	}
	return d, s.Controller.Write(files.Score, d)
}
