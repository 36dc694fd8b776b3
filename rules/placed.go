package rules

import (
	"strings"

	"github.com/expr-lang/expr/ast"
	"github.com/expr-lang/expr/parser"
	"gopkg.in/yaml.v3"

	"github.com/org/foreman-action/internal/strictyaml"
	"github.com/org/foreman-action/internal/text"
)

// An expression is a compiled expression with its place in a file. It is safe for
// concurrent use.
type expression struct {
	file *strictyaml.File
	node *yaml.Node // the scalar that holds it
	line int        // of its start in the scalar's value, from 1
	col  int
	src  string
	code *code
}

// source returns the text of the expression.
func (x *expression) source() string { return x.src }

// readsLabels reports whether the value depends on the labels.
func (x *expression) readsLabels() bool { return x.code.labels.any }

// affectedBy reports whether the value may change with these labels, whose names are in
// lower case.
func (x *expression) affectedBy(changed []string) bool { return x.code.labels.affectedBy(changed) }

// constant returns the value of a condition that is written as true or false. It is known
// until the expression is evaluated first.
func (x *expression) constant() (value, ok bool) {
	if x.code.tree == nil {
		return false, false
	}
	b, ok := x.code.tree.Node.(*ast.BoolNode)
	return ok && b.Value, ok
}

// parse parses the text again: the tree that was compiled is gone once there is a program,
// and names our functions where the author wrote something else.
func (x *expression) parse() (*parser.Tree, error) {
	return parser.ParseWithConfig(x.src, x.code.builder.config)
}

// problem returns a problem of the whole expression at its place.
func (x *expression) problem(msg string) error { return x.fail(&exprError{1, 1, msg}) }

// fail returns the mistake err at its place in the file.
func (x *expression) fail(err *exprError) error {
	line, col := x.place(err)
	return &placedError{x.file.At(x.node, line, col, err.msg)}
}

func (x *expression) place(err *exprError) (line, col int) {
	if err.line == 1 {
		return x.line, x.col + err.col - 1
	}
	return x.line + err.line - 1, err.col
}

// A sourceText is the text of an expression in a file.
type sourceText struct {
	File  *strictyaml.File
	Node  *yaml.Node // the scalar that contains it
	Text  string
	Start int // byte offset in the value of Node
}

// expression compiles a text. Mistakes are recorded in its file, and the result is nil then.
func (c *exprCompiler) expression(src sourceText, w want) *expression {
	f, n := src.File, src.Node
	x := &expression{file: f, node: n, src: strings.TrimSpace(src.Text)}
	lead := len(src.Text) - len(strings.TrimLeft(src.Text, " \t\r\n"))
	if x.src == "" {
		lead = 0
	}
	x.line, x.col = text.Position(n.Value, src.Start+lead)
	code, err := c.check(x.src, w)
	if err != nil {
		line, col := x.place(asExprError(err))
		f.ProblemIn(n, line, col, err.Error())
		return nil
	}
	x.code = code
	return x
}

// checkComment refuses a line comment after a plain scalar, where " #" more often
// was meant as a part of the text; it reports whether there was none.
func checkComment(f *strictyaml.File, n *yaml.Node) bool {
	if n.LineComment == "" || n.Style&^yaml.TaggedStyle != 0 {
		return true
	}
	line, col := text.Position(n.Value, len(n.Value))
	f.ProblemIn(n, line, col+1, "\" #\" starts a comment, which cuts the value short; quote the whole value, or put it on its own line under \"|\"")
	return false
}

// A placedError is a failure at run time with its place in a rule file.
type placedError struct{ problem strictyaml.Problem }

func (e *placedError) Error() string { return e.problem.Error() }
