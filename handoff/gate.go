package handoff

// A State is the outcome of a [Gate].
type State string

// The states. An agent that left a file in one of the last three may run again, with the
// problems in its next prompt.
const (
	StateValid       State = "valid"          // the work may go on
	StateFailed      State = "failed"         // the agent reports a hard failure: the run ends
	StateMissing     State = "missing"        // there is no file
	StateInvalidJSON State = "invalid_json"   // the file is not one JSON value
	StateInvalid     State = "invalid_schema" // the file is not as the contract has it
)

// CodeInconsistent is the code of a warning: the parts of run contradict each other.
const CodeInconsistent = "inconsistent"

// A Gate is the judgement between two steps of a pipeline. It differs from the parsers, which
// agents check themselves against, in two ways. A hard failure counts before anything else
// is looked at. And a summary that is too long is a warning: it is not worth another run.
type Gate struct {
	State    State
	Problems []Problem // why the state is [StateInvalidJSON] or [StateInvalid]
	Warnings []Problem // problems that do not stop the run
}

// GateBuilder judges the content of builder_result.json; nil is a missing file. The result
// holds what can be read: all of it in [StateValid], the run in [StateFailed].
func GateBuilder(data []byte) (BuilderResult, Gate) {
	c := checker{role: Builder}
	var result BuilderResult
	if data != nil {
		result = readBuilder(&c, data)
	}
	return result, judge(data, result.Run, c.problems)
}

// GateInspector judges the content of inspector_result.json; nil is a missing file. The
// result holds what can be read: all of it in [StateValid], the run in [StateFailed].
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

// contradictions compares the status of a run with the rest of it, which the contract
// leaves open.
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
