package rules

import (
	"errors"
	"slices"

	"gopkg.in/yaml.v3"

	"github.com/org/foreman-action/internal/ruleset"
	"github.com/org/foreman-action/internal/rulesource"
	"github.com/org/foreman-action/internal/yamlfile"
	"github.com/org/foreman-action/rules/facts"
	"github.com/org/foreman-action/rules/internal/action"
	"github.com/org/foreman-action/rules/internal/events"
	"github.com/org/foreman-action/rules/internal/expression"
	"github.com/org/foreman-action/rules/internal/symbols"
)

// A Source is a rule file that [Parse] has read: its rules, the names that it declares for the rules
// of all files, and its tests, for [ruletest.Parse].
type Source rulesource.Source

// parts returns the parts of sources.
func parts(sources []Source) []rulesource.Parts {
	list := make([]rulesource.Parts, 0, len(sources))
	for _, s := range sources {
		list = append(list, rulesource.Source(s).Parts())
	}
	return list
}

// Parse reads a rule file, a mapping with the keys version (which is 1), forms, tables, rules and
// tests. Only version and rules are required. The error means that src is not a YAML document;
// [Compile] reports all other mistakes.
func Parse(name string, src []byte) (Source, error) {
	f, err := yamlfile.Parse(name, src)
	if err != nil {
		return Source{}, err
	}
	var keys struct {
		Version *yaml.Node `yaml:"version,required"`
		Forms   *yaml.Node `yaml:"forms"`
		Tables  *yaml.Node `yaml:"tables"`
		Rules   *yaml.Node `yaml:"rules,required"`
		Tests   *yaml.Node `yaml:"tests"`
	}
	f.Decode(f.Root(), &keys)
	version := 1
	if keys.Version != nil && f.DecodeKey("version", keys.Version, &version) && version != 1 {
		f.Problemf(keys.Version, "version: want 1, got %d", version)
	}
	return Source(rulesource.New(rulesource.Parts{File: f, Rules: keys.Rules, Forms: keys.Forms, Tables: keys.Tables, Tests: keys.Tests})), nil
}

// A Set is a compiled list of rules. It does not change and is safe for concurrent use. A nil set has
// no rules, and the zero value neither.
type Set ruleset.Set

// compiled returns the rules of a set; nil if it has none.
func (s *Set) compiled() *compiled {
	c, _ := (*ruleset.Set)(s).Rules().(*compiled)
	return c
}

const maxRules = 5000 // of all files together

// Compile compiles the rules of all sources, in order, as one list. The error is a [Problems] with
// all mistakes of the sources, including those of [Parse] and of tests; it contains no warnings.
func Compile(sources ...Source) (*Set, error) {
	names := symbols.New()
	list := parts(sources)
	own := ownOf(list)
	names.Add(own.Funcs)
	list = slices.DeleteFunc(list, func(src rulesource.Parts) bool { return src.File == nil && src.Own != nil })
	for _, src := range list {
		if src.File != nil {
			names.Declare(src.File, src.Forms, src.Tables)
		}
	}
	for _, src := range list {
		if src.IssueForms != nil {
			compareForms(names, src.IssueForms)
			break
		}
	}
	c, specs := expression.NewCompiler(names), append(action.Specs(), own.Actions...)
	s := &compiled{names: names}
	var files []*yamlfile.File
	first := map[string]*rule{}
	for _, src := range list {
		if src.File == nil {
			return nil, errors.New("compile rules: a source has no file")
		}
		files = append(files, src.File)
		for _, n := range items(src) {
			if len(s.rules) == maxRules {
				src.File.Problemf(n, "more than %d rules", maxRules)
				break
			}
			r := compileRule(c, specs, src.File, n)
			r.checkUnique(first)
			s.rules = append(s.rules, r)
		}
	}
	if yamlfile.Err(distinct(files)...) == nil {
		checkFlow(s.rules)
	}
	if err := yamlfile.Err(distinct(files)...); err != nil {
		return nil, err
	}
	for _, f := range distinct(files) {
		s.warnings = append(s.warnings, f.Warnings()...)
	}
	return s.set(), nil
}

func items(src rulesource.Parts) []*yaml.Node {
	switch {
	case src.Rules == nil:
		return nil
	case src.Rules.Kind != yaml.SequenceNode:
		hint := ""
		if src.Rules.Kind == yaml.MappingNode {
			hint = `; start each rule with "- id: NAME"`
		}
		src.File.Problemf(src.Rules, "rules: want a list of rules, got %s%s", yamlfile.Kind(src.Rules), hint)
		return nil
	}
	return src.Rules.Content
}

// distinct drops repeated files, whose problems must not be listed twice.
func distinct(files []*yamlfile.File) []*yamlfile.File {
	seen := map[*yamlfile.File]bool{}
	var out []*yamlfile.File
	for _, f := range files {
		if !seen[f] {
			seen[f] = true
			out = append(out, f)
		}
	}
	return out
}

// Warnings returns the warnings of the sources, such as about an action that can never take effect.
func (s *Set) Warnings() Problems {
	c := s.compiled()
	if c == nil {
		return nil
	}
	return slices.Clone(c.warnings)
}

// Len returns the number of rules; a nil set has none.
func (s *Set) Len() int {
	return len(s.compiled().all())
}

// Listens reports whether any rule listens to the event with that name and
// action, such as "issues" and "opened".
func (s *Set) Listens(name, activity string) bool {
	e := events.Of(name, activity)
	for _, r := range s.compiled().all() {
		if events.Listens(r.on, e) {
			return true
		}
	}
	return false
}

// IDs returns the ids of the rules in order.
func (s *Set) IDs() []string {
	ids := make([]string, 0, s.Len())
	for _, r := range s.compiled().all() {
		ids = append(ids, r.id)
	}
	return ids
}

// Lookups returns the look-ups on which any rule depends. It returns none for a nil set.
func (s *Set) Lookups() []facts.LookupSpec {
	var list []facts.LookupSpec
	for _, spec := range facts.LookupSpecs() {
		if s.compiled().reads(spec.Part) {
			list = append(list, spec)
		}
	}
	return list
}
