package ruletest

import (
	"context"
	"slices"
	"strings"

	"github.com/org/foreman-action/internal/ruleset"
	"github.com/org/foreman-action/protocol"
	"github.com/org/foreman-action/rules"
	"github.com/org/foreman-action/rules/facts"
)

// An issueState is an issue after the rules have decided and their actions are carried out.
type issueState struct {
	err      error // of the rules that failed; if no rule could be decided, the other fields are zero
	result   rules.Result
	actions  []protocol.ActionItem // none for a decision that writes nothing
	labels   []string              // of the issue
	comments []string              // texts of the written comments
	undone   []string              // the rules whose changes are reverted, in order
}

// decide evaluates the rules for an event and carries their actions out. by names the rule that
// added a label earlier, by the label's name in lower case.
func decide(ctx context.Context, s *rules.Set, f facts.Facts, by map[string]string) issueState {
	a := issueState{labels: slices.Clone(f.Issue.Labels)}
	a.result, a.err = s.Decide(ctx, f)
	if a.result.Message.Decision.Writes() {
		a.actions = a.result.Message.Actions
	}
	for _, item := range a.actions {
		a.carryOut(item, f.May)
	}
	a.undo(ctx, s, f, by)
	return a
}

// undo reverts the labels and the scheduled close of the rules in Result.Undone. As in a run, it
// does not revert changes of this decision, or labels that somebody else changed later.
func (a *issueState) undo(ctx context.Context, s *rules.Set, f facts.Facts, by map[string]string) {
	if len(a.result.Undone) == 0 || a.result.Message.Decision == protocol.Escalate || f.Lookup == nil {
		return
	}
	var k facts.Known
	if err := f.Lookup.Read(ctx, facts.MemoryPart, &k); err != nil {
		a.err = err
		return
	}
	before := k.Before
	var did []string
	for _, i := range rules.Infos(s) {
		if before.Closing && slices.Contains(i.Actions, protocol.ActionCloseIssue) {
			did = append(did, i.ID)
		}
	}
	for _, name := range before.Labels {
		if !hasFold(a.labels, name) || !a.undoes(s, name, by) || a.wants(name) {
			continue
		}
		timeline, err := f.Lookup.Timeline(ctx)
		if err != nil {
			a.err = err
			return
		}
		last, found := timeline.Last(func(c facts.Change) bool {
			return (c.Kind == "labeled" || c.Kind == "unlabeled") && strings.EqualFold(c.Label, name)
		})
		if last.Ours || !found && !timeline.Partial {
			a.setLabel(name, false, f.May)
			if !hasFold(a.labels, name) {
				did = append(did, adders(s, name, by)...)
			}
		}
	}
	a.undone = slices.DeleteFunc(slices.Clone(a.result.Undone), func(id string) bool { return !slices.Contains(did, id) })
}

// adders returns the rules that may have added a label: the one in by, or else all rules that add
// it by name.
func adders(s *rules.Set, label string, by map[string]string) []string {
	if id, ok := by[strings.ToLower(label)]; ok {
		return []string{id}
	}
	return (*ruleset.Set)(s).Rules().Adders(label)
}

// undoes reports whether all rules that may have added a label earlier now revert it.
func (a *issueState) undoes(s *rules.Set, label string, by map[string]string) bool {
	ids := adders(s, label, by)
	return len(ids) > 0 && !slices.ContainsFunc(ids, func(id string) bool { return !slices.Contains(a.result.Undone, id) })
}

// wants reports whether the decision adds a label.
func (a *issueState) wants(label string) bool {
	return slices.ContainsFunc(a.actions, func(item protocol.ActionItem) bool {
		spec, _ := protocol.SpecOf(item.Type)
		names, _, _ := item.Texts(spec.Main)
		return spec.AddsLabels() && hasFold(names, label)
	})
}

func (a *issueState) carryOut(item protocol.ActionItem, may func(string) bool) {
	spec, _ := protocol.SpecOf(item.Type)
	main, _, _ := item.Texts(spec.Main)
	switch {
	case spec.Thing == protocol.ThingLabel:
		for _, name := range main {
			a.setLabel(name, spec.AddsLabels(), may)
		}
	case spec.Posts():
		a.comments = append(a.comments, main...)
	}
}

// setLabel adds a label to the issue or removes it, if may allows that.
func (a *issueState) setLabel(name string, on bool, may func(string) bool) {
	switch {
	case hasFold(a.labels, name) == on || may != nil && !may(name):
	case on:
		a.labels = append(a.labels, name)
	default:
		a.labels = slices.DeleteFunc(a.labels, func(l string) bool { return strings.EqualFold(l, name) })
	}
}

func hasFold(list []string, name string) bool {
	return slices.ContainsFunc(list, func(s string) bool { return strings.EqualFold(s, name) })
}

// closed returns "false" for an issue that stays open, or else the reason for closing it. The
// default reason is "completed".
func (a issueState) closed() string {
	for _, item := range a.actions {
		switch item.Type {
		case protocol.ActionMarkDuplicate:
			return "duplicate"
		case protocol.ActionCloseIssue:
			if reason, ok, _ := item.Text("reason"); ok {
				return reason
			}
			return "completed"
		}
	}
	return "false"
}
