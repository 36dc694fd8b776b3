package workflow

import (
	"iter"
	"slices"
	"strconv"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/org/foreman-action/internal/text"
	"github.com/org/foreman-action/internal/yamlfile"
)

// MaxText is the maximal length in bytes of the texts that Expand returns and of the values that it
// inserts.
const MaxText = 60_000

// expression matches an expression in a text.
var expression = text.Regexp(`\$\{\{(.*?)\}\}`)

// Expand replaces the expressions in a text whose values are known: constants, environment variables
// that the workflow sets to constants, the inputs of a run by hand or by another workflow, which are
// empty in runs for one of the events, comparisons of the event's name in a scheduled run, and these
// joined with "&&" and "||". It keeps all others.
func (u Use) Expand(text string, events []string) string {
	size := len(text)
	return expression().ReplaceAllStringFunc(text, func(m string) string {
		v, ok := u.value(expression().FindStringSubmatch(m)[1], events)
		if size += len(v); !ok || size > MaxText {
			return m
		}
		return v
	})
}

var (
	variable = text.Regexp(`^env\.([A-Za-z_][A-Za-z0-9_-]*)$`)
	input    = text.Regexp(`^(?:github\.event\.)?inputs\.[A-Za-z_][A-Za-z0-9_-]*$`)
	compared = text.Regexp(`^github\.event_name\s*(==|!=)\s*'([^'&|]*)'$`)
	constant = text.Regexp(`^(?:'([^'|]*)'|(true|false|[0-9]+(?:\.[0-9]+)?))$`)
)

// value returns the value of an expression; ok is false if it is unknown.
func (u Use) value(expression string, events []string) (v string, ok bool) {
	for part := range strings.SplitSeq(expression, "||") {
		truth := false
		for operand := range operands(strings.TrimSpace(part)) {
			if v, truth, ok = u.operand(strings.TrimSpace(operand), events); !ok {
				return "", false
			}
			if !truth {
				break
			}
		}
		if truth {
			return v, true
		}
	}
	return v, true
}

// operands returns the parts of an expression that "&&" joins.
func operands(expression string) iter.Seq[string] {
	if constant().MatchString(expression) {
		return slices.Values([]string{expression})
	}
	return strings.SplitSeq(expression, "&&")
}

// operand returns the value of a part of an expression, and whether it counts as true.
func (u Use) operand(part string, events []string) (v string, truth, ok bool) {
	if m := constant().FindStringSubmatch(part); m != nil {
		v = m[1] + m[2]
		return v, v != "" && !slices.Contains([]string{"false", "0"}, m[2]), true
	}
	if m := variable().FindStringSubmatch(part); m != nil {
		v, ok = u.variable(m[1])
		return v, v != "", ok
	}
	if m := compared().FindStringSubmatch(part); m != nil && slices.Equal(events, []string{"schedule"}) && u.runsOn(events) {
		truth = strings.EqualFold(m[2], "schedule") == (m[1] == "==")
		return strconv.FormatBool(truth), truth, true
	}
	return "", false, input().MatchString(part) && u.runsOn(events)
}

// runsOn reports whether one of the events starts the workflow.
func (u Use) runsOn(events []string) bool {
	on := yamlfile.Child(u.Root, "on")
	is := func(n *yaml.Node) bool { return slices.Contains(events, strings.TrimSuffix(n.Value, "_target")) }
	switch {
	case on == nil:
		return false
	case on.Kind == yaml.SequenceNode:
		return slices.ContainsFunc(on.Content, is)
	}
	for key := range yamlfile.Pairs(on) {
		if is(key) {
			return true
		}
	}
	return is(on)
}

// variable returns the value of an environment variable that the workflow sets to a constant.
func (u Use) variable(name string) (v string, ok bool) {
	for _, env := range []*yaml.Node{yamlfile.Child(u.Step, "env"), yamlfile.Child(u.Job, "env"), yamlfile.Child(u.Root, "env")} {
		if n := yamlfile.Child(env, name); n != nil {
			return n.Value, n.Kind == yaml.ScalarNode && !strings.Contains(n.Value, "${{") && len(n.Value) <= MaxText
		}
	}
	return "", false
}
