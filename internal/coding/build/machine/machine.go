// Package machine is the state machine of a run of Builder and Inspector. [Next] takes the state
// of a run and an event, and returns the new state and the next action. It has no side effects,
// and the same input always gives the same result. So an interrupted run can be resumed from its
// stored state.
//
//	setup → build → checks → diff → inspect → end
//	          ↑       |               |
//	          └───────┴── next round ─┘
//
// If an agent crashes, takes too long or leaves no valid result, its run does not count and is
// repeated in the same round. A failed check or an objection of the Inspector starts another
// round. The numbers of attempts and of rounds are limited.
package machine

import (
	"slices"
	"strings"

	"github.com/org/foreman-action/internal/handoff"
)

// A Phase is the current step of a round. After an interruption, this step is repeated.
type Phase string

// The phases.
const (
	Setup   Phase = "setup"   // a clone is prepared
	Build   Phase = "build"   // the Builder works
	Checks  Phase = "checks"  // the consumer's own commands judge the work
	Diff    Phase = "diff"    // the difference from the base is written to a file
	Inspect Phase = "inspect" // the Inspector judges
)

// A Status is the result of a run.
type Status string

// The statuses.
const (
	Approved         Status = "approved"
	ChangesRequested Status = "changes_requested" // the work has open findings
	Failed           Status = "failed"
)

// A Reason explains why a run ended without approval.
type Reason string

// The reasons.
const (
	RoundsExhausted Reason = "rounds_exhausted" // the last round still had findings
	Stalled         Reason = "stalled"          // a round repeated findings, or changed nothing
	NoChanges       Reason = "no_changes"       // the Builder changed nothing
	AgentFailed     Reason = "agent_failed"     // an agent reported failure, or its last run crashed
	HandoffInvalid  Reason = "handoff_invalid"  // an agent's last run left no valid result
	SetupFailed     Reason = "setup_failed"     // a clone could not be prepared
	PreflightFailed Reason = "preflight_failed" // a required check failed in the last round
	PolicyBroken    Reason = "policy"           // an agent changed protected files
	Timeout         Reason = "timeout"          // the run, or an agent's last attempt, took too long
	Cancelled       Reason = "cancelled"        // the user ended the run
	DiskFull        Reason = "disk_full"        // no space was left
)

// An End is the outcome of a run.
type End struct {
	Status Status `json:"status"`
	Reason Reason `json:"reason,omitempty"` // empty: approved
	// Role is the agent that caused the end; empty: no agent did.
	Role handoff.Role `json:"role,omitempty"`
	// Errors are the details, for people and for the report.
	Errors []handoff.Problem `json:"errors,omitempty"`
}

// String returns the status, followed by the reason if there is one.
func (e *End) String() string {
	if e.Reason == "" {
		return string(e.Status)
	}
	return string(e.Status) + ", " + string(e.Reason)
}

// atLeast reports whether severity s is the same as other or higher.
func atLeast(s, other handoff.Severity) bool {
	order := []handoff.Severity{handoff.Blocker, handoff.Major, handoff.Minor}
	return slices.Index(order, s) <= slices.Index(order, other)
}

// A Check is the result of one check command.
type Check struct {
	Name     string `json:"name"`
	Required bool   `json:"required"`
	Passed   bool   `json:"passed"`
	Output   string `json:"output,omitempty"` // the end of the output
}

// A Policy contains the limits of a run.
type Policy struct {
	Rounds   int // at least 1
	Attempts int // runs of one agent in one round, at least 1
	// MinSeverity is the least severity of a finding that causes another round. Less severe findings
	// are only reported. Empty: only the Inspector's verdict decides.
	MinSeverity handoff.Severity
}

// A State is the machine's whole state of a run. The zero value is a run that has not begun. It
// is stored as JSON before each action.
type State struct {
	// Review is set for a run of only the checks and the Inspector, on an existing branch. It has one
	// round and no Builder.
	Review bool `json:"review,omitempty"`

	Phase Phase `json:"phase"`
	Round int   `json:"round"` // from 1
	// Attempt counts the runs of the present agent in this round, from 1.
	Attempt int `json:"attempt"`
	// Objections are the reasons why the last attempt did not count. The prompt of the next attempt
	// repeats them.
	Objections []handoff.Problem `json:"objections,omitempty"`
	// Summary and Complexity are from the Builder's last report.
	Summary    string `json:"summary,omitempty"`
	Complexity string `json:"complexity,omitempty"`
	// Checks are the results of this round's checks.
	Checks []Check `json:"checks,omitempty"`
	// Issues and Tasks are the findings of the last inspection. The Builder's next prompt and the
	// Inspector's next prompt contain them. Failed are the required checks whose failure started this
	// round.
	Issues []handoff.Issue `json:"issues,omitempty"`
	Tasks  []string        `json:"tasks,omitempty"`
	Failed []Check         `json:"failed,omitempty"`
	// End is set when the run is over.
	End *End `json:"end,omitempty"`
}

// OpenIssues returns a copy of the findings of the last inspection.
func (s State) OpenIssues() []handoff.Issue { return slices.Clone(s.Issues) }

// An Action is the next thing to do. Its data is in the state.
type Action string

// The actions. Their order is the order of the phases.
const (
	DoSetup   Action = "setup"
	DoBuild   Action = "build"
	DoChecks  Action = "checks"
	DoDiff    Action = "diff"
	DoInspect Action = "inspect"
	// DoEnd writes the report.
	DoEnd Action = "end"
)

// An Event is an input of the machine. Only types of this package implement it.
type Event interface{ event() }

// Begun starts a run. For an interrupted run, it repeats the current step.
type Begun struct{}

// SetupDone means that the first clone is ready.
type SetupDone struct{}

// A Verdict is the outcome of one agent run. If several verdicts fit, the first one in the order
// below is used.
type Verdict string

// The verdicts.
const (
	// Reported is a valid result with run.status "failed". The run ends, whatever the exit code of
	// the agent.
	Reported Verdict = "reported_failure"
	// Violated is a forbidden change by the agent. The change was undone.
	Violated Verdict = "violation"
	// OutOfTime is a run that took too long, or was silent for too long.
	OutOfTime Verdict = "out_of_time"
	// Crashed is another exit code than 0, or a program that does not start.
	Crashed Verdict = "crashed"
	// Invalid is a missing or invalid result.
	Invalid Verdict = "invalid"
	// Valid is a valid result with run.status "ok".
	Valid Verdict = "valid"
)

// Built is the end of a Builder run.
type Built struct {
	Verdict  Verdict
	Problems []handoff.Problem // empty for Valid
	Warning  string            `json:",omitempty"` // about a run that counts, for people
	Summary  string
	// Complexity is from the Builder's report.
	Complexity string
	// Changed is set when HEAD's tree differs from HEAD's tree at the start of the round.
	Changed bool
}

// Checked contains the results of the checks.
type Checked struct{ Checks []Check }

// Diffed means that the difference from the base was written to a file. Empty is set if there is
// no difference.
type Diffed struct{ Empty bool }

// Inspected is the end of an Inspector run.
type Inspected struct {
	Verdict  Verdict
	Problems []handoff.Problem // empty for Valid
	Warning  string            `json:",omitempty"` // about a run that counts, for people
	Approved bool
	Issues   []handoff.Issue
	Tasks    []string
}

// Stopped ends a run in any phase, for a reason outside the machine.
type Stopped struct {
	Reason  Reason // Timeout, Cancelled, DiskFull, PolicyBroken or SetupFailed
	Role    handoff.Role
	Problem handoff.Problem
}

func (Begun) event()     {}
func (SetupDone) event() {}
func (Built) event()     {}
func (Checked) event()   {}
func (Diffed) event()    {}
func (Inspected) event() {}
func (Stopped) event()   {}

// Resume returns the state from which a run continues that ended for a temporary reason. The round
// starts with all its attempts again. Resume returns false for other runs.
func Resume(s State) (State, bool) {
	if s.End == nil {
		return s, true
	}
	switch s.End.Reason {
	case SetupFailed, AgentFailed, HandoffInvalid, Timeout, Cancelled, DiskFull:
		s.End = nil
		s.Attempt = min(s.Attempt, 1)
		return s, true
	default:
		return s, false
	}
}

// Next returns the state after an event, and the next action. It does not change s. If an event
// does not belong to the current phase, Next returns the same state and the action of this phase.
// After the end of the run, every event returns DoEnd.
func Next(s State, e Event, p Policy) (State, Action) {
	if s.End != nil {
		return s, DoEnd
	}
	switch e := e.(type) {
	case Begun:
		if s.Phase == "" {
			s.Phase, s.Round = Setup, 1
		}
	case Stopped:
		return end(s, End{Status: Failed, Reason: e.Reason, Role: e.Role, Errors: []handoff.Problem{e.Problem}})
	case SetupDone:
		switch {
		case s.Phase == Setup && s.Review:
			return begin(s, Checks)
		case s.Phase == Setup:
			return begin(s, Build)
		}
	case Built:
		if s.Phase == Build {
			return built(s, e, p)
		}
	case Checked:
		if s.Phase == Checks {
			return checked(s, e, p)
		}
	case Diffed:
		if s.Phase == Diff {
			return diffed(s, e)
		}
	case Inspected:
		if s.Phase == Inspect {
			return inspected(s, e, p)
		}
	}
	return s, action(s.Phase)
}

func action(phase Phase) Action {
	switch phase {
	case Build:
		return DoBuild
	case Checks:
		return DoChecks
	case Diff:
		return DoDiff
	case Inspect:
		return DoInspect
	default:
		return DoSetup
	}
}

func begin(s State, phase Phase) (State, Action) {
	s.Phase, s.Attempt, s.Objections = phase, 0, nil
	if phase == Build || phase == Inspect {
		s.Attempt = 1
	}
	return s, action(phase)
}

func end(s State, e End) (State, Action) {
	s.End = &e
	return s, DoEnd
}

func built(s State, e Built, p Policy) (State, Action) {
	if e.Verdict != Valid {
		return repeat(s, attempt{handoff.Builder, e.Verdict, e.Problems}, p)
	}
	s.Summary, s.Complexity = e.Summary, e.Complexity
	if !e.Changed {
		if s.Round == 1 {
			return end(s, End{Status: Failed, Reason: NoChanges, Role: handoff.Builder, Errors: []handoff.Problem{{Path: "<run>", Code: "no_changes", Message: "the Builder reported success and changed no file"}}})
		}
		return end(s, End{Status: ChangesRequested, Reason: Stalled, Role: handoff.Builder, Errors: []handoff.Problem{{Path: "<run>", Code: "stalled", Message: "the Builder changed nothing in answer to the findings"}}})
	}
	return begin(s, Checks)
}

func checked(s State, e Checked, p Policy) (State, Action) {
	s.Checks = slices.Clone(e.Checks)
	failed := slices.DeleteFunc(slices.Clone(e.Checks), func(c Check) bool { return c.Passed || !c.Required })
	if len(failed) == 0 {
		s.Failed = nil
		return begin(s, Diff)
	}
	if s.lastRound(p) {
		var problems []handoff.Problem
		for _, c := range failed {
			problems = append(problems, handoff.Problem{Path: "<checks>", Code: "check_failed", Message: "the required check " + c.Name + " fails"})
		}
		return end(s, End{Status: Failed, Reason: PreflightFailed, Errors: problems})
	}
	s.Failed = failed
	return nextRound(s)
}

func diffed(s State, e Diffed) (State, Action) {
	if e.Empty {
		return end(s, End{Status: Failed, Reason: NoChanges, Role: handoff.Builder, Errors: []handoff.Problem{{Path: "<run>", Code: "no_changes", Message: "the branch is the same as its base"}}})
	}
	return begin(s, Inspect)
}

func inspected(s State, e Inspected, p Policy) (State, Action) {
	if e.Verdict != Valid {
		return repeat(s, attempt{handoff.Inspector, e.Verdict, e.Problems}, p)
	}
	before := fingerprints(s.Issues)
	s.Issues, s.Tasks = slices.Clone(e.Issues), slices.Clone(e.Tasks)
	if accepted(e, p) {
		return end(s, End{Status: Approved})
	}
	now := fingerprints(s.Issues)
	if len(now) > 0 && slices.Equal(before, now) {
		return end(s, End{Status: ChangesRequested, Reason: Stalled, Errors: []handoff.Problem{{Path: "<run>", Code: "stalled", Message: "the Inspector reported the same findings in two consecutive rounds"}}})
	}
	if s.lastRound(p) {
		return end(s, End{Status: ChangesRequested, Reason: RoundsExhausted, Errors: []handoff.Problem{{Path: "<run>", Code: "rounds_exhausted", Message: "the last round still has findings"}}})
	}
	return nextRound(s)
}

// accepted reports whether the Inspector's verdict accepts the change. It does if the Inspector
// approves without a blocker, or if all findings are less severe than p.MinSeverity.
func accepted(e Inspected, p Policy) bool {
	if e.Approved {
		return !slices.ContainsFunc(e.Issues, func(i handoff.Issue) bool { return i.Severity == handoff.Blocker })
	}
	return p.MinSeverity != "" && !slices.ContainsFunc(e.Issues, func(i handoff.Issue) bool { return atLeast(i.Severity, p.MinSeverity) })
}

func (s State) lastRound(p Policy) bool { return s.Review || s.Round >= p.Rounds }

func nextRound(s State) (State, Action) {
	s.Round++
	return begin(s, Build)
}

// An attempt is one run of an agent that does not count.
type attempt struct {
	role     handoff.Role
	verdict  Verdict
	problems []handoff.Problem
}

// repeat starts another attempt of the agent, or ends the run.
func repeat(s State, a attempt, p Policy) (State, Action) {
	ended := End{Status: Failed, Role: a.role, Errors: slices.Clone(a.problems)}
	switch {
	case a.verdict == Reported:
		ended.Reason = AgentFailed
	case a.verdict == Violated && a.role == handoff.Builder:
		ended.Reason = PolicyBroken
	case s.Attempt >= p.Attempts:
		ended.Reason = exhausted(a.verdict)
	default:
		s.Attempt++
		s.Objections = ended.Errors
		return s, action(s.Phase)
	}
	return end(s, ended)
}

// exhausted returns the reason for ending a run whose agent has used all attempts. It depends on
// the verdict on the last attempt.
func exhausted(last Verdict) Reason {
	switch last {
	case OutOfTime:
		return Timeout
	case Crashed:
		return AgentFailed
	case Violated:
		return PolicyBroken
	default:
		return HandoffInvalid
	}
}

// fingerprints returns a normal form of the findings, to compare two rounds. Order, spaces and the
// case of descriptions are ignored.
func fingerprints(issues []handoff.Issue) []string {
	var all []string
	for _, i := range issues {
		paths := slices.Sorted(slices.Values(i.Paths))
		text := strings.ToLower(strings.Join(strings.Fields(i.Description), " "))
		all = append(all, string(i.Severity)+"\x00"+strings.Join(paths, "\x00")+"\x00\x00"+text)
	}
	slices.Sort(all)
	return all
}
