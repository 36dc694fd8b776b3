package rules

import (
	"gopkg.in/yaml.v3"

	"github.com/org/foreman-action/internal/yamlfile"
	"github.com/org/foreman-action/rules/facts"
	"github.com/org/foreman-action/rules/internal/expression"
	"github.com/org/foreman-action/rules/internal/symbols"
)

// A Condition is a compiled condition outside of a rule, such as that of an
// agent. It is safe for concurrent use.
type Condition struct {
	expr  *expression.Expression
	names *symbols.Table
}

// CompileCondition compiles the scalar n of f, which may use the names that sources
// declare. Mistakes are recorded in f, and returned as a [yamlfile.Problems] with
// the problems recorded in f before; mistakes in the sources are left to [Compile].
func CompileCondition(f *yamlfile.File, n *yaml.Node, sources ...Source) (*Condition, error) {
	before := f.ErrorCount()
	names := symbols.New()
	quiet, _ := yamlfile.Parse("", nil)
	for _, src := range sources {
		names.Declare(quiet, src.Forms, src.Tables)
	}
	x := compileCondition(expression.NewCompiler(names), f, n)
	if f.ErrorCount() > before {
		return nil, f.Err()
	}
	return &Condition{x, names}, nil
}

// Eval reports whether the condition holds. The error is an [*EvalError].
func (c *Condition) Eval(f facts.Facts) (bool, error) {
	value, err := expression.NewEvaluation(f).Eval(c.expr)
	if err != nil {
		return false, evalError("", err)
	}
	return value == true, nil
}

// Labels returns the places where the condition names labels; a nil one has none.
func (c *Condition) Labels() []LabelUse {
	if c == nil {
		return nil
	}
	u := collector{names: c.names}
	u.condition(c.expr)
	return u.labels
}

// UsesLabels reports whether the condition asks for the labels; a nil one does not.
func (c *Condition) UsesLabels() bool { return c != nil && c.expr.ReadsLabels() }

// String returns the text of the condition.
func (c *Condition) String() string { return c.expr.Source() }
