package protocol

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// The names of the actions that the executor knows. The first three are those of the published
// protocol.
const (
	ActionAddLabel        = "add_label"
	ActionComment         = "comment"
	ActionCloseIssue      = "close_issue"
	ActionAddLabels       = "add_labels"
	ActionRemoveLabel     = "remove_label"
	ActionReopenIssue     = "reopen_issue"
	ActionAssign          = "assign"
	ActionUnassign        = "unassign"
	ActionSetMilestone    = "set_milestone"
	ActionRemoveMilestone = "remove_milestone"
	ActionSetType         = "set_type"
	ActionLock            = "lock"
	ActionUnlock          = "unlock"
	ActionReact           = "react"
	ActionUpdateComment   = "update_comment"
	ActionMarkDuplicate   = "mark_duplicate"
	ActionNeverAgain      = "never_again"
)

// The vetoes by which people keep an issue open during the grace period ("after") of "close_issue".
const (
	VetoThumbsDown = "thumbs_down" // a person reacts with a thumbs down to the issue or to our comment
	VetoComment    = "comment"     // a person comments
	VetoReopen     = "reopen"      // a person reopens the issue
)

// MaxValues is the maximum number of values in a list parameter.
const MaxValues = 100

// A ParamKind is the type of an action's parameter.
type ParamKind int

// The kinds of parameters.
const (
	KindText     ParamKind = iota // a JSON string that is a name or a keyword
	KindMarkdown                  // a JSON string that GitHub renders
	KindTexts                     // a list of strings; a single string is a list of one
	KindInt                       // a whole number from 1 to 2^53-1
	KindDuration                  // a string for ParseDuration, of more than 0 and at most MaxDelay
)

// MaxDelay is the longest duration in a parameter.
const MaxDelay = 366 * 24 * time.Hour

// A Param is one parameter of an action.
type Param struct {
	Name     string
	Kind     ParamKind
	Required bool
	// Enum lists the allowed values of a KindText, or of the items of a KindTexts. Nil allows any
	// value.
	Enum []string
}

// An ActionSpec lists the parameters of one action. [ActionSpec.Check] needs neither the issue nor
// the policy.
type ActionSpec struct {
	Name   string
	Params []Param
	// Main is the parameter that the short form in a rule file sets, as in "add_label: bug". It is
	// empty if the action has no short form with a value.
	Main string
}

// ActionSpecs returns every known action. Those of the published protocol come first.
func ActionSpecs() []ActionSpec {
	text := func(name string, enum ...string) Param {
		return Param{Name: name, Kind: KindText, Required: true, Enum: enum}
	}
	optional := func(p Param) Param { p.Required = false; return p }
	body := Param{Name: "body", Kind: KindMarkdown, Required: true}
	logins := Param{Name: "assignees", Kind: KindTexts, Required: true}
	return []ActionSpec{
		{ActionAddLabel, []Param{text("label")}, "label"},
		{ActionComment, []Param{body, optional(text("once"))}, "body"},
		{ActionCloseIssue, []Param{
			optional(text("reason", "completed", "not_planned")), {Name: "after", Kind: KindDuration},
			{Name: "veto", Kind: KindTexts, Enum: []string{VetoThumbsDown, VetoComment, VetoReopen}},
		}, "reason"},
		{ActionAddLabels, []Param{{Name: "labels", Kind: KindTexts, Required: true}}, "labels"},
		{ActionRemoveLabel, []Param{text("label")}, "label"},
		{ActionReopenIssue, nil, ""},
		{ActionAssign, []Param{logins}, "assignees"},
		{ActionUnassign, []Param{logins}, "assignees"},
		{ActionSetMilestone, []Param{text("milestone")}, "milestone"},
		{ActionRemoveMilestone, nil, ""},
		{ActionSetType, []Param{text("issue_type")}, "issue_type"},
		{ActionLock, []Param{optional(text("reason", "off-topic", "too heated", "resolved", "spam"))}, "reason"},
		{ActionUnlock, nil, ""},
		{ActionReact, []Param{text("content", "+1", "-1", "laugh", "confused", "heart", "hooray", "rocket", "eyes")}, "content"},
		{ActionUpdateComment, []Param{body, optional(text("key"))}, "body"},
		{ActionMarkDuplicate, []Param{{Name: "of", Kind: KindInt, Required: true}}, "of"},
		{ActionNeverAgain, []Param{text("label")}, "label"},
	}
}

// SpecOf returns the specification of the named action; ok is false for an unknown one.
func SpecOf(name string) (spec ActionSpec, ok bool) {
	specs := ActionSpecs()
	i := slices.IndexFunc(specs, func(s ActionSpec) bool { return s.Name == name })
	if i < 0 {
		return ActionSpec{}, false
	}
	return specs[i], true
}

// Check returns an error for a required parameter that is missing or empty, a value of a wrong
// type, or a value outside its enum. Unknown parameters are ignored.
func (s ActionSpec) Check(a ActionItem) error {
	var wrong []string
	for _, p := range s.Params {
		if err := p.check(a); err != nil {
			wrong = append(wrong, err.Error())
		}
	}
	if len(wrong) == 0 {
		return nil
	}
	return fmt.Errorf("%s: %s", s.Name, strings.Join(wrong, "; "))
}

// Empty returns the first required parameter that is missing or has no value. It is "" if all have
// one.
func (s ActionSpec) Empty(a ActionItem) string {
	for _, p := range s.Params {
		var none bool
		var err error
		switch p.Kind {
		case KindInt:
			var ok bool
			_, ok, err = a.Int(p.Name)
			none = !ok
		case KindTexts:
			var list []string
			list, _, err = a.Texts(p.Name)
			none = len(list) == 0
		default:
			var text string
			text, _, err = a.Text(p.Name)
			none = blank(text)
		}
		if p.Required && none && err == nil {
			return p.Name
		}
	}
	return ""
}

func (p Param) check(a ActionItem) error {
	var ok, empty bool
	var err error
	switch p.Kind {
	case KindTexts:
		var list []string
		list, ok, err = a.Texts(p.Name)
		empty = len(list) == 0 || slices.ContainsFunc(list, blank)
		if len(list) > MaxValues {
			err = fmt.Errorf("%s: want at most %d, got %d", p.Name, MaxValues, len(list))
		}
		for _, s := range list {
			if err == nil && !p.allows(s) {
				err = fmt.Errorf("%s: want %s, got %q", p.Name, quoteList(p.Enum), cut(s))
			}
		}
	case KindInt:
		var n int64
		n, ok, err = a.Int(p.Name)
		if ok && err == nil && (n < 1 || n >= 1<<53) {
			err = fmt.Errorf("%s: want a whole number of 1 or more, got %d", p.Name, n)
		}
	default:
		var s string
		s, ok, err = a.Text(p.Name)
		empty = blank(s)
		switch {
		case !ok || err != nil:
		case !p.allows(s):
			err = fmt.Errorf("%s: want %s, got %q", p.Name, quoteList(p.Enum), cut(s))
		case p.Kind == KindDuration:
			if d, bad := ParseDuration(s); bad != nil || d <= 0 || d > MaxDelay {
				err = fmt.Errorf("%s: want a time such as \"72h\" or \"3d\", of a year at most, got %q", p.Name, cut(s))
			}
		}
	}
	switch {
	case err != nil:
		return err
	case !ok && p.Required:
		return fmt.Errorf("%s: required, but missing", p.Name)
	case ok && empty:
		return fmt.Errorf("%s: must not be empty", p.Name)
	}
	return nil
}

func (p Param) allows(s string) bool { return p.Enum == nil || slices.Contains(p.Enum, s) }

func blank(s string) bool { return strings.TrimSpace(s) == "" }
