package importer

import (
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/org/foreman-action/internal/importer/ghexpr"
	"github.com/org/foreman-action/internal/importer/jsregexp"
	"github.com/org/foreman-action/internal/yamlfile"
)

// A tool is a source format.
type tool struct {
	name   string
	action string // name of its action in workflows
	read   func(doc document, s step) reading
	config string   // input that names its configuration file; empty: the workflow is the configuration
	file   string   // its configuration file if the input is missing
	events []string // events that can trigger it
}

// A step is a step of a workflow that runs a tool.
type step struct {
	given   bool         // there is a workflow
	node    *yaml.Node   // nil when there is none
	with    *yaml.Node   // its inputs; nil: none
	env     []*yaml.Node // its environment variables, those of its job and of the workflow
	events  []string     // events of the workflow, in the form of a rule's "on"; nil: unknown
	version version      // of the tool
	guards  []term       // conditions of the job, the step and the workflow's events
	guard   *yaml.Node   // the last of these conditions whose value may differ between events
	never   bool         // the conditions are never true
}

// A version is the major version of an action; 0: unknown.
type version int

// before reports whether the version is known and older than o.
func (v version) before(o version) bool { return v > 0 && v < o }

// A use is a step that runs an action, with its job.
type use struct{ job, step *yaml.Node }

// usesOf returns the steps below n that run an action.
func usesOf(n *yaml.Node, action string) []use {
	var found []use
	seen := map[*yaml.Node]bool{}
	var walk func(n, job *yaml.Node)
	walk = func(n, job *yaml.Node) {
		if seen[n] {
			return
		}
		seen[n] = true
		if u := yamlfile.Child(n, "uses"); u != nil {
			name, _, _ := strings.Cut(u.Value, "@")
			if strings.EqualFold(name, action) {
				found = append(found, use{job, n})
				return
			}
		}
		if yamlfile.Child(n, "steps") != nil {
			job = n
		}
		for _, c := range n.Content {
			walk(c, job)
		}
	}
	walk(n, nil)
	return found
}

// readStep returns the step of a workflow that runs an action. If there are several, it prefers the
// step that reads the configuration file of that name.
func readStep(root *yaml.Node, t tool, file string) (step, findings) {
	list := usesOf(root, t.action)
	if len(list) == 0 {
		return step{}, findings{wrong(root, "no step of this workflow uses %s", t.action).inWorkflow()}
	}
	one := max(0, slices.IndexFunc(list, func(u use) bool { return sameFile(t.configOf(u.step), file) }))
	var found findings
	for i, more := range list {
		switch {
		case i == one:
		case t.configOf(more.step) == t.configOf(list[one].step):
			found = append(found, lost(more.step, "another step that uses %s with the same configuration; its inputs were not imported", t.action).inWorkflow())
		default:
			found = append(found, lost(more.step, "another step that uses %s; import its configuration %s too", t.action, quoted(t.configOf(more.step))).inWorkflow())
		}
	}
	s, more := newStep(root, list[one], t.events)
	return s, append(found, more...)
}

// newStep reads a step of a workflow that is triggered by events.
func newStep(root *yaml.Node, u use, events []string) (step, findings) {
	s := step{given: true, node: u.step, with: yamlfile.Child(u.step, "with"), env: environment(root, u)}
	var found findings
	if isNull(s.with) {
		s.with = nil
	} else if s.with.Kind != yaml.MappingNode {
		found = append(found, wrong(s.with, "with: want a mapping of inputs, got %s", yamlfile.Kind(s.with)).inWorkflow())
	}
	on := readTriggers(yamlfile.Child(root, "on"))
	s.events, s.guards, found = on.events, on.guards, append(found, on.found...)
	var more findings
	s.version, more = versionOf(yamlfile.Child(u.step, "uses"))
	found = append(found, more...)
	names := slices.DeleteFunc(slices.Clone(on.names), func(e string) bool { return !slices.Contains(events, strings.TrimSuffix(e, "_target")) })
	return s, append(found, s.conditions(u, names)...)
}

// configOf returns the configuration file that a step of the tool reads.
func (t tool) configOf(s *yaml.Node) string {
	if n := yamlfile.Child(s, "with", t.config); !isNull(n) {
		return n.Value
	}
	return t.file
}

// ofActivity matches a condition about nothing but the activity of the event.
var ofActivity = regexp.MustCompile(`^event\.action (==|!=) "([a-z_]+)"$`)

// onlyActivities removes the events that a condition excludes by their activity. It reports whether
// the condition is about nothing else.
func (s *step) onlyActivities(text string) bool {
	m := ofActivity.FindStringSubmatch(text)
	if m == nil || slices.ContainsFunc(s.events, func(e string) bool { return strings.HasSuffix(e, ".*") }) {
		return false
	}
	s.events = slices.DeleteFunc(s.events, func(e string) bool {
		_, activity, _ := strings.Cut(e, ".")
		return (activity == m[2]) != (m[1] == "==")
	})
	s.never = s.never || len(s.events) == 0
	return true
}

// sameFile reports whether a path in a repository is the end of the name of a file.
func sameFile(config, name string) bool {
	config, name = path.Clean(config), path.Clean(strings.ReplaceAll(name, `\`, "/"))
	return config == name || strings.HasSuffix(name, "/"+config)
}

// conditions adds the conditions of a step and its job.
func (s *step) conditions(u use, events []string) findings {
	found := s.condition(yamlfile.Child(u.job, "if"), events)
	return append(found, s.condition(yamlfile.Child(u.step, "if"), events)...)
}

// condition adds the condition of a job or step that these events trigger.
func (s *step) condition(n *yaml.Node, events []string) findings {
	if isNull(n) || n.Kind != yaml.ScalarNode {
		return nil
	}
	c := ghexpr.Translate(n.Value, events)
	never := s.never
	for _, text := range c.Terms {
		if s.onlyActivities(text) {
			continue
		}
		s.guards = append(s.guards, is(text))
		if !strings.Contains(text, "repo.") {
			s.guard = n
		}
	}
	var found findings
	if s.never = s.never || c.Never; s.never && !never {
		found = append(found, lost(n, "if: the condition is false for every supported event, so no rules were imported").inWorkflow())
	}
	if len(c.Lost) > 0 {
		at := finding{kind: noCounterpart, workflow: true, node: n}
		for _, p := range c.Lost {
			at.places = append(at.places, jsregexp.Problem{At: p.At, Msg: "if: " + p.Msg + "; this part was not imported"})
		}
		found = append(found, at)
	}
	return found
}

var (
	tag    = regexp.MustCompile(`^v?([0-9]{1,4})(?:[.-].*)?$`)
	tagged = regexp.MustCompile(`\bv?([0-9]{1,4})(?:\.[0-9]+)*\b`)
	branch = regexp.MustCompile(`^(main|master|releases?/.*)$`)
)

// versionOf reads the version of an action from its reference, or from the comment on that line if
// the reference is a commit.
func versionOf(n *yaml.Node) (version, findings) {
	_, ref, _ := strings.Cut(n.Value, "@")
	m := tag.FindStringSubmatch(ref)
	if m == nil && !branch.MatchString(ref) {
		m = tagged.FindStringSubmatch(n.LineComment)
	}
	if m == nil {
		if branch.MatchString(ref) {
			return 0, nil
		}
		return 0, findings{lost(n, "the version of %s is unknown; the newest version is assumed", quoted(n.Value)).inWorkflow()}
	}
	major, err := strconv.Atoi(m[1])
	if err != nil {
		return 0, findings{wrong(n, "read the version: %v", err).inWorkflow()}
	}
	return version(major), nil
}

// input returns the text of an input; n is nil if the input is missing. An expression as the value
// results in a finding, and counts as missing.
func (s step) input(name string) (text string, n *yaml.Node, found findings) {
	n = yamlfile.Child(s.with, name)
	switch {
	case isNull(n):
		return "", nil, nil
	case n.Kind != yaml.ScalarNode:
		return "", nil, findings{wrong(n, "%s: want a text, got %s", name, yamlfile.Kind(n)).inWorkflow()}
	case len(n.Value) > maxComment:
		return "", nil, findings{wrong(n, "%s: the value has more than %d bytes", name, maxComment).inWorkflow()}
	}
	if text = s.expanded(n.Value); strings.Contains(text, "${{") {
		return "", nil, findings{lost(n, "%s: the workflow computes the value, so the input was imported as absent", name).inWorkflow()}
	}
	return strings.TrimSpace(text), n, nil
}

// environment returns the mappings of environment variables of a step: its own first, then those of
// its job and of the workflow.
func environment(root *yaml.Node, u use) []*yaml.Node {
	return []*yaml.Node{yamlfile.Child(u.step, "env"), yamlfile.Child(u.job, "env"), yamlfile.Child(root, "env")}
}

// variable matches an expression for an environment variable in a text.
var variable = regexp.MustCompile(`\$\{\{\s*env\.([A-Za-z_][A-Za-z0-9_-]*)\s*\}\}`)

// expanded replaces the environment variables that the workflow sets to constants by their values.
func (s step) expanded(text string) string {
	return variable.ReplaceAllStringFunc(text, func(m string) string {
		name := variable.FindStringSubmatch(m)[1]
		for _, env := range s.env {
			switch n := yamlfile.Child(env, name); {
			case n == nil:
			case n.Kind != yaml.ScalarNode, strings.Contains(n.Value, "${{"), len(n.Value) > maxComment:
				return m
			default:
				return n.Value
			}
		}
		return m
	})
}

// flag reads an input that is true or false, or 1 or 0.
func (s step) flag(name string) (bool, findings) {
	text, n, found := s.input(name)
	if n != nil && !slices.Contains([]string{"true", "false", "1", "0", ""}, strings.ToLower(text)) {
		found = append(found, wrong(n, "%s: want true or false, got %s", name, quoted(text)).inWorkflow())
	}
	return strings.EqualFold(text, "true") || text == "1", found
}

// ownToken matches an expression for the token of the workflow itself.
var ownToken = regexp.MustCompile(`^\$\{\{\s*(github\.token|secrets\.GITHUB_TOKEN)\s*\}\}$`)

// ownNumber matches an expression for the number of the event's issue or pull request.
var ownNumber = regexp.MustCompile(`^\$\{\{\s*github\.event\.(issue|pull_request)\.number(\s*\|\|\s*github\.event\.(issue|pull_request)\.number)?\s*\}\}$`)

// others returns findings about inputs that are not in names, and about a token that is not the
// workflow's own.
func (s step) others(token string, names ...string) findings {
	var found findings
	if s.with == nil || s.with.Kind != yaml.MappingNode {
		return nil
	}
	for _, p := range pairsOf(s.with) {
		switch key := p.key.Value; {
		case key == token && !ownToken.MatchString(p.value.Value):
			found = append(found, lost(p.key, "%s: changes with this token start other workflows; pass the token to Foreman as its input token", key).inWorkflow())
		case key == "issue-number" && ownNumber.MatchString(p.value.Value):
		case key != token && !slices.Contains(names, key):
			found = append(found, lost(p.key, "input %s has no counterpart%s", quoted(key), yamlfile.DidYouMean(key, names)).inWorkflow())
		}
	}
	return found
}

// scheduled returns the steps that run a tool on a schedule, with their conditions. The key is the
// line of the step.
func scheduled(root *yaml.Node, t tool) (map[int]step, findings) {
	steps := map[int]step{}
	var found findings
	for _, u := range usesOf(root, t.action) {
		s := step{node: u.step}
		found = append(found, s.conditions(u, t.events)...)
		steps[u.step.Line] = s
	}
	return steps, found
}

// guarded returns the part with the conditions of the step added to its rules.
func (s step) guarded(p part) part {
	if s.never {
		p.rules = nil
		return p
	}
	for i, r := range p.rules {
		if p.rules[i].when = all(append(slices.Clone(s.guards), r.when)...); r.elseUndo && s.guard != nil {
			p.found = append(p.found, lost(s.guard, "when this condition becomes false, Foreman removes the labels; the original action keeps them").inWorkflow())
		}
	}
	return p
}

// listenTo returns the events of the workflow whose names are in names. It returns otherwise if
// there is no workflow, or if the workflow has no such event.
func (s step) listenTo(otherwise []string, names ...string) []string {
	var out []string
	for _, e := range s.events {
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
	return !s.given || slices.Contains(s.events, event) || slices.Contains(s.events, name+".*")
}
