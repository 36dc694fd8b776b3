// Package machine is the state machine of a run of Builder and Inspector. It does no work
// itself: [Next] takes the state of a run and an event, and returns the new state with the next
// action. The same state and event always give the same answer, so an interrupted run is
// resumed from its stored state.
//
//	setup → build → checks → diff → inspect → end
//	          ↑       |               |
//	          └───────┴── next round ─┘
//
// A run of an agent that does not count (it crashed, took too long, or left no valid result) is
// repeated in the same round; a failed check or an objection of the Inspector opens another
// round. Both are bounded.
package machine

import (
	"slices"
	"strings"

	"github.com/org/foreman-action/handoff"
)

// A Phase is the current step of a round, which is repeated after an interruption.
type Phase string

// The phases.
const (
	Setup   Phase = "setup"   // the worktree is made ready
	Build   Phase = "build"   // the Builder works
	Checks  Phase = "checks"  // the consumer's own commands judge
	Diff    Phase = "diff"    // the change to the base is written down
	Inspect Phase = "inspect" // the Inspector judges
)

// A Status is the result of a run.
type Status string

// The statuses.
const (
	Approved         Status = "approved"
	ChangesRequested Status = "changes_requested" // the work stands, with open findings
	Failed           Status = "failed"
)

// A Reason is why a run ended other than approved.
type Reason string

// The reasons.
const (
	RoundsExhausted Reason = "rounds_exhausted" // the last round still had findings
	Stalled         Reason = "stalled"          // a round repeated findings, or changed nothing
	NoChanges       Reason = "no_changes"       // the Builder changed nothing
	AgentFailed     Reason = "agent_failed"     // an agent reported a failure, or crashed each time
	HandoffInvalid  Reason = "handoff_invalid"  // an agent left no valid result each time
	SetupFailed     Reason = "setup_failed"     // the worktree could not be made ready
	PreflightFailed Reason = "preflight_failed" // a required check failed in the last round
	PolicyBroken    Reason = "policy"           // an agent changed protected files
	Timeout         Reason = "timeout"          // the run's deadline passed, or an agent took too long each time
	Cancelled       Reason = "cancelled"        // the user ended the run
	DiskFull        Reason = "disk_full"        // no space was left
)

// An End is the outcome of a run.
type End struct {
	Status Status `json:"status"`
	Reason Reason `json:"reason,omitempty"` // empty: approved
	// Role is the agent that the reason is about; empty: neither.
	Role handoff.Role `json:"role,omitempty"`
	// Errors are the details, for people and for the report.
	Errors []handoff.Problem `json:"errors,omitempty"`
}

// String names an end in a sentence: the status, and the reason where there is one.
func (e *End) String() string {
	if e.Reason == "" {
		return string(e.Status)
	}
	return string(e.Status) + ", " + string(e.Reason)
}

// atLeast reports whether a severity is as grave as another, or graver.
func atLeast(s, other handoff.Severity) bool {
	order := []handoff.Severity{handoff.Blocker, handoff.Major, handoff.Minor}
	return slices.Index(order, s) <= slices.Index(order, other)
}

// A Check is the result of one check command.
type Check struct {
	Name     string `json:"name"`
	Required bool   `json:"required"`
	Passed   bool   `json:"passed"`
	Output   string `json:"output,omitempty"` // its end, cut
}

// A Policy bounds a run.
type Policy struct {
	Rounds   int // at least 1
	Attempts int // runs of one agent in one round, at least 1
	// MinSeverity is how grave a finding must be for another round; the rest is reported
	// as open. Empty: the Inspector's verdict alone decides.
	MinSeverity handoff.Severity
}

// A State is the machine's whole state of a run. The zero value is a run that has not begun. It
// is stored as JSON before each action.
type State struct {
	// Review is set for a run of the Inspector alone, on a branch that exists. It has one
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
	// Issues and Tasks are the last findings: for the Builder in the next round, and for
	// the Inspector to see again. Failed are the required checks that opened this round.
	Issues []handoff.Issue `json:"issues,omitempty"`
	Tasks  []string        `json:"tasks,omitempty"`
	Failed []Check         `json:"failed,omitempty"`
	// End is set when the run is over.
	End *End `json:"end,omitempty"`
}

// OpenIssues returns the findings that a run ends with.
func (s State) OpenIssues() []handoff.Issue { return slices.Clone(s.Issues) }

// An Action is the one thing to do next; its fields are in the state.
type Action string

// The actions, in the order of their phases.
const (
	DoSetup   Action = "setup"
	DoBuild   Action = "build"
	DoChecks  Action = "checks"
	DoDiff    Action = "diff"
	DoInspect Action = "inspect"
	// DoEnd writes the report and removes the worktree.
	DoEnd Action = "end"
)

// An Event is an input of the machine. Exactly the types of this package implement it.
type Event interface{ event() }

// Begun starts a run, or resumes an interrupted one: the step in progress is repeated.
type Begun struct{}

// SetupDone is a worktree that is ready.
type SetupDone struct{}

// SetupStopped is a setup that failed.
type SetupStopped struct{ Problem handoff.Problem }

// A Verdict is the outcome of one run of an agent. The machine tests for them in the order below.
type Verdict string

// The verdicts.
const (
	// Reported is a valid result with run.status "failed": a hard stop, whatever the
	// exit code.
	Reported Verdict = "reported_failure"
	// Violated is a change that the agent must not make; it was undone.
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

// Built is a run of the Builder that ended.
type Built struct {
	Verdict  Verdict
	Problems []handoff.Problem // for every verdict but Valid
	Summary  string
	// Complexity is from the Builder's report.
	Complexity string
	// Changed is set when HEAD's tree differs from that at the round's start.
	Changed bool
}

// Checked is the end of the checks.
type Checked struct{ Checks []Check }

// Diffed is the change to the base, written down.
type Diffed struct{ Empty bool }

// Inspected is a run of the Inspector that ended.
type Inspected struct {
	Verdict  Verdict
	Problems []handoff.Problem // for every verdict but Valid
	Approved bool
	Issues   []handoff.Issue
	Tasks    []string
}

// Stopped ends a run from outside, in any phase.
type Stopped struct {
	Reason  Reason // Timeout, Cancelled, DiskFull or PolicyBroken
	Role    handoff.Role
	Problem handoff.Problem
}

func (Begun) event()        {}
func (SetupDone) event()    {}
func (SetupStopped) event() {}
func (Built) event()        {}
func (Checked) event()      {}
func (Diffed) event()       {}
func (Inspected) event()    {}
func (Stopped) event()      {}

// Resume returns the state of a run that ended for a temporary reason, so that it continues
// with all attempts of the round. It reports false for other runs.
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

// Next returns the state after an event, and the next action. It does not change s. An event
// that does not belong to the phase changes nothing: the action of the phase is returned again.
// After the end, every event gives DoEnd.
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
	case SetupStopped:
		if s.Phase == Setup {
			return end(s, End{Status: Failed, Reason: SetupFailed, Errors: []handoff.Problem{e.Problem}})
		}
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
		return end(s, End{Status: ChangesRequested, Reason: Stalled, Errors: []handoff.Problem{{Path: "<run>", Code: "stalled", Message: "the Inspector found the same in two rounds running"}}})
	}
	if s.lastRound(p) {
		return end(s, End{Status: ChangesRequested, Reason: RoundsExhausted, Errors: []handoff.Problem{{Path: "<run>", Code: "rounds_exhausted", Message: "the last round still has findings"}}})
	}
	return nextRound(s)
}

// accepted reports whether the Inspector's verdict lets the change through: an approval
// without a blocker, or findings that are all less grave than the policy asks for.
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

// repeat runs an agent again, or ends the run.
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

// exhausted is the reason of a run whose agent used all of its attempts, by the last one.
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

// fingerprints returns the findings in a form that is the same for findings that differ
// only in their order, spaces and case.
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
