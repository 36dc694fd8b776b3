package tool

import (
	"context"

	"github.com/org/foreman-action/internal/cli/envelope"
	"github.com/org/foreman-action/internal/command"
	"github.com/org/foreman-action/internal/handoff"
)

// stateUnreadable is the state for a result that cannot be read. Package handoff defines the other
// states.
const stateUnreadable handoff.State = "unreadable"

// A checked is the report of a check: the envelope, the result and the changed files.
type checked struct {
	envelope.Envelope
	Status       string            `json:"status"` // ok, or issues
	State        handoff.State     `json:"state"`
	Data         any               `json:"data"` // the result, null unless it is ok
	ChangedFiles []file            `json:"changed_files"`
	Warnings     []handoff.Problem `json:"warnings"`
}

// check returns the tool that checks the result of a role.
func check(role handoff.Role) run {
	return func(ctx context.Context, c call) (any, int) {
		report, code := judge(role, c)
		list, err := changedFiles(ctx, c.repo)
		report.ChangedFiles, report.Warnings = list, []handoff.Problem{}
		if err != nil {
			report.Warnings = append(report.Warnings, handoff.Problem{Path: "git_status", Code: codeGit, Message: err.Error()})
		}
		return report, code
	}
}

// judge validates a result as foreman validate does.
func judge(role handoff.Role, c call) (checked, int) {
	data, name, problem := c.in.Result(role, c.dir)
	if problem != nil {
		state := stateUnreadable
		if problem.Code == envelope.CodeNotFound {
			state = handoff.StateMissing
		}
		return checked{Envelope: envelope.Of(*problem), Status: "issues", State: state}, command.ExitFailed
	}
	value, problems := envelope.Parse(role, data, name)
	report := checked{Envelope: envelope.Of(problems...), Status: "ok", State: handoff.StateValid, Data: value}
	if runOf(value).Status == handoff.Failed {
		report.State = handoff.StateFailed
	}
	code := command.ExitOK
	if !report.OK {
		report.Status, report.State = "issues", handoff.StateInvalid
		if problems[0].Code == handoff.CodeInvalidJSON {
			report.State, code = handoff.StateInvalidJSON, command.ExitFailed
		}
	}
	return report, code
}

// runOf returns the run of a result, empty without one.
func runOf(value any) handoff.Run {
	switch v := value.(type) {
	case handoff.BuilderResult:
		return v.Run
	case handoff.InspectorResult:
		return v.Run
	}
	return handoff.Run{}
}
