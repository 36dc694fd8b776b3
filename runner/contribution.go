package runner

import (
	"context"
	"fmt"
	"time"

	"github.com/org/foreman-action/internal/contrib/contract"
	"github.com/org/foreman-action/internal/contrib/evidence"
	"github.com/org/foreman-action/internal/contrib/scoring"
	"github.com/org/foreman-action/rules/facts"
	"github.com/org/foreman-action/triage"
)

// A contribution computes once how well an issue suits contributors.
type contribution struct {
	known *facts.Contrib // nil: not computed yet
}

// answer returns the result if it is known, without reading anything.
func (c *contribution) answer(i triage.Issue) (facts.Contrib, error) {
	switch {
	case c.known != nil:
		return *c.known, nil
	case i.PullRequest:
		return facts.Contrib{DuplicateEvidence: string(contract.Low)}, nil
	}
	return facts.Contrib{}, facts.ErrUnasked
}

// ask returns the result. It computes it from the issue and up to 100 open pull requests of the
// repository, which it finds by one search.
func (c *contribution) ask(ctx context.Context, search Search, d triage.Delivery, now time.Time) (facts.Contrib, error) {
	if known, err := c.answer(*d.Issue); err == nil {
		return known, nil
	}
	if search == nil {
		return facts.Contrib{}, fmt.Errorf("list open pull requests: %w", triage.ErrNeedsHost)
	}
	const most = 100
	found, err := search.Find(ctx, d.Ref(), "is:pr is:open", most)
	if err != nil {
		return facts.Contrib{}, err
	}
	f := evidence.Facts{Ref: d.Ref(), Issue: *d.Issue, Now: now}
	for _, i := range found.Issues {
		f.Pulls = append(f.Pulls, evidence.Pull{Number: i.Number, Title: i.Title, Body: i.Body, URL: i.URL})
	}
	rules, err := scoring.Builtin()
	if err != nil {
		return facts.Contrib{}, err
	}
	r, err := rules.Score(scoring.Facts{Issue: f.Issue, Evidence: evidence.Find(f), Now: f.Now})
	if err != nil {
		return facts.Contrib{}, err
	}
	c.known = &facts.Contrib{Score: r.Score, DuplicateEvidence: string(r.Flags.DuplicatePRRisk), SecuritySensitive: r.Flags.SecuritySensitive}
	return *c.known, nil
}
