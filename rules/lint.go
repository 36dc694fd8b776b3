package rules

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/expr-lang/expr/ast"
	"github.com/expr-lang/expr/builtin"
)

// A linter refuses expressions that compile and never do what they say.
type linter struct {
	builtins map[string]*builtin.Function // those that rules may use
	on       []string                     // the events that the rule names; nil: none
}

// lint refuses, in a tree whose types are known, what compiles and never does what
// it says.
func (l linter) lint(n ast.Node) error {
	if n == nil {
		return nil
	}
	for _, c := range children(n) {
		if err := l.lint(*c); err != nil {
			return err
		}
	}
	switch n := n.(type) {
	case *ast.BinaryNode:
		if err := checkNil(n); err != nil {
			return err
		}
		return l.checkValues(n)
	case *ast.BuiltinNode:
		return l.checkConstant(n)
	}
	return nil
}

// checkNil refuses to ask whether a field is nil: none ever is.
func checkNil(n *ast.BinaryNode) error {
	field := n.Left
	switch n.Operator {
	case "==", "!=":
		_, left := n.Left.(*ast.NilNode)
		_, right := n.Right.(*ast.NilNode)
		if left == right {
			return nil
		}
		if left {
			field = n.Right
		}
	case "??":
	default:
		return nil
	}
	if table := tableType(field); table != nil {
		return refuse(n, "a table never gives nil: for a key that it does not hold it gives %s; ask with in", rowDefault(table))
	}
	if !isField(field) {
		return nil
	}
	written := strings.NewReplacer("("+runName+", ", "(", "("+runName+")", "()").Replace(field.String())
	return refuse(n, "%s is never nil; %s", written, insteadOfNil(field))
}

// isField reports whether n is a field of the environment, or of one of its fields.
func isField(n ast.Node) bool {
	switch n := n.(type) {
	case *ast.ChainNode:
		return isField(n.Node)
	case *ast.MemberNode:
		_, named := n.Property.(*ast.StringNode)
		return named && isField(n.Node)
	case *ast.CallNode:
		return n.Type() == reflect.TypeFor[Person]()
	case *ast.IdentifierNode:
		t := n.Type()
		return slices.Contains(nouns(), t)
	}
	return false
}

// insteadOfNil says what a field is compared with when it is not set.
func insteadOfNil(n ast.Node) string {
	t := n.Type()
	if t == reflect.TypeFor[time.Time]() {
		return "a time is always set"
	}
	switch t.Kind() {
	case reflect.String:
		return `compare it with ""`
	case reflect.Int:
		return "compare it with 0"
	case reflect.Bool:
		return "it is true or false"
	case reflect.Slice:
		return fmt.Sprintf("compare len(%s) with 0", n)
	}
	return "look at one of its fields"
}

// checkConstant refuses dates that can never be read.
func (l linter) checkConstant(n *ast.BuiltinNode) error {
	hint := map[string]string{
		"date": `write it like "2024-01-31" or "2024-01-31T15:04:05Z"`,
	}[n.Name]
	if hint == "" || len(n.Arguments) != 1 {
		return nil
	}
	s, ok := constantText(n.Arguments[0])
	if !ok {
		return nil
	}
	if _, err := l.builtins[n.Name].Func(s); err != nil {
		return refuse(n.Arguments[0], "%s; %s", cannotRead(n.Name, s), hint)
	}
	return nil
}

// tableType returns the type of the table that n takes a row of, or nil.
func tableType(n ast.Node) reflect.Type {
	if chain, ok := n.(*ast.ChainNode); ok {
		n = chain.Node
	}
	m, ok := n.(*ast.MemberNode)
	if !ok {
		return nil
	}
	table, ok := m.Node.(*ast.ConstantNode)
	if !ok || reflect.TypeOf(table.Value).Kind() != reflect.Map {
		return nil
	}
	return reflect.TypeOf(table.Value)
}

// rowDefault says what a table gives for a key that has no row.
func rowDefault(table reflect.Type) string {
	switch table.Elem().Kind() {
	case reflect.String:
		return `""`
	case reflect.Bool:
		return "false"
	}
	return "0"
}
