package expression

import (
	"fmt"
	"strings"

	"github.com/expr-lang/expr/checker"
	"github.com/expr-lang/expr/conf"
	"github.com/expr-lang/expr/parser"

	"github.com/org/foreman-action/rules/facts"
	"github.com/org/foreman-action/rules/internal/forms"
	"github.com/org/foreman-action/rules/internal/match"
	"github.com/org/foreman-action/rules/internal/symbols"
)

// The bounds of an expression.
const (
	MaxLength   = 4096 // bytes
	MaxBrackets = 100  // open at the same time
	MaxTerms    = 500  // nodes of the tree
)

// A Compiler compiles expressions against the environment of rules. It is not safe for
// concurrent use; the expressions are.
type Compiler struct {
	builder  *builder
	patterns map[string]*match.Pattern
	names    *symbols.Table
	on       []string // the events in the rule's "on"; nil: it has no "on"
}

// NewCompiler returns a compiler of expressions that may use these names.
func NewCompiler(names *symbols.Table) *Compiler {
	c := conf.CreateNew()
	c.MaxNodes = MaxTerms
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
	for _, f := range names.Funcs {
		c.Functions[f.Name] = ownFunction(f)
	}
	c.WithEnv(env{})
	return &Compiler{builder: &builder{config: c}, patterns: map[string]*match.Pattern{}, names: names}
}

// WithEvents returns a compiler for the expressions of a rule with these events in its "on"; nil:
// it has no "on". It shares the patterns of c.
func (c *Compiler) WithEvents(on []string) *Compiler {
	other := *c
	other.on = on
	return &other
}

// check finds the mistakes of src; the error is an *Error.
func (c *Compiler) check(src string, w Type) (*code, error) {
	if err := checkSource(src); err != nil {
		return nil, err
	}
	tree, err := parser.ParseWithConfig(src, c.builder.config)
	if err != nil {
		return nil, unparsed(src, tree, err)
	}
	g := guard{pattern: c.pattern, builtins: c.builder.config.Builtins, states: new(int), names: c.names, fields: map[string]*forms.Field{}, reads: map[facts.Part]bool{}}
	if err := g.check(&tree.Node, 0); err != nil {
		return nil, located(tree, err)
	}
	if field := fieldOf(tree.Node); w == Any && field != nil {
		tree.Node = formCall("__form_any", field, tree.Node)
	}
	if _, err := checker.Check(tree, c.builder.config); err != nil {
		return nil, located(tree, err)
	}
	if err := (linter{c.builder.config.Builtins, c.on, c.names.Funcs}).lint(tree.Node); err != nil {
		return nil, located(tree, err)
	}
	if msg := w.check(tree.Node); msg != "" {
		return nil, &Error{line: 1, col: 1, msg: msg}
	}
	x := &code{builder: c.builder, on: c.on, reads: g.reads, tree: tree}
	x.labels.collect(tree.Node)
	if !settled(tree.Node) {
		_, err = x.compiled()
	}
	return x, err
}

func (c *Compiler) pattern(s string) (*match.Pattern, error) {
	if p := c.patterns[s]; p != nil {
		return p, nil
	}
	p, err := match.NewPattern(s)
	if err == nil {
		c.patterns[s] = p
	}
	return p, err
}

// checkSource limits the size of the text, because the parser is recursive.
func checkSource(src string) error {
	if len(src) > MaxLength {
		return &Error{line: 1, col: 1, msg: fmt.Sprintf("the expression has %d bytes; at most %d are allowed", len(src), MaxLength)}
	}
	if strings.TrimSpace(src) == "" {
		return &Error{line: 1, col: 1, msg: "the expression is empty"}
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
			if depth++; depth > MaxBrackets {
				return &Error{line: line, col: col, msg: fmt.Sprintf("more than %d brackets are open", MaxBrackets)}
			}
		case strings.ContainsRune(")]}", r):
			depth--
		}
	}
	return nil
}
