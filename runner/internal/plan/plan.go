// Package plan converts a decision to steps with verdicts. [Make] checks every action against the
// policy and the issue in the event. [Needs] returns the data that must be read before the verdicts
// are final. [Review] uses that data to return the final verdicts: it applies human overrides, the
// comment limits, the memory's record and the repository's labels. The package does no I/O.
package plan

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/org/foreman-action/memory"
	"github.com/org/foreman-action/policy"
	"github.com/org/foreman-action/protocol"
	"github.com/org/foreman-action/runner/effect"
	"github.com/org/foreman-action/runner/internal/outcome"
	"github.com/org/foreman-action/triage"
)

// A Decision is the decision on a task, with the source of each action.
type Decision struct {
	Message protocol.DecisionMessage
	By      string // who decided, for the audit: "rules", an agent's address, or several
	// Sources has one entry per action; a missing entry means an agent.
	Sources []triage.Source
	// Fallback means that the agent failed, and that this is the configured decision for that
	// case.
	Fallback bool
	// AgentPair is the source of the track record of the agent's actions, as in [memory.Action]; empty: they
	// have none.
	AgentPair string
	// AgentWhy is the agent's rationale of its decision; empty: none, or Message has no other.
	AgentWhy string
	// Accepted has the acceptances of the actions whose proposals a person accepted, by index.
	Accepted map[int]Acceptance
}

// Source returns the source of an action.
func (d Decision) Source(i int) triage.Source {
	if i < len(d.Sources) {
		return d.Sources[i]
	}
	return triage.Source{}
}

// Pair returns the source of the track record of an action, as in [memory.Action]. That of an accepted
// action is the one of its proposal, which may be of an earlier version of the rule or the agent.
func (d Decision) Pair(i int) string {
	yes, accepted := d.Accepted[i]
	switch from := d.Source(i); {
	case accepted:
		return yes.Pair
	case from.Digest != "" || !from.IsAgent():
		return memory.RuleSource(from.Digest)
	}
	return d.AgentPair
}

// With returns the decision with actions appended. If the decision is to skip, the result has only
// the appended actions.
func (d Decision) With(from triage.Source, items ...protocol.ActionItem) Decision {
	if len(items) == 0 {
		return d
	}
	if d.Message.Decision == protocol.Skip {
		d.Message.Decision, d.Message.Actions, d.Sources = protocol.LabelAndRespond, nil, nil
	}
	sources := make([]triage.Source, 0, len(d.Message.Actions)+len(items))
	for i := range d.Message.Actions {
		sources = append(sources, d.Source(i))
	}
	for range items {
		sources = append(sources, from)
	}
	d.Sources = sources
	d.Message.Actions = append(slices.Clip(d.Message.Actions), items...)
	return d
}

// Wants reports whether the decision contains an action with this outcome.
func (d Decision) Wants(o outcome.Outcome) bool {
	return slices.ContainsFunc(d.Message.Actions, func(a protocol.ActionItem) bool {
		values := memory.NewAction(0, a).Values
		return slices.ContainsFunc(outcome.Outcomes(a.Type, values, "", false), func(w outcome.Outcome) bool {
			return w.There == o.There && w.Key() == o.Key()
		})
	})
}

// A Plan is a decision with a verdict on every action.
type Plan struct {
	Steps []Step
	// Resumed means that an earlier attempt at the task may have written.
	Resumed bool
	// InOrder means that the steps are carried out in the order of the decision. Otherwise an issue
	// is locked last, because comments on a locked issue are refused.
	InOrder bool
	// Warnings are for maintainers; the review adds them.
	Warnings []string

	issue  triage.Issue // from the event
	policy policy.Policy
	// agentWhy is the rationale of an agent's action that states none. noNotes is as in Input.
	agentWhy, noNotes string
}

// Writes reports whether any step must be carried out or proposed.
func (p Plan) Writes() bool {
	return slices.ContainsFunc(p.Steps, func(s Step) bool { return s.Verdict == triage.Do || s.Verdict == triage.Suggest })
}

// An Input contains the data of a plan.
type Input struct {
	Decision Decision
	Issue    triage.Issue
	Policy   policy.Policy
	// Own are the actions that are not built in. The policy must name each that it permits.
	Own []protocol.ActionSpec
	// MayComment means that rules and agents may answer the event with a comment.
	MayComment bool
	// AgentMayComment means that an agent may answer any event that it decides on.
	AgentMayComment bool
	// CommentID is the id of the comment that contains the commands; 0: none.
	CommentID int64
	// NoNotes is the reason why the memory cannot store deferred actions and proposals, and NoSchedule
	// the reason why no close can be scheduled. Empty: it is possible.
	NoNotes, NoSchedule string
	// Direct means that the program itself asks for the actions, so that none is proposed.
	Direct bool
	// Earned reports whether an action of a pair is carried out without a person's answer; why is the reason
	// why not. It is called if the policy demands that actions are earned. Nil: none is.
	Earned func(from triage.Source, k memory.PairKey) (ok bool, why string)
	// AcceptedClose means that accepted proposals may close the issue although the policy forbids it.
	AcceptedClose bool
}

// Make checks every action of a decision against the policy and the issue in the event.
func Make(in Input) Plan {
	p := makeOnce(in, Plan{})
	for p.settleGroups() { // the other steps are judged again, because a group that is dropped uses up no limit
		p = makeOnce(in, p)
	}
	p.propose()
	return p
}

// makeOnce returns the plan without the verdicts on groups. It keeps the steps of groups that are
// dropped in the plan before.
func makeOnce(in Input, before Plan) Plan {
	m := NewMaker(in)
	p := Plan{
		issue: in.Issue, policy: in.Policy, Steps: make([]Step, 0, len(in.Decision.Message.Actions)),
		agentWhy: cmp.Or(in.Decision.AgentWhy, in.Decision.Message.Rationale), noNotes: in.NoNotes,
	}
	ended, apart := false, before.apart()
	for i, a := range in.Decision.Message.Actions {
		if i < len(before.Steps) && before.Steps[i].Grouped() && apart[before.Steps[i].Group()] {
			ended = ended || before.Steps[i].Unknown
			p.Steps = append(p.Steps, before.Steps[i])
			continue
		}
		s := Step{ActionResult: triage.ActionResult{Index: i, Action: a, Source: in.Decision.Source(i), Pair: in.Decision.Pair(i)}}
		if yes, ok := in.Decision.Accepted[i]; ok {
			s.Accepted, s.Proposal, s.AcceptedBy = &yes, yes.Number, yes.By
			s.Rationale, s.Confidence = yes.Rationale, yes.Confidence
		}
		switch {
		case !in.Decision.Message.Decision.Writes() && s.Source.Command == "" && s.Accepted == nil:
			s.set(triage.Skip, fmt.Sprintf("the decision %s writes nothing", in.Decision.Message.Decision))
		case ended:
			s.set(triage.Skip, "it follows an unknown action")
		default:
			m.Judge(&s)
			ended = s.Unknown
		}
		p.Steps = append(p.Steps, s)
	}
	for i := range p.Steps {
		s := &p.Steps[i]
		c, closes := s.Effect.(effect.Close)
		switch {
		case s.Verdict != triage.Do:
		case ended && in.Policy.RejectUnknown:
			s.set(triage.Refuse, "the plan contains an unknown action, and policy.unknown_action is reject")
		case in.NoNotes != "" && s.RecordOnly():
			s.set(triage.Refuse, in.NoNotes)
		case in.NoSchedule != "" && closes && c.After > 0: // also before it is proposed
			s.set(triage.Refuse, in.NoSchedule)
		}
	}
	return p
}

// Resume returns the plan for a later attempt at a task. Steps that the journal lists as done keep
// their results. Deferred actions and reversals of rules that no longer exist are skipped, because
// they would count as an agent's. rules are the ids of the existing rules.
func (p Plan) Resume(entries []memory.Entry, rules []string) Plan {
	p.Steps = slices.Clone(p.Steps)
	p.withdraw()
	for i := range p.Steps {
		s, e := &p.Steps[i], entries[i]
		if s.Apart { // the group is judged again below, with the results of the earlier attempt
			s.set(triage.Do, "")
			s.Apart = false
		}
		done := e.State == triage.Done
		if s.Verdict == triage.Skip && done && !s.RecordOnly() {
			// The step may be skipped only because the issue was read after the earlier attempt.
			s.set(triage.Do, "")
			s.Values = e.Values
		}
		if s.Holds && len(e.Labels) > 0 { // the earlier attempt may have created the label: see [Attempt.Recreated]
			s.set(triage.Do, "")
			s.Holds = false
		}
		rule := triage.ParseSource(e.Rule).Rule
		gone := rule != "" && !slices.Contains(rules, rule)
		if gone && s.Verdict == triage.Do && (s.RecordOnly() || s.Source.Undo && !done) {
			s.set(triage.Skip, "there is no rule "+rule+" any more")
		}
		switch {
		case s.Verdict != triage.Do:
		case done:
			s.Landed, s.URL = true, e.URL
		case e.Refused:
			s.Refused, s.Reason = true, e.Reason
		}
	}
	p.settleGroups()
	p.propose()
	return p
}

// Order returns the steps in the order in which they are carried out: the comments of a group come
// after its other steps. A step that locks the issue
// comes last, or before a later step that unlocks the issue, or before an unknown action.
func (p Plan) Order() []Step {
	list := slices.Clone(p.Steps)
	commentsLast(list)
	for i := len(list) - 1; i >= 0 && !p.InOrder; i-- {
		if _, locks := list[i].Effect.(effect.Lock); !locks {
			continue
		}
		end, comments := i+1, false
		for ; end < len(list); end++ {
			s := &list[end]
			if _, unlocks := s.Effect.(effect.Unlock); unlocks || s.Unknown {
				break
			}
			_, comment := s.Comment()
			comments = comments || comment
		}
		if comments || end == len(list) {
			s := list[i]
			list = slices.Insert(slices.Delete(list, i, i+1), end-1, s)
		}
	}
	return list
}
