package expression

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/expr-lang/expr/ast"
	"github.com/expr-lang/expr/builtin"

	length "github.com/org/foreman-action/internal/duration"
	"github.com/org/foreman-action/protocol"
	"github.com/org/foreman-action/rules/facts"
	"github.com/org/foreman-action/rules/internal/cost"
	"github.com/org/foreman-action/rules/internal/expression/habit"
	"github.com/org/foreman-action/rules/internal/expression/syntax"
	"github.com/org/foreman-action/rules/internal/expression/wording"
	"github.com/org/foreman-action/rules/internal/forms"
	"github.com/org/foreman-action/rules/internal/match"
	"github.com/org/foreman-action/rules/internal/semver"
	"github.com/org/foreman-action/rules/internal/slash"
	"github.com/org/foreman-action/rules/internal/symbols"
)

// The bounds of loops in an expression.
const (
	MaxLoops = 2    // loops inside each other
	MaxRange = 1000 // elements of a..b
)

// A guard rejects expressions of unbounded cost, and passes the run to the functions of rules so
// that they can charge it. It works on the parsed tree before types are checked, so that type
// errors refer to the original text.
type guard struct {
	pattern  func(string) (*match.Pattern, error)
	builtins map[string]*builtin.Function // functions that rules may use
	states   *int                         // visited by all patterns for long texts
	names    *symbols.Table
	fields   map[string]*forms.Field // variables whose value is a form field
	reads    map[facts.Part]bool     // the look-ups that the expression uses
}

// check checks and patches the tree at place. loops is the number of loops around it.
func (g guard) check(place *ast.Node, loops int) error {
	if *place == nil {
		return nil
	}
	if ok, err := resolve(g.names, place); ok || err != nil {
		return err
	}
	if err := g.refuse(*place, loops); err != nil {
		return err
	}
	if part, ok := asks(place); ok {
		g.reads[part] = true
		return nil
	}
	inner := loops
	if _, ok := (*place).(*ast.PredicateNode); ok {
		inner++
	}
	children := syntax.Children(*place)
	if _, ok := (*place).(*ast.CallNode); ok {
		children = children[1:] // refuse has checked the function
	}
	for _, c := range children {
		if err := g.check(c, inner); err != nil {
			return err
		}
	}
	return g.patch(place)
}

func (g guard) refuse(n ast.Node, loops int) error {
	if msg := habit.Node(n); msg != "" {
		return refuse(n, "%s", msg)
	}
	switch n := n.(type) {
	case *ast.IdentifierNode:
		if g.isFunction(n.Value) {
			return refuse(n, "%s is a function: write %s", n.Value, habit.Call(n.Value))
		}
		return internalName(n)
	case *ast.VariableDeclaratorNode:
		if g.isFunction(n.Name) || n.Name == formName || n.Name == tablesName || n.Name == nowName || asked(n.Name) {
			return refuse(n, "cannot redeclare %s", n.Name)
		}
		g.fields[n.Name] = formFieldNamed(g.names, n.Value)
		if strings.HasPrefix(n.Name, "__") {
			return refuse(n, "a variable's name cannot start with __")
		}
	case *ast.PredicateNode:
		if loops == MaxLoops {
			return refuse(n, "more than %d loops inside each other", MaxLoops)
		}
	case *ast.BuiltinNode:
		// The parser accepts functions with predicates even when they are disabled.
		if g.builtins[n.Name] == nil {
			return refuse(n, "unknown name %s", n.Name)
		}
	case *ast.CallNode:
		callee, ok := n.Callee.(*ast.IdentifierNode)
		if !ok {
			return refuse(n, "only functions can be called; values have no methods%s", habit.Method(n))
		}
		if callee.Value == nowName {
			return refuse(n, "now is a time, not a function; write it without ()")
		}
		if s, ok := wholeOf(callee.Value); ok && asked(callee.Value) {
			return refuse(n, "%s is not a function; use one of its fields, such as %s.%s", callee.Value, callee.Value, s.Fields[0].Name)
		}
		return internalName(callee)
	case *ast.BinaryNode:
		if n.Operator == ".." {
			return checkRange(n)
		}
	}
	return nil
}

// isFunction reports whether rules can call a function of that name.
func (g guard) isFunction(name string) bool {
	_, own := g.names.Funcs[name]
	return own || g.builtins[name] != nil || slices.Contains(functionNames(), name)
}

// internalName rejects the names that only patched trees have, and those that need a field.
func internalName(n *ast.IdentifierNode) error {
	if n.Value == "$env" || strings.HasPrefix(n.Value, "__") {
		return refuse(n, "unknown name %s", n.Value)
	}
	switch n.Value {
	case formName:
		return refuse(n, "form needs a name: form.component, with forms: {component: {heading: Component}} at the top of the file")
	case tablesName:
		return refuse(n, "tables needs a name: tables.name")
	}
	return nil
}

func checkRange(n *ast.BinaryNode) error {
	from, ok1 := syntax.ConstantInt(n.Left)
	to, ok2 := syntax.ConstantInt(n.Right)
	if !ok1 || !ok2 {
		return refuse(n, "the bounds of a range must be literal whole numbers")
	}
	if to-from >= MaxRange || from < -maxBound || to > maxBound {
		return refuse(n, "a range has at most %d elements", MaxRange)
	}
	return nil
}

// maxBound keeps the length of a range from overflowing.
const maxBound = 1 << 31

// metered reports whether the first argument of a function of rules is the run.
func metered(name string) bool {
	return slices.Contains([]string{
		"label", "any_label", "join", "semver", "command",
		"label_age", "idle", "last_human", "added_by_us", "removed_by_human", "any_file", "all_files", "similar",
		"issue_number", "matches_glob",
	}, name)
}

// askedArgs returns the name in command(name).args, or nil for any other field. The call is already
// patched.
func askedArgs(n *ast.MemberNode) ast.Node {
	c, called := n.Node.(*ast.CallNode)
	field, named := n.Property.(*ast.StringNode)
	if !called || !named || n.Optional || field.Value != "args" || len(c.Arguments) != 2 {
		return nil
	}
	if callee, ok := c.Callee.(*ast.IdentifierNode); !ok || callee.Value != "command" {
		return nil
	}
	return c.Arguments[1]
}

// nameField passes the field in pr.field to the function that looks up pr, and so for the other names
// that are looked up as a whole. So an expression that uses one field does not need the others.
func nameField(n *ast.MemberNode) {
	c, called := n.Node.(*ast.CallNode)
	field, named := n.Property.(*ast.StringNode)
	if !called || !named || len(c.Arguments) != 1 {
		return
	}
	if callee, ok := c.Callee.(*ast.IdentifierNode); ok {
		if root, looked := strings.CutPrefix(callee.Value, "__"); looked && isRoot(root) {
			c.Arguments = append(c.Arguments, at(&ast.StringNode{Value: field.Value}, n))
		}
	}
}

// isRoot reports whether a name is looked up as a whole.
func isRoot(name string) bool {
	_, ok := wholeOf(name)
	return ok
}

func (g guard) patch(place *ast.Node) error {
	switch n := (*place).(type) {
	case *ast.IdentifierNode:
		if n.Value == nowName {
			*place = call("__now", n)
		}
	case *ast.PredicateNode:
		n.Node = at(&ast.SequenceNode{Nodes: []ast.Node{call("__tick", n.Node), n.Node}}, n.Node)
	case *ast.MemberNode:
		if name := askedArgs(n); name != nil {
			*place = call("__args", n, name)
		}
		nameField(n)
	case *ast.CallNode:
		if err := constantArgument(n); err != nil {
			return err
		}
		name := n.Callee.(*ast.IdentifierNode).Value
		if name == "any_file" || name == "all_files" {
			g.reads[facts.FilesPart] = true
		}
		if _, own := g.names.Funcs[name]; own || metered(name) {
			n.Arguments = append([]ast.Node{at(&ast.IdentifierNode{Value: runName}, n)}, n.Arguments...)
		}
	case *ast.BinaryNode:
		if err := checkVersions(n, g.fields); err != nil {
			return err
		}
		if asked := asksNil(n, g.fields); asked != nil {
			*place = asked
			return nil
		}
		if n.Operator != "matches" {
			return nil
		}
		text, ok := syntax.ConstantText(n.Right)
		if !ok {
			return refuse(n.Right, "the right side of matches must be a literal text, best in backticks")
		}
		p, err := g.pattern(text)
		if err != nil {
			return refuse(n.Right, "%v", err)
		}
		if !short(n.Left) {
			if *g.states += p.Cost; *g.states > cost.MaxStates {
				return refuse(n.Right, "%s", match.TooExpensive(*g.states, p.Cost))
			}
		}
		*place = call("matches", n, n.Left, at(&ast.ConstantNode{Value: p}, n.Right))
	}
	return nil
}

// short reports whether n is a field whose text is at most as long as a title.
func short(n ast.Node) bool {
	m, ok := n.(*ast.MemberNode)
	if !ok {
		return false
	}
	name, ok := m.Property.(*ast.StringNode)
	if !ok || name.Value == "body" || name.Value == "text" {
		return false
	}
	root, ok := m.Node.(*ast.IdentifierNode)
	return ok && slices.Contains(eventFields(), root.Value) || syntax.Calls(m.Node, "__pr")
}

// constantArgument checks the last argument of a call if it is a constant, and parses it once. The
// type check reports calls with a wrong number of arguments.
func constantArgument(n *ast.CallNode) error {
	name, ok := n.Callee.(*ast.IdentifierNode)
	if !ok {
		return nil
	}
	switch name.Value {
	case "any_file", "all_files":
		return checkGlobs(n.Arguments)
	case "matches_glob":
		return checkGlobs(n.Arguments[min(1, len(n.Arguments)):])
	}
	last := map[string]int{"semver": 1, "duration": 0, "command": 0, "idle": 0}[name.Value]
	if len(n.Arguments) != last+1 {
		return nil
	}
	text, ok := syntax.ConstantText(n.Arguments[last])
	if !ok {
		return nil
	}
	var err error
	switch name.Value {
	case "semver":
		var c *semver.Constraint
		if c, err = semver.ParseConstraint(text); err == nil {
			n.Arguments[last] = at(&ast.ConstantNode{Value: c}, n.Arguments[last])
		}
	case "duration":
		if _, bad := protocol.ParseDuration(text); errors.Is(bad, length.ErrTooLong) {
			err = bad
		} else if bad != nil {
			err = fmt.Errorf(`%s; write it like "90m", "12h" or "14d"`, wording.CannotRead(name.Value, text))
		}
	case "command":
		err = slash.CheckName(text)
	case "idle":
		if idleBy[text] == nil {
			err = cannotCount(text)
		}
	}
	if err != nil {
		return refuse(n.Arguments[last], "%v", err)
	}
	return nil
}
