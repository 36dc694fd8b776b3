package lint

import (
	"slices"
	"strconv"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/org/foreman-action/config"
	"github.com/org/foreman-action/internal/yamlfile"
	"github.com/org/foreman-action/policy"
	"github.com/org/foreman-action/protocol"
)

// answers warns if actions may be proposed to people, and people's answers start no workflow that runs
// the rules.
func (c *checker) answers(runs []Run, files []*yamlfile.File) {
	runs = slices.DeleteFunc(slices.Clone(runs), Run.dry)
	if len(runs) == 0 || c.config.Mode == config.ModeShadow {
		return
	}
	at, proposes := c.proposing(runs, files)
	if !proposes {
		return
	}
	var missing, why []string
	for _, answer := range []struct{ on, is string }{
		{"issue_comment.created", "/foreman accept or /foreman reject"},
		{"issue_comment.edited", "a ticked box"},
	} {
		if !slices.ContainsFunc(runs, func(run Run) bool { return run.startedBy(answer.on) }) {
			missing, why = append(missing, answer.on), append(why, answer.on+" ("+answer.is+")")
		}
	}
	if len(missing) > 0 {
		c.warn(at, "actions may be proposed to people, and no workflow that runs Foreman starts on %s; %s",
			strings.Join(why, " or "), ruleRuns{checker: c, runs: runs}.add(missing...))
	}
}

// judges warns if actions must be earned, or are only planned in shadow mode, and no workflow judges them. Without a
// memory shadow mode records nothing to judge.
func (c *checker) judges(runs []Run, files []*yamlfile.File) {
	runs = slices.DeleteFunc(slices.Clone(runs), Run.dry)
	scheduled := func(run Run) bool { return run.startedBy("schedule") }
	remembers := func(run Run) bool { return run.store(c.config.Memory.Store) != "off" }
	switch {
	case len(runs) == 0 || slices.ContainsFunc(runs, scheduled):
		return
	case c.config.Mode == config.ModeShadow:
		if c.config.Rules.Len() > 0 && slices.ContainsFunc(runs, remembers) {
			c.warn(runs[0].place, "mode: shadow: what is planned is never compared with what people do, because schedule starts no workflow that runs Foreman; %s",
				ruleRuns{checker: c, runs: runs}.add("schedule"))
		}
		return
	case !c.config.Policy.Earned:
		return
	}
	at := runs[0].place
	for _, f := range files {
		if level := yamlfile.Child(f.Root(), "policy", "automation"); scalar(level) == string(policy.AutomationEarned) {
			at = f.At(level, 1, 1, "")
		}
	}
	c.warn(at, "scheduled runs judge what became of actions, and schedule starts no workflow that runs Foreman, so nothing is ever kept, and only answers to proposals count; %s",
		ruleRuns{checker: c, runs: runs}.add("schedule"))
}

// proposing reports whether the runs may propose actions, and the place of a setting because of which
// they do. The place is that of a step if the setting is an input, or is in an extended file.
func (c *checker) proposing(runs []Run, files []*yamlfile.File) (at yamlfile.Problem, proposes bool) {
	if c.config.Proposes() {
		for _, f := range files {
			level, approve := yamlfile.Child(f.Root(), "policy", "automation"), yamlfile.Child(f.Root(), "policy", "approve")
			switch {
			case level != nil && scalar(level) != string(policy.AutomationFull):
				return f.At(level, 1, 1, ""), true
			case len(children(approve)) > 0:
				return f.At(approve, 1, 1, ""), true
			}
		}
		for _, f := range files {
			for _, rule := range children(yamlfile.Child(f.Root(), "rules")) {
				for name, params := range (ruleRuns{node: rule}).actions() {
					if n := c.asks(name.Value, params); n != nil {
						return f.At(n, 1, 1, ""), true
					}
				}
			}
		}
		if c.agent != nil {
			return *c.agent, true
		}
		return runs[0].place, true
	}
	i := slices.IndexFunc(runs, func(run Run) bool { return run.inputs["agent-url"] != "" })
	if i < 0 || c.config.Policy.Suggestions == policy.SuggestionsOff {
		return yamlfile.Problem{}, false
	}
	return runs[i].place, true
}

// asks returns the parameter because of which an action of a rule is proposed; nil: it has none.
func (c *checker) asks(action string, params *yaml.Node) *yaml.Node {
	if n := yamlfile.Child(params, protocol.ParamSuggest); scalar(n) == "true" {
		return n
	}
	n := yamlfile.Child(params, protocol.ParamConfidence)
	if n == nil {
		return nil
	}
	value := n.Value
	if n.ShortTag() == "!!str" {
		value = strconv.Quote(value)
	}
	confidence, err := protocol.ParseConfidence([]byte(value))
	if err != nil || !c.config.Policy.Proposes(action, confidence, false) {
		return nil
	}
	return n
}
