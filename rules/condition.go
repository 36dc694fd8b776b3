package rules

import (
	"errors"

	"gopkg.in/yaml.v3"

	"github.com/org/foreman-action/internal/yamlfile"
	"github.com/org/foreman-action/rules/facts"
	"github.com/org/foreman-action/rules/internal/expression"
	"github.com/org/foreman-action/rules/internal/symbols"
)

// A Condition is a compiled condition that belongs to no rule, such as that of an agent. It is safe
// for concurrent use.
type Condition struct {
	expr  *expression.Expression
	names *symbols.Table
}

// CompileCondition compiles the scalar n of f. The condition may use the names that sources
// declare. Mistakes are recorded in f. The error is a [yamlfile.Problems] with all problems of f,
// including earlier ones. [Compile] reports mistakes in the sources.
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

// Eval reports whether the condition is true for f. The error is an [*EvalError], or a
// [*facts.UnknownError] if the condition needs a value that is not known.
func (c *Condition) Eval(f facts.Facts) (bool, error) {
	value, err := expression.NewEvaluation(f).Eval(c.expr)
	if unknown, ok := errors.AsType[*facts.UnknownError](err); ok {
		return false, unknown
	}
	if err != nil {
		return false, evalError("", err)
	}
	return value == true, nil
}

// Labels returns the places where the condition names labels. A nil Condition has none.
func (c *Condition) Labels() []LabelUse {
	if c == nil {
		return nil
	}
	u := collector{names: c.names}
	u.condition(c.expr)
	return u.labels
}

// UsesLabels reports whether the condition reads the labels. It is false for nil.
func (c *Condition) UsesLabels() bool { return c != nil && c.expr.ReadsLabels() }

// String returns the text of the condition.
func (c *Condition) String() string { return c.expr.Source() }
