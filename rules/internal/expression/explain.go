package expression

import (
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/expr-lang/expr/ast"

	"github.com/org/foreman-action/internal/text"
	"github.com/org/foreman-action/rules/internal/expression/syntax"
	"github.com/org/foreman-action/rules/internal/symbols"
)

// A Part is a part of a condition with its value. Parts are the operands of "and", "or" and "not".
// For a comparison or another operation they are the operands that are not constants.
type Part struct {
	Text  string // the part as an expression
	Value string // the value as an expression, cut when it is long; empty when Error is set
	Error string // why the part has no value; empty when it has one
	// Idle is true when the evaluation stopped before this part. Value is hypothetical then.
	Idle  bool
	Parts []Part
}

// maxEvaluated limits how many parts of all rules are evaluated. The remaining rules are not
// explained.
const maxEvaluated = 1000

// An Explainer evaluates the parts of conditions separately. It is not safe for concurrent use.
type Explainer struct {
	compiler   *Compiler
	evaluation *Evaluation
	evaluated  int
}

// NewExplainer returns an explainer for the event of the evaluation v. Conditions may use these names.
func NewExplainer(names *symbols.Table, v *Evaluation) *Explainer {
	return &Explainer{compiler: NewCompiler(names), evaluation: v}
}

// Explain evaluates a condition part by part. It returns nil after maxEvaluated parts.
func (e *Explainer) Explain(x *Expression) *Part {
	if e.evaluated >= maxEvaluated {
		return nil
	}
	e.compiler = e.compiler.WithEvents(x.code.on)
	tree, err := x.parse()
	if err != nil {
		return &Part{Text: x.src, Error: err.Error()}
	}
	if declares(tree.Node) { // a printed tree would differ from the source
		w := e.text(x.src)
		return &w
	}
	w := e.node(tree.Node)
	w.Text = x.src
	return &w
}

// declares reports whether a node declares a variable, or contains several expressions in a row.
// Its parts cannot be evaluated separately then.
func declares(n ast.Node) bool {
	switch n.(type) {
	case *ast.VariableDeclaratorNode, *ast.SequenceNode:
		return true
	}
	return slices.ContainsFunc(syntax.Children(n), func(c *ast.Node) bool { return *c != nil && declares(*c) })
}

func (e *Explainer) node(n ast.Node) Part {
	switch n := n.(type) {
	case *ast.UnaryNode:
		if syntax.Negates(n.Operator) {
			return negated(n, e.node(n.Node))
		}
	case *ast.BinaryNode:
		if by := syntax.JoinedBy(n.Operator); by != "" {
			return joinedPart(n, e.joined(n, by))
		}
	}
	w := e.value(n)
	switch n := n.(type) {
	case *ast.BinaryNode:
		if n.Operator == "??" {
			left, right := e.node(n.Left), e.node(n.Right)
			if left.Value != "nil" {
				right.idle()
			}
			w.Parts = []Part{left, right}
			return w
		}
	case *ast.ConditionalNode:
		cond, yes, no := e.node(n.Cond), e.node(n.Exp1), e.node(n.Exp2)
		if cond.Value == "true" {
			no.idle()
		} else {
			yes.idle()
		}
		w.Parts = []Part{cond, yes, no}
		return w
	}
	for _, side := range syntax.Children(n) {
		if informative(*side) {
			w.Parts = append(w.Parts, e.value(*side))
		}
	}
	return w
}

// negated returns the explanation of "not" with the part p.
func negated(n ast.Node, p Part) Part {
	w := Part{Text: n.String(), Error: p.Error, Parts: []Part{p}}
	if w.Error == "" {
		w.Value = strconv.FormatBool(p.Value != "true")
	}
	return w
}

// joinedPart returns the explanation of "and" or "or". Its value is that of the last part that was
// evaluated.
func joinedPart(n ast.Node, parts []Part) Part {
	w := Part{Text: n.String(), Parts: parts}
	for _, p := range parts {
		if !p.Idle {
			w.Value, w.Error = p.Value, p.Error
		}
	}
	return w
}

// joined explains all operands of a chain of "and" or "or". The operands after the deciding one are
// idle.
func (e *Explainer) joined(n ast.Node, by string) []Part {
	var list []Part
	decided := false
	for _, part := range operands(n, by) {
		w := e.node(part)
		if decided {
			w.idle()
		}
		decided = decided || w.Value == strconv.FormatBool(by == "or") || w.Error != ""
		list = append(list, w)
	}
	return list
}

// operands returns a, b and c of "a and b and c".
func operands(n ast.Node, by string) []ast.Node {
	b, ok := n.(*ast.BinaryNode)
	if !ok || syntax.JoinedBy(b.Operator) != by {
		return []ast.Node{n}
	}
	return append(operands(b.Left, by), operands(b.Right, by)...)
}

// idle marks a part, and all of its parts, as not reached by the evaluation.
func (w *Part) idle() {
	if w == nil {
		return
	}
	w.Idle = true
	for i := range w.Parts {
		w.Parts[i].idle()
	}
}

// informative reports whether the value of a part is worth showing, because it is not obvious from
// the text.
func informative(n ast.Node) bool {
	switch n.(type) {
	case *ast.MemberNode, *ast.CallNode, *ast.BuiltinNode:
		return true
	}
	return false
}

// value evaluates one part.
func (e *Explainer) value(n ast.Node) Part { return e.text(n.String()) }

func (e *Explainer) text(src string) Part {
	w := Part{Text: src}
	e.evaluated++
	value, err := e.evaluate(src)
	if err != nil {
		w.Error = err.Error()
		return w
	}
	w.Value = shown(value)
	return w
}

// evaluate returns the value of an expression.
func (e *Explainer) evaluate(src string) (any, error) {
	x, err := e.compiler.check(src, Any)
	if err != nil {
		return nil, err
	}
	program, err := x.compiled()
	if err != nil {
		return nil, err
	}
	return eval(&e.evaluation.machine, program, e.evaluation.env)
}

// MaxValue is the largest number of characters of a value in an explanation.
const MaxValue = 200

// shown returns a value as an expression, cut to MaxValue.
func shown(value any) string {
	var out string
	switch v := value.(type) {
	case nil:
		return "nil"
	case string:
		out = strconv.Quote(text.Shorten(v, 2*MaxValue)) // saves quoting a long text
	case fmt.Stringer:
		out = v.String()
	default:
		if r := reflect.ValueOf(v); r.Kind() == reflect.Slice {
			list := make([]string, r.Len())
			for i := range list {
				list[i] = shown(r.Index(i).Interface())
			}
			out = "[" + strings.Join(list, ", ") + "]"
			break
		}
		out = fmt.Sprint(v)
	}
	return text.Shorten(out, MaxValue)
}
