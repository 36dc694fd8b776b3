package rules

import (
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/expr-lang/expr/ast"

	"github.com/org/foreman-action/internal/text"
)

// lint refuses, in a tree whose types are known, what compiles and never does what
// it says.
func (g guard) lint(n ast.Node) error {
	if n == nil {
		return nil
	}
	for _, c := range children(n) {
		if err := g.lint(*c); err != nil {
			return err
		}
	}
	switch n := n.(type) {
	case *ast.BinaryNode:
		if err := checkNil(n); err != nil {
			return err
		}
		return g.checkValues(n)
	case *ast.BuiltinNode:
		return g.checkConstant(n)
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
func (g guard) checkConstant(n *ast.BuiltinNode) error {
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
	if _, err := g.builtins[n.Name].Func(s); err != nil {
		return refuse(n.Arguments[0], "%s; %s", cannotRead(n.Name, s), hint)
	}
	return nil
}

func cannotRead(function, value string) string {
	return fmt.Sprintf("%s cannot read %q", function, text.Shorten(value, text.Quoted))
}

var (
	notNumber   = regexp.MustCompile(`(?s)^invalid operation: (int|float)\((.*)\)$`)
	notDate     = regexp.MustCompile(`(?s)^invalid date (.*)$`)
	notTime     = regexp.MustCompile(`(?s)^parsing time (".*)$`)
	notDuration = regexp.MustCompile(`(?s)^time: .* duration (".*)$`)
)

// unreadableValue rewrites the error of a function that could not read a value,
// which may be the whole text of an issue; ok is false for other errors.
func unreadableValue(msg string) (rewritten string, ok bool) {
	if m := notNumber.FindStringSubmatch(msg); m != nil {
		return cannotRead(m[1], m[2]), true
	}
	if m := notDate.FindStringSubmatch(msg); m != nil {
		return cannotRead("date", m[1]), true
	}
	for function, known := range map[string]*regexp.Regexp{"date": notTime, "duration": notDuration} {
		if m := known.FindStringSubmatch(msg); m != nil {
			return cannotRead(function, unquoted(m[1])), true
		}
	}
	return "", false
}

// unquoted returns the text of the quoted literal that s starts with.
func unquoted(s string) string {
	quoted, err := strconv.QuotedPrefix(s)
	if err != nil {
		return strings.Trim(s, `"`)
	}
	text, err := strconv.Unquote(quoted)
	if err != nil {
		return strings.Trim(quoted, `"`)
	}
	return text
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
