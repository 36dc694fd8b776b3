package rules

import (
	"slices"
	"strings"

	"github.com/org/foreman-action/internal/ruleset"
	"github.com/org/foreman-action/internal/text"
	"github.com/org/foreman-action/protocol"
	"github.com/org/foreman-action/rules/facts"
	"github.com/org/foreman-action/rules/internal/action"
	"github.com/org/foreman-action/rules/internal/events"
	"github.com/org/foreman-action/rules/internal/symbols"
	"github.com/org/foreman-action/triage"
)

// compiled are the rules of a Set. A nil one has no rules.
type compiled struct {
	rules    []*rule
	names    *symbols.Table
	warnings Problems
}

var _ ruleset.Rules = (*compiled)(nil)

// set returns the rules as a Set.
func (c *compiled) set() *Set { return (*Set)(ruleset.New(c)) }

// Without implements [ruleset.Rules].
func (c *compiled) Without(id string) *ruleset.Set {
	out := *c
	out.rules = slices.DeleteFunc(slices.Clone(c.rules), func(r *rule) bool { return r.id == id })
	return ruleset.New(&out)
}

// Names implements [ruleset.Rules].
func (c *compiled) Names(name, activity string) bool {
	e := events.Of(name, activity)
	for _, r := range c.all() {
		named := slices.DeleteFunc(slices.Clone(r.on), func(on string) bool { return strings.HasSuffix(on, ".*") })
		if events.Listens(named, e) {
			return true
		}
	}
	return false
}

// Scans implements [ruleset.Rules].
func (c *compiled) Scans() []string {
	var list []string
	for _, r := range c.all() {
		for _, s := range r.scans {
			if !slices.Contains(list, s.query) {
				list = append(list, s.query)
			}
		}
	}
	return list
}

// Exempt implements [ruleset.Rules].
func (c *compiled) Exempt(query string) []string {
	var list []string
	found := false
	for _, r := range c.all() {
		switch {
		case !slices.ContainsFunc(r.scans, func(s scan) bool { return s.query == query }):
			continue
		case r.undo || r.stop || r.when == nil:
			return nil
		}
		absent := r.when.LabelsAbsent()
		if !found {
			list, found = absent, true
		}
		list = slices.DeleteFunc(list, func(label string) bool {
			return !slices.ContainsFunc(absent, func(l string) bool { return text.SameLabel(l, label) })
		})
	}
	return slices.DeleteFunc(list, func(label string) bool {
		return c.has(func(a action.Action) bool { return a.MayRemove(label) })
	})
}

// NeverAgain implements [ruleset.Rules].
func (c *compiled) NeverAgain() bool {
	return c.has(func(a action.Action) bool { return a.Name() == protocol.ActionNeverAgain })
}

// ClosesLater implements [ruleset.Rules].
func (c *compiled) ClosesLater() bool {
	return c.has(func(a action.Action) bool { return a.Name() == protocol.ActionCloseIssue && a.Has("after") })
}

func (c *compiled) has(match func(action.Action) bool) bool {
	return slices.ContainsFunc(c.all(), func(r *rule) bool { return slices.ContainsFunc(r.actions, match) })
}

// Intents implements [ruleset.Rules].
func (c *compiled) Intents() []ruleset.ActionIntent {
	var list []ruleset.ActionIntent
	for _, r := range c.all() {
		for _, a := range r.actions {
			i := ruleset.ActionIntent{Action: a.Name(), Confidence: a.Intent().Confidence, Suggest: a.Intent().Suggest}
			if a.Proposable() && !slices.Contains(list, i) {
				list = append(list, i)
			}
		}
	}
	return list
}

// UsesLabels implements [ruleset.Rules].
func (c *compiled) UsesLabels() bool {
	return slices.ContainsFunc(c.all(), func(r *rule) bool { return r.when != nil && r.when.ReadsLabels() })
}

// UsesMemory implements [ruleset.Rules].
func (c *compiled) UsesMemory() bool {
	return c.has(action.Action.UsesMemory) || c.reads(facts.MemoryPart)
}

// reads reports whether the condition or an action of any rule depends on a look-up.
func (c *compiled) reads(part facts.Part) bool {
	return slices.ContainsFunc(c.all(), func(r *rule) bool { return r.when != nil && r.when.Reads(part) }) ||
		c.has(func(a action.Action) bool { return a.Reads(part) })
}

// OverridesHumans implements [ruleset.Rules].
func (c *compiled) OverridesHumans(id string) bool {
	return slices.ContainsFunc(c.all(), func(r *rule) bool { return r.id == id && r.override })
}

// Together implements [ruleset.Rules].
func (c *compiled) Together(id string) bool {
	return slices.ContainsFunc(c.all(), func(r *rule) bool { return r.id == id && r.together })
}

// Digests implements [ruleset.Rules].
func (c *compiled) Digests() []string {
	var list []string
	for _, r := range c.all() {
		for i := range r.actions {
			list = append(list, r.digest(c.names, i))
		}
	}
	return list
}

// UndoDigest implements [ruleset.Rules].
func (c *compiled) UndoDigest(id string) string {
	i := slices.IndexFunc(c.all(), func(r *rule) bool { return r.id == id })
	if i < 0 {
		return ""
	}
	return c.rules[i].digest(c.names, reversals)
}

// Adders implements [ruleset.Rules].
func (c *compiled) Adders(label string) []string {
	var list []string
	for _, r := range c.all() {
		if slices.ContainsFunc(r.actions, func(a action.Action) bool { return a.Adds(label) }) {
			list = append(list, r.id)
		}
	}
	return list
}

// Knows implements [ruleset.Rules].
func (c *compiled) Knows(command string) bool {
	names, others := c.asked()
	return others || slices.ContainsFunc(names, func(name string) bool { return strings.EqualFold(name, command) })
}

// Commands implements [ruleset.Rules].
func (c *compiled) Commands() []string {
	names, _ := c.asked()
	return names
}

// asked returns the commands for which the rules test, each once. others is true if a rule tests for a
// name that is only known at run time.
func (c *compiled) asked() (names []string, others bool) {
	for _, r := range c.all() {
		if r.when == nil || !slices.ContainsFunc(r.on, func(on string) bool { return strings.HasPrefix(on, "issue_comment") }) {
			continue
		}
		list, more := r.when.Commands()
		others = others || more
		for _, name := range list {
			if !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	return names, others
}

// UndoesByMemory implements [ruleset.Rules].
func (c *compiled) UndoesByMemory() bool {
	return slices.ContainsFunc(c.all(), func(r *rule) bool {
		return r.undo && slices.ContainsFunc(r.on, func(on string) bool { return !events.Covers("pull_request.*", on) })
	})
}

// MayHaveEffect implements [ruleset.Rules].
func (c *compiled) MayHaveEffect(id string, on triage.Issue) bool {
	i := slices.IndexFunc(c.all(), func(r *rule) bool { return r.id == id })
	return i >= 0 && slices.ContainsFunc(c.rules[i].actions, func(a action.Action) bool { return a.MayHaveEffect(on) })
}

// LabelsOff implements [ruleset.Rules].
func (c *compiled) LabelsOff(id string, on triage.Issue) []string {
	i := slices.IndexFunc(c.all(), func(r *rule) bool { return r.id == id })
	if i < 0 || !c.rules[i].undo || !c.rules[i].override {
		return nil
	}
	var list []string
	for _, a := range c.rules[i].actions {
		list = append(list, a.LabelsLeft(on)...)
	}
	return list
}

// Labels implements [ruleset.Rules].
func (c *compiled) Labels() []ruleset.LabelUse {
	return labelUses(c.names, c.rules)
}

// Forms implements [ruleset.Rules].
func (c *compiled) Forms() []ruleset.FormUse {
	return formUses(c.names)
}

// FormTables implements [ruleset.Rules].
func (c *compiled) FormTables() []ruleset.TableUse {
	return formTableUses(c.names, c.rules)
}

func (c *compiled) all() []*rule {
	if c == nil {
		return nil
	}
	return c.rules
}
