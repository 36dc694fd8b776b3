package rules

import (
	"errors"
	"fmt"
	"reflect"
	"strings"
	"sync"

	"github.com/expr-lang/expr/ast"
	"github.com/expr-lang/expr/builtin"
	"github.com/expr-lang/expr/checker"
	"github.com/expr-lang/expr/conf"
	"github.com/expr-lang/expr/file"
	"github.com/expr-lang/expr/parser"
	"github.com/expr-lang/expr/vm"

	"github.com/org/foreman-action/rules/internal/cost"
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

// An exprError is a mistake in an expression, at a line and column of its text,
// both from 1.
type exprError struct {
	line, col int
	msg       string
}

func (e *exprError) Error() string { return e.msg }

// asExprError returns the place of an error of the compiler or of an evaluation; one
// that has none is placed at the start.
func asExprError(err error) *exprError {
	if e, ok := errors.AsType[*exprError](err); ok {
		return e
	}
	return &exprError{line: 1, col: 1, msg: err.Error()}
}

// An exprCompiler compiles expressions against the environment of rules. It is
// not safe for concurrent use; the programs are.
type exprCompiler struct {
	config   *conf.Config
	building sync.Mutex // programs, which are made late: the config keeps what it knows of types
	patterns map[string]*match.Pattern
	names    *symbols.Table
	on       []string // the events that the present rule names; nil: none
}

// allowed lists the functions of the expression language that rules may use:
// those whose work and result are bounded by their arguments.
func allowed() []string {
	return []string{
		"all", "none", "any", "one", "filter", "map", "find", "findIndex", "findLast", "findLastIndex", "count", "sum",
		"len", "abs", "ceil", "floor", "round", "int", "float", "trim", "trimPrefix", "trimSuffix", "upper", "lower",
		"indexOf", "lastIndexOf", "hasPrefix", "hasSuffix", "max", "min", "date",
		"first", "last", "take", "reverse", "uniq", "sort",
	}
}

func newExprCompiler() *exprCompiler {
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
	for _, f := range append(functions(), moreFunctions()...) {
		c.Functions[f.Name] = f
	}
	c.WithEnv(env{})
	return &exprCompiler{config: c, patterns: map[string]*match.Pattern{}, names: symbols.New()}
}

// functions are the functions of rules, and those that only the patched tree
// calls. The run comes first in all but string.
func functions() []*builtin.Function {
	fn := func(name string, f func(...any) (any, error), types ...reflect.Type) *builtin.Function {
		return &builtin.Function{Name: name, Func: f, Types: types}
	}
	return []*builtin.Function{
		fn("label", label, reflect.TypeFor[func(*run, string) bool]()),
		fn("any_label", anyLabel, reflect.TypeFor[func(*run, string, ...string) bool]()),
		fn("join", join, reflect.TypeFor[func(*run, any) string](), reflect.TypeFor[func(*run, any, string) string]()),
		fn("string", asText, reflect.TypeFor[func(string) string](), reflect.TypeFor[func(int) string](),
			reflect.TypeFor[func(float64) string](), reflect.TypeFor[func(bool) string]()),
		fn("matches", matches, reflect.TypeFor[func(*run, string, *match.Pattern) bool]()),
		fn("__len", textLength, reflect.TypeFor[func(*run, string) int]()),
		fn("__lower", lower, reflect.TypeFor[func(*run, string) string]()),
		fn("__upper", upper, reflect.TypeFor[func(*run, string) string]()),
		fn("__tick", tick, reflect.TypeFor[func(*run) bool]()),
		fn("__pay", pay, wrapperType),
		fn("__made", made, wrapperType),
	}
}

// asText is string(x).
func asText(args ...any) (any, error) {
	switch x := args[0].(type) {
	case string:
		return x, nil
	case int, int64, float64, bool:
		return shownInText(x), nil
	}
	return nil, errors.New("string takes a text, a number or a boolean")
}

// compile compiles src; the error is an *exprError.
func (c *exprCompiler) compile(src string, w want) (*vm.Program, error) {
	x, err := c.check(src, w)
	if err != nil {
		return nil, err
	}
	return x.compiled()
}

// check finds what is wrong with src; the error is an *exprError.
func (c *exprCompiler) check(src string, w want) (*code, error) {
	if err := checkSource(src); err != nil {
		return nil, err
	}
	tree, err := parser.ParseWithConfig(src, c.config)
	if err != nil {
		return nil, explain(tree, err)
	}
	g := guard{pattern: c.pattern, builtins: c.config.Builtins, states: new(int), names: c.names, fields: map[string]*forms.Field{}, on: c.on}
	if err := g.check(&tree.Node, 0); err != nil {
		return nil, explain(tree, err)
	}
	if field := fieldOf(tree.Node); w == wantAny && field != nil {
		tree.Node = formCall("__form_any", field, tree.Node)
	}
	if _, err := checker.Check(tree, c.config); err != nil {
		return nil, explain(tree, err)
	}
	if err := g.lint(tree.Node); err != nil {
		return nil, explain(tree, err)
	}
	if msg := w.check(tree.Node); msg != "" {
		return nil, &exprError{1, 1, msg}
	}
	x := &code{compiler: c, want: w, on: c.on, tree: tree}
	if w == wantBool {
		x.watch.see(tree.Node)
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

// checkSource bounds what the parser, which is recursive, gets to see.
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

// check says what is wrong with the type of a checked tree; "" is nothing.
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

// String says what is wanted, for messages.
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

// eval runs a program; the error is, or holds, an *exprError.
func eval(m *vm.VM, p *vm.Program, e *env) (any, error) {
	e.Run.reset()
	m.MemoryBudget = cost.MaxItems
	v, err := m.Run(p, e)
	if err == nil {
		return v, nil
	}
	fe, ok := errors.AsType[*file.Error](err)
	if !ok {
		return nil, &exprError{1, 1, err.Error()}
	}
	return nil, from(err, &exprError{max(1, fe.Line), fe.Column + 1, runtimeMessage(fe.Message)})
}
