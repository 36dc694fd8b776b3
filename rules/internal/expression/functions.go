package expression

import (
	"reflect"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/org/foreman-action/triage"

	"github.com/expr-lang/expr/builtin"

	"github.com/org/foreman-action/rules/internal/expression/missing"
	"github.com/org/foreman-action/rules/internal/forms"
	"github.com/org/foreman-action/rules/internal/match"
	"github.com/org/foreman-action/rules/internal/semver"
)

// functions returns the functions of rules, and those that only patched trees call. Every
// function except string takes the run as its first argument.
func functions() []*builtin.Function {
	fn := func(name string, f func(...any) (any, error), types ...reflect.Type) *builtin.Function {
		return &builtin.Function{Name: name, Func: f, Types: types}
	}
	list := []*builtin.Function{
		fn("label", label, reflect.TypeFor[func(*run, string) bool]()),
		fn("any_label", anyLabel, reflect.TypeFor[func(*run, string, ...string) bool]()),
		fn("join", join, reflect.TypeFor[func(*run, any) string](), reflect.TypeFor[func(*run, any, string) string]()),
		fn("string", asText, reflect.TypeFor[func(string) string](), reflect.TypeFor[func(int) string](),
			reflect.TypeFor[func(float64) string](), reflect.TypeFor[func(bool) string]()),
		fn("matches", matches, reflect.TypeFor[func(*run, string, *match.Pattern) bool]()),
		fn("semver", versionWithin, reflect.TypeFor[func(*run, string, *semver.Constraint) bool](), reflect.TypeFor[func(*run, string, string) bool]()),
		fn("command", command, reflect.TypeFor[func(*run, string) bool]()),
		fn("__args", commandArgs, reflect.TypeFor[func(*run, string) []string]()),
		fn("issue_number", issueNumber, reflect.TypeFor[func(*run, string) int]()),
		fn("duration", duration, reflect.TypeFor[func(string) time.Duration]()),
		fn("__now", now, reflect.TypeFor[func(*run) time.Time]()),
		fn("__form_text", formTextOf, reflect.TypeFor[func(*run, *forms.Field) string]()),
		fn("__form_number", formNumberOf, reflect.TypeFor[func(*run, *forms.Field) float64]()),
		fn("__form_list", formListOf, reflect.TypeFor[func(*run, *forms.Field) []string]()),
		fn("__form_nil", formIsNil, reflect.TypeFor[func(*run, *forms.Field) bool]()),
		fn("__form_any", formAny, reflect.TypeFor[func(*run, *forms.Field) any]()),
		fn("label_age", labelAge, reflect.TypeFor[func(*run, string) time.Duration]()),
		fn("idle", idle, reflect.TypeFor[func(*run) time.Duration](), reflect.TypeFor[func(*run, string) time.Duration]()),
		fn("__idle_is", idleIs, reflect.TypeFor[func(*run, string, time.Duration) bool](), reflect.TypeFor[func(*run, string, string, time.Duration) bool]()),
		fn("__label_age_is", labelAgeIs, reflect.TypeFor[func(*run, string, string, time.Duration) bool]()),
		fn("last_human", lastHumanOf, reflect.TypeFor[func(*run) Person]()),
		fn("added_by_us", addedByUs, reflect.TypeFor[func(*run, string) bool]()),
		fn("removed_by_human", removedByHuman, reflect.TypeFor[func(*run, string) bool]()),
		fn("any_file", anyFile, reflect.TypeFor[func(*run, string, ...string) bool]()),
		fn("all_files", allFiles, reflect.TypeFor[func(*run, string, ...string) bool]()),
		fn("matches_glob", matchesGlob, reflect.TypeFor[func(*run, string, string, ...string) bool]()),
		fn("similar", similar, reflect.TypeFor[func(*run, string, string) float64]()),
		fn("__slice", sliced, reflect.TypeFor[func(*run, any, any, any) any]()),
		fn("__item", item, reflect.TypeFor[func(*run, any, any) any]()),
		fn("__indexOf", indexOf, reflect.TypeFor[func(*run, string, string) int]()),
		fn("__lastIndexOf", lastIndexOf, reflect.TypeFor[func(*run, string, string) int]()),
		fn("__len", textLength, reflect.TypeFor[func(*run, string) int]()),
		fn("__lower", lower, reflect.TypeFor[func(*run, string) string]()),
		fn("__upper", upper, reflect.TypeFor[func(*run, string) string]()),
		fn("__tick", tick, reflect.TypeFor[func(*run) bool]()),
		fn("__compare", missing.Compare, reflect.TypeFor[func(*run, string, any, any) bool]()),
		fn("__from_end", missing.FromEnd, reflect.TypeFor[func(*run, any, any) any]()),
		fn("__or_text", missing.OrText, wrapperType),
		fn("__or_list", missing.OrList, wrapperType),
		fn("__pay", pay, wrapperType),
		fn("__made", made, wrapperType),
		fn("__pr", pulled(), reflect.TypeFor[func(*run) triage.PullRequest](), reflect.TypeFor[func(*run, string) triage.PullRequest]()),
	}
	returns := func(result reflect.Type, args ...reflect.Type) reflect.Type {
		return reflect.FuncOf(append([]reflect.Type{reflect.TypeFor[*run]()}, args...), []reflect.Type{result}, false)
	}
	for _, root := range lookedUpRoots() {
		s, _ := wholeOf(root)
		list = append(list, fn("__"+root, whole(s), returns(typeOf(s)), returns(typeOf(s), reflect.TypeFor[string]())))
	}
	for _, f := range lookedUp() {
		list = append(list, fn(f.function(), f.read, returns(f.typ)))
	}
	return list
}

// allowed lists the built-in functions of expr that rules may use: those whose work and result size
// are bounded by their arguments.
func allowed() []string {
	return []string{
		"all", "none", "any", "one", "filter", "map", "find", "findIndex", "findLast", "findLastIndex", "count", "sum",
		"len", "abs", "ceil", "floor", "round", "int", "float", "trim", "trimPrefix", "trimSuffix", "upper", "lower",
		"indexOf", "lastIndexOf", "hasPrefix", "hasSuffix", "max", "min", "date",
		"first", "last", "take", "reverse", "uniq", "sort",
	}
}

// functionNames returns the functions of rules, without the built-in functions of expr and those
// that only patched trees call. The caller must not change it.
var functionNames = sync.OnceValue(func() []string {
	var list []string
	for _, f := range functions() {
		if !strings.HasPrefix(f.Name, "__") && f.Name != "matches" {
			list = append(list, f.Name)
		}
	}
	return list
})

// Names returns every name of the language: the functions, and the fields by path. form.<name> and
// tables.<name> stand for the names that files declare.
func Names() []string {
	var list []string
	var fields func(path string, t reflect.Type)
	fields = func(path string, t reflect.Type) {
		for _, f := range reflect.VisibleFields(t) {
			name := f.Tag.Get("expr")
			switch {
			case name == "-", strings.HasPrefix(name, "__"):
			case f.Type.Kind() == reflect.Struct && f.Type != reflect.TypeFor[time.Time]():
				fields(path+name+".", f.Type)
			default:
				list = append(list, path+name)
			}
		}
	}
	fields("", reflect.TypeFor[env]())
	for _, root := range lookedUpRoots() {
		s, _ := wholeOf(root)
		fields(root+".", typeOf(s))
	}
	list = append(list, nowName, formName+".<name>", tablesName+".<name>")
	for _, f := range lookedUp() {
		if !slices.Contains(list, f.path()) {
			list = append(list, f.path())
		}
	}
	return slices.Concat(list, functionNames(), allowed())
}
