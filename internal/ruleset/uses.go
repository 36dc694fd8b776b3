package ruleset

import (
	"github.com/org/foreman-action/internal/text"
	"github.com/org/foreman-action/protocol"
	"github.com/org/foreman-action/rules/problem"
)

// An ActionIntent is the type of an action with what a rule states about proposing it.
type ActionIntent struct {
	Action     string
	Confidence protocol.Confidence // empty: not stated
	Suggest    bool                // it must be proposed to a person first
}

// A LabelVerb is the use of a label in a rule.
type LabelVerb int

// The uses of a label in a rule.
const (
	LabelAsked LabelVerb = iota // a condition, a search or an action names it
	LabelAdded
	LabelRemoved
)

// A LabelUse is a place of a rule file that names labels.
type LabelUse struct {
	// Label is the name of a label. If Glob is true it is a pattern, in which "*" stands for any
	// characters and also replaces the parts of a name that are only known at run time.
	Label string
	Glob  bool
	// Pattern is true for an argument of any_label. Its Glob is false if it contains no "*".
	Pattern bool
	Verb    LabelVerb
	Place   problem.Problem // without a message
}

// Matches reports whether the use is about the label. It ignores case.
func (u LabelUse) Matches(label string) bool {
	if u.Glob {
		return text.MatchLabel(u.Label, label)
	}
	return text.SameLabel(u.Label, label)
}

// A FormUse is a name that rule files declare for a field of an issue form.
type FormUse struct {
	Name    string
	Heading string          // as written in the file
	Type    string          // text, semver, number, list or checkboxes
	Place   problem.Problem // of the heading, without a message
	TypeAt  problem.Problem // of the type, or of the heading when the file has no type
}

// Heads reports whether label is the label of this field in an issue form. It ignores case and the
// number of spaces.
func (u FormUse) Heads(label string) bool {
	return text.HeadingKey(u.Heading) == text.HeadingKey(label)
}

// A FormValue is a text that is compared with the value of a form field.
type FormValue struct {
	Form  string // the declared name of the field
	Value string
	Place problem.Problem // of the text, without a message
}

// A TableUse is a table in which rules look up the value of a form field.
type TableUse struct {
	Table, Form string // their names
	Keys        []TableKey
}

// A TableKey is the key of a row.
type TableKey struct {
	Key   string
	Place problem.Problem // without a message
}
