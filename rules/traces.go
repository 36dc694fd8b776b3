package rules

import (
	"slices"
	"strings"

	"github.com/expr-lang/expr/ast"
	"github.com/expr-lang/expr/parser"

	"github.com/org/foreman-action/protocol"
	"github.com/org/foreman-action/triage"
)

// Knows reports whether the condition of a rule that listens to comments asks for the
// command of that name: then it is a command of this repository.
func (s *Set) Knows(command string) bool {
	for _, r := range s.all() {
		if r.when == nil || !slices.ContainsFunc(r.on, func(on string) bool { return strings.HasPrefix(on, "issue_comment") }) {
			continue
		}
		tree, err := parser.ParseWithConfig(r.when.src, r.when.code.compiler.config)
		if err == nil && asksCommand(tree.Node, command) {
			return true
		}
	}
	return false
}

// asksCommand reports whether an expression asks for a command: by its name, or by one
// that only the event tells.
func asksCommand(n ast.Node, command string) bool {
	if c, ok := n.(*ast.CallNode); ok && len(c.Arguments) == 1 {
		callee, named := c.Callee.(*ast.IdentifierNode)
		name, constant := c.Arguments[0].(*ast.StringNode)
		if named && callee.Value == "command" && (!constant || strings.EqualFold(name.Value, command)) {
			return true
		}
	}
	return slices.ContainsFunc(children(n), func(c *ast.Node) bool { return *c != nil && asksCommand(*c, command) })
}

// Undoes reports whether a rule says "else_undo: true".
func (s *Set) Undoes() bool {
	return slices.ContainsFunc(s.all(), func(r *rule) bool { return r.undo })
}

// MayHaveLeft reports whether anything that the rule with that id does, and that can be
// taken back, may be on the issue: a label that it adds, or anybody when its text does
// not tell whom it assigns. It asks nobody; false is certain. It is false when there is
// no such rule.
func (s *Set) MayHaveLeft(id string, on triage.Issue) bool {
	i := slices.IndexFunc(s.all(), func(r *rule) bool { return r.id == id })
	return i >= 0 && slices.ContainsFunc(s.rules[i].actions, func(a action) bool { return a.mayHaveLeft(on) })
}

func (a action) mayHaveLeft(on triage.Issue) bool {
	switch a.spec.Name {
	case protocol.ActionAddLabel, protocol.ActionAddLabels:
		return a.among(on.Labels)
	case protocol.ActionAssign:
		return a.among(on.Assignees)
	case protocol.ActionRemoveLabel, protocol.ActionUnassign:
		return true
	case protocol.ActionCloseIssue, protocol.ActionMarkDuplicate:
		return on.State == "closed" || a.has("after")
	case protocol.ActionNeverAgain:
		return true
	}
	return false
}

// among reports whether a name that the action writes is in a list, or may be.
func (a action) among(list []string) bool {
	for _, p := range a.params {
		if p.list != nil && len(list) > 0 {
			return true
		}
		for _, t := range p.texts {
			name, constant := t.constant()
			if !constant && len(list) > 0 || constant && slices.ContainsFunc(list, func(l string) bool { return strings.EqualFold(l, name) }) {
				return true
			}
		}
	}
	return false
}
