package config

import (
	"cmp"
	"fmt"
	"maps"
	"net/url"
	"path"
	"reflect"
	"slices"
	"strings"
	"unicode/utf8"

	"gopkg.in/yaml.v3"

	"github.com/org/foreman-action/internal/config/schema"
	"github.com/org/foreman-action/internal/text"
	"github.com/org/foreman-action/internal/yamlfile"
	"github.com/org/foreman-action/policy"
	"github.com/org/foreman-action/protocol"
)

// This file has the conditions under which actions are earned: policy.earn.

const maxTrusted = 300 // characters of an entry of trust or distrust

// earnKeys returns the keys of policy.earn. actions are the types of actions that it can name.
func earnKeys(actions []string) schema.Table {
	return schema.Table{
		{Path: "policy.earn", Rule: earnRule(actions), Doc: "Proof that a rule or an agent needs before an action is carried out without a person's answer. The type of an action is a key for the proof that this type needs, such as close_issue: {bound: 0.95, of: 60}."},
		{Path: "policy.earn.bound", JSON: boundJSON(), Doc: "Lower end of the 95 % confidence interval (Wilson) of kept among judged outcomes. Absent: 0.85, and 0.95 for closing, duplicates and locks."},
		{Path: "policy.earn.of", JSON: ofJSON(), Doc: "Least number of judged outcomes. Absent: 20, and 60 for closing, duplicates and locks."},
		{Path: "policy.earn.trust", Doc: "Ids of rules, and agents as agent:NAME, that need no proof. /ACTION and /ACTION/VALUE after it limit an entry, such as crash/add_label/bug."},
		{Path: "policy.earn.distrust", Doc: "Rules and agents whose actions are always proposed, in the form of trust; goes before trust."},
		{Path: "policy.earn.reset", Doc: "Days such as 2026-11-27 by rules and agents. Earlier outcomes do not count."},
		{Path: "policy.earn.evidence", Doc: "File with the results of replays, which foreman rules backtest --write-evidence writes."},
	}
}

func boundJSON() object { return object{"minimum": policy.MinBound, "maximum": policy.MaxBound} }
func ofJSON() object    { return object{"minimum": 1, "maximum": policy.MaxOf} }

// earnSchema returns the schema of the types of actions in policy.earn.
func earnSchema() object {
	return object{
		"propertyNames": object{"enum": slices.Concat(earnNames(), thresholdNames(knownActions(nil)))},
		"additionalProperties": object{"type": "object", "additionalProperties": false, "properties": object{
			"bound": merged(object{"type": "number"}, boundJSON()), "of": merged(object{"type": "integer"}, ofJSON()),
		}},
	}
}

func merged(a, b object) object {
	maps.Copy(a, b)
	return a
}

// earnNames returns the keys of policy.earn other than the types of actions.
func earnNames() []string { return []string{"bound", "of", "trust", "distrust", "reset", "evidence"} }

// thresholdNames returns the types of actions that have a proof of their own.
func thresholdNames(actions []string) []string {
	return slices.DeleteFunc(slices.Clone(actions), func(name string) bool {
		spec, _ := protocol.SpecOf(name)
		return spec.CountsAs != ""
	})
}

// earnRule checks the values of policy.earn that do not depend on the rules.
func earnRule(actions []string) schema.Rule {
	return schema.Rule{Check: func(v schema.Value) {
		e, _ := reflect.TypeAssert[policy.EarnSection](v.Go)
		checkThreshold(v, policy.ThresholdSection{Bound: e.Bound, Of: e.Of})
		for _, name := range slices.Sorted(maps.Keys(e.Actions)) {
			at := yamlfile.Child(v.Node, name)
			spec, _ := protocol.SpecOf(name)
			switch {
			case spec.CountsAs != "":
				below(v, name, at).Problemf("each label counts under %s; set that one instead", spec.CountsAs)
			case !slices.Contains(actions, name):
				known := slices.Concat(earnNames(), thresholdNames(actions))
				v.ProblemAt(at, "unknown key %q%s; the keys are %s, and the types of actions", text.Shorten(name, text.Quoted), yamlfile.DidYouMean(name, known), strings.Join(earnNames(), ", "))
			default:
				checkThreshold(below(v, name, at), e.Actions[name])
			}
		}
		for key, list := range map[string][]string{"trust": e.Trust, "distrust": e.Distrust} {
			for i, entry := range list {
				at := yamlfile.Child(v.Node, key).Content[i]
				if why := wrongEntry(entry, actions); why != "" && isText(at) {
					below(v, key, at).Problemf("%s", why)
				}
			}
		}
		if f := e.Evidence; f != "" && (path.IsAbs(f) || path.Clean(f) != f || f == ".." || strings.HasPrefix(f, "../") || strings.ContainsAny(f, "\\\x00")) {
			below(v, "evidence", yamlfile.Child(v.Node, "evidence")).Problemf("want the path of a file in this repository, such as .github/foreman-evidence.json")
		}
	}}
}

// below returns the value of a key of v, for messages.
func below(v schema.Value, key string, n *yaml.Node) schema.Value {
	v.Name, v.Node = v.Name+"."+key, n
	return v
}

// isText reports whether a node is a text.
func isText(n *yaml.Node) bool { return n.Kind == yaml.ScalarNode && n.ShortTag() == "!!str" }

// checkThreshold checks the range of a bound and of a number of outcomes, which v has as keys.
func checkThreshold(v schema.Value, t policy.ThresholdSection) {
	if t.Bound != nil && (*t.Bound < policy.MinBound || *t.Bound > policy.MaxBound) {
		below(v, "bound", yamlfile.Child(v.Node, "bound")).Problemf("want %v to %v, got %v", policy.MinBound, policy.MaxBound, *t.Bound)
	}
	if t.Of != nil && (*t.Of < 1 || *t.Of > policy.MaxOf) {
		below(v, "of", yamlfile.Child(v.Node, "of")).Problemf("want 1 to %d, got %d", policy.MaxOf, *t.Of)
	}
}

// wrongEntry returns the mistake in the form of an entry of trust or distrust; "": the form is correct.
func wrongEntry(entry string, actions []string) string {
	t := policy.ParseTrusted(entry)
	name, agent := strings.CutPrefix(t.Source, policy.AgentPrefix)
	switch {
	case t.Source == "" || utf8.RuneCountInString(entry) > maxTrusted || agent && !isAgentName(name):
		return fmt.Sprintf("want the id of a rule or %sNAME, then optionally /ACTION and /VALUE, got %q", policy.AgentPrefix, text.Shorten(entry, text.Quoted))
	case t.Action != "" && !slices.Contains(actions, t.Action):
		return fmt.Sprintf("unknown action %q%s", text.Shorten(t.Action, text.Quoted), yamlfile.DidYouMean(t.Action, actions))
	}
	return ""
}

// onFailureID is the id in place of a rule's, for the label of agent.on_failure.
const onFailureID = "agent.on_failure"

// checkEarn reports rules of policy.earn that do not exist, and warns of agents with another name, of
// bounds that cannot be reached with the least number of outcomes, and of conditions without effect.
func (b sides) checkEarn(c Config) {
	ids := append(slices.Concat(b.mine.ruleIDs(), b.theirs.ruleIDs()), onFailureID)
	agent := cmp.Or(c.Agent.Name, hostOf(c.Agent.URL))
	for _, s := range []side{b.mine, b.theirs} {
		at := s.at["policy"].child("earn")
		if at.n == nil {
			continue
		}
		known := func(n *yaml.Node, key, source string) {
			name, isAgent := strings.CutPrefix(source, policy.AgentPrefix)
			switch {
			case isAgent && agent != "" && !strings.EqualFold(name, agent):
				at.f.Warnf(n, "policy.earn.%s: no agent has the name %s; the agent of this file is %s%s", key, text.Quote(name), policy.AgentPrefix, text.Quote(agent))
			case !isAgent && source != "" && !slices.Contains(ids, source):
				at.f.UndeclaredIn(n, 1, 1, fmt.Sprintf("policy.earn.%s: there is no rule %q%s", key, text.Shorten(source, text.Quoted), yamlfile.DidYouMean(source, ids)))
			}
		}
		for _, key := range []string{"trust", "distrust"} {
			list := at.child(key).n
			if list == nil {
				continue
			}
			for _, n := range slices.DeleteFunc(slices.Clone(yamlfile.Items(list)), func(n *yaml.Node) bool { return !isText(n) }) {
				known(n, key, policy.ParseTrusted(n.Value).Source)
			}
		}
		for n := range yamlfile.Pairs(at.child("reset").n) {
			known(n, "reset", n.Value)
		}
	}
	b.mine.warnUnreachable(c.Policy)
	// A file that could not be read may demand it.
	_, extends := b.mine.at["extends"]
	if at := b.mine.at["policy"].child("earn"); at.n != nil && !c.Policy.Earned && (!extends || len(b.theirs.sources) > 0) {
		at.f.Warnf(at.n, "policy.earn has no effect without policy.automation: earned")
	}
}

// warnUnreachable warns of bounds that the least number of outcomes cannot reach.
func (s side) warnUnreachable(p policy.Policy) {
	at := s.at["policy"].child("earn")
	warn := func(at place, action string) {
		t := p.Threshold(action)
		n := cmp.Or(at.child("bound").n, at.child("of").n)
		if need := t.Flawless(); n != nil && need > t.Of {
			at.f.Warnf(n, "policy.earn: %v needs %d without a mistake; of: %d is not enough", t.Bound, need, t.Of)
		}
	}
	warn(at, "")
	for key, value := range yamlfile.Pairs(at.n) {
		if value.Kind == yaml.MappingNode && key.Value != "reset" {
			warn(place{at.f, value, at.inherited}, key.Value)
		}
	}
}

// ruleIDs returns the ids of the rules of a side as written.
func (s side) ruleIDs() []string {
	var ids []string
	for _, source := range s.sources {
		if source.Rules == nil {
			continue
		}
		for _, n := range yamlfile.Items(source.Rules) {
			if id := yamlfile.Child(n, "id"); id != nil && id.Value != "" {
				ids = append(ids, id.Value)
			}
		}
	}
	return ids
}

// hostOf returns the host of an address, or "".
func hostOf(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return ""
	}
	return u.Hostname()
}
