package config

import (
	"cmp"

	"gopkg.in/yaml.v3"

	"github.com/org/foreman-action/internal/rulesource"
	"github.com/org/foreman-action/internal/yamlfile"
	"github.com/org/foreman-action/policy"
)

// A place is the position of a value. The zero value means that the value is absent.
type place struct {
	f         *yamlfile.File
	n         *yaml.Node
	inherited bool // it is in the extended file
}

// child returns the place of a key in the mapping.
func (p place) child(key string) place {
	if n := yamlfile.Child(p.n, key); n != nil {
		return place{p.f, n, p.inherited}
	}
	return place{}
}

// A side is one side of a configuration: the repository's own files together, or the file
// that they extend. Absent sections are nil; the zero value is a side without files.
type side struct {
	name    string           // name of the first file
	at      map[string]place // of each section; limits and labels in either form
	mode    *string
	policy  policy.Section // includes limits, labels and agent.may
	llm     *llmSection
	memory  *memorySection
	agent   *agentSection
	extends RemoteFile // zero if absent or mistaken
	disable []*yaml.Node
	sources []rulesource.Parts
}

// join joins the sections of several files into one side. Each section may be in only one file,
// except for rules, tests and include.
func join(files []sourceFile) side {
	s := side{at: map[string]place{}}
	for _, d := range files {
		s.name = cmp.Or(s.name, d.file.Name())
		s.add(d)
	}
	return s
}

// add adds the sections of a file.
func (s *side) add(d sourceFile) {
	in := d.sections
	if s.once(d, "mode", in.Mode != nil) {
		s.mode = in.Mode
	}
	s.addPolicy(d)
	if s.once(d, "llm", in.LLM != nil) {
		s.llm = in.LLM
	}
	if s.once(d, "memory", in.Memory != nil) {
		s.memory = in.Memory
	}
	if s.once(d, "agent", in.Agent != nil) {
		s.agent, s.policy.AgentMay = in.Agent, in.Agent.May
	}
	if s.once(d, "extends", in.Extends != nil) {
		s.extends = in.Extends.file
	}
	if s.once(d, "disable", in.Disable != nil) {
		s.disable = in.Disable
	}
	source := rulesource.Parts{File: d.file, Rules: in.Rules}
	if !d.inherited {
		source.Tests = in.Tests // tests of an extended file are not run here
	}
	if s.once(d, "forms", in.Forms != nil) {
		source.Forms = in.Forms
	}
	if s.once(d, "tables", in.Tables != nil) {
		source.Tables = in.Tables
	}
	if source.Rules != nil || source.Tests != nil || source.Forms != nil || source.Tables != nil {
		s.sources = append(s.sources, source)
	}
}

// once reports whether a file has a section that no earlier file has. It reports a mistake if an
// earlier file has the section.
func (s *side) once(d sourceFile, name string, present bool) bool {
	if !present {
		return false
	}
	n := yamlfile.Child(d.file.Root(), name)
	if other, ok := s.at[name]; ok {
		d.file.Problemf(n, "%s is already set in %s; keep the section in one file only", name, other.f.Name())
		return false
	}
	s.at[name] = place{d.file, n, d.inherited}
	return true
}

// addPolicy adds the policy and the short forms of its parts.
func (s *side) addPolicy(d sourceFile) {
	limits, labels := d.sections.Limits, d.sections.Labels
	var p policy.Section
	if s.once(d, "policy", d.sections.Policy != nil) {
		p = *d.sections.Policy
	}
	s.shortForm(d, "limits", [2]bool{p.Limits != nil, limits != nil})
	s.shortForm(d, "labels", [2]bool{p.Labels != nil, labels != nil})
	before := s.policy
	if d.sections.Policy != nil {
		s.policy, s.policy.AgentMay = p, before.AgentMay
	}
	s.policy.Labels = cmp.Or(before.Labels, p.Labels, labels)
	s.policy.Limits = before.Limits
	for _, m := range []map[string]int{p.Limits, limits} {
		if s.policy.Limits == nil {
			s.policy.Limits = m
		}
	}
}

// shortForm records where a part of the policy is set: under policy, or in its short form at the
// top of the file. If it is set more than once, it reports a mistake for each place after the
// first.
func (s *side) shortForm(d sourceFile, name string, present [2]bool) {
	root := d.file.Root()
	var list []*yaml.Node
	if present[0] {
		list = append(list, yamlfile.Child(root, "policy", name))
	}
	if n := yamlfile.Child(root, name); present[1] {
		list = append(list, n)
		if present[0] && n.Line < list[0].Line {
			list[0], list[1] = list[1], list[0]
		}
	}
	for _, n := range list {
		if first, ok := s.at[name]; ok {
			d.file.Problemf(n, "%s is already set at %s:%d; at the top of a file it is short for policy.%s: keep one of the two",
				name, first.f.Name(), first.n.Line, name)
			continue
		}
		s.at[name] = place{d.file, n, d.inherited}
	}
}
