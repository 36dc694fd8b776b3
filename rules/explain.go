package rules

import (
	"errors"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/expr-lang/expr/builtin"
	"github.com/expr-lang/expr/file"
	"github.com/expr-lang/expr/parser"

	"github.com/org/foreman-action/internal/strictyaml"
	"github.com/org/foreman-action/internal/text"
	"github.com/org/foreman-action/rules/facts"
	"github.com/org/foreman-action/triage"
)

// explain turns an error of the expression language into one that a rule's
// author can act on, with its position.
func explain(tree *parser.Tree, err error) error {
	fe, ok := errors.AsType[*file.Error](err)
	if ne, isNode := errors.AsType[*nodeError](err); isNode {
		fe, ok = (&file.Error{Location: ne.node.Location(), Message: ne.msg}).Bind(tree.Source), true
	}
	if !ok {
		return &exprError{1, 1, err.Error()}
	}
	return &exprError{max(1, fe.Line), fe.Column + 1, message(fe.Message)}
}

var (
	unknownName  = regexp.MustCompile(`^unknown name (\S+)$`)
	unknownField = regexp.MustCompile(`^type (\S+) has no field (\S+)$`)
	goType       = regexp.MustCompile(`\*?\b(?:rules|facts|triage|expression|forms|match|semver)\.(\w+)`)
)

// message rewrites what would speak of Go types or says too little.
func message(msg string) string {
	if m := unknownName.FindStringSubmatch(msg); m != nil {
		return msg + nameHint(m[1])
	}
	if m := unknownField.FindStringSubmatch(msg); m != nil {
		return fieldMessage(m[1], m[2])
	}
	for _, known := range []struct{ part, msg string }{
		{"exceeds maximum allowed nodes", "the expression is too long: it has more than 500 terms"},
		{"invalid char escape", msg + "; write the text in backticks, or double the backslash"},
		{"literal not terminated", "the text is not closed"},
		{"unexpected token EOF", "the expression ends too early"},
		{`unexpected token Operator("=")`, "to compare, write =="},
		{"predicate should return boolean", strings.Replace(msg, "predicate should return boolean", "the condition in the loop must be true or false", 1)},
	} {
		if strings.Contains(msg, known.part) {
			return known.msg
		}
	}
	msg += operatorHint(msg)
	return strings.TrimSpace(goType.ReplaceAllStringFunc(msg, func(s string) string {
		_, name, _ := strings.Cut(s, ".")
		return nounName(name)
	}))
}

const maxRuntimeMessage = 300 // characters

// runtimeMessage keeps Go's own words out of errors at run time.
func runtimeMessage(msg string) string {
	msg = strings.TrimPrefix(msg, "runtime error: ")
	if strings.HasPrefix(msg, "interface conversion: ") || strings.Contains(msg, "<nil>") {
		return "a value has another type than its use needs; a missing value is nil, and ?? gives it a default"
	}
	if strings.Contains(msg, "memory budget exceeded") {
		return "the expression builds lists that are too long"
	}
	if rewritten, ok := unreadableValue(msg); ok {
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
	return strictyaml.DidYouMean(name, slices.Concat(rootNames(), functionNames(), allowed()))
}

// rootNames returns the names of values that rules may use.
func rootNames() []string {
	return append(names(reflect.TypeFor[env]()), formName, tablesName, nowName, memoryName)
}

// functionNames returns the functions of rules, without those of the language and of
// the patched tree.
func functionNames() []string {
	var list []string
	for _, f := range append(functions(), moreFunctions()...) {
		if !strings.HasPrefix(f.Name, "__") && f.Name != "matches" {
			list = append(list, f.Name)
		}
	}
	return list
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
		if typ == t.String() {
			return name + " has no field " + field + strictyaml.DidYouMean(field, names(t))
		}
	}
	if typ == "string" {
		typ = "text"
	}
	return typ + " has no field " + field
}

// nouns returns the structs that conditions reach.
func nouns() []reflect.Type {
	return []reflect.Type{
		reflect.TypeFor[issue](), reflect.TypeFor[event](), reflect.TypeFor[triage.Comment](), reflect.TypeFor[triage.Actor](), reflect.TypeFor[repo](),
		reflect.TypeFor[triage.PullRequest](), reflect.TypeFor[triage.Reactions](), reflect.TypeFor[facts.Memory](), reflect.TypeFor[Person](),
	}
}

// nounName returns the name of a struct as messages write it.
func nounName(typ string) string { return strings.TrimSuffix(strings.ToLower(typ), "request") }

// names returns the names of a struct's fields as rules write them.
func names(t reflect.Type) []string {
	var list []string
	for _, field := range reflect.VisibleFields(t) {
		if name := field.Tag.Get("expr"); name != "-" && !strings.HasPrefix(name, "__") {
			list = append(list, name)
		}
	}
	if t == reflect.TypeFor[triage.Actor]() {
		list = append(list, "permission")
	}
	return list
}

// typeName names a type as rules know it.
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
