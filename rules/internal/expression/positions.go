package expression

import (
	"strings"

	"github.com/expr-lang/expr/ast"
	"github.com/expr-lang/expr/parser"
	"gopkg.in/yaml.v3"

	"github.com/org/foreman-action/internal/text"
	"github.com/org/foreman-action/internal/yamlfile"
	"github.com/org/foreman-action/rules/facts"
	"github.com/org/foreman-action/rules/internal/expression/syntax"
)

// An Expression is a compiled expression with its place in a file. It is safe for
// concurrent use.
type Expression struct {
	file *yamlfile.File
	node *yaml.Node // the scalar that contains it
	line int        // the line where it starts in the scalar's value, from 1
	col  int
	src  string
	code *code
}

// Source returns the text of the expression.
func (x *Expression) Source() string { return x.src }

// Field returns the field whose value the expression is, such as "issue.url". It returns "" for any
// other expression.
func (x *Expression) Field() string {
	tree, err := x.parse()
	if err != nil {
		return ""
	}
	return fieldName(tree.Node)
}

// ReadsLabels reports whether the value depends on the labels.
func (x *Expression) ReadsLabels() bool { return x.code.labels.any }

// Reads reports whether the value depends on a look-up.
func (x *Expression) Reads(p facts.Part) bool { return x.code.reads[p] }

// AffectedBy reports whether the value may change when these labels change. Their names are in
// lower case.
func (x *Expression) AffectedBy(changed []string) bool { return x.code.labels.affectedBy(changed) }

// LabelsAbsent returns labels that an issue cannot have if the condition is true.
func (x *Expression) LabelsAbsent() []string {
	tree, err := x.parse()
	if err != nil {
		return nil
	}
	return syntax.LabelsAbsent(tree.Node)
}

// Constant returns the value of a condition that is the literal true or false. Call it before the
// expression is evaluated; after that ok may be false.
func (x *Expression) Constant() (value, ok bool) {
	if x.code.tree == nil {
		return false, false
	}
	b, ok := x.code.tree.Node.(*ast.BoolNode)
	return ok && b.Value, ok
}

// parse parses the text again. The compiled tree does not exist any more once there is a program,
// and it contains calls of functions that the author did not write.
func (x *Expression) parse() (*parser.Tree, error) {
	return parser.ParseWithConfig(x.src, x.code.builder.config)
}

// Problem returns a problem with the whole expression, at its place.
func (x *Expression) Problem(msg string) error { return x.fail(&Error{line: 1, col: 1, msg: msg}) }

// fail returns the mistake err at its place in the file.
func (x *Expression) fail(err *Error) error {
	line, col := x.place(err)
	return &PlacedError{x.file.At(x.node, line, col, err.msg)}
}

func (x *Expression) place(err *Error) (line, col int) {
	if err.line == 1 {
		return x.line, x.col + err.col - 1
	}
	return x.line + err.line - 1, err.col
}

// A Source is the text of an expression in a file.
type Source struct {
	File  *yamlfile.File
	Node  *yaml.Node // the scalar that contains it
	Text  string
	Start int // byte offset in the value of Node
}

// Compile compiles a text. Mistakes are recorded in its file, and the result is nil then.
func (c *Compiler) Compile(src Source, w Type) *Expression {
	f, n := src.File, src.Node
	x := &Expression{file: f, node: n, src: strings.TrimSpace(src.Text)}
	lead := len(src.Text) - len(strings.TrimLeft(src.Text, " \t\r\n"))
	if x.src == "" {
		lead = 0
	}
	x.line, x.col = text.Position(n.Value, src.Start+lead)
	code, err := c.check(x.src, w)
	if err != nil {
		e := asExprError(err)
		line, col := x.place(e)
		if e.undeclared {
			f.UndeclaredIn(n, line, col, e.msg)
		} else {
			f.ProblemIn(n, line, col, e.msg)
		}
		return nil
	}
	x.code = code
	return x
}

// CheckComment rejects a line comment after a plain scalar, because " #" was probably meant as part
// of the text. It reports whether there was no such comment.
func CheckComment(f *yamlfile.File, n *yaml.Node) bool {
	if n.LineComment == "" || n.Style&^yaml.TaggedStyle != 0 {
		return true
	}
	line, col := text.Position(n.Value, len(n.Value))
	f.ProblemIn(n, line, col+1, "\" #\" starts a comment, which cuts the value short; quote the whole value, or put it on its own line under \"|\"")
	return false
}

// A PlacedError is a failed evaluation with its place in a rule file.
type PlacedError struct{ Problem yamlfile.Problem }

// Error returns the problem with its place.
func (e *PlacedError) Error() string { return e.Problem.Error() }
