package serverconfig

import (
	"math"
	"slices"

	"gopkg.in/yaml.v3"

	"github.com/org/foreman-action/internal/yamlfile"
)

// sharedSections are the sections that package config decodes.
func sharedSections() []string {
	return []string{"version", "mode", "policy", "limits", "labels", "rules", "forms", "tables", "tests", "include"}
}

// A span is a range of lines, counted from 1. to is the line after the last one.
type span struct{ from, to int }

// sharedLines returns the lines of the sections that package config decodes.
func sharedLines(root *yaml.Node) []span {
	var list []span
	open := false // whether the previous section is shared
	for k := range yamlfile.Pairs(root) {
		if open {
			list[len(list)-1].to = k.Line
		}
		if open = slices.Contains(sharedSections(), k.Value); open {
			list = append(list, span{k.Line, math.MaxInt})
		}
	}
	return list
}
