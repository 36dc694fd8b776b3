// Package importer turns the configuration of other triage tools into ours.
//
// [Import] reads a file of one of [Tools] and returns a configuration file with the
// same rules, and what of the source has no counterpart: each with its place, in the
// order of the source, and as a comment beside the rule that it is about. A rule that
// would do something else than in the source is left out and stands in a comment.
// What is produced was compiled by package rules, so that it loads.
//
// The source may be hostile: its size is bounded by package strictyaml, that of the
// result by the same limit.
package importer

import (
	"errors"
	"fmt"

	"github.com/org/foreman-action/internal/strictyaml"
)

// A Source is a file: its name for messages, and its text.
type Source struct {
	Name string
	Data []byte
}

// A Request is what to import.
type Request struct {
	Tool string // one of Tools
	File Source
	// Workflow is the workflow file that runs the tool: its inputs and events count too.
	// Without a name there is none. For stale, File is that file.
	Workflow Source
}

// A Result is what became of a file.
type Result struct {
	// Config is the text of our configuration file; nil when Rules is 0.
	Config []byte
	// Unmapped says what has no counterpart, in the order of the source.
	Unmapped strictyaml.Problems
	// Rules is the number of rules in Config.
	Rules int
}

// Tools returns the names of the tools that can be imported.
func Tools() []string { return []string{"labeler", "issue-labeler", "label-actions", "stale"} }

// action returns the name of a tool's action in workflows.
func action(tool string) string {
	switch tool {
	case "labeler", "stale":
		return "actions/" + tool
	case "issue-labeler":
		return "github/" + tool
	}
	return "dessant/" + tool
}

// Import converts a file. The error is a [strictyaml.Problems] when the file, or the
// workflow, is no configuration of the tool; it holds all mistakes of both.
func Import(r Request) (Result, error) {
	read := map[string]func(*draft, step){
		"labeler": (*draft).labeler, "issue-labeler": (*draft).issueLabeler, "label-actions": (*draft).labelActions,
	}[r.Tool]
	if read == nil && r.Tool != "stale" {
		return Result{}, fmt.Errorf("import: unknown tool %q", r.Tool)
	}
	f, err := strictyaml.Parse(r.File.Name, r.File.Data)
	if err != nil {
		return Result{}, err
	}
	d := newDraft(r.Tool, f, r.File.Data)
	if read == nil {
		d.stale()
		return d.finish(f)
	}
	var s step
	flow := f
	if r.Workflow.Name != "" {
		if flow, err = strictyaml.Parse(r.Workflow.Name, r.Workflow.Data); err != nil {
			return Result{}, problems(err, f.Err())
		}
		s = d.stepOf(flow)
	}
	read(d, s)
	return d.finish(f, flow)
}

// problems joins what was found wrong in several files.
func problems(errs ...error) error {
	var all strictyaml.Problems
	for _, err := range errs {
		if ps, ok := errors.AsType[strictyaml.Problems](err); ok {
			all = append(all, ps...)
		}
	}
	if len(all) == 0 {
		return nil
	}
	return all
}
