package importer

import (
	"slices"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/org/foreman-action/internal/importer/jsregexp"
	"github.com/org/foreman-action/internal/importer/workflow"
	"github.com/org/foreman-action/internal/othertools"
	"github.com/org/foreman-action/internal/text"
	"github.com/org/foreman-action/internal/yamlfile"
)

// A tool is a source format.
type tool struct {
	othertools.Tool

	read   func(doc document, s step) reading
	events []string // events that can trigger it
	// outputs are its outputs, each with the advice what replaces it.
	outputs map[string]string
}

// A step is a step of a workflow that runs a tool.
type step struct {
	given   bool         // there is a workflow
	use     workflow.Use // zero when there is none
	with    *yaml.Node   // its inputs; nil: none
	on      []string     // events of the workflow that can trigger it, in the form of a rule's "on"; nil: unknown
	names   []string     // names of the events that can trigger the tool
	guards  []term       // conditions of the job, the step and the workflow's events
	version workflow.Version
	never   bool // the conditions are never true
	partial bool // guards lacks a part of the conditions
}

// readStep returns the step of a workflow that runs an action. If there are several, it prefers the
// step that reads the configuration file of that name.
func readStep(root *yaml.Node, t tool, file string) (step, findings) {
	list := workflow.Uses(root, t.Action)
	if len(list) == 0 {
		return step{}, findings{wrong(root, "no step of this workflow uses %s", t.Action).inWorkflow()}
	}
	one := max(0, slices.IndexFunc(list, func(u workflow.Use) bool { return workflow.SameFile(t.Config(u.Step), file) }))
	var found findings
	for i, more := range list {
		switch {
		case i == one:
		case t.Config(more.Step) == t.Config(list[one].Step):
			found = append(found, lost(more.Step, "another step that uses %s with the same configuration; its inputs were not imported", t.Action).inWorkflow())
		default:
			found = append(found, lost(more.Step, "another step that uses %s; import its configuration %s too", t.Action, quoted(t.Config(more.Step))).inWorkflow())
		}
	}
	s, more := newStep(list[one], t)
	return s, append(found, more...)
}

// newStep reads a step of a workflow that is triggered by events.
func newStep(u workflow.Use, t tool) (step, findings) {
	s := step{given: true, use: u, with: yamlfile.Child(u.Step, "with"), names: t.events}
	var found findings
	if yamlfile.IsNull(s.with) {
		s.with = nil
	} else if s.with.Kind != yaml.MappingNode {
		found = append(found, wrong(s.with, "with: want a mapping of inputs, got %s", yamlfile.Kind(s.with)).inWorkflow())
	}
	found = append(found, s.triggered(u.Trigger(t.events))...)
	found = append(found, s.versioned(u)...)
	return s, append(found, outputs(u, t)...)
}

// triggered adds the events and conditions on which the step runs.
func (s *step) triggered(t workflow.Trigger) findings {
	var found findings
	s.on, s.never, s.partial = t.On(), t.Never, t.Incomplete
	for _, text := range t.Guards {
		s.guards = append(s.guards, is(text).needs(othertools.Example{Repo: t.Repo}))
	}
	for _, p := range t.Problems {
		found = append(found, lost(p.Node, "%s", p.Msg).inWorkflow())
	}
	for _, p := range t.Parts {
		found = append(found, finding{kind: noCounterpart, workflow: true, node: p.Node, places: []jsregexp.Problem{{At: p.At, Msg: p.Msg}}})
	}
	return found
}

// versioned reads the version of the action.
func (s *step) versioned(u workflow.Use) findings {
	uses := yamlfile.Child(u.Step, "uses")
	var ok bool
	if s.version, ok = workflow.VersionOf(uses); !ok {
		return findings{lost(uses, "the version of %s is unknown; the newest version is assumed", quoted(uses.Value)).inWorkflow()}
	}
	return nil
}

// outputs returns findings about the places that use outputs of the step.
func outputs(u workflow.Use, t tool) findings {
	var found findings
	for _, o := range u.Outputs() {
		instead := t.outputs[o.Name]
		if instead == "" {
			instead = "Foreman has no such output"
		}
		msg := "the output " + quoted(o.Name) + " of " + t.Action + " is used here: " + instead
		found = append(found, finding{kind: noCounterpart, workflow: true, node: o.Node, places: []jsregexp.Problem{{At: o.At, Msg: msg}}})
	}
	return found
}

// input returns the text of an input; n is nil if the input is missing. An expression as the value
// results in a finding, and counts as missing.
func (s step) input(name string) (text string, n *yaml.Node, found findings) {
	n = yamlfile.Child(s.with, name)
	switch {
	case yamlfile.IsNull(n):
		return "", nil, nil
	case n.Kind != yaml.ScalarNode:
		return "", nil, findings{wrong(n, "%s: want a text, got %s", name, yamlfile.Kind(n)).inWorkflow()}
	case len(n.Value) > maxComment:
		return "", nil, findings{wrong(n, "%s: the value has more than %d bytes", name, maxComment).inWorkflow()}
	}
	if text = s.use.Expand(n.Value, s.names); strings.Contains(text, "${{") {
		return "", nil, findings{lost(n, "%s: the workflow computes the value, so the input was imported as absent", name).inWorkflow()}
	}
	return strings.TrimSpace(text), n, nil
}

// flag reads an input that is true or false, or 1 or 0.
func (s step) flag(name string) (bool, findings) {
	text, n, found := s.input(name)
	if n != nil && !slices.Contains([]string{"true", "false", "1", "0", ""}, strings.ToLower(text)) {
		found = append(found, wrong(n, "%s: want true or false, got %s", name, quoted(text)).inWorkflow())
	}
	return strings.EqualFold(text, "true") || text == "1", found
}

// since returns the step without an input, and a finding, if the tool's version is older than the input.
func (s step) since(name string, major, minor int) (step, findings) {
	n := yamlfile.Child(s.with, name)
	if n == nil || !s.version.Before(major, minor, 0) {
		return s, nil
	}
	with := *s.with
	i := slices.Index(with.Content, n)
	with.Content = slices.Delete(slices.Clone(with.Content), i-1, i+1)
	s.with = &with
	return s, findings{lost(n, "%s: version %s ignores it, because the input exists since version %d.%d", name, s.version, major, minor).inWorkflow()}
}

// ownToken matches an expression for the token of the workflow itself.
var ownToken = text.Regexp(`^\$\{\{\s*(github\.token|secrets\.GITHUB_TOKEN)\s*\}\}$`)

// ownNumber matches an expression for the number of the event's issue or pull request.
var ownNumber = text.Regexp(`^\$\{\{\s*github\.event\.(issue|pull_request)\.number(\s*\|\|\s*github\.event\.(issue|pull_request)\.number)?\s*\}\}$`)

// others returns findings about inputs that are not in names, and about a token that is not the
// workflow's own.
func (s step) others(token string, names ...string) findings {
	var found findings
	if s.with == nil || s.with.Kind != yaml.MappingNode {
		return nil
	}
	for _, p := range pairsOf(s.with) {
		switch key := p.key.Value; {
		case key == token && !ownToken().MatchString(p.value.Value):
			found = append(found, lost(p.key, "%s: changes with this token start other workflows; pass the token to Foreman as its input token", key).inWorkflow())
		case key == "issue-number" && ownNumber().MatchString(p.value.Value):
		case key != token && !slices.Contains(names, key):
			found = append(found, lost(p.key, "input %s has no counterpart%s", quoted(key), yamlfile.DidYouMean(key, names)).inWorkflow())
		}
	}
	return found
}

// stepsOf returns the steps of a workflow that run a tool, with their conditions. The key is the line
// of the step.
func stepsOf(root *yaml.Node, t tool) (map[int]step, findings) {
	steps := map[int]step{}
	var found findings
	for _, u := range workflow.Uses(root, t.Action) {
		s, trigger := step{use: u}, u.Scheduled()
		if !slices.Contains(t.events, "schedule") {
			trigger = u.Trigger(t.events)
		}
		found = append(found, s.triggered(trigger)...)
		found = append(found, outputs(u, t)...)
		steps[u.Step.Line] = s
	}
	return steps, found
}

// guarded returns the part with the conditions of the step added to its rules. A rule removes labels
// only where the step runs. Where that is not known, it removes none.
func (s step) guarded(p part) part {
	if s.never {
		p.rules = nil
		return p
	}
	var rules []rule
	for _, r := range p.rules {
		r.guard = all(append(slices.Clone(s.guards), r.guard)...)
		if !r.sync.empty() && s.partial {
			r.sync = term{}
			p.found = append(p.found, lost(s.use.Step, "labels are not removed, because a condition of the workflow was not imported").inWorkflow())
		}
		rules = append(rules, r)
	}
	p.rules = rules
	return p
}

// listenTo returns the events of the workflow whose names are in names. It returns otherwise if
// there is no workflow, or if the workflow has no such event.
func (s step) listenTo(otherwise []string, names ...string) []string {
	var out []string
	for _, e := range s.on {
		event, _, _ := strings.Cut(e, ".")
		if slices.Contains(names, event) {
			out = append(out, e)
		}
	}
	if len(out) == 0 {
		return otherwise
	}
	return out
}

// listensTo reports whether the workflow listens to an event such as "issues.labeled". Without a
// workflow it returns true.
func (s step) listensTo(event string) bool {
	name, _, _ := strings.Cut(event, ".")
	return !s.given || slices.Contains(s.on, event) || slices.Contains(s.on, name+".*")
}
