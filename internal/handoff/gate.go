package handoff

// A State is the outcome of a [Gate].
type State string

// The states. After one of the last three, the agent may run again, with the problems in its next
// prompt.
const (
	StateValid       State = "valid"          // the pipeline continues with the work
	StateFailed      State = "failed"         // the agent reports a hard failure; the pipeline ends
	StateMissing     State = "missing"        // there is no file
	StateInvalidJSON State = "invalid_json"   // the file is not one JSON value
	StateInvalid     State = "invalid_schema" // the file does not match the contract
)

// CodeInconsistent is the code of a warning: the fields of "run" contradict each other.
const CodeInconsistent = "inconsistent"

// A Gate is the check between two steps of a pipeline. Agents check their own files with the
// parsers. A Gate differs from the parsers in two ways. It reports a hard failure regardless of
// other problems. And a summary that is too long is only a warning, because it is not worth another
// run.
type Gate struct {
	State    State
	Problems []Problem // why the state is [StateInvalidJSON] or [StateInvalid]
	Warnings []Problem // problems that do not stop the run
}

// GateBuilder checks the content of builder_result.json; nil means that the file is missing. The
// BuilderResult is complete in [StateValid], has at least Run in [StateFailed], and may be partial
// in other states.
func GateBuilder(data []byte) (BuilderResult, Gate) {
	c := checker{role: Builder}
	var result BuilderResult
	if data != nil {
		result = readBuilder(&c, data)
	}
	return result, judge(data, result.Run, c.problems)
}

// GateInspector checks the content of inspector_result.json; nil means that the file is missing.
// The InspectorResult is complete in [StateValid], has at least Run in [StateFailed], and may be
// partial in other states.
func GateInspector(data []byte) (InspectorResult, Gate) {
	c := checker{role: Inspector}
	var result InspectorResult
	if data != nil {
		result = readInspector(&c, data)
	}
	return result, judge(data, result.Run, c.problems)
}

func judge(data []byte, run Run, problems []Problem) Gate {
	if data == nil {
		return Gate{State: StateMissing}
	}
	if run.Status == Failed {
		return Gate{State: StateFailed, Warnings: append(problems, contradictions(run)...)}
	}
	g := Gate{State: StateValid}
	for _, p := range problems {
		switch p.Code {
		case CodeTooLong:
			g.Warnings = append(g.Warnings, p)
			continue
		case CodeInvalidJSON:
			g.State = StateInvalidJSON
		default:
			g.State = StateInvalid
		}
		g.Problems = append(g.Problems, p)
	}
	if g.State == StateValid {
		g.Warnings = append(g.Warnings, contradictions(run)...)
	}
	return g
}

// contradictions returns a warning if the other fields of "run" contradict its status. The contract
// permits such contradictions.
func contradictions(run Run) []Problem {
	switch {
	case run.Status == Failed && run.FailedStep == nil:
		return []Problem{{"run.failed_step", CodeInconsistent, "run.failed_step should name the step when run.status is 'failed'"}}
	case run.Status == OK && run.FailedStep != nil:
		return []Problem{{"run.failed_step", CodeInconsistent, "run.failed_step should be null when run.status is 'ok'"}}
	case run.Status == OK && run.Error != nil:
		return []Problem{{"run.error", CodeInconsistent, "run.error should be null when run.status is 'ok'"}}
	}
	return nil
}
