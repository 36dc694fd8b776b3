package expression

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/org/foreman-action/rules/internal/symbols"
)

func TestPatternsAreCompiledOnce(t *testing.T) {
	t.Parallel()
	c := NewCompiler(symbols.New())
	for range 3 {
		if _, err := c.compile("issue.title matches `a` or issue.body matches \"a\"", Bool); err != nil {
			t.Fatal(err)
		}
	}
	if len(c.patterns) != 1 {
		t.Errorf("got %d patterns, want 1", len(c.patterns))
	}
}

// Every field that rules can reach is exported, has a name or is hidden, and is plain data.
func TestFactsAreTagged(t *testing.T) {
	t.Parallel()
	var check func(typ reflect.Type)
	check = func(typ reflect.Type) {
		if typ.NumMethod() > 0 || reflect.PointerTo(typ).NumMethod() > 0 {
			t.Errorf("%s has methods", typ)
		}
		for i := range typ.NumField() {
			f := typ.Field(i)
			if f.Tag.Get("expr") == "" {
				t.Errorf("%s.%s has no name for rules", typ, f.Name)
			}
			if f.Type.Kind() == reflect.Pointer || f.Type.Kind() == reflect.Map || f.Type.Kind() == reflect.Func {
				t.Errorf("%s.%s is a %s", typ, f.Name, f.Type.Kind())
			}
			if f.Type.Kind() == reflect.Struct && f.Type != reflect.TypeFor[time.Time]() {
				check(f.Type)
			}
		}
	}
	for _, typ := range nouns() {
		check(typ)
	}
}

func TestEventFields(t *testing.T) {
	t.Parallel()
	if got, want := eventFields(), names(reflect.TypeFor[env]()); !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

// A condition cannot use a hidden field, whatever name it tries.
func TestHiddenFieldsHaveNoName(t *testing.T) {
	t.Parallel()
	hidden := 0
	var check func(path string, typ reflect.Type)
	check = func(path string, typ reflect.Type) {
		for f := range typ.Fields() {
			tag := f.Tag.Get("expr")
			switch {
			case f.Anonymous:
				check(path, f.Type)
				tag = "-"
			case tag != "-" && f.Type.Kind() == reflect.Struct:
				check(path+"."+tag, f.Type)
			}
			if tag != "-" {
				continue
			}
			hidden++
			for _, name := range []string{f.Name, strings.ToLower(f.Name), "-"} {
				src := fmt.Sprintf("%s[%q] == 1", path, name)
				if _, err := NewCompiler(symbols.New()).check(src, Bool); err == nil || !strings.Contains(err.Error(), "has no field") {
					t.Errorf("%s: got %v, want an unknown field", src, err)
				}
			}
		}
	}
	for f := range reflect.TypeFor[env]().Fields() {
		if f.Type.Kind() == reflect.Struct {
			check(f.Tag.Get("expr"), f.Type)
		}
	}
	if hidden < 8 {
		t.Errorf("%d hidden fields, want at least 8", hidden)
	}
}
