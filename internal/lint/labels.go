package lint

import (
	"slices"
	"strings"

	"github.com/org/foreman-action/internal/ruleset"
	"github.com/org/foreman-action/internal/yamlfile"
	"github.com/org/foreman-action/policy"
	"github.com/org/foreman-action/protocol"
)

// patterns warns of patterns of labels that look like those of another language.
func (c *checker) patterns() {
	c.unusual = map[yamlfile.Problem]bool{}
	for _, p := range c.config.UnusualPatterns(c.repo.Labels) {
		at := p
		at.Message, at.Warning = "", false
		c.unusual[at] = true
		c.warn(at, "%s", p.Message)
	}
}

// labels warns of labels that the repository does not have, unless they are created on demand.
func (c *checker) labels() {
	if c.repo.Labels == nil || c.config.Policy.CreateLabels {
		return
	}
	groups, who := prefixes(c.repo.Labels), "the repository"
	if c.repo.LabelFile != "" {
		who = c.repo.LabelFile
	}
	for _, u := range c.uses {
		if len(c.found) >= maxFound {
			return
		}
		switch {
		case slices.ContainsFunc(c.repo.Labels, u.Matches) || u.Label == "*" || c.unusual[u.Place]:
		case u.Glob:
			c.warn(u.Place, "no label of %s matches %q%s", who, cut(u.Label), nearest(u.Label, groups))
		default:
			hint := nearest(u.Label, c.repo.Labels)
			if hint == "" && u.Verb == ruleset.LabelAdded {
				hint = "; it is not added until somebody creates it"
			}
			c.warn(u.Place, "%s has no label %q%s", who, cut(u.Label), hint)
		}
	}
	for _, g := range c.globs {
		if slices.ContainsFunc(c.repo.Labels, g.matches) || c.unusual[g.place] {
			continue
		}
		known := c.repo.Labels
		if strings.Contains(g.glob, "*") {
			known = groups
		}
		c.warn(g.place, "policy.labels.%s: no label of %s matches %q%s", g.list, who, cut(g.glob), nearest(g.glob, known))
	}
}

// matches reports whether the entry allows or denies a label.
func (g policyGlob) matches(label string) bool {
	if g.list == "deny" {
		return !policy.Labels{Deny: []string{g.glob}}.Allows(label)
	}
	return policy.Labels{Allow: []string{g.glob}}.Allows(label)
}

// Advice in warnings about labels that start a workflow.
const (
	writes = "writes with GITHUB_TOKEN start no workflow, but writes with the token of an App or of a person do; "
	advice = writes + "list the label in policy.labels.deny if it should not start the workflow"
	narrow = writes + "if that is not intended, let the workflow test for its label"
)

// workflows warns of labels that start a workflow of the repository.
func (c *checker) workflows() {
	for _, w := range c.repo.Workflows {
		named := c.named(w)
		for _, u := range c.uses {
			if u.Verb != ruleset.LabelAdded {
				continue
			}
			if i := slices.IndexFunc(named, u.Matches); i >= 0 {
				c.warn(u.Place, "the label %q%s starts the workflow %s: %s", cut(named[i]), couldBe(u), w.File, advice)
			}
		}
		if c.agent != nil && c.mayLabel() {
			c.agentStarts(w, named)
		}
	}
}

// couldBe returns an insertion for the message about a label that is only a glob.
func couldBe(u ruleset.LabelUse) string {
	if u.Glob {
		return ", which this may add,"
	}
	return ""
}

const maxWork = 5_000_000 // nodes of conditions that are evaluated

// named returns the labels that may be added and that a condition of the workflow tests for.
func (c *checker) named(w Workflow) []string {
	names := append(w.Candidates(), c.repo.Labels...)
	for _, u := range c.uses {
		if !u.Glob {
			names = append(names, u.Label)
		}
	}
	var list []string
	cost := w.cost()
	asked := map[string]bool{}
	for _, name := range names {
		key := strings.ToLower(name)
		if name == "" || asked[key] {
			continue
		}
		asked[key] = true
		if c.work += cost; c.work > maxWork {
			c.warn(yamlfile.Problem{File: w.File}, "checked only in part: it has too many conditions for so many labels")
			break
		}
		if c.config.Policy.Labels.Allows(name) && w.Names(name) {
			list = append(list, name)
		}
	}
	return list
}

// agentStarts warns of workflows that the agent may start by adding a label. The warning is at the
// entry of the policy that allows the label, or at the agent if the policy has no list of allowed
// labels.
func (c *checker) agentStarts(w Workflow, named []string) {
	if c.config.Policy.Labels.Allow == nil {
		switch {
		case len(named) > 0:
			c.warn(*c.agent, "the agent may add the label %q, which starts the workflow %s: %s", cut(named[0]), w.File, advice)
		case w.Any():
			c.warn(*c.agent, "the agent may add any label, and every label starts the workflow %s: %s", w.File, narrow)
		}
		return
	}
	open := w.Any()
	for _, g := range c.globs {
		if g.list != "allow" {
			continue
		}
		if i := slices.IndexFunc(named, g.matches); i >= 0 {
			c.warn(g.place, "the agent may add the label %q, which starts the workflow %s: %s", cut(named[i]), w.File, advice)
		} else if open && strings.Contains(g.glob, "*") {
			open = false // one such warning is enough
			c.warn(g.place, "the agent may add labels that match %q, and every label starts the workflow %s: %s", cut(g.glob), w.File, narrow)
		}
	}
}

// mayLabel reports whether the policy allows adding labels at all.
func (c *checker) mayLabel() bool {
	if may := c.config.Policy.AgentMay; may != nil && !slices.Contains(may, protocol.ActionAddLabel) && !slices.Contains(may, protocol.ActionAddLabels) {
		return false
	}
	allowed := c.config.Policy.Actions
	if limit, ok := c.config.Policy.Limits[protocol.ActionAddLabel]; ok && limit == 0 {
		return false
	}
	return allowed == nil || slices.Contains(allowed, protocol.ActionAddLabel) || slices.Contains(allowed, protocol.ActionAddLabels)
}
