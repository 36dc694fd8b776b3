package expression

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/expr-lang/expr/ast"

	"github.com/org/foreman-action/internal/text"
	"github.com/org/foreman-action/rules/facts"
	"github.com/org/foreman-action/rules/internal/expression/syntax"
	"github.com/org/foreman-action/rules/internal/symbols"
)

// A Part is a part of a condition with its value. Parts are the operands of "and", "or" and "not".
// For a comparison or another operation they are the operands that are not constants.
type Part struct {
	Text  string // the part as an expression
	Value string // the value as an expression, cut when it is long; empty when Error is set
	Error string // why the part has no value; empty when it has one
	// Missing are values on which the part depends, and that nobody supplied; see
	// [facts.UnsuppliedError]. They are named only if the part has no value without them.
	Missing []string
	// Idle is true when the evaluation stopped before this part. Value is hypothetical then.
	Idle  bool
	Parts []Part

	unknown *facts.UnknownError // the cause of Error; nil: another one
}

// maxEvaluated limits how many parts of all rules are evaluated. The remaining rules are not
// explained.
const maxEvaluated = 1000

// An Explainer evaluates the parts of conditions separately. It is not safe for concurrent use.
type Explainer struct {
	// Doubt are the labels that may change; nil: none.
	Doubt      *Doubt
	names      *symbols.Table
	compiler   *Compiler // nil before the first explanation
	evaluation *Evaluation
	evaluated  int
}

// NewExplainer returns an explainer for the event of the evaluation v. Conditions may use these names.
func NewExplainer(names *symbols.Table, v *Evaluation) *Explainer {
	return &Explainer{names: names, evaluation: v}
}

// Judge returns the value of a condition. If values are missing, or labels may change, the condition is
// evaluated part by part, because some parts can be enough to decide it. If they are not enough, the
// error is an [*UndecidedError].
func (e *Explainer) Judge(x *Expression) (bool, error) {
	value, err := e.evaluation.Eval(x)
	unsupplied, missing := errors.AsType[*facts.UnsuppliedError](err)
	if !missing && !e.Doubt.affects(&x.code.labels) {
		return value == true, err
	}
	p := e.Explain(x)
	switch {
	case p == nil && missing:
		return false, &UndecidedError{unsupplied.Error(), unsupplied.Names}
	case p == nil:
		return false, e.Doubt.undecided(&x.code.labels)
	case len(p.Missing) > 0:
		return false, &UndecidedError{p.Error, p.Missing}
	case p.Error != "" && err != nil && !missing: // the labels that may change do not matter
		return false, err
	case p.unknown != nil:
		return false, p.unknown
	case p.Error != "":
		return false, x.Problem(p.Error)
	}
	return p.Value == "true", nil
}

// Explain evaluates a condition part by part. It returns nil after maxEvaluated parts.
func (e *Explainer) Explain(x *Expression) *Part {
	if !e.prepare(x) {
		return nil
	}
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

// prepare prepares the compiler for the parts of a condition. It is false after maxEvaluated parts.
func (e *Explainer) prepare(x *Expression) bool {
	if e.evaluated >= maxEvaluated {
		return false
	}
	if e.compiler == nil {
		e.compiler = NewCompiler(e.names)
	}
	e.compiler = e.compiler.WithEvents(x.code.on)
	return true
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
			return joinedPart(n, by, e.joined(n, by))
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
		return chosen(w, e.node(n.Cond), e.node(n.Exp1), e.node(n.Exp2))
	}
	for _, side := range syntax.Children(n) {
		if informative(*side) {
			w.Parts = append(w.Parts, e.value(*side))
		}
	}
	return w
}

// chosen returns the explanation of "cond ? yes : no". Without the value of cond, it has one if yes and
// no have the same.
func chosen(w, cond, yes, no Part) Part {
	undecided := len(w.Missing) > 0
	branch := &yes
	switch {
	case len(cond.Missing) > 0:
		if yes.Error == "" && no.Error == "" && yes.Value == no.Value && (yes.Value == "true" || yes.Value == "false") {
			w.Value, w.Error, w.Missing = yes.Value, "", nil
		}
		w.Parts = []Part{cond, yes, no}
		return w
	case cond.Value == "true":
		no.idle()
	default:
		yes.idle()
		branch = &no
	}
	if undecided && cond.Error == "" {
		w.Value, w.Error, w.Missing, w.unknown = branch.Value, branch.Error, branch.Missing, branch.unknown
	}
	w.Parts = []Part{cond, yes, no}
	return w
}

// negated returns the explanation of "not" with the part p.
func negated(n ast.Node, p Part) Part {
	w := Part{Text: n.String(), Error: p.Error, Missing: p.Missing, unknown: p.unknown, Parts: []Part{p}}
	if w.Error == "" {
		w.Value = strconv.FormatBool(p.Value != "true")
	}
	return w
}

// joinedPart returns the explanation of "and" or "or". Its value is that of the last part that was
// evaluated, unless an undecided part comes before it and the value does not decide the whole.
func joinedPart(n ast.Node, by string, parts []Part) Part {
	w := Part{Text: n.String(), Parts: parts}
	var doubts Part
	for _, p := range parts {
		switch {
		case p.Idle:
		case len(p.Missing) > 0:
			doubts.doubt(p)
		default:
			w.Value, w.Error, w.unknown = p.Value, p.Error, p.unknown
		}
	}
	if len(doubts.Missing) > 0 && (w.Error != "" || w.Value != deciding(by)) {
		w.Value, w.Error, w.Missing = "", doubts.Error, doubts.Missing
	}
	return w
}

// deciding returns the value of an operand of "and" or "or" that decides the whole.
func deciding(by string) string { return strconv.FormatBool(by == "or") }

// doubt adds the reasons and the missing values of an undecided part.
func (w *Part) doubt(p Part) {
	if w.Error != "" && w.Error != p.Error {
		w.Error += "; "
	}
	if !strings.HasSuffix(w.Error, p.Error) {
		w.Error += p.Error
	}
	for _, name := range p.Missing {
		if !slices.Contains(w.Missing, name) {
			w.Missing = append(w.Missing, name)
		}
	}
}

// joined explains all operands of a chain of "and" or "or". The operands after the deciding one are
// idle. An undecided operand does not decide.
func (e *Explainer) joined(n ast.Node, by string) []Part {
	var list []Part
	decided := false
	for _, part := range operands(n, by) {
		w := e.node(part)
		if decided {
			w.idle()
		}
		decided = decided || w.Value == deciding(by) || w.Error != "" && len(w.Missing) == 0
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
	unsupplied, missing := errors.AsType[*facts.UnsuppliedError](err)
	undecided, doubtful := errors.AsType[*UndecidedError](err)
	switch {
	case doubtful:
		w.Error, w.Missing = undecided.Why, undecided.Missing
	case missing:
		w.Error, w.Missing = unsupplied.Error(), unsupplied.Names
	case err != nil:
		w.Error = err.Error()
		w.unknown, _ = errors.AsType[*facts.UnknownError](err)
	default:
		w.Value = shown(value)
	}
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
	if e.Doubt.affects(&x.labels) {
		return nil, e.Doubt.undecided(&x.labels)
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
