package expression

import (
	"fmt"
	"slices"
	"strings"

	"github.com/org/foreman-action/internal/text"
	"github.com/org/foreman-action/rules/facts"
)

// An UndecidedError is the error of a condition, a text or a rule that depends on missing values.
type UndecidedError struct {
	Why     string
	Missing []string // names as in [facts.UnsuppliedError]; never empty
}

// Error returns the reason.
func (e *UndecidedError) Error() string { return e.Why }

// Unwrap returns the missing values.
func (e *UndecidedError) Unwrap() error { return &facts.UnsuppliedError{Names: e.Missing} }

// A Doubt lists the labels that undecided rules may add or remove. Expressions that read such a label are
// undecided, too. A nil Doubt and the zero Doubt have no labels.
type Doubt struct{ labels []doubtful }

// A doubtful label may change if the rule fires.
type doubtful struct {
	name    string // empty: any label
	rule    string
	missing []string // the values that the rule lacks
}

// Add adds a label that a rule may change; empty: any label. missing lists the values that the rule
// lacks.
func (d *Doubt) Add(label, rule string, missing []string) {
	d.labels = append(d.labels, doubtful{label, rule, missing})
}

// Clone returns a copy.
func (d *Doubt) Clone() Doubt { return Doubt{slices.Clone(d.labels)} }

// Has reports whether a label may change.
func (d *Doubt) Has(label string) bool {
	return slices.ContainsFunc(d.labels, func(l doubtful) bool { return l.name == "" || text.SameLabel(l.name, label) })
}

// Settle removes a label, because a rule that fires sets it, whatever the undecided rules do. It reports
// whether the label was listed.
func (d *Doubt) Settle(label string) bool {
	before := len(d.labels)
	d.labels = slices.DeleteFunc(d.labels, func(l doubtful) bool { return l.name != "" && text.SameLabel(l.name, label) })
	return len(d.labels) < before
}

// Of returns an [*UndecidedError] if one of the expressions reads a label that may change; nil if none
// does.
func (d *Doubt) Of(list []*Expression) error {
	for _, x := range list {
		if reads := &x.code.labels; d.affects(reads) {
			return d.undecided(reads)
		}
	}
	return nil
}

// affects reports whether an expression that reads labels depends on one that may change.
func (d *Doubt) affects(reads *labelReads) bool {
	return d != nil && slices.ContainsFunc(d.labels, func(l doubtful) bool { return l.affects(reads) })
}

func (l doubtful) affects(reads *labelReads) bool {
	return reads.any && (l.name == "" || reads.affectedBy([]string{strings.ToLower(l.name)}))
}

// undecided returns the error of an expression that [Doubt.affects].
func (d *Doubt) undecided(reads *labelReads) *UndecidedError {
	out := &UndecidedError{}
	var rules []string
	for _, l := range d.labels {
		if !l.affects(reads) {
			continue
		}
		if !slices.Contains(rules, l.rule) {
			rules = append(rules, l.rule)
		}
		for _, name := range l.missing {
			if !slices.Contains(out.Missing, name) {
				out.Missing = append(out.Missing, name)
			}
		}
	}
	out.Why = fmt.Sprintf("it reads labels that %s may change, which is undecided", strings.Join(rules, ", "))
	if len(rules) > 1 {
		out.Why = fmt.Sprintf("it reads labels that %s may change, which are undecided", strings.Join(rules, ", "))
	}
	return out
}
