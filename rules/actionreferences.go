package rules

import (
	"strings"

	"github.com/org/foreman-action/protocol"
	"github.com/org/foreman-action/rules/internal/symbols"
)

// A verb is what an action does with a label.
type verb int

// What actions do with labels.
const (
	asked verb = iota // an expression or an action names it
	added
	removed
)

// An actionReference is a place of an action that names a label.
type actionReference struct {
	labelReference

	Verb verb
}

// references returns the labels that an action writes, and what its expressions ask for.
func (a action) references(names *symbols.Table) (labels []actionReference, tables []tableReference) {
	writes, about := asked, true
	switch a.spec.Name {
	case protocol.ActionAddLabel, protocol.ActionAddLabels:
		writes = added
	case protocol.ActionRemoveLabel:
		writes = removed
	case protocol.ActionNeverAgain:
	default:
		about = false
	}
	add := func(verb verb, list []labelReference) {
		for _, l := range list {
			labels = append(labels, actionReference{l, verb})
		}
	}
	ask := func(x *expression) {
		if x != nil {
			l, t := x.references(names)
			add(asked, l)
			tables = append(tables, t...)
		}
	}
	for _, p := range a.params {
		for _, t := range p.texts {
			if about {
				add(writes, a.templateReferences(t, names))
			}
			for _, part := range t.parts {
				ask(part.expr)
			}
		}
		if p.list != nil && about {
			add(writes, p.list.resultReferences(names))
		}
		ask(p.list)
		ask(p.whole)
	}
	return labels, tables
}

// templateReferences returns the label that a template renders.
func (a action) templateReferences(t *template, names *symbols.Table) []labelReference {
	if len(t.parts) == 1 && t.parts[0].expr != nil {
		return t.parts[0].expr.resultReferences(names)
	}
	var name strings.Builder
	for _, p := range t.parts {
		name.WriteString(p.literal)
		if p.expr != nil {
			name.WriteString("*")
		}
	}
	return []labelReference{{Label: name.String(), Glob: len(t.parts) > 1, Place: a.file.At(t.node, 1, 1, "")}}
}
