package config

import (
	"fmt"
	"slices"
	"strings"

	"github.com/org/foreman-action/internal/ruleset"
	"github.com/org/foreman-action/internal/text"
	"github.com/org/foreman-action/rules"
)

// UnusualPatterns warns of patterns of labels with a character that is special in other languages
// for patterns, but not in ours. labels are the labels of the repository; nil: they are not known.
// A pattern that matches one of them is right as it is.
func (c *Config) UnusualPatterns(labels []string) rules.Problems {
	var found rules.Problems
	warn := func(at rules.Problem, where, pattern, more string) {
		i := strings.IndexAny(pattern, text.Wildcards)
		if i < 0 || slices.ContainsFunc(labels, func(l string) bool { return text.MatchLabel(pattern, l) }) {
			return
		}
		at.Warning = true
		at.Message = fmt.Sprintf(`%s: only "*" is special in patterns of labels, so %q matches only names that contain "%c"%s`, where, text.Quote(pattern), pattern[i], more)
		found = append(found, at)
	}
	for _, p := range c.Patterns {
		more := ""
		if p.List == "deny" {
			more = "; until version 2 it also denies the names that it matches as a glob"
		}
		warn(p.Place, "policy.labels."+p.List, p.Text, more)
	}
	for _, u := range append((*ruleset.Set)(c.Rules).Rules().Labels(), (*ruleset.Condition)(c.Agent.When).Labels()...) {
		if u.Verb == ruleset.LabelAsked && u.Pattern {
			warn(u.Place, "any_label", u.Label, "")
		}
	}
	return found
}
