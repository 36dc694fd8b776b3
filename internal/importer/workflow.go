package importer

import (
	"slices"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/org/foreman-action/internal/yamlfile"
)

// A step is a step of a workflow that runs a tool.
type step struct {
	given  bool       // there is a workflow
	with   *yaml.Node // its inputs; nil: none
	events []string   // of the workflow, as "on" of a rule has them; nil: not known
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
		if u := yamlfile.Child(n, "uses"); u != nil {
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

// readStep returns the step of a workflow that runs an action.
func readStep(root *yaml.Node, action string) (step, findings) {
	steps := uses(root, action)
	if len(steps) == 0 {
		return step{}, findings{wrong(root, "no step of this workflow uses %s", action).inWorkflow()}
	}
	var found findings
	for _, more := range steps[1:] {
		found = append(found, lost(more, "another step that uses %s; only the inputs of the first count", action).inWorkflow())
	}
	s := step{given: true, with: yamlfile.Child(steps[0], "with")}
	if isNull(s.with) {
		s.with = nil
	} else if s.with.Kind != yaml.MappingNode {
		found = append(found, wrong(s.with, "with: want a mapping of inputs, got %s", yamlfile.Kind(s.with)).inWorkflow())
	}
	events, more := eventsOf(yamlfile.Child(root, "on"))
	s.events = events
	return s, append(found, more...)
}

// input returns the text of an input; n is nil when it is not given. An input that the
// workflow computes is a finding and counts as not given.
func (s step) input(name string) (text string, n *yaml.Node, found findings) {
	n = yamlfile.Child(s.with, name)
	switch {
	case isNull(n):
		return "", nil, nil
	case n.Kind != yaml.ScalarNode:
		return "", nil, findings{wrong(n, "%s: want a text, got %s", name, yamlfile.Kind(n)).inWorkflow()}
	case len(n.Value) > maxComment:
		return "", nil, findings{wrong(n, "%s: more than %d bytes", name, maxComment).inWorkflow()}
	case strings.Contains(n.Value, "${{"):
		return "", nil, findings{lost(n, "%s: what the workflow computes is not known here; it counts as not given", name).inWorkflow()}
	}
	return strings.TrimSpace(n.Value), n, nil
}

// flag reads an input that is true or false, or 1 or 0.
func (s step) flag(name string) (bool, findings) {
	text, n, found := s.input(name)
	if n != nil && !slices.Contains([]string{"true", "false", "1", "0", ""}, strings.ToLower(text)) {
		found = append(found, wrong(n, "%s: want true or false, got %s", name, quoted(text)).inWorkflow())
	}
	return strings.EqualFold(text, "true") || text == "1", found
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

// eventsOf returns the issue and pull request events of a workflow, which stand at its
// key "on".
func eventsOf(on *yaml.Node) ([]string, findings) {
	var out []string
	var found findings
	add := func(name string, types *yaml.Node) {
		event := strings.TrimSuffix(name, "_target")
		if activities(event) == nil {
			return
		}
		events, more := typesOf(event, types)
		found = append(found, more...)
		for _, e := range events {
			if !slices.Contains(out, e) {
				out = append(out, e)
			}
		}
	}
	switch {
	case on == nil:
	case on.Kind == yaml.MappingNode:
		for _, p := range pairsOf(on) {
			add(p.key.Value, yamlfile.Child(p.value, "types"))
		}
	case on.Kind == yaml.SequenceNode:
		for _, item := range on.Content {
			add(item.Value, nil)
		}
	default:
		add(on.Value, nil)
	}
	return out, found
}

// typesOf returns the activities of one event; without types they are GitHub's choice.
func typesOf(event string, types *yaml.Node) ([]string, findings) {
	switch {
	case isNull(types) && event == "pull_request":
		return []string{"pull_request.opened", "pull_request.synchronize", "pull_request.reopened"}, nil
	case isNull(types):
		return []string{event + ".*"}, nil
	}
	var out []string
	var found findings
	for _, item := range items(types) {
		if !slices.Contains(activities(event), item.Value) {
			found = append(found, lost(item, "no rule can listen to %s", quoted(event+"."+item.Value)).inWorkflow())
			continue
		}
		out = append(out, event+"."+item.Value)
	}
	return out, found
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
