package expression

import (
	"context"
	"errors"

	"github.com/expr-lang/expr/file"
	"github.com/expr-lang/expr/vm"

	"github.com/org/foreman-action/rules/facts"
	"github.com/org/foreman-action/rules/internal/cost"
)

// An Evaluation evaluates the expressions of one event, one after another. It is not safe
// for concurrent use.
type Evaluation struct {
	env     *env
	machine vm.VM
}

// NewEvaluation returns an evaluation for the facts of an event. Look-ups get ctx.
func NewEvaluation(ctx context.Context, f facts.Facts) *Evaluation {
	return &Evaluation{env: newEnv(ctx, f)}
}

// Context returns the context of the evaluation.
func (v *Evaluation) Context() context.Context { return v.env.Run.ctx }

// Facts returns the facts of the event.
func (v *Evaluation) Facts() *facts.Facts { return v.env.Run.facts }

// Labels returns the labels that conditions see.
func (v *Evaluation) Labels() []string { return v.env.Run.labels }

// SetLabels sets the labels that conditions see.
func (v *Evaluation) SetLabels(labels []string) {
	v.env.Issue.Labels, v.env.Run.labels = labels, labels
}

// Eval evaluates an expression. The error is, or wraps, a [*PlacedError].
func (v *Evaluation) Eval(x *Expression) (any, error) {
	program, err := x.code.compiled()
	if err != nil {
		return nil, x.fail(asExprError(err))
	}
	value, err := eval(&v.machine, program, v.env)
	if err != nil {
		return nil, from(err, x.fail(asExprError(err)))
	}
	return value, nil
}

// eval runs a program. The error is, or wraps, an [*Error].
func eval(m *vm.VM, p *vm.Program, e *env) (any, error) {
	e.Run.reset()
	m.MemoryBudget = cost.MaxItems
	v, err := m.Run(p, e)
	if err == nil {
		return v, nil
	}
	fe, ok := errors.AsType[*file.Error](err)
	if !ok {
		return nil, &Error{line: 1, col: 1, msg: err.Error()}
	}
	return nil, from(err, &Error{line: max(1, fe.Line), col: fe.Column + 1, msg: runtimeMessage(fe.Message)})
}
