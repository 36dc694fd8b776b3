package execute

import (
	"context"
	"errors"
	"slices"

	"github.com/org/foreman-action/runner/effect"
	"github.com/org/foreman-action/runner/internal/plan"
	"github.com/org/foreman-action/triage"
)

// addsLabels reports whether a step is a write that can be one with others of its kind.
func (x *execution) addsLabels(s *plan.Step) bool {
	_, adds := s.Effect.(effect.AddLabels)
	return adds && x.writes(s) && !s.Landed
}

// together returns how many steps from i on one write carries out: those that add labels, with
// no other write between them. Steps that write nothing may stand between.
func (x *execution) together(i int) int {
	n := 1
	if !x.addsLabels(&x.out.Steps[i]) {
		return n
	}
	for k := i + 1; k < len(x.out.Steps); k++ {
		switch s := &x.out.Steps[k]; {
		case x.addsLabels(s):
			n = k - i + 1
		case s.Unknown, x.writes(s) && !s.Landed:
			return n
		}
	}
	return n
}

// advance carries out the steps that go together, and reports whether those after them follow.
func (x *execution) advance(ctx context.Context, steps []plan.Step) bool {
	var adding []*plan.Step
	for i := range steps {
		if s := &steps[i]; x.addsLabels(s) {
			adding = append(adding, s)
		}
	}
	if len(adding) < 2 {
		return x.step(ctx, &steps[0])
	}
	for _, s := range adding {
		*x.result(s) = untried(s)
	}
	left, err := x.carryOut(ctx, adding)
	if err != nil && concernsAll(ctx, err) {
		x.failAll(ctx, adding, left, err)
		return false
	}
	// Of labels that GitHub refuses together one alone may be the reason: each is tried by itself.
	for _, s := range adding {
		if err != nil && slices.Contains(left, s) {
			*x.result(s) = untried(s)
		}
	}
	for i := range steps {
		s := &steps[i]
		if slices.Contains(adding, s) && (err == nil || !slices.Contains(left, s)) {
			x.settle(ctx, s, nil)
		} else if !x.step(ctx, s) {
			return false
		}
	}
	return true
}

// failAll ends the run with an error of the write that adds the labels of steps. Labels outside
// of left were added. If the write was not begun, only the first step failed.
func (x *execution) failAll(ctx context.Context, steps, left []*plan.Step, err error) {
	for _, s := range steps {
		switch {
		case !slices.Contains(left, s):
			x.settle(ctx, s, nil)
		case s == left[0], x.result(s).State == triage.Trying:
			x.settle(ctx, s, err)
		}
	}
}

// concernsAll reports whether the error of a write holds for each part of it.
func concernsAll(ctx context.Context, err error) bool {
	for _, all := range []error{triage.ErrGone, triage.ErrUncertain, triage.ErrLimited, triage.ErrHalted} {
		if errors.Is(err, all) {
			return true
		}
	}
	_, denied := errors.AsType[*triage.PermissionError](err)
	return denied || ctx.Err() != nil
}
