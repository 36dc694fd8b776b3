package ruletest

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/org/foreman-action/internal/ruleset"
	"github.com/org/foreman-action/internal/text"
	"github.com/org/foreman-action/protocol"
	"github.com/org/foreman-action/rules"
	"github.com/org/foreman-action/rules/facts"
	"github.com/org/foreman-action/triage"
)

// An issueState is an issue after the rules have decided and their actions are carried out.
type issueState struct {
	err      error // of the rules that failed; if no rule could be decided, the other fields are zero
	result   rules.Result
	actions  []protocol.ActionItem // those that are carried out or proposed; none for a decision that writes nothing
	refused  []refusal
	labels   []string // of the issue
	assigned []string // the assignees of the issue
	comments []string // texts of the written comments
	undone   []string // the rules whose changes are reverted, in order
}

// newState returns the state of an issue before the actions of a result.
func newState(i triage.Issue, r rules.Result) issueState {
	return issueState{result: r, labels: slices.Clone(i.Labels), assigned: slices.Clone(i.Assignees)}
}

// A refusal is an action that is not carried out, with the reason.
type refusal struct {
	action protocol.ActionItem
	reason string
}

// A Policy says which actions are refused. That of package policy is one.
type Policy interface {
	// Forbids returns the reason why the source may not request actions of that type; "": it may.
	Forbids(action string, s triage.Source) string
	// RefusesLabel returns the reason why a label may not be added or removed; "": it may.
	RefusesLabel(name string) string
	// EffectiveLimits returns the number of actions per event by the name of the limit; none: any
	// number.
	EffectiveLimits() map[string]int
}

// permitsAll is the policy that refuses nothing.
type permitsAll struct{}

func (permitsAll) Forbids(string, triage.Source) string { return "" }
func (permitsAll) RefusesLabel(string) string           { return "" }
func (permitsAll) EffectiveLimits() map[string]int      { return nil }

// A proposer is a [Policy] that decides which actions are proposed to a person, such as that of package
// policy. Under any other, actions of a low confidence are, and those that must be.
type proposer interface {
	Proposes(action string, confidence protocol.Confidence, suggest bool) bool
}

// proposed reports whether an action of a rule is proposed to a person.
func proposed(item protocol.ActionItem, p Policy) bool {
	in, err := item.Intent()
	confidence := cmp.Or(in.Confidence, protocol.ConfidenceHigh)
	if from, ok := p.(proposer); ok && err == nil {
		return from.Proposes(item.Type, confidence, in.Suggest)
	}
	return in.Suggest || confidence == protocol.ConfidenceLow
}

// effect returns the function for facts.Facts.Effect. Other rules do not see the labels of a proposed
// action.
func effect(s *rules.Set, i triage.Issue, p Policy) func(context.Context, []facts.Planned) [][]string {
	return func(_ context.Context, planned []facts.Planned) [][]string {
		var result rules.Result
		for _, one := range planned {
			result.Message.Actions, result.Sources = append(result.Message.Actions, one.Action), append(result.Sources, one.Rule)
		}
		a := newState(i, result)
		changed := a.carryOut(s, i, p)
		for k, one := range planned {
			if proposed(one.Action, p) {
				changed[k] = nil
			}
		}
		return changed
	}
}

// decide evaluates the rules for an event and carries those actions out that the policy permits. by
// names the rule that added a label earlier, by the label's name in lower case.
func decide(ctx context.Context, s *rules.Set, f facts.Facts, by map[string]string, p Policy) issueState {
	result, err := s.Decide(ctx, f)
	a := newState(f.Issue, result)
	a.err = err
	if result.Message.Decision.Writes() {
		a.carryOut(s, f.Issue, p)
	}
	a.undo(ctx, s, f, by, p)
	return a
}

// carryOut carries the actions out that the policy permits. It returns the labels that each action adds
// or removes. As in a run, none of a rule with "together: true" is carried out if one of them is not, or
// only after a grace period.
func (a *issueState) carryOut(s *rules.Set, issue triage.Issue, p Policy) [][]string {
	items, sources := a.result.Message.Actions, a.result.Sources
	changed := make([][]string, len(items))
	used, limits := map[string]int{}, p.EffectiveLimits()
	for i := 0; i < len(items); {
		end := i + 1
		for end < len(items) && sources[end] == sources[i] {
			end++
		}
		before, usedBefore := *a, maps.Clone(used)
		before.labels, before.assigned = slices.Clone(a.labels), slices.Clone(a.assigned)
		var against []refusal // the actions that prevent the rule's others
		for k, item := range items[i:end] {
			n := len(a.refused)
			if names, ok := a.permits(item, issue, p, used, limits); ok {
				a.apply(item, names)
				if spec, _ := protocol.SpecOf(item.Type); spec.Thing == protocol.ThingLabel {
					changed[i+k] = names
				}
			}
			against = append(against, a.refused[n:]...)
			if _, later := item.Param("after"); later {
				against = append(against, refusal{item, "it would happen only after a grace period"})
			}
		}
		for _, no := range a.result.Skipped {
			if no.Rule == sources[i] && no.Prevents() {
				against = append(against, refusal{no.Action, "`" + no.Lacks + "` is empty"})
			}
		}
		if len(against) > 0 && (*ruleset.Set)(s).Rules().Together(sources[i]) {
			refused := a.refused[len(before.refused):]
			*a, used = before, usedBefore
			clear(changed[i:end])
			a.refused = append(a.refused, refused...)
			for _, item := range items[i:end] {
				if !slices.ContainsFunc(refused, func(r refusal) bool { return reflect.DeepEqual(r.action, item) }) {
					a.refused = append(a.refused, refusal{item, fmt.Sprintf("together: %s is not carried out: %s", against[0].action.Type, against[0].reason)})
				}
			}
		}
		i = end
	}
	return changed
}

// undo reverts the labels and the scheduled close of the rules in Result.Undone. As in a run, it
// does not revert changes of this decision, or labels that somebody else changed later.
func (a *issueState) undo(ctx context.Context, s *rules.Set, f facts.Facts, by map[string]string, p Policy) {
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
		if !hasFold(a.labels, name) || !a.undoes(s, name, by) || a.wants(name) || p.RefusesLabel(name) != "" {
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
			set(&a.labels, []string{name}, false)
			did = append(did, adders(s, name, by)...)
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

// permits reports whether an action, or a part of it, is carried out: the policy permits it, and the
// issue can have it. The refused parts are added to a.refused. For an action on labels or assignees,
// names are those that change; for a comment, its text. used counts the actions so far by the names of
// their limits, as package plan does.
func (a *issueState) permits(item protocol.ActionItem, issue triage.Issue, p Policy, used, limits map[string]int) (names []string, ok bool) {
	refuse := func(reason string) { a.refused = append(a.refused, refusal{item, reason}) }
	spec, _ := protocol.SpecOf(item.Type)
	if why := p.Forbids(item.Type, triage.Source{Rule: "test"}); why != "" {
		refuse(why)
		return nil, false
	}
	if spec.PullsOnly && !issue.PullRequest {
		refuse("it is not a pull request")
		return nil, false
	}
	names, _, _ = item.Texts(spec.Main)
	n := 1
	if list := a.list(spec.Thing); list != nil {
		names = slices.DeleteFunc(names, func(name string) bool { return hasFold(*list, name) != spec.Gone })
		if len(names) == 0 {
			return nil, true // it holds already
		}
		names = slices.DeleteFunc(names, func(name string) bool {
			if spec.Thing != protocol.ThingLabel || p.RefusesLabel(name) == "" {
				return false
			}
			refuse(fmt.Sprintf("%q: %s", text.Shorten(name, text.Quoted), p.RefusesLabel(name)))
			return true
		})
		if n = len(names); n == 0 {
			return nil, false
		}
	}
	limit, limited := limits[spec.LimitName()]
	if used[spec.LimitName()] += n; limited && used[spec.LimitName()] > limit {
		used[spec.LimitName()] -= n
		refuse(fmt.Sprintf("policy.limits.%s is %d per event", spec.LimitName(), limit))
		return nil, false
	}
	return names, true
}

// list returns the list of the issue that has things of a kind; nil: there is one, or none.
func (a *issueState) list(t protocol.Thing) *[]string {
	switch t {
	case protocol.ThingLabel:
		return &a.labels
	case protocol.ThingAssignee:
		return &a.assigned
	case protocol.ThingState, protocol.ThingForbidden, protocol.ThingScheduled:
	}
	return nil
}

// apply carries an action out that is permitted, with the names of permits.
func (a *issueState) apply(item protocol.ActionItem, names []string) {
	a.actions = append(a.actions, item)
	spec, _ := protocol.SpecOf(item.Type)
	if list := a.list(spec.Thing); list != nil {
		set(list, names, !spec.Gone)
	} else if spec.Posts() {
		a.comments = append(a.comments, names...)
	}
}

// set adds names to a list or removes them.
func set(list *[]string, names []string, on bool) {
	for _, name := range names {
		switch {
		case hasFold(*list, name) == on:
		case on:
			*list = append(*list, name)
		default:
			*list = slices.DeleteFunc(*list, func(n string) bool { return strings.EqualFold(n, name) })
		}
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
