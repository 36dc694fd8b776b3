package rules

import (
	"github.com/org/foreman-action/internal/sanitize"
	"github.com/org/foreman-action/rules/internal/action"
	"github.com/org/foreman-action/rules/internal/cost"
	"github.com/org/foreman-action/rules/internal/expression"
	"github.com/org/foreman-action/rules/internal/forms"
	"github.com/org/foreman-action/rules/internal/slash"
	"github.com/org/foreman-action/rules/internal/symbols"
	"github.com/org/foreman-action/rules/internal/template"
)

// A Limit is a bound of the rule language.
type Limit struct {
	What string // the limited thing; empty: the same as in the previous limit
	Most int
	Of   string // the counted thing
}

// Limits returns the limits of rule files, their expressions and their actions.
func Limits() []Limit {
	return []Limit{
		{"an expression", expression.MaxLength, "bytes"},
		{"", expression.MaxTerms, "names, values and operators"},
		{"", expression.MaxBrackets, "brackets that are open at the same time"},
		{"", expression.MaxLoops, "loops inside each other (any, map and the like)"},
		{"a range such as 1..10", expression.MaxRange, "numbers, written as they stand"},
		{"the evaluation of an expression", cost.MaxSteps, "steps; a step is a turn of a loop, a label that is compared, and the like"},
		{"", cost.MaxText >> 20, "MiB of new text"},
		{"", cost.MaxItems, "items of new lists"},
		{"the patterns of an expression", cost.MaxStates, "states for each character of the largest issue; a pattern that is too expensive is a mistake, with what to do about it"},
		{"a text of an action", template.MaxParts, "`{{ }}`"},
		{"", action.MaxMarkdown, "characters of a comment"},
		{"", action.MaxName, "characters of any other parameter"},
		{"", sanitize.MaxRationale, "characters of a rationale"},
		{"a value from `{{ }}`", action.MaxForeign, "characters in a comment"},
		{"a rule", action.MaxActions, "actions"},
		{"a list of an action", action.MaxList, "items"},
		{"`scan`", maxScans, "searches"},
		{"", maxScan, "characters of each"},
		{"all files together", maxRules, "rules"},
		{"", symbols.MaxForms, "names under forms"},
		{"", symbols.MaxTables, "tables"},
		{"", symbols.MaxRows, "rows of tables"},
		{"a key or a text of a table", symbols.MaxCell, "characters"},
		{"a list in a table", symbols.MaxItems, "texts"},
		{"a field of the types list and checkboxes", forms.MaxItems, "items; later ones are left out"},
		{"a comment", slash.MaxCommands, "commands; later ones are left out"},
	}
}
