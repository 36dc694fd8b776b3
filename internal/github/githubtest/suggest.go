package githubtest

import (
	"encoding/json"
	"fmt"
	"unicode/utf8"

	"github.com/org/foreman-action/internal/github/githubtest/internal/render"
	"github.com/org/foreman-action/internal/github/githubtest/internal/state"
)

// An Automation is the level of a repository for changes with an intent: which of them wait for a
// person.
type Automation = state.Automation

// The levels of a repository. GitHub has the last four.
const (
	// AutomationOff is a repository without the feature, or an old server: it ignores intents and
	// suggest, and applies every change. Its events have no property intent.
	AutomationOff = state.AutomationOff
	// AutomationApplies is a server that shows intents in events, and applies what is only
	// suggested.
	AutomationApplies = state.AutomationApplies
	// FullControl holds every change with an intent.
	FullControl = state.FullControl
	// Cautious applies changes with a high confidence.
	Cautious = state.Cautious
	// Balanced applies changes with a high or a medium confidence.
	Balanced = state.Balanced
	// FullAutomation applies every change that is not only suggested.
	FullAutomation = state.FullAutomation
)

// A Suggestion is a change of an issue that waits for a person. [Server.Issue] returns those of an
// issue.
type Suggestion = state.Suggestion

// An Intent is why an automation makes a change.
type Intent = state.Intent

// maxRationale is the largest number of characters of a rationale.
const maxRationale = 280

// SetAutomation sets the level of the repository; the default is [AutomationOff]. Pending
// suggestions stay.
func (r *Repo) SetAutomation(level Automation) *Repo {
	return r.change(func() { r.state.Automation = level })
}

// AcceptAs lets a user accept a pending suggestion: the user makes the change, and its event has the
// intent. kind is "label", "assignee" or "type". It panics when there is no such suggestion.
func (r *Repo) AcceptAs(actor string, number int, kind, value string) *Repo {
	return r.end(actor, number, kind, value, true)
}

// RejectAs lets a user reject a pending suggestion. No event shows it. It panics when there is no
// such suggestion.
func (r *Repo) RejectAs(actor string, number int, kind, value string) *Repo {
	return r.end(actor, number, kind, value, false)
}

func (r *Repo) end(actor string, number int, kind, value string, accept bool) *Repo {
	return r.as(number, func(i *state.Record) {
		if !r.state.End(i, actor, kind, value, accept) {
			panic(fmt.Sprintf("githubtest: no pending %s %q on #%d", kind, value, number))
		}
	})
}

// intend makes changes of the issue, or holds them as suggestions. It returns those that it
// ignored, as an answer has them.
func (in *input) intend(list []state.Suggestion) []object {
	ignored := []object{}
	for _, s := range list {
		if why := in.repo.Intend(in.issue, s); why != "" {
			ignored = append(ignored, render.Suggestion(s, why))
		}
	}
	return ignored
}

// pending returns the pending suggestions of a kind, as an answer has them.
func (in *input) pending(kind string) []object {
	var list []object
	for _, s := range in.issue.Suggestions {
		if s.Kind == kind {
			list = append(list, render.Suggestion(s, ""))
		}
	}
	return list
}

// labelChanges reads labels in one of the forms that GitHub accepts: {"labels": [...]} or the list
// alone.
func labelChanges(in *input, raw json.RawMessage) []state.Suggestion {
	return changesOf(in, raw, "label")
}

// assigneeChanges reads assignees: {"assignees": [...]} or the list alone.
func assigneeChanges(in *input, raw json.RawMessage) []state.Suggestion {
	return changesOf(in, raw, "assignee")
}

// changesOf reads changes of a kind. A change is a string, or an object with its name and its
// intent.
func changesOf(in *input, raw json.RawMessage, kind string) []state.Suggestion {
	var whole struct{ Labels, Assignees json.RawMessage }
	if json.Unmarshal(raw, &whole) == nil {
		raw = whole.Labels
		if kind == "assignee" {
			raw = whole.Assignees
		}
	}
	var items []json.RawMessage
	if json.Unmarshal(raw, &items) != nil {
		return nil
	}
	var list []state.Suggestion
	for _, item := range items {
		if s, ok := changeOf(in, item, kind); ok {
			list = append(list, s)
		}
	}
	return list
}

// typeChange reads the value of "type" in an edit. An empty value removes the type.
func typeChange(in *input, raw json.RawMessage) state.Suggestion {
	s, _ := changeOf(in, raw, "type")
	return s
}

func changeOf(in *input, raw json.RawMessage, kind string) (state.Suggestion, bool) {
	s := state.Suggestion{Kind: kind, By: in.actor}
	if json.Unmarshal(raw, &s.Value) == nil {
		return s, true
	}
	var o struct {
		Name, Login, Value    string
		Rationale, Confidence string
		Suggest               bool
	}
	if json.Unmarshal(raw, &o) != nil {
		return s, false
	}
	s.Value = map[string]string{"label": o.Name, "assignee": o.Login, "type": o.Value}[kind]
	s.Intent = state.Intent{Rationale: o.Rationale, Confidence: o.Confidence, Suggest: o.Suggest}
	return s, true
}

// checkRationales refuses a rationale that is too long.
func checkRationales(list []state.Suggestion) (answer, bool) {
	for _, s := range list {
		if utf8.RuneCountInString(s.Rationale) > maxRationale {
			return invalid("Issue", "rationale", "too_long", "rationale is too long (maximum is 280 characters)"), false
		}
	}
	return answer{}, true
}
