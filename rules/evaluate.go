package rules

import (
	"errors"

	"github.com/expr-lang/expr/file"
	"github.com/expr-lang/expr/vm"

	"github.com/org/foreman-action/rules/facts"
	"github.com/org/foreman-action/rules/internal/cost"
)

// An evaluation evaluates the expressions of one event, one after another. It is not safe
// for concurrent use.
type evaluation struct {
	env     *env
	machine vm.VM
}

// newEvaluation returns an evaluation for the facts of an event.
func newEvaluation(f facts.Facts) *evaluation { return &evaluation{env: newEnv(f)} }

// facts returns the facts of the event.
func (v *evaluation) facts() *facts.Facts { return v.env.Run.facts }

// labels returns the labels that conditions see.
func (v *evaluation) labels() []string { return v.env.Run.labels }

// setLabels sets the labels that conditions see.
func (v *evaluation) setLabels(labels []string) {
	v.env.Issue.Labels, v.env.Run.labels = labels, labels
}

// eval runs an expression; the error is, or holds, a *placedError.
func (v *evaluation) eval(x *expression) (any, error) {
	if fast := x.code.fastPath(); fast != nil {
		v.env.Run.reset()
		if value, sure := fast(v.env); sure {
			return value, nil
		}
	}
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
