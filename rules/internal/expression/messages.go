package expression

import (
	"errors"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/expr-lang/expr/builtin"
	"github.com/expr-lang/expr/file"
	"github.com/expr-lang/expr/parser"

	"github.com/org/foreman-action/internal/text"
	"github.com/org/foreman-action/internal/yamlfile"
	"github.com/org/foreman-action/rules/internal/expression/habit"
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
	msg := message(fe.Message)
	if m := unknownName().FindStringSubmatch(fe.Message); m != nil {
		msg = fe.Message + nameHint(m[1], tree)
	}
	return &Error{line: max(1, fe.Line), col: fe.Column + 1, msg: msg, undeclared: isNode && ne.undeclared}
}

// unparsed is located for an error of the parser.
func unparsed(src string, tree *parser.Tree, err error) error {
	e := asExprError(located(tree, err))
	fe, ok := errors.AsType[*file.Error](err)
	if !ok {
		return e
	}
	at := fe.Column
	for i, line := range strings.SplitAfter(src, "\n") {
		if i+1 < fe.Line {
			at += len([]rune(line))
		}
	}
	if msg := habit.Syntax(src, fe.Message, at); msg != "" {
		e.msg = msg
	}
	return e
}

var (
	unknownName  = text.Regexp(`^unknown name (\S+)$`)
	unknownField = text.Regexp(`^type (\S+) has no field (\S+)$`)
	goType       = text.Regexp(`\*?\b(?:rules|facts|triage|expression|forms|match|semver)\.(\w+)`)
)

// message rewrites messages of expr that mention Go types or are too short.
func message(msg string) string {
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

// nameHint returns a hint for an unknown name: the name or the text that was probably meant.
func nameHint(name string, tree *parser.Tree) string {
	if name == "$env" || strings.HasPrefix(name, "__") {
		return ""
	}
	if slices.ContainsFunc(builtin.Builtins, func(f *builtin.Function) bool { return f.Name == name }) {
		return "; the function is not available in rules"
	}
	if hint := habit.Name(name, names(reflect.TypeFor[issue]())); hint != "" {
		return hint
	}
	hint := yamlfile.DidYouMean(name, slices.Concat(RootNames(), functionNames(), allowed()))
	if tree == nil {
		return hint
	}
	if written := habit.Texts(tree.Node)[name]; written != "" {
		hint += "; a text stands in quotes: " + strconv.Quote(text.Shorten(written, text.Quoted))
	}
	return hint
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
			return name + " has no field " + field + fieldHint(name, field, names(t))
		}
	}
	if typ == "string" {
		return "text has no field " + field + "; leave it out, because the value before it is a text"
	}
	return typ + " has no field " + field
}

// fieldHint returns a hint for an unknown field of a name: the field that was probably meant, or all.
func fieldHint(name, field string, known []string) string {
	if hint := habit.Field(name, field); hint != "" {
		return hint
	}
	if name == "pr" && slices.Contains(names(reflect.TypeFor[issue]()), field) {
		return "; write issue." + field + ", because a pull request is an issue, too"
	}
	if hint := yamlfile.DidYouMean(field, known); hint != "" {
		return hint
	}
	slices.Sort(known)
	hint := "; it has " + strings.Join(known, ", ")
	if name == "pr" {
		hint += "; what Foreman does not read is in docs/what-foreman-does-not-do.md"
	}
	return hint
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
