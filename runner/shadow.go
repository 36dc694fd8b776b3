package runner

import (
	"context"
	"errors"
	"time"

	"github.com/org/foreman-action/config"
	"github.com/org/foreman-action/memory"
	"github.com/org/foreman-action/runner/internal/shadow"
	"github.com/org/foreman-action/triage"
)

// maxSettled is the maximum number of issues that a run reads to settle predictions. Each takes one
// call.
const maxSettled = 5

// A scorer updates the score of shadow mode.
type scorer struct{ attempt }

// score stores predictions for the actions that shadow mode suppressed, and settles predictions
// that are old enough. With a read-only memory it only reports the stored score. An error is only a
// warning.
func (a scorer) score(ctx context.Context, rep *Report, at time.Time) {
	if a.c.Mode != config.ModeShadow || a.tryOnly || !a.o.Live || a.o.Memory.Store == nil || a.o.Host.Issues == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), loadTime+saveTime)
	defer cancel()
	scores, err := a.scores(ctx, shadow.Predict(rep.Actions, a.d.Number, at), at)
	if err != nil {
		a.warn("shadow mode: store the score: %v", err)
	}
	if scores != nil {
		rep.Scores = scores
	}
}

// scores adds the predictions to the repository's stored scores, and returns the result.
func (a scorer) scores(ctx context.Context, predicted []memory.Prediction, at time.Time) (*memory.Scores, error) {
	repo := a.d.FullRepo()
	r, err := a.o.Memory.Store.Load(ctx, repo, memory.Repository)
	switch {
	case errors.Is(err, memory.ErrNotFound), errors.Is(err, memory.ErrBroken):
		r = memory.Record{}
	case err != nil:
		return nil, err
	}
	if a.o.Memory.ReadOnly {
		return r.Scores, nil
	}
	settled := a.settle(ctx, r.Scores, at.Add(-a.c.Policy.Grace()))
	if len(settled) == 0 && len(predicted) == 0 {
		return r.Scores, nil
	}
	r, err = memory.Update(ctx, a.o.Memory.Store, repo, memory.Repository, func(r *memory.Record) error {
		r.Scores = shadow.Update(r.Scores, settled, predicted)
		return nil
	})
	return r.Scores, err
}

// settle reads the issues of the oldest predictions that are due. Predictions whose issue cannot be
// read now are settled by a later run.
func (a scorer) settle(ctx context.Context, s *memory.Scores, before time.Time) []shadow.Settled {
	if s == nil {
		return nil
	}
	issues, unread := map[int]*triage.Issue{}, map[int]bool{}
	var list []shadow.Settled
	for _, p := range s.Due(before) {
		if unread[p.Issue] {
			continue
		}
		issue, read := issues[p.Issue]
		if !read && len(issues) == maxSettled {
			break
		}
		if !read {
			now, err := a.o.Host.Issues.Issue(ctx, triage.Ref{Owner: a.d.Repo.Owner, Repo: a.d.Repo.Name, Number: p.Issue})
			switch {
			case err == nil:
				issue = &now.Issue
			case !errors.Is(err, triage.ErrGone) && !errors.Is(err, triage.ErrNotFound):
				a.o.Log.InfoContext(ctx, "predictions of shadow mode are left to a later run", "error", err)
				unread[p.Issue] = true
				if len(unread) == maxSettled {
					return list
				}
				continue
			}
			issues[p.Issue] = issue
		}
		list = append(list, shadow.Settle(p, issue))
	}
	return list
}
