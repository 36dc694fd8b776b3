package execute

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/org/foreman-action/internal/text"
	"github.com/org/foreman-action/runner/effect"
	"github.com/org/foreman-action/runner/internal/outcome"
	"github.com/org/foreman-action/runner/internal/plan"
	"github.com/org/foreman-action/triage"
)

// A labelWrite is the kind of label change that a step makes. Steps of the same kind can be
// combined into one write.
type labelWrite int

const (
	noLabels labelWrite = iota // the step makes no label change, or must be written alone
	addsLabels
	removesLabels // removes labels whose ids are known
)

// labelWrite returns the kind of label change that a step makes.
func (x *execution) labelWrite(s *plan.Step) labelWrite {
	if !x.writes(s) || s.Landed {
		return noLabels
	}
	switch e := s.Effect.(type) { //nolint:gochecksumtype // only labels can go together
	case effect.AddLabels:
		return addsLabels
	case effect.RemoveLabels:
		if x.removal(e.Names).Issue != "" {
			return removesLabels
		}
	}
	return noLabels
}

// labelsOf returns the labels that steps add or remove.
func labelsOf(steps []*plan.Step) []string {
	var names []string
	for _, s := range steps {
		names = append(names, effect.Values(s.Effect)...)
	}
	return names
}

// removal returns the effect that removes labels. It has the ids of all labels, or no ids.
func (x *execution) removal(names []string) effect.RemoveLabels {
	e := effect.RemoveLabels{Names: names, Issue: x.Issue.NodeID}
	for _, name := range names {
		id := labelID(x.Issue.LabelIDs, name)
		if id == "" || e.Issue == "" {
			return effect.RemoveLabels{Names: names}
		}
		e.IDs = append(e.IDs, id)
	}
	return e
}

// labelID returns the id of the label with that name. If there is none, it returns the id of the
// only label whose name differs just in case. Empty: unknown.
func labelID(list []triage.LabelID, name string) string {
	id := ""
	for _, l := range list {
		switch {
		case l.Name == name:
			return l.ID
		case text.Fold(l.Name) != text.Fold(name):
		case id == "":
			id = l.ID
		default:
			return "" // ambiguous; when a name is used, GitHub decides which label it means
		}
	}
	return id
}

// without removes the labels that the repository does not have any more from steps that were written. A
// step without another label is skipped.
func (x *execution) without(steps []*plan.Step, missing []string) {
	if len(missing) == 0 {
		return
	}
	gone := outcome.NamesOf(missing)
	for _, s := range steps {
		names := effect.Values(s.Effect)
		lost := gone.In(names)
		if len(lost) == 0 {
			continue
		}
		var reasons []string
		for _, name := range lost {
			reasons = append(reasons, plan.NoLabel(name))
			if advice := plan.MissingLabel(x.Identity.Ref, name); advice != "" {
				x.Warn("%s", advice)
			}
		}
		s.Reason = strings.Join(reasons, "; ")
		s.Effect = effect.AddLabels{Names: gone.NotIn(names)}
		if len(lost) == len(names) {
			s.Verdict = triage.Skip
		}
	}
}

// assumedIDs returns the ids of labels that the host remembers, or that an earlier attempt assumed before
// it may have created the labels; nil: there are none.
func (x *execution) assumedIDs(names []string) []string {
	var ids []string
	if x.LabelIDs != nil {
		ids = x.LabelIDs(names)
	}
	for i, name := range names {
		id := x.Journal.former(name, x.Issue.LabelIDs)
		if id == "" {
			continue
		}
		if ids == nil {
			ids = make([]string, len(names))
		}
		ids[i] = id
	}
	return ids
}

// recreated reports whether the issue has a label of a step with another id than the one that the host
// remembered: the write, whose answer was lost, may have created it.
func (x *execution) recreated(s *plan.Step, on []triage.LabelID) bool {
	e, adds := s.Effect.(effect.AddLabels)
	if !adds {
		return false
	}
	for i, id := range x.assumedIDs(e.Names) {
		if now := labelID(on, e.Names[i]); id != "" && now != "" && now != id {
			return true
		}
	}
	return false
}

// maxTogether is the maximum number of steps in one write: GitHub permits 100 labels on an issue.
const maxTogether = 100

// together returns the number of steps from i on that one write covers: steps that add labels, or
// steps that remove labels. Only steps that write nothing may be between them.
func (x *execution) together(i int) int {
	n := 1
	kind := x.labelWrite(&x.steps[i])
	if kind == noLabels {
		return n
	}
	for k := i + 1; k < min(i+maxTogether, len(x.steps)); k++ {
		switch s := &x.steps[k]; {
		case x.labelWrite(s) == kind:
			n = k - i + 1
		case s.Unknown, x.writes(s) && !s.Landed:
			return n
		}
	}
	return n
}

// advance carries out steps that are written together, and reports whether the run continues.
func (x *execution) advance(ctx context.Context, steps []plan.Step) bool {
	var joined []*plan.Step
	for i := range steps {
		if s := &steps[i]; x.labelWrite(s) != noLabels {
			joined = append(joined, s)
		}
	}
	if len(joined) < 2 {
		return x.step(ctx, &steps[0])
	}
	for _, s := range joined {
		*x.result(s) = untried(s)
	}
	left, err := x.carryOut(ctx, joined)
	switch refused, final := errors.AsType[*triage.RefusedError](err); {
	case final && !refused.Parameter:
		x.failAll(ctx, joined, left, err)
		return x.others(ctx, steps, joined)
	case err != nil && concernsAll(ctx, err):
		x.failAll(ctx, joined, left, err)
		return false
	}
	// GitHub may have refused the labels because of one of them, or because there were several. So
	// each label is tried separately. Steps that were written are settled first, so that a failure
	// of another step does not hide them.
	for _, s := range joined {
		switch {
		case err == nil: // settled below, in the order of all steps
		case slices.Contains(left, s):
			*x.result(s) = untried(s)
		default:
			x.settle(ctx, s, nil)
		}
	}
	for i := range steps {
		s := &steps[i]
		together := slices.Contains(joined, s)
		switch {
		case together && err == nil:
			x.settle(ctx, s, nil)
		case together && !slices.Contains(left, s): // settled above
		case !x.step(ctx, s):
			return false
		}
	}
	return true
}

// others carries out the steps that are not joined, and reports whether the run continues.
func (x *execution) others(ctx context.Context, steps []plan.Step, joined []*plan.Step) bool {
	for i := range steps {
		if s := &steps[i]; !slices.Contains(joined, s) && !x.step(ctx, s) {
			return false
		}
	}
	return true
}

// failAll settles the steps of a combined write with an error. Steps outside of left were written.
// If the write was not started because of a failure, only the first step failed.
func (x *execution) failAll(ctx context.Context, steps, left []*plan.Step, err error) {
	for _, s := range steps {
		switch {
		case !slices.Contains(left, s):
			x.settle(ctx, s, nil)
		case s == left[0], x.closed != nil, x.result(s).State == triage.Trying:
			x.settle(ctx, s, err)
		}
	}
}

// concernsAll reports whether the error of a write applies to all of its parts.
func concernsAll(ctx context.Context, err error) bool {
	for _, all := range []error{triage.ErrGone, triage.ErrUncertain, triage.ErrLimited, triage.ErrHalted} {
		if errors.Is(err, all) {
			return true
		}
	}
	_, denied := errors.AsType[*triage.PermissionError](err)
	return denied || ctx.Err() != nil
}
