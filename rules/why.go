package rules

import (
	"cmp"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/expr-lang/expr/ast"
	"github.com/expr-lang/expr/parser"

	"github.com/org/foreman-action/internal/text"
	"github.com/org/foreman-action/rules/facts"
)

// A RuleWhy tells why a rule matched an event or did not.
type RuleWhy struct {
	RuleTrace
	// Why is the rule's condition, part by part; nil for a rule that has none, or that
	// does not listen to the event.
	Why *Why
	// Error says why the condition or a template of the rule fails; empty when none does.
	// A run then carries out no rule at all.
	Error string
}

// A Why is a part of a condition with its value. "and", "or" and "not" have the parts
// that they join; a comparison and the like have those of their sides that are no
// constants.
type Why struct {
	Text  string // the part as an expression
	Value string // as an expression too, cut when it is long; empty when Error is not
	Error string // why it has no value; empty when it has one
	// Idle says that the evaluation did not get this far: the value is what it would
	// have been.
	Idle  bool
	Parts []Why
}

// Explain tells of every rule, in order, why it matches the facts or does not. Unlike
// [Set.Decide] it evaluates each part of each condition, and rules behind one that
// stops too; it is meant for people who wait, and not for every event. A part that
// fails says so and spoils nothing else. A rule of which [ErrUnasked] says that a run did not
// reach it is [Unreached].
func (s *Set) Explain(f facts.Facts) []RuleWhy {
	c := newExprCompiler()
	if s != nil && s.names != nil {
		c.names = s.names
	}
	v := &evaluation{env: newEnv(f)}
	p := s.plan()
	p.goesOn = true
	unsettled := p.settle(s.all(), v)
	out := make([]RuleWhy, 0, s.Len())
	e := &explainer{exprCompiler: c, evaluation: v}
	for i, r := range s.all() {
		w := RuleWhy{RuleTrace: p.result.Trace[i]}
		asked := p.asked[i]
		if r.when != nil && r.listens(v.facts()) && e.evaluated < maxEvaluated {
			v.setLabels(asked.labels)
			w.Why = e.why(r.when)
		}
		if err := cmp.Or(asked.err, unsettled); errors.Is(err, facts.ErrUnasked) {
			w.Outcome = Unreached
			w.Why.idle()
		} else if err != nil {
			w.Error = evalError(r.id, err).Error()
		}
		out = append(out, w)
	}
	return out
}

// why explains an expression that was compiled before.
func (e *explainer) why(x *expression) *Why {
	e.on = x.code.on
	tree, err := parser.ParseWithConfig(x.src, e.config)
	if err != nil {
		return &Why{Text: x.src, Error: err.Error()}
	}
	if declares(tree.Node) { // what the tree prints is not what was written
		w := e.text(x.src)
		return &w
	}
	w := e.node(tree.Node)
	w.Text = x.src
	return &w
}

// declares reports whether a variable is declared, or several expressions stand in a
// row, anywhere below a node: its parts mean nothing by themselves then.
func declares(n ast.Node) bool {
	switch n.(type) {
	case *ast.VariableDeclaratorNode, *ast.SequenceNode:
		return true
	}
	return slices.ContainsFunc(children(n), func(c *ast.Node) bool { return *c != nil && declares(*c) })
}

// maxEvaluated bounds the parts of all rules that are evaluated; rules behind are not
// explained.
const maxEvaluated = 1000

// An explainer evaluates parts of conditions, each by itself.
type explainer struct {
	*exprCompiler
	*evaluation
	evaluated int
}

func (e *explainer) node(n ast.Node) Why {
	switch n := n.(type) {
	case *ast.UnaryNode:
		if negates(n.Operator) {
			return negated(n, e.node(n.Node))
		}
	case *ast.BinaryNode:
		if by := joinedBy(n.Operator); by != "" {
			return whole(n, e.joined(n, by))
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
			w.Parts = []Why{left, right}
			return w
		}
	case *ast.ConditionalNode:
		cond, yes, no := e.node(n.Cond), e.node(n.Exp1), e.node(n.Exp2)
		if cond.Value == "true" {
			no.idle()
		} else {
			yes.idle()
		}
		w.Parts = []Why{cond, yes, no}
		return w
	}
	for _, side := range children(n) {
		if telling(*side) {
			w.Parts = append(w.Parts, e.value(*side))
		}
	}
	return w
}

// negated is "not" of a part.
func negated(n ast.Node, part Why) Why {
	w := Why{Text: n.String(), Error: part.Error, Parts: []Why{part}}
	if w.Error == "" {
		w.Value = strconv.FormatBool(part.Value != "true")
	}
	return w
}

// whole is "and" or "or" of parts: what the last says that the evaluation got to.
func whole(n ast.Node, parts []Why) Why {
	w := Why{Text: n.String(), Parts: parts}
	for _, p := range parts {
		if !p.Idle {
			w.Value, w.Error = p.Value, p.Error
		}
	}
	return w
}

// joined explains what "and" or "or" joins, side by side. What stands behind the part
// that decides is idle.
func (e *explainer) joined(n ast.Node, by string) []Why {
	var list []Why
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
	if !ok || joinedBy(b.Operator) != by {
		return []ast.Node{n}
	}
	return append(operands(b.Left, by), operands(b.Right, by)...)
}

// joinedBy returns "and" or "or" for their operators in either spelling, else "".
func joinedBy(operator string) string {
	switch operator {
	case "and", "&&":
		return "and"
	case "or", "||":
		return "or"
	}
	return ""
}

func negates(operator string) bool { return operator == "not" || operator == "!" }

func (w *Why) idle() {
	if w == nil {
		return
	}
	w.Idle = true
	for i := range w.Parts {
		w.Parts[i].idle()
	}
}

// telling reports whether the value of a part tells something that its text does not.
func telling(n ast.Node) bool {
	switch n.(type) {
	case *ast.MemberNode, *ast.CallNode, *ast.BuiltinNode:
		return true
	}
	return false
}

// value evaluates one part.
func (e *explainer) value(n ast.Node) Why { return e.text(n.String()) }

func (e *explainer) text(src string) Why {
	w := Why{Text: src}
	e.evaluated++
	value, err := e.evaluate(src)
	if err != nil {
		w.Error = err.Error()
		return w
	}
	w.Value = shown(value)
	return w
}

// evaluate returns the value of an expression: that of a field as it stands, and no
// program for what a shortcut tells.
func (e *explainer) evaluate(src string) (any, error) {
	x, err := e.check(src, wantAny)
	if err != nil {
		return nil, err
	}
	if x.tree != nil {
		n := x.tree.Node
		if index, _ := fieldIndex(n); index != nil {
			return reflect.ValueOf(e.env).Elem().FieldByIndex(index).Interface(), nil
		}
		if quick := newShortcut(n); quick != nil && n.Type().Kind() == reflect.Bool {
			e.env.Run.reset()
			if value, sure := quick(e.env); sure {
				return value, nil
			}
		}
	}
	program, err := x.compiled()
	if err != nil {
		return nil, err
	}
	return eval(&e.machine, program, e.env)
}

const maxValue = 200 // characters of a value that are shown

// shown is a value as an expression.
func shown(value any) string {
	var out string
	switch v := value.(type) {
	case nil:
		return "nil"
	case string:
		out = strconv.Quote(text.Shorten(v, 2*maxValue)) // the rest is not shown, nor worth quoting
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
	return text.Shorten(out, maxValue)
}
