// Package handoff decodes and validates the two results that agents write as JSON files. The
// Builder's result describes its change; the Inspector's result reviews that change. All problems
// of a result are reported, each with a path, a code and a message.
//
// A result has two parts. "run" reports whether the agent could work at all. "work" is the result
// of the work; it is null if the agent could not work:
//
//	{"run": {"status": "ok", "failed_step": null, "error": null},
//	 "work": {"summary": "Mend the parser of dates", "complexity": "low"}}
//
//	{"run": {"status": "ok", "failed_step": null, "error": null},
//	 "work": {"status": "changes_requested",
//	          "issues": [{"severity": "major", "description": "The test is weaker now", "paths": ["date_test.go"]}],
//	          "next_tasks": ["Restore the test"]}}
//
// Unknown keys are ignored. Keys and values are case-sensitive. The last value of a repeated key is
// used.
package handoff

// A Role is one of the two agents.
type Role string

// The roles.
const (
	Builder   Role = "builder"
	Inspector Role = "inspector"
)

// ResultName returns the name of the role's result: "builder_result" or "inspector_result".
func (r Role) ResultName() string { return string(r) + "_result" }

// ResultFile returns the file name of the role's result, at the root of the working tree.
func (r Role) ResultFile() string { return r.ResultName() + ".json" }

// A RunStatus reports whether the agent could work.
type RunStatus string

// The run states.
const (
	OK     RunStatus = "ok"
	Failed RunStatus = "failed" // a hard failure: a person must look at it
)

// A Run is the part "run" of a result.
type Run struct {
	Status RunStatus `json:"status"`
	// FailedStep is the step that failed, such as "git commit". Nil: null or absent.
	FailedStep *string `json:"failed_step"`
	Error      *string `json:"error"` // the output of the step; nil: null or absent
}

// A Complexity is the Builder's estimate of its change.
type Complexity string

// The complexities.
const (
	Low    Complexity = "low"
	Medium Complexity = "medium"
	High   Complexity = "high"
)

// A BuilderResult is the content of builder_result.json.
type BuilderResult struct {
	Run  Run          `json:"run"`
	Work *BuilderWork `json:"work"` // nil exactly when Run.Status is [Failed]
}

// A BuilderWork describes a change.
type BuilderWork struct {
	Summary    string     `json:"summary"` // not blank, at most [MaxSummary] UTF-16 code units
	Complexity Complexity `json:"complexity"`
}

// MaxSummary is the maximum length of a Builder's summary, in UTF-16 code units.
const MaxSummary = 300

// A Verdict is the Inspector's judgement of a change.
type Verdict string

// The verdicts.
const (
	Approved         Verdict = "approved"
	ChangesRequested Verdict = "changes_requested"
)

// A Severity is the importance of an [Issue].
type Severity string

// The severities, the most important first.
const (
	Blocker Severity = "blocker"
	Major   Severity = "major"
	Minor   Severity = "minor"
)

// An InspectorResult is the content of inspector_result.json.
type InspectorResult struct {
	Run  Run            `json:"run"`
	Work *InspectorWork `json:"work"` // nil exactly when Run.Status is [Failed]
}

// An InspectorWork is the review of a change. An approved change may have issues of any severity.
type InspectorWork struct {
	Status    Verdict  `json:"status"`
	Issues    []Issue  `json:"issues"`     // never nil; not empty when Status is [ChangesRequested]
	NextTasks []string `json:"next_tasks"` // never nil; none is blank
}

// An Issue is one finding of an Inspector.
type Issue struct {
	Severity    Severity `json:"severity"`
	Description string   `json:"description"` // not blank
	Paths       []string `json:"paths"`       // not empty; none is blank
}
