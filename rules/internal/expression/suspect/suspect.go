// Package suspect finds parts of expressions that are valid, and probably do not do what their author
// means.
package suspect

import (
	"fmt"
	"slices"
	"strings"

	"github.com/expr-lang/expr/ast"

	"github.com/org/foreman-action/internal/text"
	"github.com/org/foreman-action/rules/internal/expression/syntax"
)

// A Finding is a suspicious part of an expression.
type Finding struct {
	Node    ast.Node
	Message string // the reason, and what to write instead
}

// Find returns the suspicious parts of a tree as the parser returned it. on lists the events of the
// rule. folder reports whether the repository has a folder of that name.
func Find(tree ast.Node, on []string, folder func(path string) bool) []Finding {
	f := finder{on: on, folder: folder}
	f.walk(tree)
	return f.list
}

// A finder collects the findings of one expression.
type finder struct {
	on     []string
	folder func(string) bool
	list   []Finding
}

func (f *finder) add(n ast.Node, format string, args ...any) {
	f.list = append(f.list, Finding{n, fmt.Sprintf(format, args...)})
}

func (f *finder) walk(n ast.Node) {
	switch n := n.(type) {
	case *ast.MemberNode:
		f.empty(n, path(n))
	case *ast.CallNode:
		f.call(n)
	case *ast.BinaryNode:
		f.operation(n)
	}
	for _, c := range syntax.Children(n) {
		if *c != nil {
			f.walk(*c)
		}
	}
}

// path returns a field as it is written, such as event.comment.body; "" for any other node.
func path(n ast.Node) string {
	switch n := n.(type) {
	case *ast.ChainNode:
		return path(n.Node)
	case *ast.IdentifierNode:
		return n.Value
	case *ast.MemberNode:
		if call, ok := n.Node.(*ast.CallNode); ok && syntax.Calls(call, "last_human") {
			return "last_human()." + named(n)
		}
		if root := path(n.Node); root != "" && named(n) != "" {
			return root + "." + named(n)
		}
	}
	return ""
}

func named(n *ast.MemberNode) string {
	s, _ := n.Property.(*ast.StringNode)
	if s == nil {
		return ""
	}
	return s.Value
}

// happens reports whether one of the events is of a kind, such as "issues", and has one of the
// activities; no activities: any. An event such as issues.* has all activities.
func (f *finder) happens(kinds []string, activities ...string) bool {
	return slices.ContainsFunc(f.on, func(on string) bool {
		name, activity, _ := strings.Cut(on, ".")
		return slices.Contains(kinds, name) && (len(activities) == 0 || activity == "*" || slices.Contains(activities, activity))
	})
}

// empty reports a field that has no value in any of the events.
func (f *finder) empty(n ast.Node, field string) {
	subjects := []string{"issues", "pull_request"}
	switch field {
	case "event.label":
		if !f.happens(subjects, "labeled", "unlabeled") {
			f.without(n, field, `issues.labeled and issues.unlabeled have it; label("bug") tests for a label of the issue`)
		}
	case "event.assignee":
		if !f.happens(subjects, "assigned", "unassigned") {
			f.without(n, field, "issues.assigned and issues.unassigned have it; the people of the issue are in issue.assignees")
		}
	case "event.milestone":
		if !f.happens(subjects, "milestoned", "demilestoned") {
			f.without(n, field, "issues.milestoned and issues.demilestoned have it; the milestone of the issue is issue.milestone")
		}
	case "event.comment":
		f.commented(n, field)
	}
	if strings.HasPrefix(field, "pr.") && strings.Count(field, ".") == 1 {
		f.pull(n, field)
	}
}

func (f *finder) without(n ast.Node, what, instead string) {
	f.add(n, "%s is always empty, because the rule listens to %s; %s", what, f.events(), instead)
}

// events names the events of the rule.
func (f *finder) events() string {
	const few = 4
	if len(f.on) > few {
		return strings.Join(f.on[:few], ", ") + " and others"
	}
	return strings.Join(f.on, ", ")
}

func (f *finder) commented(n ast.Node, what string) {
	if !f.happens([]string{"issue_comment"}) {
		f.add(n, "%s is always empty, because the rule listens to %s; comments are in the events of issue_comment, such as issue_comment.created", what, f.events())
	}
}

// pull reports a value that only pull requests have, if every event is about an issue.
func (f *finder) pull(n ast.Node, what string) {
	if !slices.ContainsFunc(f.on, func(on string) bool { return !strings.HasPrefix(on, "issues.") }) {
		f.add(n, "%s is always empty, because the rule listens to %s, which are about issues alone; pull requests have the events of pull_request, such as pull_request.opened", what, f.events())
	}
}

func (f *finder) call(n *ast.CallNode) {
	callee, ok := n.Callee.(*ast.IdentifierNode)
	if !ok {
		return
	}
	switch callee.Value {
	case "command":
		f.commented(n, "command()")
		f.answers(n)
	case "any_file", "all_files":
		f.pull(n, callee.Value+"()")
		f.globs(n.Arguments)
	case "matches_glob":
		f.globs(n.Arguments[min(1, len(n.Arguments)):])
	}
}

// answers reports a command with which people answer proposals.
func (f *finder) answers(n *ast.CallNode) {
	for _, arg := range n.Arguments {
		if name, _ := syntax.ConstantText(arg); name == "accept" || name == "reject" {
			f.add(n, "/foreman %[1]s answers a proposal, and Foreman carries that out, too; choose another name than %[1]s", name)
		}
	}
}

// globs reports globs that name a folder, which match none of its files.
func (f *finder) globs(list []ast.Node) {
	for _, n := range list {
		glob, ok := syntax.ConstantText(n)
		if ok && glob != "" && !strings.HasSuffix(glob, "/") && !strings.ContainsAny(glob, `*?[\`) && f.folder(glob) {
			f.add(n, "%q is a folder, and a glob matches files; write %q for all files in it", text.Shorten(glob, text.Quoted), text.Shorten(glob, text.Quoted)+"/**")
		}
	}
}

// commandGrants are the fields that limit who a command is taken from.
var commandGrants = []string{"actor", "event.comment.author", "event.comment.association"}

// OpenCommand returns the call of command in a condition that is true for commands of anybody: it
// tests for no property of the actor. It returns nil for other conditions. The functions of the
// program may test for anything.
func OpenCommand(tree ast.Node, own func(name string) bool) ast.Node {
	var found ast.Node
	open := true
	var walk func(n ast.Node, there bool)
	walk = func(n ast.Node, there bool) {
		switch n := n.(type) {
		case *ast.UnaryNode:
			there = there != syntax.Negates(n.Operator)
		case *ast.IdentifierNode:
			open = open && n.Value != "actor"
		case *ast.MemberNode:
			open = open && !slices.Contains(commandGrants, path(n))
		case *ast.CallNode:
			if callee, ok := n.Callee.(*ast.IdentifierNode); ok {
				open = open && !own(callee.Value)
				if callee.Value == "command" && there && found == nil {
					found = n
				}
			}
		}
		for _, c := range syntax.Children(n) {
			if *c != nil {
				walk(*c, there)
			}
		}
	}
	walk(tree, true)
	if !open {
		return nil
	}
	return found
}
