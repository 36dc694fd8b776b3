package expression

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/org/foreman-action/triage"

	"github.com/expr-lang/expr/ast"
	"github.com/expr-lang/expr/builtin"

	"github.com/org/foreman-action/internal/rulesource"
	"github.com/org/foreman-action/internal/text"
	"github.com/org/foreman-action/internal/yamlfile"
	"github.com/org/foreman-action/rules/internal/events"
	"github.com/org/foreman-action/rules/internal/expression/syntax"
	"github.com/org/foreman-action/rules/internal/expression/wording"
)

// A linter rejects expressions that compile but cannot have the effect that they suggest.
type linter struct {
	builtins map[string]*builtin.Function // functions that rules may use
	on       []string                     // the events in the rule's "on"; nil: it has no "on"
	own      map[string]rulesource.Func
}

// lint checks a typed tree.
func (l linter) lint(n ast.Node) error {
	if n == nil {
		return nil
	}
	for _, c := range syntax.Children(n) {
		if err := l.lint(*c); err != nil {
			return err
		}
	}
	switch n := n.(type) {
	case *ast.BinaryNode:
		if err := checkNil(n); err != nil {
			return err
		}
		return l.checkValues(n)
	case *ast.BuiltinNode:
		return l.checkConstant(n)
	case *ast.CallNode:
		return checkOwn(n, l.own)
	}
	return nil
}

// checkNil rejects comparisons of a field with nil, because no field is ever nil.
func checkNil(n *ast.BinaryNode) error {
	field := n.Left
	switch n.Operator {
	case "==", "!=":
		_, left := n.Left.(*ast.NilNode)
		_, right := n.Right.(*ast.NilNode)
		if left == right {
			return nil
		}
		if left {
			field = n.Right
		}
	case "??":
	default:
		return nil
	}
	if table := tableType(field); table != nil {
		return refuse(n, "a table never returns nil; for a missing key it returns %s; test for the key with in", rowDefault(table))
	}
	if !isField(field) {
		return nil
	}
	written := strings.NewReplacer("("+runName+", ", "(", "("+runName+")", "()").Replace(field.String())
	if strings.Contains(written, "__") {
		written = fieldName(field)
	}
	return refuse(n, "%s is never nil; %s", written, insteadOfNil(field))
}

// isField reports whether n is a field of the environment, or of one of its fields.
func isField(n ast.Node) bool {
	switch n := n.(type) {
	case *ast.ChainNode:
		return isField(n.Node)
	case *ast.MemberNode:
		_, named := n.Property.(*ast.StringNode)
		return named && isField(n.Node)
	case *ast.CallNode:
		return n.Type() == reflect.TypeFor[Person]() || n.Type() == reflect.TypeFor[triage.PullRequest]() || isLookedUpTime(n)
	case *ast.IdentifierNode:
		t := n.Type()
		return slices.Contains(nouns(), t)
	}
	return false
}

// isLookedUpTime reports whether n is a time that is looked up, such as author.created_at.
func isLookedUpTime(n ast.Node) bool {
	return n.Type() == reflect.TypeFor[time.Time]() && slices.ContainsFunc(lookedUp(), func(f lookedUpField) bool { return f.path() == fieldName(n) })
}

// insteadOfNil describes how to test whether a field is unset.
func insteadOfNil(n ast.Node) string {
	t := n.Type()
	if isLookedUpTime(n) {
		return "if it is unknown, the rule does nothing"
	}
	if t == reflect.TypeFor[time.Time]() {
		return "a time is always set"
	}
	switch t.Kind() {
	case reflect.String:
		return `compare it with ""`
	case reflect.Int:
		return "compare it with 0"
	case reflect.Bool:
		return "it is true or false"
	case reflect.Slice:
		return fmt.Sprintf("compare len(%s) with 0", n)
	}
	return "look at one of its fields"
}

// checkConstant rejects constant dates that cannot be parsed.
func (l linter) checkConstant(n *ast.BuiltinNode) error {
	hint := map[string]string{
		"date": `write it like "2024-01-31" or "2024-01-31T15:04:05Z"`,
	}[n.Name]
	if hint == "" || len(n.Arguments) != 1 {
		return nil
	}
	s, ok := syntax.ConstantText(n.Arguments[0])
	if !ok {
		return nil
	}
	if _, err := l.builtins[n.Name].Func(s); err != nil {
		return refuse(n.Arguments[0], "%s; %s", wording.CannotRead(n.Name, s), hint)
	}
	return nil
}

// tableType returns the type of the table that n reads a row of, or nil.
func tableType(n ast.Node) reflect.Type {
	if chain, ok := n.(*ast.ChainNode); ok {
		n = chain.Node
	}
	m, ok := n.(*ast.MemberNode)
	if !ok {
		return nil
	}
	table, ok := m.Node.(*ast.ConstantNode)
	if !ok || reflect.TypeOf(table.Value).Kind() != reflect.Map {
		return nil
	}
	return reflect.TypeOf(table.Value)
}

// rowDefault describes the value of a table for a missing key.
func rowDefault(table reflect.Type) string {
	switch table.Elem().Kind() {
	case reflect.String:
		return `""`
	case reflect.Bool:
		return "false"
	case reflect.Slice:
		return "an empty list"
	}
	return "0"
}

// FieldValues returns the possible values of a field that has few, by its name in conditions and
// tests; nil for other fields. The values are those of GitHub's OpenAPI description, plus "" if an
// event may lack the field. The values of event.name, event.action and event.key are in
// [linter.checkEvent].
func FieldValues(field string) []string {
	switch field {
	case "issue.state":
		return []string{"open", "closed"}
	case "issue.state_reason":
		return []string{"completed", "not_planned", "duplicate", "reopened", ""}
	case "issue.association", "actor.association", "event.comment.association", "comment.association":
		return []string{"COLLABORATOR", "CONTRIBUTOR", "FIRST_TIMER", "FIRST_TIME_CONTRIBUTOR", "MANNEQUIN", "MEMBER", "NONE", "OWNER", ""}
	case "issue.author_type", "actor.type":
		return []string{"User", "Bot", "Organization", "Mannequin", ""}
	case "contrib.duplicate_evidence":
		return []string{"low", "medium", "high"}
	case "actor.permission":
		return []string{"admin", "maintain", "write", "triage", "read", "none"}
	}
	return nil
}

// checkValues rejects comparisons of a field with a text that is not one of its possible values.
func (l linter) checkValues(n *ast.BinaryNode) error {
	switch n.Operator {
	case "==", "!=":
		if err := l.checkValue(fieldName(n.Left), n.Right); err != nil {
			return err
		}
		return l.checkValue(fieldName(n.Right), n.Left)
	case "in":
		list, ok := n.Right.(*ast.ArrayNode)
		if !ok {
			return nil
		}
		for _, item := range list.Nodes {
			if err := l.checkValue(fieldName(n.Left), item); err != nil {
				return err
			}
		}
	}
	return nil
}

// fieldName returns a field of the environment as written, such as issue.state; "" for anything
// else.
func fieldName(n ast.Node) string {
	switch n := n.(type) {
	case *ast.ChainNode:
		return fieldName(n.Node)
	case *ast.IdentifierNode:
		return n.Value
	case *ast.CallNode:
		callee, ok := n.Callee.(*ast.IdentifierNode)
		for _, f := range lookedUp() {
			if ok && callee.Value == f.function() {
				return f.path()
			}
		}
		if name, looked := strings.CutPrefix(n.Callee.String(), "__"); looked && isRoot(name) {
			return name
		}
	case *ast.MemberNode:
		root, name := fieldName(n.Node), n.Property
		if s, ok := name.(*ast.StringNode); ok && root != "" {
			return root + "." + s.Value
		}
	}
	return ""
}

func (l linter) checkValue(field string, n ast.Node) error {
	value, ok := syntax.ConstantText(n)
	if !ok || field == "" {
		return nil
	}
	values := FieldValues(field)
	if values == nil {
		return l.checkEvent(field, value, n)
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

// checkEvent rejects names of events to which no rule can listen. A repository_dispatch may have
// any action, so a comparison with an action is rejected only if the rule cannot mean that event.
func (l linter) checkEvent(field, value string, n ast.Node) error {
	if field != "event.name" && field != "event.action" && field != "event.key" {
		return nil
	}
	var known []string
	for _, key := range events.Keys() {
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
		named := slices.ContainsFunc(l.on, func(on string) bool { return strings.HasPrefix(on, "repository_dispatch") })
		if named || l.on == nil && hint == "" {
			return nil
		}
		if l.on == nil {
			hint += " (test for the type of a repository_dispatch with event.key)"
		}
	}
	if hint == "" {
		hint = `; its values are the events that "on" accepts`
	}
	return refuse(n, "%s is never %q%s", field, text.Shorten(value, text.Quoted), hint)
}

// meantValue returns the value that was probably meant: a similar one, or one that begins with the
// text, such as "opened" for "open".
func meantValue(text string, values []string) string {
	meant := yamlfile.Suggest(text, values)
	if i := slices.IndexFunc(values, func(v string) bool { return text != "" && strings.HasPrefix(v, text) }); meant == "" && i >= 0 {
		meant = values[i]
	}
	if meant == "" {
		return ""
	}
	return `; did you mean "` + meant + `"?`
}
