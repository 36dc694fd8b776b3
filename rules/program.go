package rules

import (
	"reflect"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/expr-lang/expr/ast"
	"github.com/expr-lang/expr/compiler"
	"github.com/expr-lang/expr/optimizer"
	"github.com/expr-lang/expr/parser"
	"github.com/expr-lang/expr/vm"

	"github.com/org/foreman-action/rules/facts"
	"github.com/org/foreman-action/rules/internal/match"
)

// A code is an expression without mistakes. Its shortcut is made when it is first
// asked, and its program when the shortcut is not sure: a run of the action asks the
// rules of one event once. It is safe for concurrent use.
type code struct {
	compiler *exprCompiler
	want     want
	watch    watch    // of a condition
	on       []string // the events that its rule names; nil: none

	first   sync.Once
	quick   shortcut
	second  sync.Once
	tree    *parser.Tree // until the program is made
	program *vm.Program
	err     error
}

// shortcut returns nil for what is no condition, or has none.
func (c *code) shortcut() shortcut {
	c.first.Do(func() {
		if c.want == wantBool {
			c.quick = newShortcut(c.tree.Node)
		}
	})
	return c.quick
}

// compiled returns the program. The error, an *exprError, says that there is none:
// [settled] keeps that for expressions that were compiled at once.
func (c *code) compiled() (*vm.Program, error) {
	c.shortcut() // needs the tree as it is now
	c.second.Do(func() {
		c.compiler.building.Lock()
		defer c.compiler.building.Unlock()
		c.program, c.err = c.compiler.build(c.tree)
		c.tree = nil
	})
	return c.program, c.err
}

// build makes the program of a checked tree, which it changes.
func (c *exprCompiler) build(tree *parser.Tree) (*vm.Program, error) {
	meter(&tree.Node, false)
	if err := optimizer.Optimize(&tree.Node, c.config); err != nil {
		return nil, explain(tree, err)
	}
	program, err := compiler.Compile(tree, c.config)
	if err != nil {
		// The compiler puts a stack trace below its first line.
		msg, _, _ := strings.Cut(err.Error(), "\n")
		return nil, &exprError{1, 1, msg}
	}
	return program, nil
}

// settled reports whether a checked tree has no mistake that only the optimizer and
// the compiler find: a remainder of a division by zero, a number that a type does not
// hold, an unknown variable of a loop.
func settled(n ast.Node) bool {
	switch n := n.(type) {
	case *ast.BinaryNode:
		if n.Operator == "%" {
			by, ok := n.Right.(*ast.IntegerNode)
			if !ok || by.Value == 0 {
				return false
			}
		}
	case *ast.IntegerNode:
		if k := n.Type().Kind(); k != reflect.Int && k != reflect.Float64 {
			return false
		}
	case *ast.PointerNode:
		if n.Name != "" && n.Name != "index" {
			return false
		}
	}
	for _, c := range children(n) {
		if *c != nil && !settled(*c) {
			return false
		}
	}
	return true
}

// A watch is which labels of the issue an expression asks for.
type watch struct {
	asks  bool
	open  bool     // for others than those of globs, too
	globs []string // the names and globs that it asks for as they stand, in lower case
}

// see looks at a tree whose types are known. The issue may have other names than its own:
// any field named labels counts, and one whose name is made up, but not memory.labels.
func (w *watch) see(n ast.Node) {
	switch n := n.(type) {
	case *ast.CallNode:
		if callee, ok := n.Callee.(*ast.IdentifierNode); ok && (callee.Value == "label" || callee.Value == "any_label") {
			w.asks = true
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
			w.asks, w.open = true, true
		}
	case *ast.MemberNode:
		name, named := n.Property.(*ast.StringNode)
		of := n.Node.Type()
		if named && name.Value == "labels" && of != reflect.TypeFor[facts.Memory]() || !named && of.Kind() == reflect.Interface {
			w.asks, w.open = true, true
		}
	}
	for _, c := range children(n) {
		if *c != nil {
			w.see(*c)
		}
	}
}

// concerns reports whether the answer may be another one when these labels change, whose
// names are in lower case.
func (w *watch) concerns(changed []string) bool {
	if !w.asks || len(changed) == 0 || w.open {
		return w.asks && len(changed) > 0
	}
	for _, name := range changed {
		for _, glob := range w.globs {
			// Case is taken off in two ways, which agree on ASCII.
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
