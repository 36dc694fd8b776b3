package rules

import (
	"gopkg.in/yaml.v3"

	"github.com/org/foreman-action/internal/strictyaml"
	"github.com/org/foreman-action/rules/facts"
)

// A Condition is a compiled condition outside of a rule, such as that of an
// agent. It is safe for concurrent use.
type Condition struct {
	expr *expression
}

// CompileCondition compiles the scalar n of f, which may use the names that sources
// declare. Mistakes are recorded in f, and returned as a [strictyaml.Problems] with
// what was recorded in f before; mistakes in the sources are not looked for, that is
// what [Compile] does.
func CompileCondition(f *strictyaml.File, n *yaml.Node, sources ...Source) (*Condition, error) {
	before := f.ErrorCount()
	c := newExprCompiler()
	quiet, _ := strictyaml.Parse("", nil)
	for _, src := range sources {
		c.names.Declare(quiet, src.Forms, src.Tables)
	}
	x := c.condition(f, n)
	if f.ErrorCount() > before {
		return nil, f.Err()
	}
	return &Condition{x}, nil
}

// Eval reports whether the condition holds. The error is an [*EvalError].
func (c *Condition) Eval(f facts.Facts) (bool, error) {
	v := &evaluation{env: newEnv(f)}
	value, err := v.eval(c.expr)
	if err != nil {
		return false, evalError("", err)
	}
	return value == true, nil
}

// AsksLabels reports whether the condition asks for the labels; a nil one does not.
func (c *Condition) AsksLabels() bool { return c != nil && c.expr.code.watch.asks }

// String returns the text of the condition.
func (c *Condition) String() string { return c.expr.src }
