package expression

import (
	"reflect"

	"github.com/expr-lang/expr/ast"

	"github.com/org/foreman-action/internal/text"
	"github.com/org/foreman-action/rules/facts"
	"github.com/org/foreman-action/rules/internal/expression/syntax"
)

// labelReads describes on which labels of the issue an expression depends.
type labelReads struct {
	any   bool
	open  bool     // also on labels that no entry of globs matches
	globs []string // the literal names and patterns
}

// collect adds the labels that a typed tree reads. A variable may contain the issue. So any field
// named labels counts, except memory.labels, and any field whose name is computed.
func (w *labelReads) collect(n ast.Node) {
	switch n := n.(type) {
	case *ast.CallNode:
		if callee, ok := n.Callee.(*ast.IdentifierNode); ok && (callee.Value == "label" || callee.Value == "any_label") {
			w.any = true
			for _, a := range n.Arguments[1:] { // the first argument is the run
				name, constant := a.(*ast.StringNode)
				if !constant {
					w.open = true
					continue
				}
				w.globs = append(w.globs, name.Value)
			}
			return
		}
	case *ast.IdentifierNode:
		if n.Value == "label_age" {
			w.any, w.open = true, true
		}
	case *ast.MemberNode:
		name, named := n.Property.(*ast.StringNode)
		of := n.Node.Type()
		if named && name.Value == "labels" && of != reflect.TypeFor[facts.Memory]() || !named && of.Kind() == reflect.Interface {
			w.any, w.open = true, true
		}
	}
	for _, c := range syntax.Children(n) {
		if *c != nil {
			w.collect(*c)
		}
	}
}

// affectedBy reports whether the value may change when these labels change.
func (w *labelReads) affectedBy(changed []string) bool {
	if !w.any || len(changed) == 0 || w.open {
		return w.any && len(changed) > 0
	}
	for _, name := range changed {
		for _, glob := range w.globs {
			if text.MatchLabel(glob, name) {
				return true
			}
		}
	}
	return false
}
