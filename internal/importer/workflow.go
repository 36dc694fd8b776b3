package importer

import (
	"slices"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/org/foreman-action/internal/strictyaml"
)

// A step is a step of a workflow that runs a tool.
type step struct {
	file   *strictyaml.File // nil: there is no workflow
	with   *yaml.Node       // its inputs; nil: none
	events []string         // of the workflow, as "on" of a rule has them; nil: not known
}

// isNull reports whether a value was left out.
func isNull(n *yaml.Node) bool {
	return n == nil || n.Kind == yaml.ScalarNode && n.ShortTag() == "!!null"
}

// uses returns the mappings below n that run an action.
func uses(n *yaml.Node, action string) []*yaml.Node {
	var found []*yaml.Node
	seen := map[*yaml.Node]bool{}
	var walk func(n *yaml.Node)
	walk = func(n *yaml.Node) {
		if seen[n] {
			return
		}
		seen[n] = true
		if u := strictyaml.Child(n, "uses"); u != nil {
			name, _, _ := strings.Cut(u.Value, "@")
			if strings.EqualFold(name, action) {
				found = append(found, n)
				return
			}
		}
		for _, c := range n.Content {
			walk(c)
		}
	}
	walk(n)
	return found
}

// stepOf returns the step of a workflow that runs the draft's tool.
func (d *draft) stepOf(f *strictyaml.File) step {
	name := action(d.tool)
	found := uses(f.Root(), name)
	if len(found) == 0 {
		f.Problemf(f.Root(), "no step of this workflow uses %s", name)
		return step{}
	}
	for _, more := range found[1:] {
		d.noteIn(f, more, 0, "another step that uses "+name+"; only the inputs of the first count")
	}
	s := step{file: f, with: strictyaml.Child(found[0], "with")}
	if isNull(s.with) {
		s.with = nil
	} else if s.with.Kind != yaml.MappingNode {
		f.Problemf(s.with, "with: want a mapping of inputs, got %s", strictyaml.Kind(s.with))
	}
	s.events = d.eventsOf(f)
	return s
}

// input returns the text of an input; n is nil when it is not given. What a workflow
// computes is noted and counts as not given.
func (d *draft) input(s step, name string) (text string, n *yaml.Node) {
	n = strictyaml.Child(s.with, name)
	switch {
	case isNull(n):
		return "", nil
	case n.Kind != yaml.ScalarNode:
		s.file.Problemf(n, "%s: want a text, got %s", name, strictyaml.Kind(n))
		return "", nil
	case len(n.Value) > maxComment:
		s.file.Problemf(n, "%s: more than %d bytes", name, maxComment)
		return "", nil
	case strings.Contains(n.Value, "${{"):
		d.noteIn(s.file, n, 0, name+": what the workflow computes is not known here; it counts as not given")
		return "", nil
	}
	return strings.TrimSpace(n.Value), n
}

// activities are those of the events that a workflow may name and a rule may listen to.
func activities(event string) []string {
	both := []string{"opened", "edited", "closed", "reopened", "assigned", "unassigned", "labeled", "unlabeled", "locked", "unlocked", "milestoned", "demilestoned"}
	switch event {
	case "issues":
		return append(both, "deleted", "transferred", "pinned", "unpinned", "typed", "untyped")
	case "pull_request":
		return append(both, "synchronize", "converted_to_draft", "ready_for_review", "review_requested", "review_request_removed")
	case "issue_comment":
		return []string{"created", "edited", "deleted"}
	}
	return nil
}

// eventsOf returns the issue and pull request events of a workflow.
func (d *draft) eventsOf(f *strictyaml.File) []string {
	on := strictyaml.Child(f.Root(), "on")
	var out []string
	add := func(name string, types *yaml.Node) {
		event := strings.TrimSuffix(name, "_target")
		if activities(event) == nil {
			return
		}
		for _, e := range d.typesOf(f, event, types) {
			if !slices.Contains(out, e) {
				out = append(out, e)
			}
		}
	}
	switch {
	case on == nil:
	case on.Kind == yaml.MappingNode:
		for i := 0; i+1 < len(on.Content); i += 2 {
			add(on.Content[i].Value, strictyaml.Child(on.Content[i+1], "types"))
		}
	case on.Kind == yaml.SequenceNode:
		for _, item := range on.Content {
			add(item.Value, nil)
		}
	default:
		add(on.Value, nil)
	}
	return out
}

// typesOf returns the activities of one event; without types they are GitHub's choice.
func (d *draft) typesOf(f *strictyaml.File, event string, types *yaml.Node) []string {
	switch {
	case isNull(types) && event == "pull_request":
		return []string{"pull_request.opened", "pull_request.synchronize", "pull_request.reopened"}
	case isNull(types):
		return []string{event + ".*"}
	}
	items := []*yaml.Node{types}
	if types.Kind == yaml.SequenceNode {
		items = types.Content
	}
	var out []string
	for _, item := range items {
		if !slices.Contains(activities(event), item.Value) {
			d.noteIn(f, item, 0, "no rule can listen to "+quoted(event+"."+item.Value))
			continue
		}
		out = append(out, event+"."+item.Value)
	}
	return out
}

// listenTo returns the events of the workflow that belong to one of the names, or the
// default when there is no workflow or none of them.
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
