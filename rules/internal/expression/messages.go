package expression

import (
	"errors"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/expr-lang/expr/builtin"
	"github.com/expr-lang/expr/file"
	"github.com/expr-lang/expr/parser"

	"github.com/org/foreman-action/internal/text"
	"github.com/org/foreman-action/internal/yamlfile"
	"github.com/org/foreman-action/rules/internal/expression/wording"
	"github.com/org/foreman-action/triage"
)

// located turns an error of expr into one with a position and a message for the author of the rule.
func located(tree *parser.Tree, err error) error {
	fe, ok := errors.AsType[*file.Error](err)
	ne, isNode := errors.AsType[*nodeError](err)
	if isNode {
		fe, ok = (&file.Error{Location: ne.node.Location(), Message: ne.msg}).Bind(tree.Source), true
	}
	if !ok {
		return &Error{line: 1, col: 1, msg: err.Error()}
	}
	return &Error{line: max(1, fe.Line), col: fe.Column + 1, msg: message(fe.Message), undeclared: isNode && ne.undeclared}
}

var (
	unknownName  = text.Regexp(`^unknown name (\S+)$`)
	unknownField = text.Regexp(`^type (\S+) has no field (\S+)$`)
	goType       = text.Regexp(`\*?\b(?:rules|facts|triage|expression|forms|match|semver)\.(\w+)`)
)

// message rewrites messages of expr that mention Go types or are too short.
func message(msg string) string {
	if m := unknownName().FindStringSubmatch(msg); m != nil {
		return msg + nameHint(m[1])
	}
	if m := unknownField().FindStringSubmatch(msg); m != nil {
		return fieldMessage(m[1], m[2])
	}
	for _, known := range []struct{ Part, msg string }{
		{"exceeds maximum allowed nodes", "the expression is too long: it has more than 500 terms"},
		{"invalid char escape", msg + "; write the text in backticks, or double the backslash"},
		{"literal not terminated", "the text is not closed"},
		{"unexpected token EOF", "the expression ends too early"},
		{`unexpected token Operator("=")`, "to compare, write =="},
		{"predicate should return boolean", strings.Replace(msg, "predicate should return boolean", "the condition in the loop must be true or false", 1)},
	} {
		if strings.Contains(msg, known.Part) {
			return known.msg
		}
	}
	msg += wording.OperatorHint(msg)
	return strings.TrimSpace(goType().ReplaceAllStringFunc(msg, func(s string) string {
		_, name, _ := strings.Cut(s, ".")
		return nounName(name)
	}))
}

const maxRuntimeMessage = 300 // characters

// runtimeMessage replaces messages of the Go runtime in errors of an evaluation.
func runtimeMessage(msg string) string {
	msg = strings.TrimPrefix(msg, "runtime error: ")
	if strings.HasPrefix(msg, "interface conversion: ") || strings.Contains(msg, "<nil>") {
		return "a value has another type than its use needs; a missing value is nil, and ?? gives it a default"
	}
	if strings.Contains(msg, "memory budget exceeded") {
		return "the expression builds lists that are too long"
	}
	if rewritten, ok := wording.Unreadable(msg); ok {
		return rewritten
	}
	return text.Shorten(message(msg), maxRuntimeMessage)
}

func nameHint(name string) string {
	if name == "$env" || strings.HasPrefix(name, "__") {
		return ""
	}
	if slices.ContainsFunc(builtin.Builtins, func(f *builtin.Function) bool { return f.Name == name }) {
		return "; the function is not available in rules"
	}
	return yamlfile.DidYouMean(name, slices.Concat(RootNames(), functionNames(), allowed()))
}

func fieldMessage(typ, field string) string {
	for _, t := range nouns() {
		name := strings.ToLower(t.Name())
		if t == reflect.TypeFor[triage.PullRequest]() {
			name = "pr"
		}
		if typ == t.String() && field == "user" && slices.Contains(names(t), "author") {
			return name + " has no field user; the login of who wrote it is in author"
		}
		if typ == t.String() && slices.ContainsFunc(lookedUp(), func(f lookedUpField) bool { return f.root == name && f.name == field }) {
			return field + " cannot be read from a variable; write " + name + "." + field
		}
		if typ == t.String() {
			return name + " has no field " + field + yamlfile.DidYouMean(field, names(t))
		}
	}
	if typ == "string" {
		typ = "text"
	}
	return typ + " has no field " + field
}

// typeName returns the name of a type in the language of rules.
func typeName(t reflect.Type) string {
	switch t {
	case reflect.TypeFor[time.Time]():
		return "a time"
	case reflect.TypeFor[time.Duration]():
		return "a duration"
	}
	switch t.Kind() {
	case reflect.Interface:
		return "a value whose type is only known at run time"
	case reflect.String:
		return "text"
	case reflect.Bool:
		return "true or false"
	case reflect.Int, reflect.Float64:
		return "a number"
	case reflect.Slice:
		return "a list"
	case reflect.Map:
		return "a mapping"
	case reflect.Struct:
		if slices.Contains(nouns(), t) {
			return "the whole " + nounName(t.Name())
		}
	}
	return "a value of type " + t.String()
}

// An Error is a mistake in an expression. Its line and column in the text start at 1.
type Error struct {
	line, col  int
	msg        string
	undeclared bool // see [yamlfile.Problem]
}

// Error returns the message.
func (e *Error) Error() string { return e.msg }

// asExprError returns an error of the compiler or of an evaluation with its place. An error without
// a place is placed at the start.
func asExprError(err error) *Error {
	if e, ok := errors.AsType[*Error](err); ok {
		return e
	}
	return &Error{line: 1, col: 1, msg: err.Error()}
}
