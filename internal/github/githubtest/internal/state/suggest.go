package state

import (
	"slices"
	"strings"
)

// An Automation is the level of a repository: which changes of an automation wait for a person.
// Only changes with an [Intent] are held.
type Automation string

// The levels. The first two are of a repository without the feature, and of one whose server shows
// intents and does not know suggestions.
const (
	AutomationOff     Automation = ""             // intents are ignored, and everything is applied
	AutomationApplies Automation = "applies"      // events have their intent, and everything is applied
	FullControl       Automation = "full_control" // everything is held
	Cautious          Automation = "cautious"     // changes with a high confidence are applied
	Balanced          Automation = "balanced"     // changes with a high or a medium confidence are applied
	FullAutomation    Automation = "full"         // everything is applied that is not only suggested
)

// An Intent is why an automation makes a change. The zero value is none.
type Intent struct {
	Rationale, Confidence string
	Suggest               bool // hold the change at each level
}

// holds reports whether a level holds a change with an intent. A change without a confidence counts
// as one with a low confidence.
func (a Automation) holds(in Intent) bool {
	switch {
	case in == Intent{}, a == AutomationOff, a == AutomationApplies:
		return false
	case in.Suggest, a == FullControl:
		return true
	case a == Cautious:
		return in.Confidence != "high"
	case a == Balanced:
		return in.Confidence != "high" && in.Confidence != "medium"
	}
	return false
}

// A Suggestion is a change of an issue that waits for a person.
type Suggestion struct {
	Kind  string // "label", "assignee" or "type"
	Value string // the label, the login or the type
	By    string // the automation
	Intent
}

// The reasons why a suggestion is ignored.
const (
	AlreadyApplied = "already_applied"
	AlreadyClosed  = "issue_already_closed"
)

// Intend makes a change with an intent, or holds it as a suggestion. ignored is why it did neither.
func (r *Repository) Intend(i *Record, s Suggestion) (ignored string) {
	if !r.Automation.holds(s.Intent) {
		r.apply(i, s.By, s)
		return ""
	}
	s.Value = r.spelled(s)
	switch {
	case i.holds(s):
		return AlreadyApplied
	case i.State == "closed":
		return AlreadyClosed
	case s.Kind == "assignee" && !slices.ContainsFunc(r.Users, Same(s.Value)):
		return "" // dropped silently
	}
	i.Suggestions = append(slices.DeleteFunc(i.Suggestions, s.same), s)
	return ""
}

// spelled returns the value of a suggestion in the spelling of the repository.
func (r *Repository) spelled(s Suggestion) string {
	var list []string
	switch s.Kind {
	case "label":
		if l := r.Label(s.Value); l != nil {
			return l.Name
		}
	case "assignee":
		list = r.Users
	case "type":
		list = r.Types
	}
	if k := slices.IndexFunc(list, Same(s.Value)); k >= 0 {
		return list[k]
	}
	return s.Value
}

// holds reports whether the issue has what a suggestion is about.
func (i *Record) holds(s Suggestion) bool {
	switch s.Kind {
	case "label":
		return i.Has(s.Value)
	case "assignee":
		return slices.ContainsFunc(i.Assignees, Same(s.Value))
	}
	return strings.EqualFold(i.Type, s.Value)
}

// same reports whether two suggestions are about the same value.
func (s Suggestion) same(other Suggestion) bool {
	return s.Kind == other.Kind && strings.EqualFold(s.Value, other.Value)
}

// apply makes a change as the user actor. Its events have the intent, unless the feature is off.
func (r *Repository) apply(i *Record, actor string, s Suggestion) {
	before := len(i.Events)
	switch s.Kind {
	case "label":
		r.AddLabel(i, actor, s.Value)
	case "assignee":
		r.Assign(i, actor, []string{s.Value})
	case "type":
		r.SetType(i, actor, r.spelled(s))
	}
	if r.Automation == AutomationOff || s.Intent == (Intent{}) {
		return
	}
	for k := before; k < len(i.Events); k++ {
		i.Events[k].Intent = s.Intent
	}
}

// End ends the pending suggestion of a value as the user actor. If the user accepts it, the change
// is made. It reports false if there is no such suggestion.
func (r *Repository) End(i *Record, actor, kind, value string, accept bool) bool {
	k := slices.IndexFunc(i.Suggestions, Suggestion{Kind: kind, Value: value}.same)
	if k < 0 {
		return false
	}
	s := i.Suggestions[k]
	i.Suggestions = slices.Delete(i.Suggestions, k, k+1)
	if accept {
		r.apply(i, actor, s)
	}
	return true
}

// settle ends the suggestions that an event makes needless.
func (i *Record) settle(e Event) {
	var s Suggestion
	switch e.Kind {
	case "labeled":
		s = Suggestion{Kind: "label", Value: e.Label}
	case "assigned":
		s = Suggestion{Kind: "assignee", Value: e.Assignee}
	case "issue_type_added", "issue_type_changed":
		s = Suggestion{Kind: "type", Value: e.IssueType}
	default:
		return
	}
	i.Suggestions = slices.DeleteFunc(i.Suggestions, s.same)
}
