package assembly

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/org/foreman-action/internal/server/proposals"
	"github.com/org/foreman-action/internal/trackrecord"
	"github.com/org/foreman-action/memory"
	"github.com/org/foreman-action/policy"
)

// A trackRecords reports what became of the actions in repositories.
type trackRecords struct {
	memory  memory.Agenda
	waiting func(ctx context.Context) ([]proposals.Waiting, error)
	policy  policy.Policy
	web     string // address of GitHub's web pages
	now     func() time.Time
}

// report reads the track record of a repository, "owner/name". Without a record that can be read, it is
// empty, and a note says why.
func (t trackRecords) report(ctx context.Context, repo string) (trackrecord.Report, error) {
	o := trackrecord.Options{Repo: repo, Memory: "server", Web: t.web, Now: t.now(), Policy: t.policy}
	r, err := t.memory.Load(ctx, repo, memory.Repository)
	switch {
	case errors.Is(err, memory.ErrBroken), errors.Is(err, memory.ErrNewer):
		o.Notes = append(o.Notes, fmt.Sprintf("the track record cannot be read, so no permission is earned: %v", err))
		r = memory.Record{}
	case err != nil && !errors.Is(err, memory.ErrNotFound):
		return trackrecord.Report{}, fmt.Errorf("read the track record of %s: %w", repo, err)
	}
	if o.Waiting, err = t.waits(ctx, repo, r.Outcomes); err != nil {
		return trackrecord.Report{}, err
	}
	o.Scores = r.Scores
	return trackrecord.New(r.Outcomes, o), nil
}

// waits counts what has no outcome yet.
func (t trackRecords) waits(ctx context.Context, repo string, o *memory.Outcomes) (*trackrecord.Waiting, error) {
	var w trackrecord.Waiting
	var since time.Time
	if o != nil {
		since = o.Judged
	}
	acted, _, err := t.memory.Acted(ctx, repo, since)
	if err != nil {
		return nil, fmt.Errorf("list the actions in %s: %w", repo, err)
	}
	due := t.now().Add(-t.policy.JudgeTime())
	for _, a := range acted {
		if a.At.After(due) {
			w.Later++
		} else {
			w.Due++
		}
	}
	list, err := t.waiting(ctx)
	if err != nil {
		return nil, err
	}
	const most = 20
	for _, p := range list {
		if strings.EqualFold(p.Repo, repo) {
			if w.Proposals++; len(w.ProposedOn) < most {
				w.ProposedOn = append(w.ProposedOn, p.Issue)
			}
		}
	}
	return &w, nil
}
