package runner

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/org/foreman-action/policy"
	"github.com/org/foreman-action/protocol"
	"github.com/org/foreman-action/triage"
)

// A Decision is what was decided on a task, and who asked for each action.
type Decision struct {
	Message protocol.DecisionMessage
	By      string // who decided, for the audit: "rules", an agent's address, or both
	// Sources has one entry for each action; a missing one means an agent.
	Sources []triage.Source

	fallback bool // the agent failed, and this is what the configuration says to do then
	answers  bool // the agent may answer any event with a comment
}

func (d Decision) source(i int) triage.Source {
	if i < len(d.Sources) {
		return d.Sources[i]
	}
	return triage.Source{}
}

// A Step is one action of a plan.
type Step struct {
	Index   int // in the decision, from 0
	Action  protocol.ActionItem
	Source  triage.Source
	Verdict triage.Verdict
	Reason  string // why it is not simply done; empty for most that are

	unknown   bool     // there is no such action: it ends the list
	landed    bool     // an earlier attempt at the task carried it out
	did       []string // what that attempt wrote, if the issue shows it by now
	kind      action
	labels    []string      // to add or remove
	logins    []string      // to assign or unassign
	text      string        // the parameter of the other actions; a comment's body, made harmless
	key       string        // of a sticky comment
	once      string        // the key under which a comment is posted once on the issue; may be empty
	nth       int           // how many comments of that key the plan has before this one
	duplicate int           // the issue that this one repeats
	after     time.Duration // that people get before the issue is closed; 0: none
	veto      []string      // what stands against closing it then
	wait      bool          // it was passed over only for now
}

// A Plan is a decision with a verdict on every action.
type Plan struct {
	Decision Decision
	Steps    []Step

	issue  triage.Issue // as the event tells of it
	policy policy.Policy
}

// MakePlan judges every action of a decision by the policy and by what the event
// tells of the issue. It makes no call; labels are looked up when the plan is
// applied. mayComment is false for an event that nobody asked to be answered.
func MakePlan(d Decision, issue triage.Issue, policy policy.Policy, mayComment bool) Plan {
	p := newPlanner(issue, policy, mayComment)
	p.agentMay = d.answers
	plan := Plan{Decision: d, issue: issue, policy: policy, Steps: make([]Step, 0, len(d.Message.Actions))}
	ended := false
	for i, a := range d.Message.Actions {
		s := Step{Index: i, Action: a, Source: d.source(i)}
		switch {
		case !d.Message.Decision.Writes() && s.Source.Command == "":
			s.set(triage.Skip, fmt.Sprintf("the decision %s writes nothing", d.Message.Decision))
		case ended:
			s.set(triage.Skip, "it stands behind an unknown action")
		default:
			p.judge(&s)
			ended = s.unknown
		}
		plan.Steps = append(plan.Steps, s)
	}
	if ended && policy.RejectUnknown {
		plan.rejectAll()
	}
	return plan
}

// rejectAll refuses what stands before an unknown action.
func (p *Plan) rejectAll() {
	for i := range p.Steps {
		if s := &p.Steps[i]; s.Verdict == triage.Do {
			s.set(triage.Refuse, "the plan holds an unknown action and policy.unknown_action is reject")
		}
	}
}

// writes reports whether any step is to be carried out.
func (p Plan) writes() bool {
	for _, s := range p.Steps {
		if s.Verdict == triage.Do {
			return true
		}
	}
	return false
}

func (s *Step) set(v triage.Verdict, reason string) { s.Verdict, s.Reason = v, reason }

// values are the names that the step writes.
func (s *Step) values() []string {
	switch {
	case len(s.did) > 0:
		return s.did
	case s.once != "":
		return []string{s.once}
	case s.duplicate > 0:
		return []string{strconv.Itoa(s.duplicate)}
	case len(s.labels) > 0:
		return s.labels
	case len(s.logins) > 0:
		return s.logins
	case s.text != "" && !s.isComment():
		return []string{s.text}
	}
	return nil
}

// A planner judges actions one after another: each sees the issue as those before
// it will leave it.
type planner struct {
	policy     policy.Policy
	limits     map[string]int
	used       map[string]int
	comments   map[string]int  // planned so far, by key
	said       map[string]bool // what is planned to be said once
	now        state
	mayComment bool
	agentMay   bool // comment on whatever event it is
}

func newPlanner(issue triage.Issue, policy policy.Policy, mayComment bool) *planner {
	return &planner{policy: policy, limits: policy.EffectiveLimits(), used: map[string]int{}, comments: map[string]int{}, said: map[string]bool{}, now: issueState(issue), mayComment: mayComment}
}

// judge sets the verdict of a step.
func (p *planner) judge(s *Step) {
	kind, ok := actionOf(s.Action.Type)
	if !ok || kind.calls && s.Source.Command == "" && !s.Source.Undo {
		s.unknown = true
		s.set(triage.Refuse, (&triage.UnknownActionError{Type: s.Action.Type, Index: s.Index}).Error())
		return
	}
	s.kind = kind
	p.count(s)
	if err := kind.spec.Check(s.Action); err != nil {
		s.set(triage.Refuse, "malformed: "+err.Error())
		return
	}
	if why := p.policy.Forbids(s.Action.Type, s.Source); why != "" && !kind.calls {
		s.set(triage.Refuse, why)
		return
	}
	s.set(triage.Do, "")
	if kind.judge(p, s); s.Verdict != triage.Do {
		return
	}
	if name, n := kind.counts(s); !kind.calls && !p.take(s, name, n) {
		s.set(triage.Refuse, fmt.Sprintf("policy.limits.%s is %d per event", name, p.limits[name]))
		return
	}
	kind.change(&p.now, s)
}

// count numbers a comment among those of its key, whatever becomes of it: should the
// policy change between two attempts, the numbers stay.
func (p *planner) count(s *Step) {
	if !s.isComment() || s.answers() { // there is one answer to each command
		return
	}
	if s.Action.Type == protocol.ActionUpdateComment {
		s.key = cmp.Or(first(s.Action, "key"), "sticky")
	}
	s.nth = p.comments[s.key]
	p.comments[s.key]++
}

// take uses n of a type's limit, all or nothing.
func (p *planner) take(s *Step, name string, n int) bool {
	if s.answers() {
		return p.limits[name] > 0
	}
	if p.used[name]+n > p.limits[name] {
		return false
	}
	p.used[name] += n
	return true
}

// A state is what a plan needs to know of an issue as it goes along.
type state struct {
	number    int
	labels    map[string]bool // by lower-case name
	never     map[string]bool // labels that the plan says are never to be added again, by lower-case name
	assignees map[string]bool // by lower-case login
	open      bool
	locked    bool
	milestone string
	issueType string
}

func issueState(i triage.Issue) state {
	s := state{
		number: i.Number, open: i.State != "closed", locked: i.Locked,
		milestone: i.Milestone, issueType: i.Type,
		labels: map[string]bool{}, never: map[string]bool{}, assignees: map[string]bool{},
	}
	for _, l := range i.Labels {
		s.labels[fold(l)] = true
	}
	for _, a := range i.Assignees {
		s.assignees[fold(a)] = true
	}
	return s
}

// fold takes the case off a name, so that names which differ in nothing else are
// equal: also those with letters such as the long s, which is an s in upper case.
func fold(s string) string { return strings.ToLower(strings.ToUpper(s)) }

// pick returns the items of list that are in set, if keep, or else those that are not.
func pick(list []string, set map[string]bool, keep bool) []string {
	var out []string
	for _, s := range list {
		if set[fold(s)] == keep {
			out = append(out, s)
		}
	}
	return out
}

func put(set map[string]bool, list []string, there bool) {
	for _, s := range list {
		set[fold(s)] = there
	}
}
