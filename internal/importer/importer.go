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
// A new tool needs a line in package othertools and in formats, a reader function in a separate file,
// cases in testdata, and a line in the help of "foreman rules import" and in docs/import.md.
//
// The source may be hostile. Package yamlfile limits its size; the result has the same limit.
package importer

import (
	"errors"
	"fmt"
	"slices"

	"github.com/org/foreman-action/internal/layout"
	"github.com/org/foreman-action/internal/othertools"
	"github.com/org/foreman-action/internal/yamlfile"
)

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
	Examples []othertools.Example

	// The content of Config, for a file that joins several imports.
	Shadow bool   // the source writes nothing
	Notes  string // comments about the file as a whole
	Items  string // the items of the list of rules
	IDs    []string
	Policy Policy
}

// tools returns the supported tools.
func tools() []tool {
	var out []tool
	for _, t := range othertools.All() {
		one := formats()[t.Name]
		one.Tool = t
		out = append(out, one)
	}
	return out
}

// formats returns the importer's part of each tool, by its name.
func formats() map[string]tool {
	kinds := []string{"issues", "pull_request", "issue_comment"}
	return map[string]tool{
		"labeler": {read: readLabeler, events: []string{"pull_request"}, outputs: map[string]string{
			"new-labels": "the output labels-added of Foreman has the added labels as a JSON array",
			"all-labels": "Foreman has no such output; its output labels-added lacks the labels that the pull request had before",
		}},
		"issue-labeler": {read: readIssueLabeler, events: kinds, outputs: map[string]string{
			"labels-added":   "the output labels-added of Foreman's step has the same form",
			"labels-removed": "the output labels-removed of Foreman's step has the same form",
		}},
		"label-actions": {read: readLabelActions, events: kinds[:2]},
		"stale": {read: readStale, events: []string{"schedule"}, outputs: map[string]string{
			"closed-issues-prs": "the output closed-issues of Foreman has the numbers of the closed issues and pull requests as a JSON array",
			"staled-issues-prs": "Foreman has no such output; its output issues counts what a scheduled run did",
		}},
		"anti-slop": {read: readAntiSlop, events: []string{"pull_request"}},
	}
}

// Tools returns the names of the tools that can be imported.
func Tools() []string {
	var names []string
	for _, t := range othertools.All() {
		names = append(names, t.Name)
	}
	return names
}

// InWorkflow reports whether the configuration of a tool is the workflow that runs it.
func InWorkflow(name string) bool {
	return slices.ContainsFunc(othertools.All(), func(t othertools.Tool) bool { return t.Name == name && t.InWorkflow() })
}

// Import converts a file. The error is a [yamlfile.Problems] with all mistakes of the file and the
// workflow.
func Import(r othertools.Request) (Result, error) {
	all := tools()
	i := slices.IndexFunc(all, func(t tool) bool { return t.Name == r.Tool })
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
	case t.InWorkflow():
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
	d.action = t.Action
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
