package rules

import (
	"errors"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/org/foreman-action/internal/text"
	"github.com/org/foreman-action/internal/yamlfile"
	"github.com/org/foreman-action/protocol"
	"github.com/org/foreman-action/rules/internal/action"
	"github.com/org/foreman-action/rules/internal/events"
	"github.com/org/foreman-action/rules/internal/expression"
	"github.com/org/foreman-action/rules/internal/symbols"
	"github.com/org/foreman-action/triage"
)

// A Source is the list of rules in a YAML file, with the names that the file declares for the rules
// of all files. Node, Forms, Tables and Tests are the values of the keys rules, forms, tables and
// tests; nil means that the file does not have the key.
type Source struct {
	File   *yamlfile.File
	Node   *yaml.Node
	Forms  *yaml.Node
	Tables *yaml.Node
	Tests  *yaml.Node // see [ruletest.Parse]; Compile does not look at them
	// IssueForms are the issue forms of the repository, if they are known. One source is enough to
	// have them.
	IssueForms *IssueForms
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
	return Source{File: f, Node: keys.Rules, Forms: keys.Forms, Tables: keys.Tables, Tests: keys.Tests}, nil
}

// A Set is a compiled list of rules. It does not change and is safe for
// concurrent use. The zero value has no rules.
type Set struct {
	rules []*rule
	names *symbols.Table // nil: none
}

const maxRules = 5000 // of all files together

// Compile compiles the rules of all sources, in order, as one list. Mistakes and warnings are
// recorded in their files. The error is a [yamlfile.Problems] with all errors of these files,
// including those recorded before; it contains no warnings.
func Compile(sources ...Source) (*Set, error) {
	names := symbols.New()
	for _, src := range sources {
		if src.File != nil {
			names.Declare(src.File, src.Forms, src.Tables)
		}
	}
	for _, src := range sources {
		if src.IssueForms != nil {
			for _, field := range names.Forms {
				field.Compare(src.IssueForms.list)
			}
			break
		}
	}
	c, specs := expression.NewCompiler(names), action.Specs()
	s := &Set{names: names}
	var files []*yamlfile.File
	first := map[string]*rule{}
	for _, src := range sources {
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
	return s, nil
}

func items(src Source) []*yaml.Node {
	switch {
	case src.Node == nil:
		return nil
	case src.Node.Kind != yaml.SequenceNode:
		src.File.Problemf(src.Node, "rules: want a list of rules, got %s", yamlfile.Kind(src.Node))
		return nil
	}
	return src.Node.Content
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

// Len returns the number of rules; a nil set has none.
func (s *Set) Len() int {
	if s == nil {
		return 0
	}
	return len(s.rules)
}

// Listens reports whether any rule listens to the event with that name and
// action, such as "issues" and "opened".
func (s *Set) Listens(name, activity string) bool {
	e := events.Of(name, activity)
	for _, r := range s.all() {
		if events.Listens(r.on, e) {
			return true
		}
	}
	return false
}

// Names reports whether any rule listens to the event with that name and action other than through
// "*", as in issues.*. A rule without "on" names its default events, and "repository_dispatch"
// names all of its types. Only an event that is named so may be answered with a comment.
func (s *Set) Names(name, activity string) bool {
	e := events.Of(name, activity)
	for _, r := range s.all() {
		named := slices.DeleteFunc(slices.Clone(r.on), func(on string) bool { return strings.HasSuffix(on, ".*") })
		if events.Listens(named, e) {
			return true
		}
	}
	return false
}

// IDs returns the ids of the rules in order.
func (s *Set) IDs() []string {
	ids := make([]string, 0, s.Len())
	for _, r := range s.all() {
		ids = append(ids, r.id)
	}
	return ids
}

// Scans returns the queries with which scheduled runs find issues, each once, in the order of the
// rules.
func (s *Set) Scans() []string {
	var list []string
	for _, r := range s.all() {
		for _, s := range r.scans {
			if !slices.Contains(list, s.query) {
				list = append(list, s.query)
			}
		}
	}
	return list
}

// Exempt returns labels that keep an issue from a scan: with one of them, the rules of the scan do
// nothing. There are none if one of these rules reverts its actions (else_undo), or has stop, because
// then it matters if its condition fails. Labels that any rule may remove are left out.
func (s *Set) Exempt(query string) []string {
	var list []string
	found := false
	for _, r := range s.all() {
		switch {
		case !slices.ContainsFunc(r.scans, func(s scan) bool { return s.query == query }):
			continue
		case r.undo || r.stop || r.when == nil:
			return nil
		}
		absent := r.when.LabelsAbsent()
		if !found {
			list, found = absent, true
		}
		list = slices.DeleteFunc(list, func(label string) bool {
			return !slices.ContainsFunc(absent, func(l string) bool { return text.SameLabel(l, label) })
		})
	}
	return slices.DeleteFunc(list, func(label string) bool {
		return s.has(func(a action.Action) bool { return a.MayRemove(label) })
	})
}

// NeverAgain reports whether any rule has the action never_again, which forbids a label for good.
func (s *Set) NeverAgain() bool {
	return s.has(func(a action.Action) bool { return a.Name() == protocol.ActionNeverAgain })
}

// ClosesLater reports whether any rule closes issues after a grace period.
func (s *Set) ClosesLater() bool {
	return s.has(func(a action.Action) bool { return a.Name() == protocol.ActionCloseIssue && a.Has("after") })
}

func (s *Set) has(match func(action.Action) bool) bool {
	return slices.ContainsFunc(s.all(), func(r *rule) bool { return slices.ContainsFunc(r.actions, match) })
}

// UsesLabels reports whether the condition of any rule reads the issue's labels.
func (s *Set) UsesLabels() bool {
	return slices.ContainsFunc(s.all(), func(r *rule) bool { return r.when != nil && r.when.ReadsLabels() })
}

// UsesMemory reports whether any rule depends on the memory of the issue: its condition or an
// action reads the memory, or a comment has the parameter "once". It is false for a nil set.
func (s *Set) UsesMemory() bool {
	return s.has(action.Action.UsesMemory) || slices.ContainsFunc(s.all(), func(r *rule) bool { return r.when != nil && r.when.ReadsMemory() })
}

// UsesAuthor reports whether any rule depends on earlier issues or pull requests of the issue's
// author. It is false for a nil set.
func (s *Set) UsesAuthor() bool {
	reads := (*expression.Expression).ReadsAuthor
	return s.has(func(a action.Action) bool { return a.Reads(reads) }) ||
		slices.ContainsFunc(s.all(), func(r *rule) bool { return r.when != nil && reads(r.when) })
}

// UsesContrib reports whether any rule depends on the score of how well the issue suits
// contributors. It is false for a nil set.
func (s *Set) UsesContrib() bool {
	reads := (*expression.Expression).ReadsContrib
	return s.has(func(a action.Action) bool { return a.Reads(reads) }) ||
		slices.ContainsFunc(s.all(), func(r *rule) bool { return r.when != nil && reads(r.when) })
}

// OverridesHumans reports whether the rule with that id has "override_humans: true":
// its actions may undo what people did on the issue. It is false when there is no such
// rule.
func (s *Set) OverridesHumans(id string) bool {
	return slices.ContainsFunc(s.all(), func(r *rule) bool { return r.id == id && r.override })
}

// Together reports whether the rule with that id has "together: true": all of its actions are carried
// out, or none. It is false when there is no such rule.
func (s *Set) Together(id string) bool {
	return slices.ContainsFunc(s.all(), func(r *rule) bool { return r.id == id && r.together })
}

// Adders returns the ids of the rules that add a label, in order. It misses labels that an
// expression computes.
func (s *Set) Adders(label string) []string {
	var list []string
	for _, r := range s.all() {
		if slices.ContainsFunc(r.actions, func(a action.Action) bool { return a.Adds(label) }) {
			list = append(list, r.id)
		}
	}
	return list
}

// Knows reports whether the condition of a rule that listens to comments tests for this command. If
// so, it is a command of this repository.
func (s *Set) Knows(command string) bool {
	for _, r := range s.all() {
		if r.when == nil || !slices.ContainsFunc(r.on, func(on string) bool { return strings.HasPrefix(on, "issue_comment") }) {
			continue
		}
		if r.when.UsesCommand(command) {
			return true
		}
	}
	return false
}

// UndoesByMemory reports whether a rule with "else_undo: true" needs the memory to find its earlier
// changes. A rule for pull requests alone does not, because it finds them in the timeline.
func (s *Set) UndoesByMemory() bool {
	return slices.ContainsFunc(s.all(), func(r *rule) bool {
		return r.undo && slices.ContainsFunc(r.on, func(on string) bool { return !events.Covers("pull_request.*", on) })
	})
}

// MayHaveEffect reports whether the issue may show a revertible effect of the rule with that id,
// such as a label that the rule adds. When an expression computes the label, any label counts. It
// makes no look-ups, so true may be wrong; false is certain. It is false when there is no such
// rule.
func (s *Set) MayHaveEffect(id string, on triage.Issue) bool {
	i := slices.IndexFunc(s.all(), func(r *rule) bool { return r.id == id })
	return i >= 0 && slices.ContainsFunc(s.rules[i].actions, func(a action.Action) bool { return a.MayHaveEffect(on) })
}

// LabelsOff returns the labels to remove from the issue because the condition of the rule with that
// id is false. Only a rule with else_undo and override_humans has any: the labels on the issue that
// the rule adds by name, even if somebody else added them.
func (s *Set) LabelsOff(id string, on triage.Issue) []string {
	i := slices.IndexFunc(s.all(), func(r *rule) bool { return r.id == id })
	if i < 0 || !s.rules[i].undo || !s.rules[i].override {
		return nil
	}
	var list []string
	for _, a := range s.rules[i].actions {
		list = append(list, a.LabelsLeft(on)...)
	}
	return list
}

// Labels returns the places where the text of the rules names labels, in the order of the rules. A
// nil set has none.
func (s *Set) Labels() []LabelUse {
	if s.Len() == 0 {
		return nil
	}
	return labelUses(s.names, s.rules)
}

// Forms returns the names that rule files declare under forms, in the order of the
// files. A nil set has none.
func (s *Set) Forms() []FormUse {
	if s == nil || s.names == nil {
		return nil
	}
	return formUses(s.names)
}

// FormTables returns the tables in which rules look up the value of a form field, each pair of
// table and field once, in the order of the rules. A nil set has none.
func (s *Set) FormTables() []TableUse {
	if s.Len() == 0 {
		return nil
	}
	return formTableUses(s.names, s.rules)
}

func (s *Set) all() []*rule {
	if s == nil {
		return nil
	}
	return s.rules
}
