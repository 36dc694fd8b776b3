package workflow

import (
	"regexp"
	"strings"
	"unicode/utf8"

	"gopkg.in/yaml.v3"

	"github.com/org/foreman-action/internal/yamlfile"
)

// maxName is the maximal length of a step's id in bytes; GitHub allows no longer one.
const maxName = 100

// An Output is a place of a workflow that uses an output of a step.
type Output struct {
	Name string // of the output, in lower case
	Node *yaml.Node
	At   int // offset in the node's text, in characters
}

// Outputs returns the places that use outputs of the step, in the order of the file. Each place
// names the step by its id; a step without an id has no such places.
func (u Use) Outputs() []Output {
	id := yamlfile.Child(u.Step, "id")
	if yamlfile.IsNull(id) || id.Value == "" || len(id.Value) > maxName {
		return nil
	}
	step := strings.ReplaceAll(`(?:\.\s*ID|\[\s*'ID'\s*\])`, "ID", regexp.QuoteMeta(id.Value))
	path := regexp.MustCompile(`(?i)\bsteps\s*` + step + `\s*\.\s*outputs\s*(?:\.\s*([a-z_][\w-]*)|\[\s*'([^']*)'\s*\])`)
	var found []Output
	seen := map[*yaml.Node]bool{}
	var walk func(n *yaml.Node)
	walk = func(n *yaml.Node) {
		if n == nil || seen[n] {
			return
		}
		seen[n] = true
		for _, m := range path.FindAllStringSubmatchIndex(n.Value, -1) {
			from, to := m[2], m[3]
			if from < 0 {
				from, to = m[4], m[5]
			}
			found = append(found, Output{strings.ToLower(n.Value[from:to]), n, utf8.RuneCountInString(n.Value[:m[0]])})
		}
		for _, c := range n.Content {
			walk(c)
		}
	}
	if u.Job != nil && yamlfile.Child(u.Root, "jobs") != nil { // other jobs get outputs from this job's own outputs
		walk(u.Job)
	} else {
		walk(u.Root)
	}
	return found
}
