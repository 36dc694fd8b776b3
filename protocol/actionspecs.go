package protocol

import (
	"cmp"
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
	ActionHideComment     = "hide_comment"
	ActionRequestReview   = "request_review"
)

// The vetoes by which people keep an issue open during the grace period ("after") of "close_issue".
const (
	VetoThumbsDown = "thumbs_down" // a person reacts with a thumbs down to the issue or to our comment
	VetoComment    = "comment"     // a person comments
	VetoReopen     = "reopen"      // a person reopens the issue
)

// maxValues is the maximum number of values in a list parameter.
const maxValues = 100

// A ParamKind is the type of an action's parameter.
type ParamKind int

// The kinds of parameters.
const (
	KindText     ParamKind = iota // a JSON string that is a name or a keyword
	KindMarkdown                  // a JSON string that GitHub renders
	KindTexts                     // a list of strings; a single string is a list of one
	KindInt                       // a whole number from 1 to 2^53-1
	KindDuration                  // a string for ParseDuration, of more than 0 and at most 366 days
)

// maxDelay is the longest duration in a parameter.
const maxDelay = 366 * 24 * time.Hour

// A Param is one parameter of an action.
type Param struct {
	Name     string
	Kind     ParamKind
	Required bool
	// Enum lists the allowed values of a KindText, or of the items of a KindTexts. Nil allows any
	// value.
	Enum []string
	// Unrecorded means that records of the action do not contain the value.
	Unrecorded bool
	// Mentionable means that the values are names of accounts, which people may write with an @.
	Mentionable bool
	// Plain means that each value has only letters, digits, '-', '_', '.', '[' and ']', as logins and
	// the slugs of teams have. [ActionSpec.Check] does not check it, because the text of an issue must
	// not make a rule fail.
	Plain bool
}

// A Thing is a kind of thing that actions change, and whose change can be reverted.
type Thing string

// The kinds of things.
const (
	ThingLabel     Thing = "label"
	ThingAssignee  Thing = "assignee"
	ThingState     Thing = "state"   // whether the issue is open
	ThingForbidden Thing = "never"   // a label that must never be added again
	ThingScheduled Thing = "closing" // a close that is due later
)

// An ActionSpec describes one action, independent of the issue and the policy: its parameters,
// and the data by which rules, policy, memory and documentation treat it. Its lists must not be
// changed.
type ActionSpec struct {
	Name   string
	Params []Param
	// Main is the parameter that the short form in a rule file sets, as in "add_label: bug". It is
	// empty if the action has no short form with a value.
	Main string
	// NeedsOne means that at least one of the parameters must have a value.
	NeedsOne bool
	// Aliases are names that authors of rules may write by mistake instead of Name.
	Aliases []string
	// Doc is a clause for the documentation, without a subject: "adds a label".
	Doc string

	// Limit is the maximum number per event if the policy sets none. Each of the names that the
	// action writes counts as one.
	Limit int
	// CountsAs is the action whose limit and name also apply to this one; empty: its own.
	CountsAs string
	// RecordOnly means that the action changes only the memory's record of the issue.
	RecordOnly bool

	// PullsOnly means that only pull requests can have the action.
	PullsOnly bool
	// Recalls means that only the memory shows whether the action was done before.
	Recalls bool

	// Past is the verb of the action in a summary, without the names that it wrote; empty: the
	// summary has the action's name instead. With is the text before those names; empty: the summary
	// does not have them.
	Past, With string

	// Events are the kinds of events by which GitHub's timeline lists the action.
	Events []string
	// Overridable means that people can decide against the action, as the timeline shows.
	Overridable bool
	// Thing is the kind of thing that the action makes exist, or not exist if Gone is set; empty: the
	// action cannot be reverted, and reverts nothing.
	Thing Thing
	Gone  bool
}

// AddsLabels reports whether the action adds labels.
func (s ActionSpec) AddsLabels() bool { return s.Thing == ThingLabel && !s.Gone }

// RemovesLabels reports whether the action removes labels.
func (s ActionSpec) RemovesLabels() bool { return s.Thing == ThingLabel && s.Gone }

// Closes reports whether the action closes the issue.
func (s ActionSpec) Closes() bool { return s.Thing == ThingState && s.Gone }

// Posts reports whether the action posts a comment, or replaces its text.
func (s ActionSpec) Posts() bool {
	return slices.ContainsFunc(s.Params, func(p Param) bool { return p.Kind == KindMarkdown })
}

// LimitName returns the name of the action whose limit applies.
func (s ActionSpec) LimitName() string { return cmp.Or(s.CountsAs, s.Name) }

// actionSpecs has a row for every known action. Those of the published protocol come first.
var actionSpecs = [...]ActionSpec{
	{
		Name: ActionAddLabel, Params: []Param{{Name: "label", Required: true}}, Main: "label", Aliases: []string{"label"},
		Doc: "adds a label", Limit: 5, Past: "labelled", With: "labelled",
		Events: []string{"labeled"}, Overridable: true, Thing: ThingLabel,
	},
	{
		Name: ActionComment, Params: []Param{{Name: "body", Kind: KindMarkdown, Required: true}, {Name: "once"}}, Main: "body",
		Aliases: []string{"reply"},
		Doc:     "posts a comment; with `once`, one for each key on an issue", Limit: 1, Past: "commented",
	},
	{
		Name: ActionCloseIssue,
		Params: []Param{
			{Name: "reason", Enum: []string{"completed", "not_planned"}},
			{Name: "after", Kind: KindDuration, Unrecorded: true},
			{Name: "veto", Kind: KindTexts, Enum: []string{VetoThumbsDown, VetoComment, VetoReopen}, Unrecorded: true},
		},
		Main: "reason", Aliases: []string{"close"},
		Doc: "closes the issue; with `after`, later, unless somebody objects in a way that `veto` allows; " +
			"an issue that is closed for another reason gets this one",
		Limit: 1, Past: "closed", With: "closed as",
		Events: []string{"closed"}, Overridable: true, Thing: ThingState, Gone: true,
	},
	{
		Name: ActionAddLabels, Params: []Param{{Name: "labels", Kind: KindTexts, Required: true}}, Main: "labels", Aliases: []string{"labels"},
		Doc: "adds several", CountsAs: ActionAddLabel, Past: "labelled", With: "labelled",
		Overridable: true, Thing: ThingLabel,
	},
	{
		Name: ActionRemoveLabel, Params: []Param{{Name: "label", Required: true}}, Main: "label", Aliases: []string{"unlabel"},
		Doc: "removes a label", Limit: 5, Past: "took off a label", With: "took off the label",
		Events: []string{"unlabeled"}, Overridable: true, Thing: ThingLabel, Gone: true,
	},
	{
		Name: ActionReopenIssue, Aliases: []string{"reopen"},
		Doc: "reopens it", Limit: 1, Past: "reopened",
		Events: []string{"reopened"}, Overridable: true, Thing: ThingState,
	},
	{
		Name: ActionAssign, Params: []Param{{Name: "assignees", Kind: KindTexts, Required: true, Mentionable: true}}, Main: "assignees",
		Doc: "assigns people, by login", Limit: 10 /* as many as GitHub permits */, Past: "assigned", With: "assigned",
		Events: []string{"assigned"}, Overridable: true, Thing: ThingAssignee,
	},
	{
		Name: ActionUnassign, Params: []Param{{Name: "assignees", Kind: KindTexts, Required: true, Mentionable: true}}, Main: "assignees",
		Doc: "removes assignees", Limit: 10, Past: "unassigned", With: "unassigned",
		Events: []string{"unassigned"}, Overridable: true, Thing: ThingAssignee, Gone: true,
	},
	{
		Name: ActionSetMilestone, Params: []Param{{Name: "milestone", Required: true}}, Main: "milestone", Aliases: []string{"milestone"},
		Doc: "sets the milestone, by its title", Limit: 1, Past: "set the milestone", With: "set the milestone",
		Events: []string{"milestoned"}, Overridable: true,
	},
	{
		Name: ActionRemoveMilestone, Aliases: []string{"unset_milestone", "clear_milestone"},
		Doc: "removes the issue from its milestone", Limit: 1, Past: "removed the milestone", With: "removed the milestone",
		Events: []string{"demilestoned"}, Overridable: true,
	},
	{
		Name: ActionSetType, Params: []Param{{Name: "issue_type", Required: true}}, Main: "issue_type", Aliases: []string{"type"},
		Doc: "sets the issue type", Limit: 1, Past: "set the type", With: "set the type",
		Events: []string{"issue_type_added", "issue_type_changed"}, Overridable: true,
	},
	{
		Name: ActionLock, Params: []Param{{Name: "reason", Enum: []string{"off-topic", "too heated", "resolved", "spam"}}}, Main: "reason",
		Doc: "locks the conversation", Limit: 1, Past: "locked", With: "locked as",
		Events: []string{"locked"}, Overridable: true,
	},
	{
		Name: ActionUnlock,
		Doc:  "unlocks it", Limit: 1, Past: "unlocked",
		Events: []string{"unlocked"}, Overridable: true,
	},
	{
		Name: ActionReact, Main: "content",
		Params: []Param{{Name: "content", Required: true, Enum: []string{"+1", "-1", "laugh", "confused", "heart", "hooray", "rocket", "eyes"}}},
		Doc:    "adds a reaction to the issue", Limit: 1, Past: "reacted", With: "reacted",
	},
	{
		Name: ActionUpdateComment, Params: []Param{{Name: "body", Kind: KindMarkdown, Required: true}, {Name: "key", Unrecorded: true}}, Main: "body",
		Doc: "keeps one comment for each key up to date", Limit: 1, Past: "commented",
	},
	{
		Name: ActionMarkDuplicate, Params: []Param{{Name: "of", Kind: KindInt, Required: true}}, Main: "of", Aliases: []string{"duplicate"},
		Doc: "closes it as a duplicate of another", Limit: 1, Past: "closed as a duplicate", With: "closed as a duplicate of issue",
		Overridable: true, Thing: ThingState, Gone: true,
	},
	{
		Name: ActionNeverAgain, Params: []Param{{Name: "label", Required: true}}, Main: "label",
		Doc: "records that the label must not be added to this issue again", Limit: 5, RecordOnly: true, Thing: ThingForbidden,
	},
	{
		Name: ActionHideComment, Params: []Param{{Name: "key", Unrecorded: true}}, Main: "key",
		Doc: "hides Foreman's newest visible comment as outdated; with `key`, that of `update_comment` with this key",
		// No word about comments, because agents take it for an answer.
		Limit: 1, Past: "hid an earlier post", Recalls: true,
	},
	{
		Name: ActionRequestReview, Params: []Param{
			{Name: "users", Kind: KindTexts, Mentionable: true, Plain: true}, {Name: "teams", Kind: KindTexts, Plain: true},
		},
		Main: "users", NeedsOne: true, Aliases: []string{"review", "reviewers"},
		Doc:   "requests reviews of a pull request from people, by login, and teams, by the slug in their address",
		Limit: 5, Past: "requested a review", With: "requested a review by",
		Events: []string{"review_requested"}, Overridable: true, PullsOnly: true,
	},
}

// ActionSpecs returns every known action. Those of the published protocol come first.
func ActionSpecs() []ActionSpec { return slices.Clone(actionSpecs[:]) }

// SpecOf returns the specification of the named action; ok is false for an unknown one.
func SpecOf(name string) (spec ActionSpec, ok bool) {
	for i := range actionSpecs {
		if actionSpecs[i].Name == name {
			return actionSpecs[i], true
		}
	}
	return ActionSpec{}, false
}

// Check returns an error for a required parameter that is missing or empty, a value of a wrong
// type, or a value outside its enum. Unknown parameters are ignored. [ActionItem.Intent] checks the
// parameters that every action may have.
func (s ActionSpec) Check(a ActionItem) error {
	var wrong []string
	for _, p := range s.Params {
		if err := p.check(a); err != nil {
			wrong = append(wrong, err.Error())
		}
	}
	if len(wrong) == 0 && s.NeedsOne && !slices.ContainsFunc(s.Params, func(p Param) bool { return given(a, p) }) {
		wrong = append(wrong, "want "+s.Choice())
	}
	if len(wrong) == 0 {
		return nil
	}
	return fmt.Errorf("%s: %s", s.Name, strings.Join(wrong, "; "))
}

// Choice returns the names of the parameters as text: "users or teams".
func (s ActionSpec) Choice() string {
	names := make([]string, len(s.Params))
	for i, p := range s.Params {
		names[i] = p.Name
	}
	return strings.Join(names, " or ")
}

// given reports whether an action has a value for a parameter.
func given(a ActionItem, p Param) bool {
	raw, ok := a.Param(p.Name)
	return ok && string(raw) != "null"
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
		if len(list) > maxValues {
			err = fmt.Errorf("%s: want at most %d, got %d", p.Name, maxValues, len(list))
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
			if d, bad := ParseDuration(s); bad != nil || d <= 0 || d > maxDelay {
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

// maxPlain is the maximum number of bytes of a plain name.
const maxPlain = 100

// PlainName reports whether a name can be a value of a parameter that is [Param.Plain].
func PlainName(s string) bool {
	return len(s) <= maxPlain && strings.Trim(s, ".") != "" && strings.IndexFunc(s, func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && !strings.ContainsRune("-_.[]", r)
	}) < 0
}

func blank(s string) bool { return strings.TrimSpace(s) == "" }
