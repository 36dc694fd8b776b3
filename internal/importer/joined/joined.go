// Package joined converts the configurations of several tools to rules for one file.
package joined

import (
	"errors"
	"slices"
	"strings"

	"github.com/org/foreman-action/internal/importer"
	"github.com/org/foreman-action/internal/yamlfile"
)

// A Result is the content of several imported files as the parts of one configuration file.
type Result struct {
	Policy string // the policy section including its key; empty: the rules need none
	Rules  string // the items of the list of rules; a comment precedes those of each source
	Count  int    // number of rules
	// Examples are events for the rules for which one is known, in the order of the rules.
	Examples []importer.Example
	// Sources are the files that the rules come from, in order, without files that have no rules.
	Sources []Origin
	// LeftOut names the entries without a rule, with their files.
	LeftOut []string
	// Unmapped lists the parts without a counterpart, source by source.
	Unmapped yamlfile.Problems
}

// An Origin is a file that was imported.
type Origin struct {
	File, Action string // the file's name, and the action whose configuration it is
	Rules        int
}

// Import converts several files to rules. Each rule gets a unique id that is not reserved. The
// error is a [yamlfile.Problems] with the mistakes of all files.
func Import(list []importer.Request, reserved []string) (Result, error) {
	var out Result
	var parts []importer.Policy
	reserved = slices.Clone(reserved)
	var mistakes yamlfile.Problems
	for _, r := range list {
		r.Reserved = reserved
		res, err := importer.Import(r)
		if ps, ok := errors.AsType[yamlfile.Problems](err); ok {
			mistakes = append(mistakes, ps...)
			continue
		} else if err != nil {
			return Result{}, err
		}
		out.Unmapped = append(out.Unmapped, res.Unmapped...)
		for _, name := range res.LeftOut {
			out.LeftOut = append(out.LeftOut, name+" of "+r.File.Name)
		}
		if res.Rules == 0 {
			continue
		}
		reserved = append(reserved, res.IDs...)
		parts = append(parts, res.Policy)
		out.Count += res.Rules
		out.Examples = append(out.Examples, res.Examples...)
		out.Rules += comment(r.File.Name, res) + res.Items
		out.Sources = append(out.Sources, Origin{r.File.Name, res.Policy.Action, res.Rules})
	}
	if len(mistakes) > 0 {
		return Result{}, mistakes
	}
	out.Policy = importer.Section(parts, "as in %s", "no such limit in %s")
	return out, nil
}

// comment returns the lines above the rules of a file.
func comment(name string, r importer.Result) string {
	lines := "# From " + name + ", a configuration of " + r.Policy.Action + ".\n"
	if r.Shadow {
		lines += "# " + r.Policy.Action + " has debug-only and writes nothing; with mode: apply these rules write.\n"
	}
	lines += r.Notes
	return "  " + strings.ReplaceAll(strings.TrimSuffix(lines, "\n"), "\n", "\n  ") + "\n"
}
