package config

import (
	"cmp"
	"fmt"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/org/foreman-action/internal/config/variable"
	"github.com/org/foreman-action/internal/text"
	"github.com/org/foreman-action/internal/yamlfile"
	"github.com/org/foreman-action/policy"
	"github.com/org/foreman-action/protocol"
	"github.com/org/foreman-action/rules"
	"github.com/org/foreman-action/triage"
)

// sides are the two sides of a configuration: the repository's own files, and the file that they
// extend. If no file is extended, or it cannot be read, theirs has no files.
type sides struct {
	mine, theirs side
	additions    rules.Source // the program's own functions and actions
}

// section returns the side whose section applies: the repository's own, if it has the section.
func (b sides) section(name string) side {
	if _, ok := b.mine.at[name]; ok {
		return b.mine
	}
	return b.theirs
}

// agentKey returns the place of a key in the section agent. The repository's own key takes
// precedence.
func (b sides) agentKey(key string) place {
	if at := b.mine.at["agent"].child(key); at.n != nil {
		return at
	}
	return b.theirs.at["agent"].child(key)
}

// settle merges both sides into a configuration without rules.
func settle(b sides, vars yamlfile.Variables) Config {
	c := Config{Mode: b.mode(), Policy: b.policy(), Patterns: b.patterns()}
	if may := b.theirs.policy.AllowClose; may != nil {
		c.NeverClose = !*may
	}
	if s := b.section("llm"); s.llm != nil {
		at := s.at["llm"]
		c.LLM = protocol.LLMBackendRef{Provider: expand(at.child("provider"), vars), Model: expand(at.child("model"), vars)}
		c.Model = Model{BaseURL: modelURL(at.child("base_url"), vars), Timeout: s.llm.Timeout, MaxTokens: s.llm.MaxTokens}
	}
	if s := b.section("memory"); s.memory != nil {
		c.Memory = Memory{Store: s.memory.Store, Path: expand(s.at["memory"].child("path"), vars), Summary: s.memory.Summary}
	}
	mine, theirs := cmp.Or(b.mine.agent, &agentSection{}), cmp.Or(b.theirs.agent, &agentSection{})
	c.Agent = Agent{
		URL: expand(b.agentKey("url"), vars), Inherited: b.agentKey("url").inherited, Name: cmp.Or(mine.Name, theirs.Name), Auth: cmp.Or(mine.Auth, theirs.Auth), Timeout: cmp.Or(mine.Timeout, theirs.Timeout),
		OnFailure: onFailure(b.agentKey("on_failure"), c.Policy),
	}
	return c
}

// mode returns the mode that applies. If the extended file has shadow mode, the repository cannot
// switch it off.
func (b sides) mode() Mode {
	mine, theirs := b.mine.mode, b.theirs.mode
	switch {
	case mine == nil && theirs == nil:
		return ""
	case mine == nil:
		return Mode(*theirs)
	case theirs != nil && *theirs == string(ModeShadow) && *mine != *theirs:
		b.warnTighter(b.mine.at["mode"], "mode", *theirs)
		return ModeShadow
	}
	return Mode(*mine)
}

// policy returns the policy that applies. A value that would loosen the policy of the extended file
// gets a warning.
func (b sides) policy() policy.Policy {
	p, looser := policy.Tighten(b.theirs.policy, b.mine.policy)
	for _, l := range looser {
		name, at := b.mine.field(l.Field)
		if at.n == nil {
			continue // set in the short and in the long form: already reported
		}
		if l.Counts != "" {
			b.warnTighter(at, name, l.Counts)
			continue
		}
		if l.Index < len(at.n.Content) {
			at.n = at.n.Content[l.Index]
		}
		at.f.Warnf(at.n, "%s: %q allows more than %s; only values that both files allow apply", name, text.Quote(l.Item), b.theirs.name)
	}
	return p
}

// patterns returns the entries of policy.labels of both sides.
func (b sides) patterns() []Pattern {
	var list []Pattern
	for _, s := range []side{b.mine, b.theirs} {
		for _, name := range []string{"allow", "deny"} {
			at := s.at["labels"].child(name)
			if at.n == nil || at.n.Kind != yaml.SequenceNode {
				continue
			}
			for _, item := range at.n.Content {
				list = append(list, Pattern{name, item.Value, at.f.At(item, 1, 1, "")})
			}
		}
	}
	return list
}

// field returns the key of a policy field as a message names it, and its place in the file.
func (s side) field(name string) (key string, at place) {
	section, entry, nested := strings.Cut(name, ".")
	switch {
	case section == "earn":
		key, below, deeper := strings.Cut(entry, ".")
		if at = s.at["policy"].child(section).child(key); deeper {
			at = at.child(below)
		}
		return "policy." + name, at
	case nested: // limits or labels, which have a short form
		return name, s.at[section].child(entry)
	case name == "agent_may":
		return "agent.may", s.at["agent"].child("may")
	}
	return "policy." + name, s.at["policy"].child(name)
}

// warnTighter warns that the value counts applies instead of the looser value at a place.
func (b sides) warnTighter(at place, name, counts string) {
	at.f.Warnf(at.n, "%s: the value %s of %s applies; a file that extends it can only tighten it", name, counts, b.theirs.name)
}

// onFailure decodes agent.on_failure. It reports a label that the policy never allows.
func onFailure(at place, p policy.Policy) OnFailure {
	if at.n == nil {
		return OnFailure{}
	}
	o := decodeOnFailure(at.f, at.n)
	if o.Label == "" {
		return o
	}
	if why := cmp.Or(p.Forbids(protocol.ActionAddLabel, triage.Source{Rule: OnFailureRule}), p.Labels.Refuses(o.Label)); why != "" {
		at.f.Problemf(at.child("add_label").n, "agent.on_failure: the label %q would never be added: %s", text.Quote(o.Label), why)
	}
	return o
}

// modelURL expands the base URL of the model. The repository's API key is sent to it, so only the
// repository's own files may set it.
func modelURL(at place, vars yamlfile.Variables) string {
	if at.inherited {
		at.f.Problemf(at.n, "llm.base_url: an extended file must not set the address that receives a model's key; set it in the repository's own file or by the input llm-base-url")
		return ""
	}
	return expand(at, vars)
}

// expand resolves ${VAR} in a value. It does not do so in an extended file, whose authors could
// otherwise send the variables to an address of theirs.
func expand(at place, vars yamlfile.Variables) string {
	if at.n == nil {
		return ""
	}
	if at.inherited {
		if strings.Contains(at.n.Value, "${") {
			at.f.Problemf(at.n, "an extended file cannot use variables; write the value itself, or set it in the repository's own file")
		}
		return at.n.Value
	}
	out, problems := vars.Expand(at.n.Value)
	for _, p := range problems {
		at.f.Problemf(at.n, "%s", p)
	}
	return out
}

// variables returns the variables that values may use: all that are set and not secret. Values may
// reach an agent or a log.
func variables(getenv func(string) string) yamlfile.Variables {
	return yamlfile.Variables{Reserved: variable.Reserved, Lookup: func(name string) (string, error) {
		if getenv != nil {
			if value := getenv(name); value != "" {
				return value, nil
			}
		}
		return "", fmt.Errorf("environment variable %s is not set", name)
	}}
}
