package triage_test

import (
	"reflect"
	"testing"
	"time"

	"github.com/org/foreman-action/rules/facts"
)

// TestPlainData checks that the types that conditions read contain nothing to call, follow or
// change: no methods, pointers or maps. New fields are checked automatically.
func TestPlainData(t *testing.T) {
	t.Parallel()
	seen := 0
	for f := range fieldsOf(reflect.TypeFor[facts.Facts]()) {
		typ := f.Type
		if typ.Kind() == reflect.Pointer { // an optional part; conditions read the value that it points to
			typ = typ.Elem()
		}
		if typ.Kind() == reflect.Struct && typ != reflect.TypeFor[time.Time]() {
			seen++
			checkPlain(t, f.Name, typ)
		}
	}
	if seen != 5 {
		t.Errorf("looked at %d parts of the facts, want the issue, the event, the actor, the repository and the pull request", seen)
	}
}

func fieldsOf(t reflect.Type) func(yield func(reflect.StructField) bool) {
	return func(yield func(reflect.StructField) bool) {
		for i := range t.NumField() {
			if !yield(t.Field(i)) {
				return
			}
		}
	}
}

func checkPlain(t *testing.T, path string, typ reflect.Type) {
	t.Helper()
	switch typ.Kind() {
	case reflect.String, reflect.Bool, reflect.Int, reflect.Int64:
	case reflect.Slice:
		checkPlain(t, path+"[]", typ.Elem())
		return
	case reflect.Struct:
		if typ == reflect.TypeFor[time.Time]() { // the expression language provides the methods of times itself
			return
		}
		names := map[string]bool{}
		for f := range fieldsOf(typ) {
			tag := f.Tag.Get("expr")
			switch {
			case tag == "-":
				continue
			case tag == "" || !f.IsExported() || f.Anonymous:
				t.Errorf("%s.%s: no name in conditions", path, f.Name)
			case names[tag]:
				t.Errorf("%s.%s: the name %s is used twice", path, f.Name, tag)
			}
			names[tag] = true
			checkPlain(t, path+"."+f.Name, f.Type)
		}
	default:
		t.Errorf("%s: a condition can reach a %s", path, typ.Kind())
	}
	if n := typ.NumMethod() + reflect.PointerTo(typ).NumMethod(); n > 0 {
		t.Errorf("%s: %s has %d methods", path, typ, n)
	}
}
