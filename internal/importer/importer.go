// Package importer converts the configuration of other triage tools to ours.
//
// [Import] reads a file of one of [Tools] and returns a configuration file with the same rules. It
// also returns the parts of the source without a counterpart, with their positions, in the order of
// the source. The new file contains each of them as a comment beside its rule. A rule that would
// behave differently from the source is only a comment. Package rules has compiled the result, so
// it can be loaded.
//
// A reader function for each tool converts its configuration to a reading: rules, and findings
// about the source. assemble converts a reading to a draft and a report, and render converts the
// draft to text. finish compiles that text and merges similar rules with gather.
//
// A new tool needs a line in tools, a reader function in a separate file, cases in testdata, and a
// line in the help of "foreman rules import" and in docs/import.md.
//
// The source may be hostile. Package yamlfile limits its size; the result has the same limit.
package importer

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/org/foreman-action/internal/importer/workflow"
	"github.com/org/foreman-action/internal/layout"
	"github.com/org/foreman-action/internal/yamlfile"
)

// A Source is a file: its name for messages, and its text.
type Source struct {
	Name string
	Data []byte
}

// A Request is the input of [Import].
type Request struct {
	Tool string // one of Tools
	File Source
	// Workflow is the workflow file that runs the tool; its inputs and events affect the result. An
	// empty name means that there is no workflow. For tools of [InWorkflow], File is the workflow.
	Workflow Source
	// Reserved are ids that the new rules must not have.
	Reserved []string
}

// A Result is the outcome of [Import].
type Result struct {
	// Config is the text of our configuration file; nil when Rules is 0.
	Config []byte
	// Unmapped lists the parts without a counterpart, in the order of the source.
	Unmapped yamlfile.Problems
	// LeftOut names the entries of the source that have no rule in Config, in the order of the source.
	LeftOut []string
	// Rules is the number of rules in Config.
	Rules int
	// Examples are events for the rules for which one is known, in the order of the rules.
	Examples []Example

	// The content of Config, for a file that joins several imports.
	Shadow bool   // the source writes nothing
	Notes  string // comments about the file as a whole
	Items  string // the items of the list of rules
	IDs    []string
	Policy Policy
}

// tools returns the supported tools in the order in which the help lists them.
func tools() []tool {
	kinds := []string{"issues", "pull_request", "issue_comment"}
	return []tool{
		{"labeler", "actions/labeler", readLabeler, "configuration-path", ".github/labeler.yml", []string{"pull_request"}, map[string]string{
			"new-labels": "the output labels-added of Foreman has the added labels as a JSON array",
			"all-labels": "Foreman has no such output; its output labels-added lacks the labels that the pull request had before",
		}},
		{"issue-labeler", "github/issue-labeler", readIssueLabeler, "configuration-path", ".github/labeler.yml", kinds, map[string]string{
			"labels-added":   "the output labels-added of Foreman's step has the same form",
			"labels-removed": "the output labels-removed of Foreman's step has the same form",
		}},
		{"label-actions", "dessant/label-actions", readLabelActions, "config-path", ".github/label-actions.yml", kinds[:2], nil},
		{"stale", "actions/stale", readStale, "", "", []string{"schedule"}, map[string]string{
			"closed-issues-prs": "the output closed-issues of Foreman has the numbers of the closed issues and pull requests as a JSON array",
			"staled-issues-prs": "Foreman has no such output; its output issues counts what a scheduled run did",
		}},
		{"anti-slop", "peakoss/anti-slop", readAntiSlop, "", "", []string{"pull_request"}, nil},
	}
}

// Tools returns the names of the tools that can be imported.
func Tools() []string {
	var names []string
	for _, t := range tools() {
		names = append(names, t.name)
	}
	return names
}

// InWorkflow reports whether a tool has no file of its own: its configuration is the inputs of the
// workflow that runs it.
func InWorkflow(name string) bool {
	return slices.ContainsFunc(tools(), func(t tool) bool { return t.name == name && t.config == "" })
}

// Import converts a file. The error is a [yamlfile.Problems] with all mistakes of the file and the
// workflow.
func Import(r Request) (Result, error) {
	all := tools()
	i := slices.IndexFunc(all, func(t tool) bool { return t.name == r.Tool })
	if i < 0 {
		return Result{}, fmt.Errorf("import: unknown tool %q", r.Tool)
	}
	t := all[i]
	source, err := yamlfile.Parse(r.File.Name, r.File.Data)
	if err != nil {
		return Result{}, err
	}
	in, lines := files{source, source}, layout.Lines(r.File.Data)
	var content reading
	switch doc := (document{source.Name(), source.Root(), lines}); {
	case t.config == "":
		steps, found := stepsOf(doc.root, t)
		content = t.read(doc, step{}).guarded(found, func(p part) part { return steps[p.from].guarded(p) })
	case r.Workflow.Name == "":
		content = t.read(doc, step{})
	default:
		if in.workflow, err = yamlfile.Parse(r.Workflow.Name, r.Workflow.Data); err != nil {
			return Result{}, problems(err, source.Err())
		}
		s, found := readStep(in.workflow.Root(), t, source.Name())
		content = t.read(doc, s).guarded(found, s.guarded)
	}
	d, found, size := assemble(in, lines, content, reserved(r.Reserved))
	d.action = t.action
	if err := yamlfile.Err(slices.Compact([]*yamlfile.File{in.source, in.workflow})...); err != nil {
		return Result{}, err
	}
	if d.count() > maxRules || size > yamlfile.MaxSize {
		return Result{}, yamlfile.Problems{{File: source.Name(), Message: fmt.Sprintf(
			"import: the result has more than %d rules or %d bytes; split the configuration", maxRules, yamlfile.MaxSize)}}
	}
	return finish(d, found, source)
}

// problems joins the mistakes of several files.
func problems(errs ...error) error {
	var all yamlfile.Problems
	for _, err := range errs {
		if ps, ok := errors.AsType[yamlfile.Problems](err); ok {
			all = append(all, ps...)
		}
	}
	if len(all) == 0 {
		return nil
	}
	return all
}

// A Use is a step of a workflow that runs a tool.
type Use struct {
	Tool   string // one of Tools
	Config string // path of its configuration file, possibly an expression; empty: the workflow itself
}

// Find returns the steps of a workflow that run a tool. It parses the workflow only if its text
// contains the name of a tool's action.
func Find(file Source) (found []Use, err error) {
	for _, t := range tools() {
		if !strings.Contains(strings.ToLower(string(file.Data)), t.action) {
			continue
		}
		f, err := yamlfile.Parse(file.Name, file.Data)
		if err != nil {
			return nil, err
		}
		for _, u := range workflow.Uses(f.Root(), t.action) {
			found = append(found, Use{t.name, t.configOf(u.Step)})
		}
	}
	return found, nil
}
