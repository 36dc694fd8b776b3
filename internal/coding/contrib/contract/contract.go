// Package contract defines the JSON documents of contribflow. Each document has a struct, whose
// fields have the order of the printed keys, and a JSON Schema.
//
// Later versions may add keys but not remove any. A field that may be null in the published agent
// protocol is a pointer without omitempty. Lists are never null in a printed document. Keys with
// omitempty are absent if they do not apply.
package contract

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"time"
)

// A Time is a moment in a document: RFC 3339 in UTC with milliseconds.
type Time time.Time

// MarshalText returns the moment as documents show it.
func (t Time) MarshalText() ([]byte, error) {
	return []byte(time.Time(t).UTC().Format("2006-01-02T15:04:05.000Z")), nil
}

// UnmarshalText reads a moment in RFC 3339.
func (t *Time) UnmarshalText(b []byte) error { return (*time.Time)(t).UnmarshalText(b) }

// A CommandKind defines whether a recommended command can be run.
type CommandKind string

// The kinds of recommended commands. Only a KindCommand can be run unchanged.
const (
	KindCommand     CommandKind = "command"
	KindInstruction CommandKind = "instruction" // a sentence for a person
	KindURL         CommandKind = "url"
)

// A Next is the next action that a document recommends.
type Next struct {
	Action  Action      `json:"nextAction"`
	Command string      `json:"recommendedCommand"`
	Kind    CommandKind `json:"recommendedCommandKind"`
}

// A Document is a struct that a command of contribflow prints. It embeds a [Next].
type Document interface {
	Step() Next    // the recommended next action
	ExitCode() int // the exit code for --exit-code
}

// Step returns the recommendation of the document that embeds it.
func (n Next) Step() Next { return n }

// ExitCode returns the exit code of a document that is never blocked or failed, and needs no person.
func (Next) ExitCode() int { return 0 }

// Run recommends a command.
func Run(a Action, command string) Next { return Next{a, command, KindCommand} }

// Instruct recommends something that a person has to do.
func Instruct(a Action, sentence string) Next { return Next{a, sentence, KindInstruction} }

// An Action is the name of a next action.
type Action string

// The next actions. Those of the published protocol are Discover, RefineDiscovery,
// WaitOrRefine, Score, Plan, Checkout, Validate, SandboxValidation, FixValidation, DraftPR,
// HumanReview and Done.
const (
	ActionInit              Action = "init"
	ActionAuthenticate      Action = "authenticate_github"
	ActionDiscover          Action = "discover"
	ActionRefineDiscovery   Action = "refine_discovery"
	ActionWaitOrRefine      Action = "wait_or_refine_discovery"
	ActionScore             Action = "score"
	ActionPlan              Action = "plan"
	ActionCheckout          Action = "checkout"
	ActionEdit              Action = "edit_workspace"
	ActionDiff              Action = "diff"
	ActionValidate          Action = "validate"
	ActionSandboxValidation Action = "sandbox_validation"
	ActionStartDocker       Action = "start_docker"
	ActionFixValidation     Action = "fix_validation_failures"
	ActionDraftPR           Action = "draft_pr"
	ActionResolveBlockers   Action = "resolve_review_blockers"
	ActionHumanReview       Action = "human_review"
	ActionInspectFailure    Action = "inspect_pr_failure"
	ActionFixError          Action = "fix_error" // the action of an [Error]
	ActionDone              Action = "done"
)

// Actions returns all next actions.
func Actions() []Action {
	return []Action{
		ActionInit,
		ActionAuthenticate,
		ActionDiscover,
		ActionRefineDiscovery,
		ActionWaitOrRefine,
		ActionScore,
		ActionPlan,
		ActionCheckout,
		ActionEdit,
		ActionDiff,
		ActionValidate,
		ActionSandboxValidation,
		ActionStartDocker,
		ActionFixValidation,
		ActionDraftPR,
		ActionResolveBlockers,
		ActionHumanReview,
		ActionInspectFailure,
		ActionFixError,
		ActionDone,
	}
}

// A State is the progress of a contribution.
type State string

// The states, in the order in which a contribution passes them.
const (
	StateNeedsInit        State = "needs_init"
	StateNeedsAuth        State = "needs_github_auth"
	StateDiscovery        State = "ready_for_discovery"
	StateNeedsCheckout    State = "needs_checkout"
	StateNeedsChanges     State = "needs_workspace_changes"
	StateReadyForDiff     State = "ready_for_diff"
	StateNeedsValidation  State = "needs_validation"
	StateValidationStops  State = "validation_blocked"
	StateValidationFailed State = "validation_failed"
	StateReadyForDryRun   State = "ready_for_pr_dry_run"
	StateReviewBlocked    State = "pr_review_blocked"
	StateHumanReview      State = "ready_for_human_review"
	StatePRFailed         State = "pr_creation_failed"
	StateDone             State = "done"
)

// States returns all states, in the order in which a contribution passes them.
func States() []State {
	return []State{
		StateNeedsInit,
		StateNeedsAuth,
		StateDiscovery,
		StateNeedsCheckout,
		StateNeedsChanges,
		StateReadyForDiff,
		StateNeedsValidation,
		StateValidationStops,
		StateValidationFailed,
		StateReadyForDryRun,
		StateReviewBlocked,
		StateHumanReview,
		StatePRFailed,
		StateDone,
	}
}

// Outcomes of commands, validations, dry runs and checks.
const (
	OK       = "ok"
	Passed   = "passed"
	Failed   = "failed"
	Blocked  = "blocked"
	Skipped  = "skipped"
	Missing  = "missing"
	DryRun   = "dry_run"
	Created  = "created"
	Errored  = "error"
	Exists   = "exists"
	Replaced = "overwritten"
)

// Encode returns a document as it is printed: indented by two spaces, with a line break at the
// end. Nil lists become empty lists. <, > and & are not escaped.
func Encode(document any) ([]byte, error) {
	v := reflect.New(reflect.TypeOf(document))
	v.Elem().Set(reflect.ValueOf(document))
	fillLists(v.Elem())
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	if err := e.Encode(v.Interface()); err != nil {
		return nil, fmt.Errorf("write the document: %w", err)
	}
	return b.Bytes(), nil
}

// fillLists replaces every nil list in a settable value by an empty one. It copies values behind
// pointers and in lists first, because the caller may share them.
func fillLists(v reflect.Value) {
	switch v.Kind() {
	case reflect.Struct:
		for _, field := range v.Fields() {
			if field.CanSet() {
				fillLists(field)
			}
		}
	case reflect.Slice:
		if v.Type().Elem().Kind() == reflect.Uint8 {
			return
		}
		list := reflect.MakeSlice(v.Type(), v.Len(), v.Len())
		reflect.Copy(list, v)
		for i := range list.Len() {
			fillLists(list.Index(i))
		}
		v.Set(list)
	case reflect.Pointer:
		if !v.IsNil() {
			one := reflect.New(v.Type().Elem())
			one.Elem().Set(v.Elem())
			fillLists(one.Elem())
			v.Set(one)
		}
	}
}
