package rules

import (
	"slices"
	"strings"

	"github.com/expr-lang/expr/ast"

	"github.com/org/foreman-action/internal/strictyaml"
	"github.com/org/foreman-action/internal/text"
)

// fieldValues returns what a field of few values may be, as conditions and as tests name
// it; nil for other fields. The sets
// are those of GitHub's OpenAPI description; "" stands where an event may not tell. What
// event.name, event.action and event.key may be is in [guard.checkEvent].
func fieldValues(field string) []string {
	switch field {
	case "issue.state":
		return []string{"open", "closed"}
	case "issue.state_reason":
		return []string{"completed", "not_planned", "duplicate", "reopened", ""}
	case "issue.association", "actor.association", "event.comment.association", "comment.association":
		return []string{"COLLABORATOR", "CONTRIBUTOR", "FIRST_TIMER", "FIRST_TIME_CONTRIBUTOR", "MANNEQUIN", "MEMBER", "NONE", "OWNER", ""}
	case "issue.author_type", "actor.type":
		return []string{"User", "Bot", "Organization", "Mannequin", ""}
	case "actor.permission":
		return []string{"admin", "maintain", "write", "triage", "read", "none"}
	}
	return nil
}

// checkValues refuses to compare a field of few values with a text that it never is.
func (g guard) checkValues(n *ast.BinaryNode) error {
	switch n.Operator {
	case "==", "!=":
		if err := g.checkValue(fieldName(n.Left), n.Right); err != nil {
			return err
		}
		return g.checkValue(fieldName(n.Right), n.Left)
	case "in":
		list, ok := n.Right.(*ast.ArrayNode)
		if !ok {
			return nil
		}
		for _, item := range list.Nodes {
			if err := g.checkValue(fieldName(n.Left), item); err != nil {
				return err
			}
		}
	}
	return nil
}

// fieldName returns a field of the environment as it is written, such as issue.state;
// "" for anything else.
func fieldName(n ast.Node) string {
	switch n := n.(type) {
	case *ast.ChainNode:
		return fieldName(n.Node)
	case *ast.IdentifierNode:
		return n.Value
	case *ast.CallNode:
		if callee, ok := n.Callee.(*ast.IdentifierNode); ok && callee.Value == "__permission" {
			return "actor.permission"
		}
	case *ast.MemberNode:
		root, name := fieldName(n.Node), n.Property
		if s, ok := name.(*ast.StringNode); ok && root != "" {
			return root + "." + s.Value
		}
	}
	return ""
}

func (g guard) checkValue(field string, n ast.Node) error {
	value, ok := constantText(n)
	if !ok || field == "" {
		return nil
	}
	values := fieldValues(field)
	if values == nil {
		return g.checkEvent(field, value, n)
	}
	if slices.Contains(values, value) {
		return nil
	}
	hint := meantValue(value, values)
	if hint == "" {
		last := len(values) - 1
		hint = "; it is " + inQuotes(values[:last], ", ") + " or " + inQuotes(values[last:], "")
	}
	return refuse(n, "%s is never %q%s", field, text.Shorten(value, text.Quoted), hint)
}

func inQuotes(list []string, between string) string {
	return `"` + strings.Join(list, `"`+between+`"`) + `"`
}

// checkEvent refuses names of events that no rule can listen to. A repository_dispatch
// brings actions of any name, so those are only refused where it cannot be meant.
func (g guard) checkEvent(field, value string, n ast.Node) error {
	if field != "event.name" && field != "event.action" && field != "event.key" {
		return nil
	}
	var known []string
	for _, key := range eventKeys() {
		event, activity, _ := strings.Cut(key, ".")
		switch {
		case field == "event.name":
			known = append(known, event)
		case field == "event.action" && activity != "*":
			known = append(known, activity)
		case field == "event.key" && activity != "*":
			known = append(known, key)
		}
	}
	dispatched := field == "event.key" && strings.HasPrefix(value, "repository_dispatch.")
	if dispatched || slices.Contains(known, value) {
		return nil
	}
	hint := meantValue(value, known)
	if field == "event.action" {
		named := slices.ContainsFunc(g.on, func(on string) bool { return strings.HasPrefix(on, "repository_dispatch") })
		if named || g.on == nil && hint == "" {
			return nil
		}
		if g.on == nil {
			hint += " (a type of repository_dispatch is asked with event.key)"
		}
	}
	if hint == "" {
		hint = `; its names are those that "on" takes`
	}
	return refuse(n, "%s is never %q%s", field, text.Shorten(value, text.Quoted), hint)
}

// meantValue says which value was most likely meant: one that is near, or one that
// begins with the text, as "opened" with "open".
func meantValue(text string, values []string) string {
	meant := strictyaml.Suggest(text, values)
	if i := slices.IndexFunc(values, func(v string) bool { return text != "" && strings.HasPrefix(v, text) }); meant == "" && i >= 0 {
		meant = values[i]
	}
	if meant == "" {
		return ""
	}
	return `; did you mean "` + meant + `"?`
}
