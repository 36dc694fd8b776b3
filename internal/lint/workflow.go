package lint

import (
	"errors"
	"slices"

	"gopkg.in/yaml.v3"

	"github.com/org/foreman-action/internal/yamlfile"
)

// A Workflow is a workflow that a label may start.
type Workflow struct {
	File   string
	events []string // label events that start it
	jobs   []job
	// own is true if the workflow runs Foreman, which ignores its own changes.
	own bool
}

// A job is a job of a workflow.
type job struct {
	when  *condition   // nil: always
	steps []*condition // the conditions of steps that have one
	needs bool         // it waits for another job
}

var errNoWorkflow = errors.New(`it is not a workflow: it has no "on" or no jobs`)

// ParseWorkflow reads the parts of a workflow that concern labels. The error means that src is not
// a workflow; it may be a [yamlfile.Problems].
func ParseWorkflow(name string, src []byte) (Workflow, error) {
	f, err := yamlfile.Parse(name, src)
	if err != nil {
		return Workflow{}, err
	}
	on, jobs := yamlfile.Child(f.Root(), "on"), yamlfile.Child(f.Root(), "jobs")
	if on == nil || jobs == nil || jobs.Kind != yaml.MappingNode {
		return Workflow{}, errNoWorkflow
	}
	w := Workflow{File: name, events: labeledBy(on)}
	for i := 1; i < len(jobs.Content) && len(w.events) > 0; i += 2 {
		n := jobs.Content[i]
		j := job{when: parseCondition(scalar(yamlfile.Child(n, "if"))), needs: yamlfile.Child(n, "needs") != nil}
		if steps := yamlfile.Child(n, "steps"); steps != nil {
			for _, step := range steps.Content {
				if c := parseCondition(scalar(yamlfile.Child(step, "if"))); c != nil {
					j.steps = append(j.steps, c)
				}
				w.own = w.own || own(scalar(yamlfile.Child(step, "uses")))
			}
		}
		w.jobs = append(w.jobs, j)
	}
	return w, nil
}

// labeledBy returns the events in "on" that adding a label causes.
func labeledBy(on *yaml.Node) []string {
	var list []string
	for _, event := range []string{"issues", "pull_request", "pull_request_target"} {
		if types, listens := activities(on, event); listens && slices.Contains(types, "labeled") {
			list = append(list, event)
		}
	}
	return list
}

// activities returns the activities of an event that a workflow listens to, if they concern labels.
func activities(on *yaml.Node, event string) (types []string, listens bool) {
	if event == "issues" {
		types = []string{"labeled"} // without a list, all activities are meant
	}
	switch on.Kind {
	case yaml.ScalarNode:
		return types, on.Value == event
	case yaml.SequenceNode:
		return types, slices.ContainsFunc(on.Content, func(n *yaml.Node) bool { return scalar(n) == event })
	}
	n := yamlfile.Child(on, event)
	if n == nil {
		return nil, false
	}
	switch named := yamlfile.Child(n, "types"); {
	case named == nil:
		return types, true
	case named.Kind == yaml.SequenceNode:
		types = nil
		for _, item := range named.Content {
			types = append(types, scalar(item))
		}
		return types, true
	default:
		return []string{scalar(named)}, true
	}
}

// noLabel is a text that cannot be the name of a label.
const noLabel = "\x00"

// Names reports whether the workflow tests for that label: one of its conditions is more likely to
// be true for it than for other labels.
func (w Workflow) Names(label string) bool {
	for _, event := range w.events {
		for _, j := range w.jobs {
			if j.when.asksLabel() && j.when.holds(event, label) > j.when.holds(event, noLabel) {
				return true
			}
			for _, step := range j.steps {
				if step.asksLabel() && j.when.holds(event, label) > no && step.holds(event, label) > step.holds(event, noLabel) {
					return true
				}
			}
		}
	}
	return false
}

// Any reports whether every label starts the workflow, because one of its jobs tests for no label.
func (w Workflow) Any() bool {
	for _, event := range w.events {
		for _, j := range w.jobs {
			if !j.needs && j.when.holds(event, noLabel) != no && !slices.ContainsFunc(j.steps, (*condition).asksLabel) {
				return true
			}
		}
	}
	return false
}

// cost returns the number of nodes of conditions that Names evaluates.
func (w Workflow) cost() int {
	n := 1
	for _, j := range w.jobs {
		for _, c := range append(slices.Clone(j.steps), j.when) {
			if c.asksLabel() {
				n += 2 * len(w.events) * c.nodes
			}
		}
	}
	return n
}

// Candidates returns the strings in the workflow's conditions, some of which may be labels.
func (w Workflow) Candidates() []string {
	var list []string
	for _, j := range w.jobs {
		for _, c := range append(slices.Clone(j.steps), j.when) {
			if c.asksLabel() {
				list = append(list, c.texts...)
			}
		}
	}
	return list
}
