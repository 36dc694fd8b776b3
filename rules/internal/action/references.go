package action

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/org/foreman-action/internal/order"
	"github.com/org/foreman-action/internal/text"
	"github.com/org/foreman-action/protocol"
	"github.com/org/foreman-action/rules/facts"
	"github.com/org/foreman-action/rules/internal/expression"
	"github.com/org/foreman-action/rules/internal/symbols"
	"github.com/org/foreman-action/triage"
)

// A Verb is the way in which an action uses a label.
type Verb int

// The uses of labels by actions.
const (
	Asked Verb = iota // an expression or an action names it
	Added
	Removed
)

// A Reference is a place of an action that names a label.
type Reference struct {
	expression.LabelReference

	Verb Verb
}

// References returns the labels that an action writes, and the labels and tables that its
// expressions use.
func (a Action) References(names *symbols.Table) (labels []Reference, tables []expression.TableReference) {
	writes, about := Asked, a.spec.Thing == protocol.ThingLabel || a.spec.Thing == protocol.ThingForbidden
	switch {
	case a.spec.AddsLabels():
		writes = Added
	case a.spec.RemovesLabels():
		writes = Removed
	}
	add := func(verb Verb, list []expression.LabelReference) {
		for _, l := range list {
			labels = append(labels, Reference{l, verb})
		}
	}
	ask := func(x *expression.Expression) {
		if x != nil {
			l, t := x.References(names)
			add(Asked, l)
			tables = append(tables, t...)
		}
	}
	for _, p := range a.params {
		for _, t := range p.texts {
			if about {
				add(writes, t.References(a.file, names))
			}
			for _, x := range t.Expressions() {
				ask(x)
			}
		}
		if p.list != nil && about {
			add(writes, p.list.ResultReferences(names))
		}
		ask(p.list)
		ask(p.whole)
	}
	return labels, tables
}

// UsesMemory reports whether the action depends on the memory of the issue: one of its expressions
// reads the memory, it has the parameter "once", or only the memory shows that the action was done before.
func (a Action) UsesMemory() bool {
	return a.Has("once") || a.spec.Recalls || a.Reads(facts.MemoryPart)
}

// Reads reports whether one of the action's expressions depends on a look-up.
func (a Action) Reads(part facts.Part) bool {
	return slices.ContainsFunc(a.Expressions(), func(x *expression.Expression) bool { return x.Reads(part) })
}

// Expressions returns the action's expressions.
func (a Action) Expressions() []*expression.Expression {
	var list []*expression.Expression
	for _, p := range a.params {
		list = append(list, p.list, p.whole)
		for _, t := range p.texts {
			list = append(list, t.Expressions()...)
		}
	}
	return slices.DeleteFunc(list, func(x *expression.Expression) bool { return x == nil })
}

// AppendCanonical appends to b a form of the action that does not depend on how it is written: its name and
// its parameters, sorted by name. The keys of an intent are left out, because they change who is asked
// about the action, and not what it does.
func (a Action) AppendCanonical(b []byte, names *symbols.Table) []byte {
	b = strconv.AppendQuote(b, a.spec.Name)
	params := slices.Clone(a.params)
	order.Stable(params, func(p, q param) int { return strings.Compare(p.spec.Name, q.spec.Name) })
	for _, p := range params {
		b = strconv.AppendQuote(append(b, ' '), p.spec.Name)
		for _, x := range []*expression.Expression{p.list, p.whole} {
			if x != nil {
				b = x.AppendCanonical(append(b, '='), names)
			}
		}
		if p.value != nil {
			b = fmt.Appendf(b, "=%v", p.value)
		}
		for _, t := range p.texts {
			b = t.AppendCanonical(append(b, ','), names, p.spec.Kind == protocol.KindMarkdown)
		}
	}
	return b
}

// Constants returns the texts of parameters without {{ }}, such as the names of labels.
func (a Action) Constants() []string {
	var list []string
	for _, p := range a.params {
		for _, t := range p.texts {
			if name, ok := t.Constant(); ok {
				list = append(list, name)
			}
		}
	}
	return list
}

// Adds reports whether the action adds a label. It is false for labels that an expression computes.
func (a Action) Adds(label string) bool {
	return a.spec.AddsLabels() && slices.ContainsFunc(a.Constants(), func(name string) bool { return text.SameLabel(name, label) })
}

// MayRemove reports whether the action may remove a label. It is true if an expression computes the
// names of the removed labels.
func (a Action) MayRemove(label string) bool {
	if !a.spec.RemovesLabels() {
		return false
	}
	names := a.Constants()
	return len(names) == 0 || slices.ContainsFunc(names, func(name string) bool { return text.SameLabel(name, label) })
}

// MainLiteral returns the value of the main parameter: a string or a list of strings. It is nil if
// the parameter has expressions. ok is false when the parameter is missing.
func (a Action) MainLiteral() (value any, ok bool) {
	for _, p := range a.params {
		if p.spec.Name == a.spec.Main {
			value, _ = p.literal()
			return value, true
		}
	}
	return nil, false
}

// MayHaveEffect reports whether the issue may show a revertible effect of the action. True may be
// wrong; false is certain.
func (a Action) MayHaveEffect(on triage.Issue) bool {
	switch {
	case a.spec.AddsLabels():
		return a.among(on.Labels)
	case a.spec.Thing == protocol.ThingAssignee && !a.spec.Gone:
		return a.among(on.Assignees)
	case a.spec.Thing == protocol.ThingState:
		return a.spec.Gone && (on.State == "closed" || a.Has("after"))
	}
	return a.spec.Thing != ""
}

// LabelsLeft returns the labels of the issue that the action adds by name. It misses names that an
// expression computes.
func (a Action) LabelsLeft(on triage.Issue) []string {
	if !a.spec.AddsLabels() {
		return nil
	}
	names := a.Constants()
	return slices.DeleteFunc(slices.Clone(on.Labels), func(label string) bool {
		return !slices.ContainsFunc(names, func(n string) bool { return text.SameLabel(n, label) })
	})
}

// among reports whether the list contains a name that the action writes. If an expression computes
// the name, it is true for any list that is not empty.
func (a Action) among(list []string) bool {
	for _, p := range a.params {
		if p.list != nil && len(list) > 0 {
			return true
		}
		for _, t := range p.texts {
			name, constant := t.Constant()
			if !constant && len(list) > 0 || constant && slices.ContainsFunc(list, func(l string) bool { return text.SameLabel(l, name) }) {
				return true
			}
		}
	}
	return false
}
