// Package joined converts the configurations of several tools to rules for one file.
package joined

import (
	"errors"
	"slices"
	"strings"

	"github.com/org/foreman-action/internal/importer"
	"github.com/org/foreman-action/internal/othertools"
	"github.com/org/foreman-action/internal/yamlfile"
)

// Import converts several files to rules. Each rule gets a unique id that is not reserved. The
// error is a [yamlfile.Problems] with the mistakes of all files.
func Import(list []othertools.Request, reserved []string) (othertools.Rules, error) {
	var out othertools.Rules
	var parts []importer.Policy
	reserved = slices.Clone(reserved)
	var mistakes yamlfile.Problems
	for _, r := range list {
		if importer.InWorkflow(r.Tool) {
			out.Crons = append(out.Crons, importer.Crons(r.File)...)
		}
		r.Reserved = reserved
		res, err := importer.Import(r)
		if ps, ok := errors.AsType[yamlfile.Problems](err); ok {
			mistakes = append(mistakes, ps...)
			continue
		} else if err != nil {
			return othertools.Rules{}, err
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
		out.Items += comment(r.File.Name, res) + res.Items
		out.Sources = append(out.Sources, othertools.Origin{File: r.File.Name, Action: res.Policy.Action, Rules: res.Rules})
	}
	if len(mistakes) > 0 {
		return othertools.Rules{}, mistakes
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
