package expression

import (
	"slices"

	"github.com/expr-lang/expr/ast"

	"github.com/org/foreman-action/rules/internal/expression/syntax"
)

// A LabelDependency is a label that a condition tests for.
type LabelDependency struct {
	Glob    string
	Present bool // true: the condition needs the label; false: it needs its absence
}

// LabelDependencies returns the labels on which the condition certainly depends.
func (x *Expression) LabelDependencies() []LabelDependency {
	tree, err := x.parse()
	if err != nil {
		return nil
	}
	return dependencies(tree.Node, true, "")
}

// OnlyIssues reports whether the condition is certainly false for every pull request.
func (x *Expression) OnlyIssues() bool {
	tree, err := x.parse()
	return err == nil && onlyIssues(tree.Node)
}

// onlyIssues reports whether a part of a condition is false for every pull request: it is "not
// issue.pull_request", or "and" joins this to other parts.
func onlyIssues(n ast.Node) bool {
	switch n := n.(type) {
	case *ast.UnaryNode:
		return syntax.Negates(n.Operator) && fieldName(n.Node) == "issue.pull_request"
	case *ast.BinaryNode:
		return syntax.JoinedBy(n.Operator) == "and" && (onlyIssues(n.Left) || onlyIssues(n.Right))
	}
	return false
}

// dependencies returns the labels that a part of a condition tests for. The parameter there is the
// value that the part must have for the condition to be true. The parameter each is the list of the
// innermost loop, as [source] names it. Labels that may be needed both present and absent are left out.
func dependencies(n ast.Node, there bool, each string) []LabelDependency {
	switch n := n.(type) {
	case *ast.UnaryNode:
		if syntax.Negates(n.Operator) {
			return dependencies(n.Node, !there, each)
		}
	case *ast.BinaryNode:
		if syntax.JoinedBy(n.Operator) != "" {
			return append(dependencies(n.Left, there, each), dependencies(n.Right, there, each)...)
		}
		return comparedDependencies(n, there, each)
	case *ast.ConditionalNode:
		return chosenDependencies(n, there, each)
	case *ast.BuiltinNode:
		switch n.Name {
		case "any", "one":
			return loopDependencies(n, there, there, each)
		case "none":
			return loopDependencies(n, !there, !there, each)
		case "all": // all: no item for which it is false
			return loopDependencies(n, there, !there, each)
		}
	case *ast.CallNode:
		callee, ok := n.Callee.(*ast.IdentifierNode)
		if ok && (callee.Value == "label" || callee.Value == "any_label") {
			return namedLabels(n.Arguments, there)
		}
	}
	return nil
}

// namedLabels returns the dependencies on names that are constants.
func namedLabels(names []ast.Node, there bool) []LabelDependency {
	var list []LabelDependency
	for _, n := range names {
		if name, ok := syntax.ConstantText(n); ok {
			list = append(list, LabelDependency{name, there})
		}
	}
	return list
}

// loopDependencies returns the dependencies of a loop's condition, which must have the value of the
// parameter there. It keeps only the dependencies whose Present equals the parameter sure. For example, any(issue.labels, # != "y") does not
// depend on "y".
func loopDependencies(n *ast.BuiltinNode, there, sure bool, each string) []LabelDependency {
	if len(n.Arguments) != 2 {
		return nil
	}
	p, ok := n.Arguments[1].(*ast.PredicateNode)
	if !ok {
		return nil
	}
	list := dependencies(p.Node, there, source(n.Arguments[0], each))
	return slices.DeleteFunc(list, func(d LabelDependency) bool { return d.Present != sure })
}

// chosenDependencies returns the dependencies of "cond ? yes : no". Those of cond count only if yes
// or no is a literal true or false.
func chosenDependencies(n *ast.ConditionalNode, there bool, each string) []LabelDependency {
	list := append(dependencies(n.Exp1, there, each), dependencies(n.Exp2, there, each)...)
	yes, first := n.Exp1.(*ast.BoolNode)
	no, second := n.Exp2.(*ast.BoolNode)
	switch {
	case first && second && yes.Value == no.Value:
	case first:
		list = append(list, dependencies(n.Cond, there == yes.Value, each)...)
	case second:
		list = append(list, dependencies(n.Cond, there != no.Value, each)...)
	}
	return list
}

// comparedDependencies returns the dependencies of a comparison: of a label with a name, of a
// part with true or false, or of the number of labels with a number.
func comparedDependencies(n *ast.BinaryNode, there bool, each string) []LabelDependency {
	left, right := n.Left, n.Right
	switch n.Operator {
	case "in":
		items, ok := right.(*ast.ArrayNode)
		switch {
		case source(right, each) == someLabels:
			return namedLabels([]ast.Node{left}, there)
		case ok && oneOfLabels(left, each):
			return namedLabels(items.Nodes, there)
		}
		return nil
	case "==", "!=":
		if _, constant := left.(*ast.BoolNode); constant || oneOfLabels(right, each) {
			left, right = right, left
		}
		equal := there == (n.Operator == "==")
		if b, ok := right.(*ast.BoolNode); ok {
			return dependencies(left, equal == b.Value, each)
		}
		if oneOfLabels(left, each) {
			return namedLabels([]ast.Node{right}, equal)
		}
	}
	if loop, ok := counted(left); ok {
		switch some, none := moreThanNone(n.Operator, right); {
		case some:
			return loopDependencies(loop, there, there, each)
		case none:
			return loopDependencies(loop, !there, !there, each)
		}
	}
	return nil
}

// oneOfLabels reports whether n is the current item of a loop over the issue's labels.
func oneOfLabels(n ast.Node, each string) bool {
	p, ok := n.(*ast.PointerNode)
	return ok && p.Name == "" && each == someLabels
}

// counted returns the loop of count(list, condition) or len(filter(list, condition)).
func counted(n ast.Node) (loop *ast.BuiltinNode, ok bool) {
	b, ok := n.(*ast.BuiltinNode)
	if ok && b.Name == "len" && len(b.Arguments) == 1 {
		b, ok = b.Arguments[0].(*ast.BuiltinNode)
		return b, ok && b.Name == "filter"
	}
	return b, ok && b.Name == "count"
}

// moreThanNone reports whether a comparison of a count with a number means "at least one", or
// "none".
func moreThanNone(operator string, n ast.Node) (some, none bool) {
	number, ok := syntax.ConstantInt(n)
	is := func(operators ...string) bool { return ok && slices.Contains(operators, operator) }
	switch number {
	case 0:
		return is(">", "!="), is("==", "<=")
	case 1:
		return is(">=", "=="), is("<")
	}
	return false, false
}
