package lint

import (
	"slices"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/org/foreman-action/internal/ruleset"
	"github.com/org/foreman-action/internal/yamlfile"
	"github.com/org/foreman-action/policy"
	"github.com/org/foreman-action/protocol"
	"github.com/org/foreman-action/triage"
)

// refused warns of labels that the policy never permits, and of entries of its lists that contradict
// each other.
func (c *checker) refused() {
	for _, u := range c.uses {
		if u.Glob || u.Verb == ruleset.LabelAsked {
			continue
		}
		if why := c.config.Policy.Labels.Refuses(u.Label); why != "" {
			c.warn(u.Place, "the label %q is never %s: %s", cut(u.Label), map[ruleset.LabelVerb]string{ruleset.LabelAdded: "added", ruleset.LabelRemoved: "removed"}[u.Verb], why)
		}
	}
	for _, g := range c.globs {
		if g.list != "allow" || strings.Contains(g.glob, "*") && !slices.Contains(c.config.Policy.Labels.Deny, g.glob) {
			continue
		}
		if why := (policy.Labels{Deny: c.config.Policy.Labels.Deny}).Refuses(g.glob); why != "" {
			c.warn(g.place, "policy.labels.allow has no effect for %q: %s, and what is denied is not allowed", cut(g.glob), why)
		}
	}
}

// names warns of names of labels that no label has: with a pattern, or with a space around them.
func (c *checker) names() {
	for _, u := range c.uses {
		bare := strings.TrimSpace(u.Label)
		switch {
		case slices.ContainsFunc(c.repo.Labels, func(l string) bool { return l == u.Label }):
		case bare != u.Label && bare != "" && !u.Glob:
			c.warn(u.Place, "no label begins or ends with a space; write %q", cut(bare))
		case u.Glob || u.Pattern || u.Label == "*" || !strings.Contains(u.Label, "*"):
		case u.Verb == ruleset.LabelAsked:
			c.warn(u.Place, "%q is compared as it stands, with the *; for a pattern write any_label(%q)", cut(u.Label), cut(u.Label))
		default:
			c.warn(u.Place, "%q is the name of one label, with the *; an action takes no pattern, so name each label", cut(u.Label))
		}
	}
}

// policy warns of actions of the rule that the policy never permits.
func (r ruleRuns) policy() {
	limits, counts := r.config.Policy.EffectiveLimits(), map[string]int{}
	for name, params := range r.actions() {
		spec, known := protocol.SpecOf(name.Value)
		if !known {
			continue
		}
		if why := r.config.Policy.Forbids(name.Value, triage.Source{Rule: r.info.ID}); why != "" {
			r.warnAt(name, "%s is never carried out: %s", name.Value, why)
			continue
		}
		limit := limits[spec.LimitName()]
		before := counts[spec.LimitName()]
		counts[spec.LimitName()] += amount(spec, params)
		switch now := counts[spec.LimitName()]; {
		case limit == 0:
			r.warnAt(name, "%s is never carried out: policy.limits has %s: 0", name.Value, spec.LimitName())
		case before <= limit && now > limit:
			r.warnAt(name, "this rule has %d of %s, and policy.limits permits %d for each event; the others are not carried out", r.total(spec.LimitName()), spec.LimitName(), limit)
		}
	}
}

// total returns how many actions with that limit the rule has.
func (r ruleRuns) total(limit string) int {
	n := 0
	for name, params := range r.actions() {
		if spec, _ := protocol.SpecOf(name.Value); spec.LimitName() == limit {
			n += amount(spec, params)
		}
	}
	return n
}

// amount returns how many times an action counts for its limit: once for each name in a list.
func amount(spec protocol.ActionSpec, params *yaml.Node) int {
	if params != nil && params.Kind == yaml.MappingNode {
		params = yamlfile.Child(params, spec.Main)
	}
	if params != nil && params.Kind == yaml.SequenceNode && spec.Thing != "" {
		return len(params.Content)
	}
	return 1
}
