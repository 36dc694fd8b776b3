package expression

import (
	"fmt"
	"reflect"
	"strings"
	"sync"

	"github.com/expr-lang/expr/ast"
	"github.com/expr-lang/expr/compiler"
	"github.com/expr-lang/expr/conf"
	"github.com/expr-lang/expr/optimizer"
	"github.com/expr-lang/expr/parser"
	"github.com/expr-lang/expr/vm"

	"github.com/org/foreman-action/rules/facts"
	"github.com/org/foreman-action/rules/internal/expression/missing"
	"github.com/org/foreman-action/rules/internal/expression/syntax"
)

// A builder builds programs from checked trees. It is safe for concurrent use.
type builder struct {
	mu     sync.Mutex // guards config, which caches types during compilation
	config *conf.Config
}

// A code is a valid expression. Its program is built at the first evaluation, because most rules are
// for other events. It is safe for concurrent use.
type code struct {
	builder *builder
	labels  labelReads          // the labels that a condition depends on
	on      []string            // the events in the rule's "on"; nil: it has no "on"
	reads   map[facts.Part]bool // the look-ups that it uses

	once    sync.Once
	tree    *parser.Tree // nil once the program is built
	program *vm.Program
	err     error
}

// compiled returns the program. The error is an [*Error]. Only an expression that is not [settled]
// can have this error, so Compile compiles such an expression at once.
func (c *code) compiled() (*vm.Program, error) {
	c.once.Do(func() {
		c.program, c.err = c.builder.build(c.tree)
		c.tree = nil
	})
	return c.program, c.err
}

// build builds the program of a checked tree. It changes the tree.
func (b *builder) build(tree *parser.Tree) (*vm.Program, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	charge(&tree.Node, false)
	missing.Tolerate(&tree.Node, missing.Calls{Compare: compareMissing, Or: wrap, FromEnd: fromEnd})
	if err := optimizer.Optimize(&tree.Node, b.config); err != nil {
		return nil, located(tree, err)
	}
	program, err := compiler.Compile(tree, b.config)
	if err != nil {
		// The message contains a stack trace from the second line on.
		msg, _, _ := strings.Cut(err.Error(), "\n")
		return nil, &Error{line: 1, col: 1, msg: msg}
	}
	return program, nil
}

// settled reports whether a checked tree cannot contain mistakes that only the optimizer and the
// compiler of expr find: a remainder of a division by zero, a number outside of its type, an
// unknown variable of a loop.
func settled(n ast.Node) bool {
	switch n := n.(type) {
	case *ast.BinaryNode:
		if n.Operator == "%" {
			by, ok := n.Right.(*ast.IntegerNode)
			if !ok || by.Value == 0 {
				return false
			}
		}
	case *ast.IntegerNode:
		if k := n.Type().Kind(); k != reflect.Int && k != reflect.Float64 {
			return false
		}
	case *ast.PointerNode:
		if n.Name != "" && n.Name != "index" {
			return false
		}
	}
	for _, c := range syntax.Children(n) {
		if *c != nil && !settled(*c) {
			return false
		}
	}
	return true
}

// A Type is the required type of an expression's value.
type Type int

// The types.
const (
	Bool  Type = iota // a condition
	Text              // text, a number or a boolean
	Texts             // a list of strings
	Int               // a whole number
	Any               // any value
)

// check returns the message for a typed tree whose type does not fit; "" if it fits.
func (w Type) check(n ast.Node) string {
	t := n.Type()
	if w == Any {
		return ""
	}
	if n.Nature().Nil {
		return fmt.Sprintf("want %s, got nil", w)
	}
	switch w {
	case Any:
	case Bool:
		if t.Kind() == reflect.Bool {
			return ""
		}
	case Int:
		if t.Kind() == reflect.Int {
			return ""
		}
	case Text:
		switch t.Kind() {
		case reflect.String, reflect.Bool, reflect.Int, reflect.Float64:
			return ""
		}
	case Texts:
		if t.Kind() == reflect.Slice && (t.Elem().Kind() == reflect.String || t.Elem().Kind() == reflect.Interface) {
			return ""
		}
	}
	return fmt.Sprintf("want %s, got %s", w, typeName(t))
}

// String names the wanted type in messages.
func (w Type) String() string {
	switch w {
	case Bool:
		return "a condition (true or false)"
	case Texts:
		return "a list of strings"
	case Int:
		return "a whole number"
	default:
		return "text, a number or a boolean"
	}
}
