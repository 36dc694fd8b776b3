package runner

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/org/foreman-action/config"
	"github.com/org/foreman-action/memory"
	"github.com/org/foreman-action/protocol"
	"github.com/org/foreman-action/triage"
)

// maxSettled is how many issues a run looks at to settle predictions: a call for each.
const maxSettled = 5

// keepScore notes what would have been done in shadow mode, and settles what was noted
// long enough ago. Trouble with it is a warning.
func (w *work) keepScore(ctx context.Context) {
	if w.c.Mode != config.ModeShadow || w.dry || !w.o.Live || w.o.Memory == nil || w.o.Host == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), loadTime+saveTime)
	defer cancel()
	if err := w.score(ctx); err != nil {
		w.rep.warnf("shadow mode: keep the score: %v", err)
	}
}

func (w *work) score(ctx context.Context) error {
	repo := w.e.FullRepo()
	r, err := w.o.Memory.Load(ctx, repo, memory.Repository)
	switch {
	case errors.Is(err, memory.ErrNotFound), errors.Is(err, memory.ErrBroken):
		r = memory.Record{}
	case err != nil:
		return err
	}
	settled := w.settled(ctx, r.Scores, w.at.Add(-w.c.Policy.Grace()))
	predicted := w.predictions()
	if len(settled) == 0 && len(predicted) == 0 {
		w.rep.Scores = r.Scores
		return nil
	}
	r, err = memory.Update(ctx, w.o.Memory, repo, memory.Repository, func(r *memory.Record) error {
		var s memory.Scores
		if r.Scores != nil {
			s = *r.Scores
		}
		for _, p := range settled {
			switch {
			case p.gone:
				s.Drop(p.Prediction)
			default:
				s.Settle(p.Prediction, p.agreed)
			}
		}
		for _, p := range predicted {
			s.Predict(p)
		}
		r.Scores = &s
		return nil
	})
	w.rep.Scores = r.Scores
	return err
}

// predictions are what the plan would have done and people may do as well: labels, and
// closing.
func (w *work) predictions() []memory.Prediction {
	var list []memory.Prediction
	for _, a := range w.rep.Actions {
		if a.Result != ResultPlanned || strings.HasPrefix(a.rule, "/") { // people know what they command
			continue
		}
		p := memory.Prediction{At: w.at, Issue: w.e.Number, Rule: a.rule, Type: a.Action.Type}
		if p.Rule == "" {
			p.Rule = memory.AgentScore
		}
		var values []string
		switch a.Action.Type {
		case protocol.ActionAddLabel, protocol.ActionRemoveLabel:
			values = names(a.Action, "label")
		case protocol.ActionAddLabels:
			p.Type, values = protocol.ActionAddLabel, names(a.Action, "labels")
		case protocol.ActionCloseIssue:
			values = []string{first(a.Action, "reason")}
		}
		for _, v := range values {
			p.Value = v
			list = append(list, p)
		}
	}
	return list
}

// A settledPrediction is a prediction and what became of it.
type settledPrediction struct {
	memory.Prediction
	agreed, gone bool
}

// settled looks at the issues of the oldest predictions that are due. What cannot be read
// now is left for another time.
func (w *work) settled(ctx context.Context, s *memory.Scores, before time.Time) []settledPrediction {
	if s == nil {
		return nil
	}
	issues, unread := map[int]*triage.Issue{}, map[int]bool{}
	var list []settledPrediction
	for _, p := range s.Due(before) {
		if unread[p.Issue] {
			continue
		}
		issue, read := issues[p.Issue]
		if !read && len(issues) == maxSettled {
			break
		}
		if !read {
			raw, err := w.o.Host.Issue(ctx, triage.Ref{Owner: w.e.Repo.Owner, Repo: w.e.Repo.Name, Number: p.Issue})
			if err == nil {
				if i, perr := triage.ParseIssue(raw); perr == nil {
					issue = &i.Issue
				}
			} else if !errors.Is(err, triage.ErrGone) && !errors.Is(err, triage.ErrNotFound) {
				w.o.Log("shadow mode: %v; its predictions wait", err)
				unread[p.Issue] = true
				if len(unread) == maxSettled {
					break
				}
				continue
			}
			issues[p.Issue] = issue
		}
		list = append(list, settledPrediction{Prediction: p, gone: issue == nil, agreed: issue != nil && shows(*issue, p)})
	}
	return list
}

// shows reports whether an issue is as a prediction would have made it.
func shows(i triage.Issue, p memory.Prediction) bool {
	has := slices.ContainsFunc(i.Labels, func(l string) bool { return fold(l) == fold(p.Value) })
	switch p.Type {
	case protocol.ActionAddLabel:
		return has
	case protocol.ActionRemoveLabel:
		return !has
	}
	return i.State == "closed" && (p.Value == "" || strings.EqualFold(p.Value, i.StateReason))
}
