package habit

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/expr-lang/expr/ast"

	"github.com/org/foreman-action/internal/text"
	"github.com/org/foreman-action/rules/internal/expression/syntax"
)

// Node returns what to write instead of a node of the parsed tree that is a mistake in any case, and
// the mistake; "" for all other nodes.
func Node(n ast.Node) string {
	switch n := n.(type) {
	case *ast.BinaryNode:
		if joined := syntax.JoinedBy(n.Operator); joined != "" {
			return joint(n, joined)
		}
		if msg := files(n); msg != "" {
			return msg
		}
		return negated(n)
	case *ast.MemberNode:
		name, named := n.Property.(*ast.StringNode)
		if named && slices.Contains([]string{"length", "size"}, name.Value) {
			return fmt.Sprintf("values have no %s; write len(%s)", name.Value, source(n.Node))
		}
	}
	return ""
}

// joint reports a text where and or or joins conditions, such as x == "a" or "b".
func joint(n *ast.BinaryNode, joined string) string {
	second, ok := n.Right.(*ast.StringNode)
	if !ok {
		return ""
	}
	instead := ""
	if first, ok := n.Left.(*ast.BinaryNode); ok {
		one, constant := first.Right.(*ast.StringNode)
		switch {
		case !constant:
		case first.Operator == "==" && joined == "or":
			instead = fmt.Sprintf("; write %s in [%q, %q]", source(first.Left), one.Value, second.Value)
		default:
			instead = fmt.Sprintf("; write %s %s %s %s %q", source(first), joined, source(first.Left), first.Operator, second.Value)
		}
	}
	return fmt.Sprintf("each side of %s is a condition, and %q is a text%s", joined, text.Shorten(second.Value, text.Quoted), instead)
}

// files reports a search in the list of changed files as if it were a text.
func files(n *ast.BinaryNode) string {
	value, ok := syntax.ConstantText(n.Right)
	if !ok || source(n.Left) != "pr.files" {
		return ""
	}
	folder, negation := strings.HasSuffix(value, "/"), ""
	switch glob := strings.ContainsAny(value, "*?["); n.Operator {
	case "contains":
		switch {
		case glob || folder:
		case strings.HasPrefix(value, ".") && strings.Count(value, ".") == 1 && !strings.Contains(value, "/"):
			value = "**/*" + value // most likely the end of a name
		default:
			value = "**/*" + value + "*/**" // the last ** also stands for no folder
		}
	case "startsWith":
		if !glob && !folder {
			value += "*/**"
		}
	case "==":
	case "!=":
		negation = "not "
	case "endsWith":
		value = "**/*" + strings.TrimLeft(value, "*/")
	default:
		return ""
	}
	return fmt.Sprintf("pr.files is a list of paths; write %sany_file(%q)", negation, text.Shorten(syntax.FileGlob(value), text.Quoted))
}

// negated reports not a in b, which negates a alone.
func negated(n *ast.BinaryNode) string {
	not, ok := n.Left.(*ast.UnaryNode)
	if !ok || !syntax.Negates(not.Operator) {
		return ""
	}
	_, isText := n.Right.(*ast.StringNode)
	switch {
	case slices.Contains([]string{"in", "contains", "startsWith", "endsWith", "matches"}, n.Operator):
		return fmt.Sprintf("not applies only to %s; write %s not %s …, or not (%s %s …)", source(not.Node), source(not.Node), n.Operator, source(not.Node), n.Operator)
	case n.Operator == "==" && isText:
		return fmt.Sprintf("not applies only to %s, which is no condition; write %s != %s", source(not.Node), source(not.Node), source(n.Right))
	}
	return ""
}

// source returns the text of a node for a message.
func source(n ast.Node) string { return text.Shorten(n.String(), text.Quoted) }

// Method returns what to write instead of the call of a method, such as issue.title.contains("a").
func Method(n *ast.CallNode) string {
	callee, ok := n.Callee.(*ast.MemberNode)
	if !ok {
		return ""
	}
	name, ok := callee.Property.(*ast.StringNode)
	if !ok {
		return ""
	}
	of, argument := source(callee.Node), "…"
	if len(n.Arguments) > 0 {
		argument = source(n.Arguments[0])
	}
	switch strings.ToLower(name.Value) {
	case "tolowercase", "lower", "tolower", "downcase":
		return fmt.Sprintf("; write lower(%s)", of)
	case "touppercase", "upper", "toupper", "upcase":
		return fmt.Sprintf("; write upper(%s)", of)
	case "trim", "strip":
		return fmt.Sprintf("; write trim(%s)", of)
	case "includes", "contains", "has", "include":
		return fmt.Sprintf("; write %s contains %s for a text, %s in %s for a list", of, argument, argument, of)
	case "startswith", "hasprefix":
		return fmt.Sprintf("; write %s startsWith %s", of, argument)
	case "endswith", "hassuffix":
		return fmt.Sprintf("; write %s endsWith %s", of, argument)
	case "match", "matches", "test", "search":
		return fmt.Sprintf("; write %s matches `…`", of)
	case "length", "size", "count":
		return fmt.Sprintf("; write len(%s)", of)
	case "indexof":
		return fmt.Sprintf("; write indexOf(%s, %s)", of, argument)
	case "some", "any":
		return fmt.Sprintf("; write any(%s, # == …)", of)
	case "every", "all":
		return fmt.Sprintf("; write all(%s, # == …)", of)
	}
	return ""
}

// Texts returns the texts that a comparison beside a field, and a call of a function, have without
// quotes, by the names in them. They are texts if the names are unknown.
func Texts(n ast.Node) map[string]string {
	list := map[string]string{}
	add := func(n ast.Node) {
		names, written := bare(n)
		for _, name := range names {
			list[name] = written
		}
	}
	if call, ok := n.(*ast.CallNode); ok {
		for _, argument := range call.Arguments {
			add(argument)
		}
	}
	if b, ok := n.(*ast.BinaryNode); ok && slices.Contains([]string{"==", "!=", "contains", "startsWith", "endsWith", "in"}, b.Operator) {
		_, left := b.Left.(*ast.MemberNode)
		_, right := b.Right.(*ast.MemberNode)
		if left {
			add(b.Right)
		}
		if right {
			add(b.Left)
		}
		if items, ok := b.Right.(*ast.ArrayNode); ok && left {
			for _, item := range items.Nodes {
				add(item)
			}
		}
	}
	for _, c := range syntax.Children(n) {
		if *c != nil {
			maps.Copy(list, Texts(*c))
		}
	}
	return list
}

// bare returns the names in a text without quotes, such as needs-info or area/ui, and the text.
func bare(n ast.Node) (names []string, written string) {
	switch n := n.(type) {
	case *ast.IdentifierNode:
		return []string{n.Value}, n.Value
	case *ast.BinaryNode:
		first, left := bare(n.Left)
		second, right := bare(n.Right)
		if left != "" && right != "" && (n.Operator == "-" || n.Operator == "/") {
			return append(first, second...), left + n.Operator + right
		}
	}
	return nil, ""
}
