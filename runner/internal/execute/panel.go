package execute

import (
	"context"
	"slices"
	"strings"

	"github.com/org/foreman-action/runner/effect"
	"github.com/org/foreman-action/runner/internal/history"
	"github.com/org/foreman-action/runner/internal/outcome"
	"github.com/org/foreman-action/runner/internal/plan"
	"github.com/org/foreman-action/runner/internal/proposal"
	"github.com/org/foreman-action/triage"
)

// joinLabels returns the effect that adds the labels of all steps, with their intents.
func joinLabels(steps []*plan.Step) effect.AddLabels {
	e := effect.AddLabels{Names: labelsOf(steps)}
	intents := make([]effect.Intent, 0, len(e.Names))
	for _, s := range steps {
		one, _ := s.Effect.(effect.AddLabels)
		for i := range one.Names {
			intent := effect.Intent{}
			if i < len(one.Intents) {
				intent = one.Intents[i]
			}
			intents = append(intents, intent)
		}
	}
	if slices.ContainsFunc(intents, func(i effect.Intent) bool { return i != effect.Intent{} }) {
		e.Intents = intents
	}
	return e
}

// hold notes the names of steps that the host proposes to people instead of writing them.
func hold(steps []*plan.Step, w effect.Written) {
	held := outcome.NamesOf(w.Held)
	for _, s := range steps {
		s.HeldNames = held.In(effect.Values(s.Effect))
	}
}

// appliedAnyway is the warning if GitHub carried out what was only proposed.
const appliedAnyway = "GitHub applied what was only proposed; policy.suggestions: comment avoids that"

// takeBack undoes a change that GitHub made although it was only proposed, unless the newest event about it
// is by another account: then a person made the change at the same time. applied reports whether GitHub made
// the change.
func (x Target) takeBack(ctx context.Context, s *plan.Step, names []string) (applied bool, err error) {
	ours, err := x.appliedByUs(ctx, s, names)
	if err != nil || len(ours) == 0 {
		return false, err
	}
	var back effect.Effect
	switch s.Effect.(type) { //nolint:gochecksumtype // the panel shows no others
	case effect.AddLabels:
		for _, name := range ours {
			if err := x.guarded(ctx, effect.RemoveLabels{Names: []string{name}}); err != nil {
				return true, err
			}
		}
		return true, nil
	case effect.Assign:
		back = effect.Unassign{Logins: ours}
	case effect.SetType:
		t, err := x.Host.Timeline(ctx, x.Identity.Ref)
		if err != nil {
			return true, err
		}
		back = effect.SetType{Name: formerType(history.History{Timeline: t, Bot: x.Identity.Login, Issue: x.Issue}, ours[0])}
	}
	return true, x.guarded(ctx, back)
}

// appliedByUs returns those of the names that GitHub applied in our name, and that are still there. A name
// that a person removed since is left out, because the person may add it again at any moment.
func (x Target) appliedByUs(ctx context.Context, s *plan.Step, names []string) ([]string, error) {
	undoing := []string{"unlabeled", "unassigned", "issue_type_removed"}
	for again := false; ; again = true {
		t, err := x.Host.Timeline(ctx, x.Identity.Ref)
		if err != nil {
			return nil, err
		}
		h := history.History{Timeline: t, Bot: x.Identity.Login, Issue: x.Issue}
		var ours, removed []string
		for _, name := range names {
			e, found := h.Last(history.Named(name, slices.Concat(proposal.PanelKinds(s.Action.Type), undoing)...))
			switch {
			case !found || slices.Contains(undoing, e.Kind) && again: // the timeline does not show it yet
				ours = append(ours, name)
			case slices.Contains(undoing, e.Kind):
				removed = append(removed, name)
			case h.Ours(e):
				ours = append(ours, name)
			}
		}
		if len(removed) == 0 {
			return ours, nil
		}
		issue, err := x.Host.Issue(ctx, x.Identity.Ref)
		if err != nil {
			return nil, err
		}
		there := outcome.NamesOf(slices.Concat(issue.Labels, issue.Assignees, []string{issue.Type})).In(removed)
		if len(there) == 0 {
			return ours, nil
		}
		names = slices.Concat(ours, there)
	}
}

// formerType returns the type that the issue had before we set it to name; empty: none.
func formerType(h history.History, name string) string {
	kinds := history.Kinds("issue_type_added", "issue_type_changed", "issue_type_removed")
	e, found := h.Last(func(e triage.TimelineEvent) bool {
		return kinds(e) && (!h.Ours(e) || !strings.EqualFold(e.IssueType, name))
	})
	switch {
	case found && e.Kind != "issue_type_removed":
		return e.IssueType
	case found || strings.EqualFold(h.Issue.Type, name):
		return ""
	}
	return h.Issue.Type
}

// guarded makes one write, if the guard permits it.
func (x Target) guarded(ctx context.Context, e effect.Effect) error {
	if err := x.guard(ctx); err != nil {
		return err
	}
	_, err := x.Host.Write(ctx, x.Identity.Ref, e)
	return err
}
