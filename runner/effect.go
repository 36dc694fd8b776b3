package runner

import (
	"context"
	"errors"
	"slices"

	"github.com/org/foreman-action/protocol"
	"github.com/org/foreman-action/triage"
)

// effect returns what tells, of the actions of rules, which labels they will really add or
// remove: by the policy and its limits and, when a rule asks for labels at all, by what
// people did, by what is never added again, and by what the repository has. Otherwise a
// rule would act on a label that never comes. Look-ups are those of the plan made early;
// without asks nothing is looked up that was not before, and does not count as there.
func (w *work) effect(ctx context.Context, asks bool) func(rule string, a protocol.ActionItem) []string {
	p := newPlanner(*w.e.Issue, w.c.Policy, true)
	asked := w.c.Rules.AsksLabels() || w.o.Agent != nil && w.c.Agent.When.AsksLabels()
	matters := asked && w.o.Host != nil
	return func(rule string, a protocol.ActionItem) []string {
		s := Step{Action: a, Source: w.source(rule)}
		if p.judge(&s); s.Verdict != triage.Do {
			return nil
		}
		adds := a.Type != protocol.ActionRemoveLabel
		return slices.DeleteFunc(slices.Clone(s.labels), func(name string) bool {
			return matters && !w.takes(ctx, name, adds, asks || w.past.asked, s.Source) || adds && w.forbids(ctx, name)
		})
	}
}

// takes reports whether a label that the policy lets through can be added or removed. What
// cannot be looked up cannot.
func (w *work) takes(ctx context.Context, name string, adds, asks bool, from triage.Source) bool {
	if !from.OverrideHumans && !w.fresh() {
		if !asks {
			return false
		}
		t, err := w.past.timeline(ctx)
		if err != nil {
			return false
		}
		h := hindsight{Timeline: t, bot: w.o.Bot, issue: *w.e.Issue}
		kind := "labeled"
		if adds {
			kind = "unlabeled"
		}
		if h.against(kind, "", of(name, labelOf, "labeled", "unlabeled")) != "" {
			return false
		}
	}
	if !adds || w.c.Policy.CreateLabels {
		return true
	}
	label, known := w.labels[fold(name)]
	if !known && asks {
		var err error
		if label, err = w.o.Host.Label(ctx, w.e.Ref(), name); err != nil && !errors.Is(err, triage.ErrNotFound) {
			return false
		}
		if w.labels == nil {
			w.labels = map[string]string{}
		}
		w.labels[fold(name)] = label
	}
	return label != "" && w.c.Policy.MayLabel(label)
}
