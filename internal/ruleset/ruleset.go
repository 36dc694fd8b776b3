// Package ruleset contains what this module's own programs read from compiled rules, and what no
// other program needs. A *rules.Set converts to a [Set], and a *rules.Condition to a [Condition]:
//
//	(*ruleset.Set)(set).Rules().UsesMemory()
package ruleset

import (
	"github.com/org/foreman-action/rules/problem"
	"github.com/org/foreman-action/triage"
)

// A Set is the underlying type of rules.Set. It is immutable. A nil set has no rules, and the zero
// value neither.
type Set struct{ rules Rules }

// New returns a set. Only package rules calls it.
func New(r Rules) *Set { return &Set{r} }

// Rules returns the rules of the set. It is never nil.
func (s *Set) Rules() Rules {
	if s == nil || s.rules == nil {
		return none{}
	}
	return s.rules
}

// Rules are compiled rules. A method with the id of a rule returns the zero value when there is no
// such rule.
type Rules interface {
	// Without returns the set without the rule of that id.
	Without(id string) *Set

	// Names reports whether any rule listens to the event with that name and action other than
	// through "*", as in issues.*. A rule without "on" names its default events, and
	// "repository_dispatch" names all of its types. Only an event that is named so may be answered
	// with a comment.
	Names(name, activity string) bool
	// Scans returns the queries with which scheduled runs find issues, each once, in the order of
	// the rules.
	Scans() []string
	// Exempt returns labels that keep an issue from a scan: with one of them, the rules of the scan
	// do nothing. There are none if one of these rules reverts its actions (else_undo), or has stop,
	// because then it matters if its condition fails. Labels that any rule may remove are left out.
	Exempt(query string) []string
	// Knows reports whether the condition of a rule that listens to comments tests for this command.
	// If so, it is a command of this repository.
	Knows(command string) bool
	// Commands returns the commands for which the conditions of rules that listen to comments test, in
	// the order of the rules. Names that are only known at run time are left out.
	Commands() []string

	// NeverAgain reports whether any rule has the action never_again, which forbids a label for good.
	NeverAgain() bool
	// ClosesLater reports whether any rule closes issues after a grace period.
	ClosesLater() bool
	// Intents returns the actions of the rules with what the rules state about proposing them, each
	// combination once, in the order of the rules. Actions that are never proposed are left out, such as
	// escalate.
	Intents() []ActionIntent
	// UsesLabels reports whether the condition of any rule reads the issue's labels.
	UsesLabels() bool
	// UsesMemory reports whether any rule depends on the memory of the issue: its condition or an
	// action reads the memory, or a comment has the parameter "once".
	UsesMemory() bool
	// UndoesByMemory reports whether a rule with "else_undo: true" needs the memory to find its
	// earlier changes. A rule for pull requests alone does not, because it finds them in the
	// timeline.
	UndoesByMemory() bool

	// OverridesHumans reports whether the rule has "override_humans: true": its actions may undo
	// what people did on the issue.
	OverridesHumans(id string) bool
	// Together reports whether the rule has "together: true": all of its actions are carried out, or
	// none.
	Together(id string) bool
	// Digests returns the digests of the actions of all rules, as rules.Result has them.
	Digests() []string
	// UndoDigest returns the digest of the reversals of a rule (else_undo), as rules.Result has it for its
	// actions.
	UndoDigest(id string) string
	// Adders returns the ids of the rules that add a label, in order. It misses labels that an
	// expression computes.
	Adders(label string) []string
	// MayHaveEffect reports whether the issue may show a revertible effect of the rule, such as a
	// label that the rule adds. When an expression computes the label, any label counts. It makes no
	// look-ups, so true may be wrong; false is certain.
	MayHaveEffect(id string, on triage.Issue) bool
	// LabelsOff returns the labels to remove from the issue because the condition of the rule is
	// false. Only a rule with else_undo and override_humans has any: the labels on the issue that
	// the rule adds by name, even if somebody else added them.
	LabelsOff(id string, on triage.Issue) []string

	// Labels returns the places where the text of the rules names labels, in the order of the rules.
	Labels() []LabelUse
	// Forms returns the names that rule files declare under forms, in the order of the files.
	Forms() []FormUse
	// FormTables returns the tables in which rules look up the value of a form field, each pair of
	// table and field once, in the order of the rules.
	FormTables() []TableUse
	// FormValues returns the texts with which rules compare form fields, in the order of the rules.
	FormValues() []FormValue
	// Suspicious returns warnings of parts of the rules that are valid, and probably do not do what
	// their author means. folder reports whether the repository has a folder of that name.
	Suspicious(folder func(path string) bool) problem.List
}

// none are the rules of an empty set.
type none struct{}

func (none) Without(string) *Set                     { return nil }
func (none) Names(string, string) bool               { return false }
func (none) Scans() []string                         { return nil }
func (none) Exempt(string) []string                  { return nil }
func (none) Knows(string) bool                       { return false }
func (none) Commands() []string                      { return nil }
func (none) NeverAgain() bool                        { return false }
func (none) ClosesLater() bool                       { return false }
func (none) Intents() []ActionIntent                 { return nil }
func (none) UsesLabels() bool                        { return false }
func (none) UsesMemory() bool                        { return false }
func (none) UndoesByMemory() bool                    { return false }
func (none) OverridesHumans(string) bool             { return false }
func (none) Together(string) bool                    { return false }
func (none) Digests() []string                       { return nil }
func (none) UndoDigest(string) string                { return "" }
func (none) Adders(string) []string                  { return nil }
func (none) MayHaveEffect(string, triage.Issue) bool { return false }
func (none) LabelsOff(string, triage.Issue) []string { return nil }
func (none) Labels() []LabelUse                      { return nil }
func (none) Forms() []FormUse                        { return nil }
func (none) FormTables() []TableUse                  { return nil }
func (none) FormValues() []FormValue                 { return nil }

func (none) Suspicious(func(string) bool) problem.List { return nil }

// A Condition is the underlying type of rules.Condition. It is immutable.
type Condition struct{ text Text }

// NewCondition returns a condition. Only package rules calls it.
func NewCondition(t Text) *Condition { return &Condition{t} }

// Text returns the compiled text of the condition, which is not nil.
func (c *Condition) Text() Text { return c.text }

// Labels returns the places where the condition names labels. A nil condition has none.
func (c *Condition) Labels() []LabelUse {
	if c == nil {
		return nil
	}
	return c.text.Labels()
}

// UsesLabels reports whether the condition reads the issue's labels. It is false for nil.
func (c *Condition) UsesLabels() bool { return c != nil && c.text.UsesLabels() }

// A Text is the compiled text of a condition.
type Text interface {
	Labels() []LabelUse
	UsesLabels() bool
}
