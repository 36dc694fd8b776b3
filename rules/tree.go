package rules

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/expr-lang/expr/ast"
	"github.com/expr-lang/expr/builtin"
)

// children returns the places of a node's direct children.
func children(n ast.Node) []*ast.Node {
	switch n := n.(type) {
	case *ast.UnaryNode:
		return []*ast.Node{&n.Node}
	case *ast.BinaryNode:
		return []*ast.Node{&n.Left, &n.Right}
	case *ast.ChainNode:
		return []*ast.Node{&n.Node}
	case *ast.MemberNode:
		return []*ast.Node{&n.Node, &n.Property}
	case *ast.SliceNode:
		return []*ast.Node{&n.Node, &n.From, &n.To}
	case *ast.CallNode:
		return append([]*ast.Node{&n.Callee}, places(n.Arguments)...)
	case *ast.BuiltinNode:
		return places(n.Arguments)
	case *ast.PredicateNode:
		return []*ast.Node{&n.Node}
	case *ast.VariableDeclaratorNode:
		return []*ast.Node{&n.Value, &n.Expr}
	case *ast.SequenceNode:
		return places(n.Nodes)
	case *ast.ConditionalNode:
		return []*ast.Node{&n.Cond, &n.Exp1, &n.Exp2}
	case *ast.ArrayNode:
		return places(n.Nodes)
	case *ast.MapNode:
		return places(n.Pairs)
	case *ast.PairNode:
		return []*ast.Node{&n.Key, &n.Value}
	}
	return nil
}

func places(list []ast.Node) []*ast.Node {
	out := make([]*ast.Node, len(list))
	for i := range list {
		out[i] = &list[i]
	}
	return out
}

// A nodeError is a mistake at a node of the tree.
type nodeError struct {
	node ast.Node
	msg  string
}

func (e *nodeError) Error() string { return e.msg }

func refuse(n ast.Node, format string, args ...any) error {
	return &nodeError{n, fmt.Sprintf(format, args...)}
}

const (
	maxLoops = 2    // loops inside each other
	maxRange = 1000 // elements of a..b
)

// A guard refuses what could run away and gives our functions the run they
// charge. It works on the tree as it was parsed, before types are known, so that
// type errors are about what was written.
type guard struct {
	pattern  func(string) (*pattern, error)
	builtins map[string]*builtin.Function // those that rules may use
}

// check visits the tree at place, which lies inside that many loops.
func (g guard) check(place *ast.Node, loops int) error {
	if *place == nil {
		return nil
	}
	if err := g.refuse(*place, loops); err != nil {
		return err
	}
	inner := loops
	if _, ok := (*place).(*ast.PredicateNode); ok {
		inner++
	}
	for _, c := range children(*place) {
		if err := g.check(c, inner); err != nil {
			return err
		}
	}
	return g.patch(place)
}

func (g guard) refuse(n ast.Node, loops int) error {
	switch n := n.(type) {
	case *ast.IdentifierNode:
		if n.Value == "$env" || strings.HasPrefix(n.Value, "__") {
			return refuse(n, "unknown name %s", n.Value)
		}
	case *ast.VariableDeclaratorNode:
		if strings.HasPrefix(n.Name, "__") {
			return refuse(n, "a variable's name cannot start with __")
		}
	case *ast.PredicateNode:
		if loops == maxLoops {
			return refuse(n, "more than %d loops inside each other", maxLoops)
		}
	case *ast.BuiltinNode:
		// The parser takes functions with predicates even when they are disabled.
		if g.builtins[n.Name] == nil {
			return refuse(n, "unknown name %s", n.Name)
		}
	case *ast.CallNode:
		if _, ok := n.Callee.(*ast.IdentifierNode); !ok {
			return refuse(n, "only functions can be called; values have no methods")
		}
	case *ast.BinaryNode:
		if n.Operator == ".." {
			return checkRange(n)
		}
	}
	return nil
}

func checkRange(n *ast.BinaryNode) error {
	from, ok1 := constantInt(n.Left)
	to, ok2 := constantInt(n.Right)
	if !ok1 || !ok2 {
		return refuse(n, "the bounds of a range must be whole numbers as they stand")
	}
	if to-from >= maxRange || from < -maxBound || to > maxBound {
		return refuse(n, "a range has at most %d elements", maxRange)
	}
	return nil
}

// maxBound keeps the length of a range from overflowing.
const maxBound = 1 << 31

func constantInt(n ast.Node) (int, bool) {
	sign := 1
	if u, ok := n.(*ast.UnaryNode); ok && u.Operator == "-" {
		sign, n = -1, u.Node
	}
	i, ok := n.(*ast.IntegerNode)
	if !ok {
		return 0, false
	}
	return sign * i.Value, true
}

// constantText returns the text of a string literal, or of several put together.
func constantText(n ast.Node) (string, bool) {
	switch n := n.(type) {
	case *ast.StringNode:
		return n.Value, true
	case *ast.BinaryNode:
		a, ok1 := constantText(n.Left)
		b, ok2 := constantText(n.Right)
		return a + b, n.Operator == "+" && ok1 && ok2
	}
	return "", false
}

// metered are the functions of rules that take the run as their first argument.
var metered = map[string]bool{"label": true, "any_label": true, "join": true}

func (g guard) patch(place *ast.Node) error {
	switch n := (*place).(type) {
	case *ast.PredicateNode:
		n.Node = at(&ast.SequenceNode{Nodes: []ast.Node{call("__tick", n.Node), n.Node}}, n.Node)
	case *ast.CallNode:
		if name := n.Callee.(*ast.IdentifierNode).Value; metered[name] {
			n.Arguments = append([]ast.Node{at(&ast.IdentifierNode{Value: runName}, n)}, n.Arguments...)
		}
	case *ast.BinaryNode:
		if n.Operator != "matches" {
			return nil
		}
		text, ok := constantText(n.Right)
		if !ok {
			return refuse(n.Right, "the right side of matches must be a text as it stands, best in backticks")
		}
		p, err := g.pattern(text)
		if err != nil {
			return refuse(n.Right, "%v", err)
		}
		*place = call("matches", n, n.Left, at(&ast.ConstantNode{Value: p}, n.Right))
	}
	return nil
}

func at[N ast.Node](n N, where ast.Node) N {
	n.SetLocation(where.Location())
	return n
}

// call returns a call of one of our functions with the run as first argument.
func call(name string, where ast.Node, args ...ast.Node) ast.Node {
	return at(&ast.CallNode{
		Callee:    at(&ast.IdentifierNode{Value: name}, where),
		Arguments: append([]ast.Node{at(&ast.IdentifierNode{Value: runName}, where)}, args...),
	}, where)
}

// meter wraps, in a tree whose types are known, what makes texts, and inside of
// loops what reads values of any length.
func meter(place *ast.Node, loop bool) {
	n := *place
	if n == nil {
		return
	}
	if _, ok := n.(*ast.PredicateNode); ok {
		loop = true
	}
	reads := loop && readsOperands(n)
	for _, c := range children(n) {
		meter(c, loop)
		if reads && *c != nil && sized(*c) {
			*c = wrap("__pay", *c)
		}
	}
	if makesText(n) {
		*place = wrap("__made", n)
	}
}

// readsOperands reports whether a node's work grows with its operands.
func readsOperands(n ast.Node) bool {
	switch n := n.(type) {
	case *ast.BinaryNode:
		switch n.Operator {
		case "and", "&&", "or", "||", "??", "..":
			return false
		}
		return true
	case *ast.BuiltinNode:
		// What a predicate goes through is charged turn by turn.
		return !slices.ContainsFunc(n.Arguments, func(a ast.Node) bool {
			_, ok := a.(*ast.PredicateNode)
			return ok
		})
	case *ast.SliceNode:
		return true
	}
	return false
}

// sized reports whether the value of n may have any length.
func sized(n ast.Node) bool {
	switch n.(type) {
	case *ast.PredicateNode, *ast.StringNode, *ast.ConstantNode, *ast.ArrayNode, *ast.MapNode:
		return false
	}
	switch n.Type().Kind() {
	case reflect.String, reflect.Slice, reflect.Array, reflect.Map, reflect.Interface:
		return true
	}
	return false
}

func makesText(n ast.Node) bool {
	switch n := n.(type) {
	case *ast.BinaryNode:
		kind := n.Type().Kind()
		return n.Operator == "+" && (kind == reflect.String || kind == reflect.Interface)
	case *ast.BuiltinNode:
		return n.Name == "lower" || n.Name == "upper"
	}
	return false
}

var wrapperType = reflect.TypeFor[func(*run, any) any]()

// wrap returns n inside a call that returns its value; for the compiler the call
// has the type of n.
func wrap(name string, n ast.Node) ast.Node {
	c := call(name, n, n).(*ast.CallNode)
	c.Callee.SetType(wrapperType)
	c.Arguments[0].SetType(reflect.TypeFor[*run]())
	c.SetNature(*n.Nature())
	return c
}
