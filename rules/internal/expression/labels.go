package expression

import (
	"reflect"
	"strings"
	"unicode/utf8"

	"github.com/expr-lang/expr/ast"

	"github.com/org/foreman-action/rules/facts"
	"github.com/org/foreman-action/rules/internal/expression/syntax"
	"github.com/org/foreman-action/rules/internal/match"
)

// labelReads describes which labels of the issue an expression depends on.
type labelReads struct {
	any   bool
	open  bool     // on others than those of globs, too
	globs []string // the names and globs that are constants, in lower case
}

// collect adds what a tree reads whose types are known. A variable may be the issue, so any
// field named labels counts, and any computed name of a field, but not memory.labels.
func (w *labelReads) collect(n ast.Node) {
	switch n := n.(type) {
	case *ast.CallNode:
		if callee, ok := n.Callee.(*ast.IdentifierNode); ok && (callee.Value == "label" || callee.Value == "any_label") {
			w.any = true
			for _, a := range n.Arguments[1:] { // the first is the run
				name, constant := a.(*ast.StringNode)
				if !constant {
					w.open = true
					continue
				}
				w.globs = append(w.globs, strings.ToLower(name.Value))
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

// affectedBy reports whether the value may change with these labels, whose names are in
// lower case.
func (w *labelReads) affectedBy(changed []string) bool {
	if !w.any || len(changed) == 0 || w.open {
		return w.any && len(changed) > 0
	}
	for _, name := range changed {
		for _, glob := range w.globs {
			// The two ways to ignore case agree on ASCII.
			if glob == name || !ascii(name) || !ascii(glob) || strings.Contains(glob, "*") && match.Glob(glob, name) {
				return true
			}
		}
	}
	return false
}

func ascii(s string) bool {
	return strings.IndexFunc(s, func(r rune) bool { return r >= utf8.RuneSelf }) < 0
}
