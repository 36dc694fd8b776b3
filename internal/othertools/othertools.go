// Package othertools describes the triage tools whose configurations Foreman imports: their names, the
// steps of workflows that run them, and the rules that are made of their configurations.
//
// Package importer makes these rules. A program that only names the tools does without it.
package othertools

import (
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/org/foreman-action/internal/yamlfile"
)

// A Tool is an action whose configuration can be imported.
type Tool struct {
	Name   string // in "foreman rules import"
	Action string // OWNER/NAME, in lower case
	Input  string // input that names its configuration file; empty: the workflow is the configuration
	File   string // its configuration file if the input is missing
}

// All returns the tools in the order in which the help lists them.
func All() []Tool {
	return []Tool{
		{"labeler", "actions/labeler", "configuration-path", ".github/labeler.yml"},
		{"issue-labeler", "github/issue-labeler", "configuration-path", ".github/labeler.yml"},
		{"label-actions", "dessant/label-actions", "config-path", ".github/label-actions.yml"},
		{"stale", "actions/stale", "", ""},
		{"anti-slop", "peakoss/anti-slop", "", ""},
	}
}

// InWorkflow reports whether the tool has no file of its own: its configuration is the inputs of the
// workflow that runs it.
func (t Tool) InWorkflow() bool { return t.Input == "" }

// Config returns the configuration file that a step of the tool reads. It is possibly an expression;
// an empty path means the workflow itself.
func (t Tool) Config(step *yaml.Node) string {
	if n := yamlfile.Child(step, "with", t.Input); !yamlfile.IsNull(n) {
		return n.Value
	}
	return t.File
}

// A Use is a step of a workflow that runs a tool.
type Use struct {
	Tool   Tool
	Config string // see [Tool.Config]
}

// Find returns the steps of a workflow that run a tool. It parses the workflow only if its text
// contains the name of a tool's action.
func Find(file Source) (found []Use, err error) {
	for _, t := range All() {
		if !strings.Contains(strings.ToLower(string(file.Data)), t.Action) {
			continue
		}
		f, err := yamlfile.Parse(file.Name, file.Data)
		if err != nil {
			return nil, err
		}
		for _, s := range Steps(f.Root(), t.Action) {
			found = append(found, Use{t, t.Config(s.Step)})
		}
	}
	return found, nil
}

// A Step is a step that runs an action, in its workflow and job. Job is nil in a file without jobs.
type Step struct{ Root, Job, Step *yaml.Node }

// Steps returns the steps below root that run an action, in the order of the file.
func Steps(root *yaml.Node, action string) []Step {
	var found []Step
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
				found = append(found, Step{root, job, n})
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
	walk(root, nil)
	return found
}
