package rules

import (
	"fmt"
	"reflect"
	"strings"

	"github.com/expr-lang/expr/ast"
	"github.com/expr-lang/expr/checker"
	"github.com/expr-lang/expr/conf"
	"github.com/expr-lang/expr/parser"

	"github.com/org/foreman-action/rules/internal/forms"
	"github.com/org/foreman-action/rules/internal/match"
	"github.com/org/foreman-action/rules/internal/symbols"
)

const (
	maxExpression = 4096 // bytes
	maxBrackets   = 100  // open at the same time
	maxTerms      = 500  // nodes of the tree
)

// A want is what an expression must yield.
type want int

const (
	wantBool  want = iota // a condition
	wantText              // text, a number or a boolean
	wantTexts             // a list of strings
	wantInt               // a whole number
	wantAny               // any value
)

// An exprCompiler compiles expressions against the environment of rules. It is not safe for
// concurrent use; the expressions are.
type exprCompiler struct {
	builder  *builder
	patterns map[string]*match.Pattern
	names    *symbols.Table
	on       []string // the events that the rule names; nil: none
}

// newExprCompiler returns a compiler of expressions that may use these names.
func newExprCompiler(names *symbols.Table) *exprCompiler {
	c := conf.CreateNew()
	c.MaxNodes = maxTerms
	keep := map[string]bool{}
	for _, name := range allowed() {
		keep[name] = true
	}
	for name := range c.Builtins {
		if !keep[name] {
			c.Disabled[name] = true
			delete(c.Builtins, name)
		}
	}
	for _, f := range functions() {
		c.Functions[f.Name] = f
	}
	c.WithEnv(env{})
	return &exprCompiler{builder: &builder{config: c}, patterns: map[string]*match.Pattern{}, names: names}
}

// withEvents returns the compiler for the expressions of a rule that names these events;
// nil: it names none. It shares the patterns of c.
func (c *exprCompiler) withEvents(on []string) *exprCompiler {
	other := *c
	other.on = on
	return &other
}

// check finds the mistakes of src; the error is an *exprError.
func (c *exprCompiler) check(src string, w want) (*code, error) {
	if err := checkSource(src); err != nil {
		return nil, err
	}
	tree, err := parser.ParseWithConfig(src, c.builder.config)
	if err != nil {
		return nil, located(tree, err)
	}
	g := guard{pattern: c.pattern, builtins: c.builder.config.Builtins, states: new(int), names: c.names, fields: map[string]*forms.Field{}}
	if err := g.check(&tree.Node, 0); err != nil {
		return nil, located(tree, err)
	}
	if field := fieldOf(tree.Node); w == wantAny && field != nil {
		tree.Node = formCall("__form_any", field, tree.Node)
	}
	if _, err := checker.Check(tree, c.builder.config); err != nil {
		return nil, located(tree, err)
	}
	if err := (linter{c.builder.config.Builtins, c.on}).lint(tree.Node); err != nil {
		return nil, located(tree, err)
	}
	if msg := w.check(tree.Node); msg != "" {
		return nil, &exprError{1, 1, msg}
	}
	x := &code{builder: c.builder, want: w, on: c.on, tree: tree}
	if w == wantBool {
		x.labels.collect(tree.Node)
	}
	if !settled(tree.Node) {
		_, err = x.compiled()
	}
	return x, err
}

func (c *exprCompiler) pattern(s string) (*match.Pattern, error) {
	if p := c.patterns[s]; p != nil {
		return p, nil
	}
	p, err := match.NewPattern(s)
	if err == nil {
		c.patterns[s] = p
	}
	return p, err
}

// checkSource limits the input of the parser, which is recursive.
func checkSource(src string) error {
	if len(src) > maxExpression {
		return &exprError{1, 1, fmt.Sprintf("the expression has %d bytes; at most %d are allowed", len(src), maxExpression)}
	}
	if strings.TrimSpace(src) == "" {
		return &exprError{1, 1, "the expression is empty"}
	}
	depth, quote := 0, rune(0)
	line, col := 1, 0
	escaped := false
	for _, r := range src {
		col++
		switch {
		case r == '\n':
			line, col = line+1, 0
		case quote != 0:
			switch {
			case escaped:
				escaped = false
			case r == '\\' && quote != '`':
				escaped = true
			case r == quote:
				quote = 0
			}
		case r == '"' || r == '\'' || r == '`':
			quote = r
		case strings.ContainsRune("([{", r):
			if depth++; depth > maxBrackets {
				return &exprError{line, col, fmt.Sprintf("more than %d brackets are open", maxBrackets)}
			}
		case strings.ContainsRune(")]}", r):
			depth--
		}
	}
	return nil
}

// check returns the mistake in the type of a checked tree; "" for none.
func (w want) check(n ast.Node) string {
	t := n.Type()
	if w == wantAny {
		return ""
	}
	if n.Nature().Nil {
		return fmt.Sprintf("want %s, got nil", w)
	}
	switch w {
	case wantAny:
	case wantBool:
		if t.Kind() == reflect.Bool {
			return ""
		}
	case wantInt:
		if t.Kind() == reflect.Int {
			return ""
		}
	case wantText:
		switch t.Kind() {
		case reflect.String, reflect.Bool, reflect.Int, reflect.Float64:
			return ""
		}
	case wantTexts:
		if t.Kind() == reflect.Slice && (t.Elem().Kind() == reflect.String || t.Elem().Kind() == reflect.Interface) {
			return ""
		}
	}
	return fmt.Sprintf("want %s, got %s", w, typeName(t))
}

// String names the wanted type in messages.
func (w want) String() string {
	switch w {
	case wantBool:
		return "a condition (true or false)"
	case wantTexts:
		return "a list of strings"
	case wantInt:
		return "a whole number"
	default:
		return "text, a number or a boolean"
	}
}
