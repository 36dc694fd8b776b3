package rules

import (
	"context"
	"errors"

	"github.com/org/foreman-action/internal/ruleset"
	"github.com/org/foreman-action/internal/yamlfile"
	"github.com/org/foreman-action/rules/facts"
	"github.com/org/foreman-action/rules/internal/expression"
	"github.com/org/foreman-action/rules/internal/symbols"
)

// A Condition is a compiled condition that belongs to no rule, such as that of an agent. It is safe
// for concurrent use.
type Condition ruleset.Condition

// conditionText is the compiled text of a Condition.
type conditionText struct {
	expr  *expression.Expression
	names *symbols.Table
}

var _ ruleset.Text = conditionText{}

// text returns the compiled text.
func (c *Condition) text() conditionText {
	t, _ := (*ruleset.Condition)(c).Text().(conditionText)
	return t
}

// CompileCondition compiles a text as a condition. The condition may use the names that sources
// declare. The error is a [Problems] whose lines and columns are those of the text. [Compile]
// reports mistakes in the sources.
func CompileCondition(condition string, sources ...Source) (*Condition, error) {
	f, n := yamlfile.Text("condition", condition)
	names := symbols.New()
	quiet, _ := yamlfile.Parse("", nil)
	list := parts(sources)
	names.Add(ownOf(list).Funcs)
	for _, src := range list {
		names.Declare(quiet, src.Forms, src.Tables)
		if src.Condition != nil {
			f, n = src.File, src.Condition
		}
	}
	before := f.ErrorCount()
	x := compileCondition(expression.NewCompiler(names), f, n)
	if f.ErrorCount() > before {
		return nil, f.Err()
	}
	return (*Condition)(ruleset.NewCondition(conditionText{x, names})), nil
}

// Eval reports whether the condition is true for f. The error is an [*EvalError], or a
// [*facts.UnknownError] if the condition needs a value that is not known. It matches a
// [*facts.UnsuppliedError] if the condition depends on values that nobody supplied.
func (c *Condition) Eval(ctx context.Context, f facts.Facts) (bool, error) {
	t, v := c.text(), expression.NewEvaluation(ctx, f)
	value, err := expression.NewExplainer(t.names, v).Judge(t.expr)
	if undecided, ok := errors.AsType[*expression.UndecidedError](err); ok {
		return false, undecided
	}
	if unknown, ok := errors.AsType[*facts.UnknownError](err); ok {
		return false, unknown
	}
	if err != nil {
		return false, evalError("", err)
	}
	return value, nil
}

// Labels implements [ruleset.Text].
func (t conditionText) Labels() []ruleset.LabelUse {
	u := collector{names: t.names}
	u.condition(t.expr)
	return u.labels
}

// UsesLabels implements [ruleset.Text].
func (t conditionText) UsesLabels() bool { return t.expr.ReadsLabels() }

// String returns the text of the condition.
func (c *Condition) String() string { return c.text().expr.Source() }
