package rules

import (
	"slices"

	"github.com/org/foreman-action/internal/ruleset"
	"github.com/org/foreman-action/protocol"
	"github.com/org/foreman-action/rules/internal/action"
	"github.com/org/foreman-action/rules/internal/expression"
)

// Suspicious implements [ruleset.Rules].
func (c *compiled) Suspicious(folder func(string) bool) Problems {
	var list Problems
	for _, r := range c.all() {
		for _, x := range r.expressions() {
			list = append(list, x.Suspicious(r.on, folder)...)
		}
		for _, s := range r.scans {
			list = append(list, s.suspicious(r.file)...)
		}
		i := slices.IndexFunc(r.actions, func(a action.Action) bool { return a.Spec().Closes() || a.Name() == protocol.ActionLock })
		if i >= 0 && r.when != nil {
			list = append(list, r.when.OpenCommand(c.names, r.actions[i].Name())...)
		}
	}
	return list
}

// FormValues implements [ruleset.Rules].
func (c *compiled) FormValues() []ruleset.FormValue {
	var list []ruleset.FormValue
	for _, r := range c.all() {
		for _, x := range r.expressions() {
			for _, v := range x.FormValues(c.names) {
				list = append(list, ruleset.FormValue(v))
			}
		}
	}
	return list
}

// expressions returns the condition and the expressions of the actions.
func (r *rule) expressions() []*expression.Expression {
	var list []*expression.Expression
	if r.when != nil {
		list = append(list, r.when)
	}
	for _, a := range r.actions {
		list = append(list, a.Expressions()...)
	}
	return list
}
