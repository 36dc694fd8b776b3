package expression

import (
	"fmt"
	"reflect"
	"slices"

	"github.com/expr-lang/expr/ast"
	"github.com/expr-lang/expr/builtin"
	"github.com/expr-lang/expr/conf"
	"github.com/expr-lang/expr/parser"

	"github.com/org/foreman-action/internal/rulesource"
	"github.com/org/foreman-action/internal/text"
	"github.com/org/foreman-action/rules/internal/expression/own"
)

var ownName = text.Regexp(`^[a-z][a-z0-9_]{0,63}$`)

// CheckName returns an error if a program's own function cannot have that name.
func CheckName(name string) error {
	taken := fmt.Errorf("%s is a name of the language; choose another one", text.Quote(name))
	switch {
	case !ownName().MatchString(name):
		return fmt.Errorf("want at most 64 of a-z, 0-9 and _, the first a letter, got %q", text.Quote(name))
	case slices.Contains(slices.Concat(RootNames(), functionNames(), []string{"matches"}), name),
		slices.ContainsFunc(builtin.Builtins, func(f *builtin.Function) bool { return f.Name == name }):
		return taken
	}
	// Operators and words such as let are no names of functions.
	tree, err := parser.ParseWithConfig(name+"()", conf.CreateNew())
	if err != nil {
		return taken
	}
	n, ok := tree.Node.(*ast.CallNode)
	if !ok {
		return taken
	}
	if callee, ok := n.Callee.(*ast.IdentifierNode); !ok || callee.Value != name {
		return taken
	}
	return nil
}

// ownFunction returns the built-in form of a program's own function. There, a parameter that is
// a list takes any value: checkOwn and the call itself check that the value is a list.
func ownFunction(f rulesource.Func) *builtin.Function {
	in := []reflect.Type{reflect.TypeFor[*run]()}
	for _, t := range f.Params {
		if t.Kind() == reflect.Slice {
			t = reflect.TypeFor[any]()
		}
		in = append(in, t)
	}
	return &builtin.Function{
		Name: f.Name, Types: []reflect.Type{reflect.FuncOf(in, []reflect.Type{f.Result}, false)},
		Func: func(args ...any) (any, error) {
			r := arg[*run](args, 0)
			return r.own.Call(r.ctx, &r.meter, f, args[1:], r.facts.Results)
		},
	}
}

// checkOwn rejects an argument that is no list where an own function takes one.
func checkOwn(n *ast.CallNode, funcs map[string]rulesource.Func) error {
	callee, ok := n.Callee.(*ast.IdentifierNode)
	if !ok {
		return nil
	}
	f, ok := funcs[callee.Value]
	for i := range f.Params {
		if !ok || i+1 >= len(n.Arguments) {
			break
		}
		if err := own.Check(f, i, n.Arguments[i+1].Type()); err != nil {
			return refuse(n.Arguments[i+1], "%v", err)
		}
	}
	return nil
}
