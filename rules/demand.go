package rules

import (
	"slices"

	"github.com/expr-lang/expr/ast"
)

// A demand is a label that a condition asks for.
type demand struct {
	glob  string
	there bool // it helps the condition when the label is there, else when it is not
}

// demands returns the labels that a condition surely asks for. It is parsed again: what
// was compiled at once holds no tree any more.
func (x *expression) demands() []demand {
	var c useCollector
	n := c.open(x)
	if n == nil {
		return nil
	}
	return demands(n, true, "")
}

// demands returns the labels that a part of a condition asks for, where the part helps
// when it is as there says. each is what the turns of the present loop go through, as
// [source] has it. What may ask for a label both ways is left out.
func demands(n ast.Node, there bool, each string) []demand {
	switch n := n.(type) {
	case *ast.UnaryNode:
		if negates(n.Operator) {
			return demands(n.Node, !there, each)
		}
	case *ast.BinaryNode:
		if joinedBy(n.Operator) != "" {
			return append(demands(n.Left, there, each), demands(n.Right, there, each)...)
		}
		return comparedDemands(n, there, each)
	case *ast.ConditionalNode:
		return chosenDemands(n, there, each)
	case *ast.BuiltinNode:
		switch n.Name {
		case "any", "one":
			return loopDemands(n, there, there, each)
		case "none":
			return loopDemands(n, !there, !there, each)
		case "all": // none that it does not hold for
			return loopDemands(n, there, !there, each)
		}
	case *ast.CallNode:
		callee, ok := n.Callee.(*ast.IdentifierNode)
		if ok && (callee.Value == "label" || callee.Value == "any_label") {
			return named(n.Arguments, there)
		}
	}
	return nil
}

// named returns the demands of those that are texts as they stand.
func named(names []ast.Node, there bool) []demand {
	var list []demand
	for _, n := range names {
		if name, ok := constantText(n); ok {
			list = append(list, demand{name, there})
		}
	}
	return list
}

// loopDemands returns those of the condition of a loop, where the condition helps when
// it is as there says. Of a label of the turn only one way tells something: that another
// label is not "y" does not depend on "y"; only demands of the way sure count.
func loopDemands(n *ast.BuiltinNode, there, sure bool, each string) []demand {
	if len(n.Arguments) != 2 {
		return nil
	}
	p, ok := n.Arguments[1].(*ast.PredicateNode)
	if !ok {
		return nil
	}
	list := demands(p.Node, there, source(n.Arguments[0], each))
	return slices.DeleteFunc(list, func(d demand) bool { return d.there != sure })
}

// chosenDemands returns those of "cond ? yes : no". The condition counts where one of
// the others is true or false as it stands.
func chosenDemands(n *ast.ConditionalNode, there bool, each string) []demand {
	list := append(demands(n.Exp1, there, each), demands(n.Exp2, there, each)...)
	yes, first := n.Exp1.(*ast.BoolNode)
	no, second := n.Exp2.(*ast.BoolNode)
	switch {
	case first && second && yes.Value == no.Value:
	case first:
		list = append(list, demands(n.Cond, there == yes.Value, each)...)
	case second:
		list = append(list, demands(n.Cond, there != no.Value, each)...)
	}
	return list
}

// comparedDemands returns those of a comparison: of one of the labels with a name, of a
// part with true or false, or of how many there are with a number.
func comparedDemands(n *ast.BinaryNode, there bool, each string) []demand {
	left, right := n.Left, n.Right
	switch n.Operator {
	case "in":
		items, ok := right.(*ast.ArrayNode)
		switch {
		case source(right, each) == someLabels:
			return named([]ast.Node{left}, there)
		case ok && oneOfLabels(left, each):
			return named(items.Nodes, there)
		}
		return nil
	case "==", "!=":
		if _, constant := left.(*ast.BoolNode); constant || oneOfLabels(right, each) {
			left, right = right, left
		}
		equal := there == (n.Operator == "==")
		if b, ok := right.(*ast.BoolNode); ok {
			return demands(left, equal == b.Value, each)
		}
		if oneOfLabels(left, each) {
			return named([]ast.Node{right}, equal)
		}
	}
	if loop, ok := counted(left); ok {
		switch some, none := moreThanNone(n.Operator, right); {
		case some:
			return loopDemands(loop, there, there, each)
		case none:
			return loopDemands(loop, !there, !there, each)
		}
	}
	return nil
}

// oneOfLabels reports whether n is the label of the present turn of a loop.
func oneOfLabels(n ast.Node, each string) bool {
	p, ok := n.(*ast.PointerNode)
	return ok && p.Name == "" && each == someLabels
}

// counted returns the loop of count(list, condition) and of len(filter(list, condition)).
func counted(n ast.Node) (loop *ast.BuiltinNode, ok bool) {
	b, ok := n.(*ast.BuiltinNode)
	if ok && b.Name == "len" && len(b.Arguments) == 1 {
		b, ok = b.Arguments[0].(*ast.BuiltinNode)
		return b, ok && b.Name == "filter"
	}
	return b, ok && b.Name == "count"
}

// moreThanNone reports whether a comparison with a number asks for at least one, or for
// none.
func moreThanNone(operator string, n ast.Node) (some, none bool) {
	number, ok := constantInt(n)
	is := func(operators ...string) bool { return ok && slices.Contains(operators, operator) }
	switch number {
	case 0:
		return is(">", "!="), is("==", "<=")
	case 1:
		return is(">=", "=="), is("<")
	}
	return false, false
}
