package suspect

import (
	"slices"
	"strings"

	"github.com/expr-lang/expr/ast"

	"github.com/org/foreman-action/internal/text"
	"github.com/org/foreman-action/rules/internal/expression/syntax"
)

// logins are the fields whose value is the login of an account.
var logins = []string{"issue.author", "actor.login", "event.comment.author", "event.assignee", "last_human().login"}

// loginLists are the fields that list logins.
var loginLists = []string{"issue.assignees", "pr.requested_reviewers", "pr.reviewers", "pr.approved_by", "pr.changes_requested_by"}

// operation reports comparisons that are never true.
func (f *finder) operation(n *ast.BinaryNode) {
	f.similarity(n)
	switch n.Operator {
	case "and", "&&":
		f.exclusive(n)
	case "==", "!=":
		f.values(n.Left, n.Right)
		f.values(n.Right, n.Left)
		if n.Operator == "==" {
			f.event(n.Left, n.Right)
			f.event(n.Right, n.Left)
		}
	case "in":
		if list, ok := n.Right.(*ast.ArrayNode); ok {
			f.values(n.Left, list.Nodes...)
			f.event(n.Left, list.Nodes...)
		}
		f.items(n)
	case "contains", "startsWith", "endsWith":
		f.letters(n.Left, n.Right)
		f.stars(n)
	case "matches":
		f.pattern(n.Right)
	}
}

// values reports constants that the value of a field never equals.
func (f *finder) values(of ast.Node, constants ...ast.Node) {
	field := path(of)
	for _, n := range constants {
		value, ok := syntax.ConstantText(n)
		switch {
		case !ok:
		case slices.Contains(logins, field):
			f.login(n, value)
		case slices.Contains([]string{"issue.milestone", "event.milestone", "issue.type"}, field):
			f.spaces(n, value)
		}
	}
	f.letters(of, constants...)
}

// items reports constants that a list never contains.
func (f *finder) items(n *ast.BinaryNode) {
	value, ok := syntax.ConstantText(n.Left)
	list := path(n.Right)
	switch {
	case !ok:
	case slices.Contains(loginLists, list):
		f.login(n.Left, value)
	case list == "pr.files":
		f.file(n.Left, value)
	}
}

// file reports a text that is not the path of a file.
func (f *finder) file(n ast.Node, value string) {
	what := "is a folder"
	switch {
	case strings.ContainsAny(value, "*?"):
		what = "is a glob"
	case strings.HasSuffix(value, "/"):
	case value != "" && f.folder(value):
		value += "/"
	default:
		return
	}
	f.add(n, "in compares whole paths, and this text %s; write any_file(%q)", what, text.Shorten(syntax.FileGlob(value), text.Quoted))
}

// login reports a text that cannot be a login.
func (f *finder) login(n ast.Node, value string) {
	bare := strings.TrimPrefix(strings.TrimSpace(value), "@")
	switch {
	case strings.HasPrefix(value, "@"):
		f.add(n, "a login has no @; write %q", text.Shorten(bare, text.Quoted))
	case strings.Contains(value, "*"):
		f.add(n, "a login is compared as it stands, and none contains %q; write startsWith, endsWith or matches", "*")
	default:
		f.spaces(n, value)
	}
}

func (f *finder) spaces(n ast.Node, value string) {
	if bare := strings.TrimSpace(value); bare != value && bare != "" {
		f.add(n, "no name begins or ends with a space; write %q", text.Shorten(bare, text.Quoted))
	}
}

// letters reports a text in the case that lower or upper removes.
func (f *finder) letters(of ast.Node, constants ...ast.Node) {
	call, ok := of.(*ast.BuiltinNode)
	if !ok || call.Name != "lower" && call.Name != "upper" {
		return
	}
	convert := strings.ToLower
	if call.Name == "upper" {
		convert = strings.ToUpper
	}
	for _, n := range constants {
		if value, ok := syntax.ConstantText(n); ok && convert(value) != value {
			f.add(n, "%s() never yields these letters; write %q", call.Name, text.Shorten(convert(value), text.Quoted))
		}
	}
}

// stars reports a glob that is searched for in a title.
func (f *finder) stars(n *ast.BinaryNode) {
	value, ok := syntax.ConstantText(n.Right)
	bare := strings.Trim(value, "*")
	if ok && bare != "" && bare != value && path(n.Left) == "issue.title" {
		f.add(n.Right, "%s has no wildcards and begins and ends where the text does; write %q", n.Operator, text.Shorten(bare, text.Quoted))
	}
}

// event reports names of events that the rule does not listen to, if no constant is the name of one
// of its events.
func (f *finder) event(of ast.Node, constants ...ast.Node) {
	field := path(of)
	if len(constants) == 0 || !slices.Contains([]string{"event.name", "event.action", "event.key"}, field) {
		return
	}
	for _, n := range constants {
		if value, ok := syntax.ConstantText(n); !ok || f.mayBe(field, value) {
			return
		}
	}
	value, _ := syntax.ConstantText(constants[0])
	instead := "add the event to on"
	if field == "event.action" {
		for _, on := range f.on {
			if name, _, ok := strings.Cut(on, "."); ok {
				instead = "add " + name + "." + value + " to on"
			}
		}
	}
	f.add(constants[0], "%s is never %q, because the rule listens to %s; %s", field, text.Shorten(value, text.Quoted), f.events(), instead)
}

// mayBe reports whether a field about the event may have a value.
func (f *finder) mayBe(field, value string) bool {
	return slices.ContainsFunc(f.on, func(on string) bool {
		name, activity, _ := strings.Cut(on, ".")
		switch {
		case name == "repository_dispatch":
			return true
		case field == "event.name":
			return value == name
		case field == "event.action":
			return activity == "*" || value == activity
		}
		return value == on || activity == "*" && strings.HasPrefix(value, name+".")
	})
}

var scriptPattern = text.Regexp(`^/(.+)/([dgimsuvy]*)$`)

// pattern reports a pattern between slashes, as JavaScript writes it.
func (f *finder) pattern(n ast.Node) {
	value, ok := syntax.ConstantText(n)
	m := scriptPattern().FindStringSubmatch(value)
	if !ok || m == nil || m[2] == "" && !strings.HasPrefix(m[1], "^") && !strings.HasPrefix(m[1], `\b`) && !strings.HasSuffix(m[1], "$") {
		return
	}
	flags := strings.Map(func(r rune) rune {
		if r == 'i' || r == 'm' || r == 's' {
			return r
		}
		return -1
	}, m[2])
	if flags != "" {
		flags = "(?" + flags + ")"
	}
	f.add(n, "the slashes are a part of the pattern; write it without them: %s", text.Shorten("`"+flags+m[1]+"`", text.Quoted))
}

// exclusive reports comparisons of one field with two texts, of which and requires both.
func (f *finder) exclusive(n *ast.BinaryNode) {
	first := map[string]string{} // texts by field
	for _, part := range conjuncts(n) {
		b, ok := part.(*ast.BinaryNode)
		if !ok || b.Operator != "==" {
			continue
		}
		field := path(b.Left)
		value, constant := syntax.ConstantText(b.Right)
		other, again := first[field]
		switch {
		case !constant || field == "":
		case !again:
			first[field] = value
		case other != value:
			f.add(b.Right, "%s is never both %q and %q; write or, or %s in [%q, %q]", field, text.Shorten(other, text.Quoted), text.Shorten(value, text.Quoted), field, text.Shorten(other, text.Quoted), text.Shorten(value, text.Quoted))
		}
	}
}

// conjuncts returns the parts that and joins.
func conjuncts(n ast.Node) []ast.Node {
	if b, ok := n.(*ast.BinaryNode); ok && syntax.JoinedBy(b.Operator) == "and" {
		return append(conjuncts(b.Left), conjuncts(b.Right)...)
	}
	return []ast.Node{n}
}

// similarity reports a comparison of similar() with a number that it never reaches.
func (f *finder) similarity(n *ast.BinaryNode) {
	if !slices.Contains([]string{"<", "<=", ">", ">=", "==", "!="}, n.Operator) {
		return
	}
	for _, pair := range [][2]ast.Node{{n.Left, n.Right}, {n.Right, n.Left}} {
		if syntax.Calls(pair[0], "similar") && overOne(pair[1]) {
			f.add(pair[1], "similar() is a number from 0 to 1; write 0.6 for 60 %%")
		}
	}
}

func overOne(n ast.Node) bool {
	switch n := n.(type) {
	case *ast.IntegerNode:
		return n.Value > 1
	case *ast.FloatNode:
		return n.Value > 1
	}
	return false
}
