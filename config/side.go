package config

import (
	"cmp"

	"github.com/org/foreman-action/internal/text"

	"gopkg.in/yaml.v3"

	"github.com/org/foreman-action/internal/strictyaml"
	"github.com/org/foreman-action/protocol"
	"github.com/org/foreman-action/rules"
	"github.com/org/foreman-action/triage"
)

// A place is where a value stands; the zero value is nowhere.
type place struct {
	f *strictyaml.File
	n *yaml.Node
}

// child is the place of a key of the mapping; nowhere when it has none.
func (p place) child(key string) place {
	if n := strictyaml.Child(p.n, key); n != nil {
		return place{p.f, n}
	}
	return place{}
}

// A side is what one side of a configuration says: the repository's own files, or the
// file that they extend.
type side struct {
	file    string           // that is extended; empty: the repository's own
	at      map[string]place // of each section; limits and labels, wherever they stand
	say     sections         // of all files together
	policy  policySection    // with limits and labels
	sources []rules.Source
}

// take adds what a file says. A section stands in one file.
func (d *side) take(f *strictyaml.File, s sections) {
	if d.once(f, "mode", s.Mode != nil) {
		oneOf(f, strictyaml.Child(f.Root(), "mode"), "mode", string(ModeApply), string(ModeShadow))
		d.say.Mode = s.Mode
	}
	d.takePolicy(f, s)
	if d.once(f, "llm", s.LLM != nil) {
		d.say.LLM = s.LLM
	}
	if d.once(f, "memory", s.Memory != nil) {
		d.say.Memory = s.Memory
	}
	if d.once(f, "agent", s.Agent != nil) {
		d.say.Agent = s.Agent
	}
	if d.once(f, "extends", s.Extends != nil) {
		d.say.Extends = s.Extends
	}
	if d.once(f, "disable", s.Disable != nil) {
		d.say.Disable = s.Disable
	}
	source := rules.Source{File: f, Node: s.Rules}
	if d.file == "" {
		source.Tests = s.Tests // those of a file that is extended are not run here
	}
	if d.once(f, "forms", s.Forms != nil) {
		source.Forms = s.Forms
	}
	if d.once(f, "tables", s.Tables != nil) {
		source.Tables = s.Tables
	}
	if source != (rules.Source{File: f}) {
		d.sources = append(d.sources, source)
	}
}

// once reports whether a section is there, and in no file before.
func (d *side) once(f *strictyaml.File, name string, there bool) bool {
	n := strictyaml.Child(f.Root(), name)
	if !there {
		return false
	}
	if other, ok := d.at[name]; ok {
		f.Problemf(n, "%s is already set in %s; a section stands in one file", name, other.f.Name())
		return false
	}
	d.at[name] = place{f, n}
	return true
}

// takePolicy adds the policy and the short forms of its parts.
func (d *side) takePolicy(f *strictyaml.File, s sections) {
	checkLimits(f, strictyaml.Child(f.Root(), "limits"), "limits", s.Limits)
	s.Labels.check(f, strictyaml.Child(f.Root(), "labels"), "labels")
	var p policySection
	if d.once(f, "policy", s.Policy != nil) {
		p = *s.Policy
	}
	d.shortForm(f, "limits", p.Limits != nil, s.Limits != nil)
	d.shortForm(f, "labels", p.Labels != nil, s.Labels != nil)
	limits, labels := d.policy.Limits, cmp.Or(d.policy.Labels, p.Labels, s.Labels)
	for _, m := range []map[string]int{p.Limits, s.Limits} {
		if limits == nil {
			limits = m
		}
	}
	if s.Policy != nil {
		d.policy = p
	}
	d.policy.Limits, d.policy.Labels = limits, labels
}

// shortForm finds where a part of the policy stands: under policy, or at the top of the
// file, and nowhere twice.
func (d *side) shortForm(f *strictyaml.File, name string, long, short bool) {
	var places []*yaml.Node
	if long {
		places = append(places, strictyaml.Child(f.Root(), "policy", name))
	}
	if n := strictyaml.Child(f.Root(), name); short {
		places = append(places, n)
		if long && n.Line < places[0].Line {
			places[0], places[1] = places[1], places[0]
		}
	}
	for _, n := range places {
		if first, ok := d.at[name]; ok {
			f.Problemf(n, "%s is already set at %s:%d; at the top of a file it is short for policy.%s: keep one of the two",
				name, first.f.Name(), first.n.Line, name)
			continue
		}
		d.at[name] = place{f, n}
	}
}

// with returns the side whose section counts: the repository's own, if it has one. It
// is never nil.
func (l *loader) with(section string) *side {
	if _, ok := l.ours.at[section]; !ok && l.theirs != nil {
		return l.theirs
	}
	return &l.ours
}

// agentKey is the place of a key of the agent's section, of which the repository's own
// counts.
func (l *loader) agentKey(key string) place {
	at := l.ours.at["agent"].child(key)
	if at.n == nil && l.theirs != nil {
		at = l.theirs.at["agent"].child(key)
	}
	return at
}

// inherited reports whether a value stands in the file that is extended.
func (l *loader) inherited(at place) bool {
	return at.n != nil && l.theirs != nil && at.f.Name() == l.theirs.file
}

// modelURL is where the model is asked. The key of this repository goes there, so only its
// own files may say it.
func (l *loader) modelURL(at place) string {
	if l.inherited(at) {
		at.f.Problemf(at.n, "llm.base_url: a file that is extended does not say where the key of a model goes; a repository does, in its own file or by the input llm-base-url")
		return ""
	}
	return l.expand(at)
}

// settle makes one configuration of what both sides say.
func (l *loader) settle() {
	c := &l.config
	mine, theirs := l.ours, side{}
	if l.theirs != nil {
		theirs = *l.theirs
	}
	t := tightener{ours: mine.at, by: theirs.file}
	c.Mode = t.mode(theirs.say.Mode, mine.say.Mode)
	c.Policy = t.policy(theirs.policy, mine.policy)
	if may := theirs.policy.AllowClose; may != nil {
		c.NeverClose = !*may
	}
	if d := l.with("llm"); d.say.LLM != nil {
		at, s := d.at["llm"], d.say.LLM
		c.LLM = protocol.LLMBackendRef{Provider: l.expand(at.child("provider")), Model: l.expand(at.child("model"))}
		c.Model = Model{BaseURL: l.modelURL(at.child("base_url")), Timeout: s.Timeout, MaxTokens: s.MaxTokens}
	}
	if d := l.with("memory"); d.say.Memory != nil {
		s := d.say.Memory
		c.Memory = Memory{Store: s.Store, Path: l.expand(d.at["memory"].child("path")), Summary: s.Summary}
	}
	l.settleAgent(t, *cmp.Or(theirs.say.Agent, &agentSection{}), *cmp.Or(mine.say.Agent, &agentSection{}))
}

// settleAgent puts the agent's section together key by key.
func (l *loader) settleAgent(t tightener, theirs, mine agentSection) {
	c := &l.config
	c.Agent = Agent{
		URL: l.expand(l.agentKey("url")), Auth: cmp.Or(mine.Auth, theirs.Auth), Timeout: cmp.Or(mine.Timeout, theirs.Timeout),
	}
	c.Policy.AgentMay = t.list("agent.may", l.ours.at["agent"].child("may"), theirs.May, mine.May)
	at := l.agentKey("on_failure")
	if at.n == nil {
		return
	}
	c.Agent.OnFailure = onFailure(at.f, at.n)
	label := c.Agent.OnFailure.Label
	if label == "" {
		return
	}
	if why := cmp.Or(c.Policy.Forbids(protocol.ActionAddLabel, triage.Source{Rule: OnFailureRule}), c.Policy.Labels.Refuses(label)); why != "" {
		at.f.Problemf(at.child("add_label").n, "agent.on_failure: the label %q would never be added: %s", text.Quote(label), why)
	}
}
