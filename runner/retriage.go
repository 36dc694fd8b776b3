package runner

import (
	"context"
	"slices"

	"github.com/org/foreman-action/protocol"
	"github.com/org/foreman-action/rules"
	"github.com/org/foreman-action/rules/facts"
)

// factsAsOpened returns the facts as if the issue had just been opened, with what was
// looked up so far.
func (w *work) factsAsOpened(f facts.Facts) facts.Facts {
	out := rulesFacts(w.e.AsOpened(), f.Now)
	out.Lookup, out.Effect = f.Lookup, f.Effect
	return out
}

// retriage decides on the issue as if it were newly opened, after the rules were asked
// about the event itself; they see the labels that were planned then.
func (w *work) retriage(ctx context.Context, q *question) (Decision, error) {
	first := q.res
	w.retriaged = true
	q.event, q.facts = w.e.AsOpened(), w.factsAsOpened(q.facts)
	w.rep.AskedAs = q.event.Key()
	if first == nil {
		return w.decided(nil), nil
	}
	q.facts.Issue.Labels = first.Labels
	if _, err := w.askRules(ctx, q); err != nil {
		return Decision{}, err
	}
	both := joined(*first, *q.res)
	q.res = &both
	return w.decided(q.res), nil
}

// joined is what rules decided on an event, and then on the issue as if it were newly
// opened. A rule fires once, and the second time settles whether the agent is asked.
func joined(first, second rules.Result) rules.Result {
	out := second
	out.Retriage = false
	fired := func(id string) bool { return slices.Contains(first.Fired, id) }
	out.Message.Actions, out.Sources = slices.Clone(first.Message.Actions), slices.Clone(first.Sources)
	for i, id := range second.Sources {
		if !fired(id) {
			out.Message.Actions = append(out.Message.Actions, second.Message.Actions[i])
			out.Sources = append(out.Sources, id)
		}
	}
	out.Fired = slices.Concat(first.Fired, slices.DeleteFunc(slices.Clone(second.Fired), fired))
	out.Undone = nil
	for _, id := range slices.Concat(first.Undone, second.Undone) {
		if !slices.Contains(out.Fired, id) && !slices.Contains(out.Undone, id) {
			out.Undone = append(out.Undone, id)
		}
	}
	out.Trace = slices.Clone(second.Trace)
	for i, t := range first.Trace {
		if t.Outcome == rules.Matched {
			out.Trace[i] = t
		}
	}
	out.Message.Decision = stronger(first.Message.Decision, second.Message.Decision)
	if first.Message.Decision != protocol.Skip {
		out.Message.Rationale = first.Message.Rationale + "; then, as if newly opened, " + second.Message.Rationale
	}
	return out
}
