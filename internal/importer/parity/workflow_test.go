package parity_test

import (
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	"gopkg.in/yaml.v3"
)

// A flow is the part of a workflow that a test needs: its triggers, and the steps that use the
// tool.
type flow struct {
	on    map[string]trigger
	env   map[string]any
	steps []flowStep
}

// A trigger is an event of a workflow. Without types it is GitHub's default.
type trigger struct {
	Types          textList
	Branches       textList
	BranchesIgnore textList `yaml:"branches-ignore"`
	Paths          textList
	PathsIgnore    textList `yaml:"paths-ignore"`
}

// A textList is a list of texts in YAML, or a single text.
type textList []string

func (l *textList) UnmarshalYAML(n *yaml.Node) error {
	*l = scalars(n)
	return nil
}

// A flowStep is a step that uses the tool, with its conditions and those of its job.
type flowStep struct {
	conditions []string
	with       map[string]string
	matrix     []map[string]any // one run for each; empty: one run
}

// runs reports whether the conditions of the step and of its job are true.
func (s flowStep) runs(t *testing.T, x expressions) bool {
	t.Helper()
	return x.holds(t, s.conditions[0]) && x.holds(t, s.conditions[1])
}

// readFlow reads a workflow that uses an action.
func readFlow(t *testing.T, src []byte, action string) flow {
	t.Helper()
	var w struct {
		On   yaml.Node
		Env  map[string]any
		Jobs map[string]struct {
			If       string
			Strategy struct {
				Matrix struct{ Include []map[string]any }
			}
			Steps []struct {
				If   string
				Uses string
				With map[string]string
			}
		}
	}
	if err := yaml.Unmarshal(src, &w); err != nil {
		t.Fatal(err)
	}
	f := flow{on: map[string]trigger{}, env: w.Env}
	switch w.On.Kind {
	case yaml.ScalarNode:
		f.on[w.On.Value] = trigger{}
	case yaml.SequenceNode:
		for _, n := range w.On.Content {
			f.on[n.Value] = trigger{}
		}
	default:
		for i := 0; i < len(w.On.Content); i += 2 {
			var on trigger
			if n := w.On.Content[i+1]; n.Kind == yaml.MappingNode {
				if err := n.Decode(&on); err != nil {
					t.Fatal(err)
				}
			}
			f.on[w.On.Content[i].Value] = on
		}
	}
	for _, name := range slices.Sorted(maps.Keys(w.Jobs)) {
		j := w.Jobs[name]
		for _, s := range j.Steps {
			if name, _, _ := strings.Cut(s.Uses, "@"); strings.EqualFold(name, action) {
				f.steps = append(f.steps, flowStep{conditions: []string{j.If, s.If}, with: s.With, matrix: j.Strategy.Matrix.Include})
			}
		}
	}
	if len(f.steps) == 0 {
		t.Fatalf("no step uses %s", action)
	}
	return f
}

// hears returns the name under which the workflow gets an event; "" when it does not. base and
// files are those of a pull request.
func (f flow) hears(event, action, base string, files []string) string {
	names := []string{event}
	if event == "pull_request" {
		names = append(names, "pull_request_target")
	}
	for _, name := range names {
		on, heard := f.on[name]
		types := on.Types
		if types == nil && event == "pull_request" {
			types = []string{"opened", "synchronize", "reopened"}
		}
		if heard && (types == nil || slices.Contains(types, action)) && (event != "pull_request" || on.passes(base, files)) {
			return name
		}
	}
	return ""
}

// passes reports whether a pull request passes the filters.
func (on trigger) passes(base string, files []string) bool {
	some := func(globs []string) bool {
		return slices.ContainsFunc(files, func(f string) bool { return filtered(globs, f) })
	}
	switch {
	case on.Branches != nil && !filtered(on.Branches, base), on.BranchesIgnore != nil && filtered(on.BranchesIgnore, base):
		return false
	case on.Paths != nil:
		return some(on.Paths)
	case on.PathsIgnore != nil:
		return slices.ContainsFunc(files, func(f string) bool { return !filtered(on.PathsIgnore, f) })
	}
	return true
}

// filtered reports whether the last of GitHub's patterns that matches a name is no exclusion.
func filtered(patterns []string, name string) bool {
	in := false
	for _, p := range patterns {
		p, not := strings.CutPrefix(p, "!")
		if patternOf(p).MatchString(name) {
			in = !not
		}
	}
	return in
}

// patternOf returns a filter pattern of GitHub as a regular expression: ? and + are about the
// character before them.
func patternOf(p string) *regexp.Regexp {
	text := regexp.QuoteMeta(p)
	for _, r := range [][2]string{
		{`\*\*/`, "(?:.*/)?"}, {`\*\*`, ".*"}, {`\*`, "[^/]*"}, {`\?`, "?"}, {`\+`, "+"}, {`\[`, "["}, {`\]`, "]"},
	} {
		text = strings.ReplaceAll(text, r[0], r[1])
	}
	return regexp.MustCompile("^" + text + "$")
}
