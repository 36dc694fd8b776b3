package lookups

import (
	"context"
	"fmt"

	"github.com/org/foreman-action/internal/scoring"
	"github.com/org/foreman-action/internal/scoring/evidence"
	"github.com/org/foreman-action/rules/facts"
	"github.com/org/foreman-action/triage"
)

// contribution returns how well an issue suits contributors. It computes it from the issue and up to
// 100 open pull requests of the repository, which it finds by one search.
func (r *Reader) contribution(ctx context.Context, d triage.Delivery) (facts.Contrib, error) {
	if d.Issue.PullRequest {
		return facts.Contrib{DuplicateEvidence: string(evidence.Low)}, nil
	}
	if r.Find == nil {
		return facts.Contrib{}, fmt.Errorf("list open pull requests: %w", triage.ErrNeedsHost)
	}
	const most = 100
	found, err := r.Find(ctx, "is:pr is:open", most)
	if err != nil {
		return facts.Contrib{}, err
	}
	f := evidence.Facts{Ref: d.Ref(), Issue: *d.Issue, Now: r.Now()}
	for _, i := range found.Issues {
		f.Pulls = append(f.Pulls, evidence.Pull{Number: i.Number, Title: i.Title, Body: i.Body, URL: i.URL})
	}
	rules, err := scoring.Builtin()
	if err != nil {
		return facts.Contrib{}, err
	}
	score, err := rules.Score(scoring.Facts{Issue: f.Issue, Evidence: evidence.Find(f), Now: f.Now})
	if err != nil {
		return facts.Contrib{}, err
	}
	return facts.Contrib{Score: score.Score, DuplicateEvidence: string(score.Flags.DuplicatePRRisk), SecuritySensitive: score.Flags.SecuritySensitive}, nil
}
