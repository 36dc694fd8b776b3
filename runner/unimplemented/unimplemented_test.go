package unimplemented_test

import (
	"errors"
	"reflect"
	"strings"
	"testing"

	"github.com/org/foreman-action/runner/unimplemented"
)

// TestUnimplemented checks that the error of each method names the method, and matches
// errors.ErrUnsupported.
func TestUnimplemented(t *testing.T) {
	t.Parallel()
	for kind, value := range map[string]any{"Repository": unimplemented.Repository{}, "Search": unimplemented.Search{}} {
		v := reflect.ValueOf(value)
		for m := range v.Type().Methods() {
			if m.Name == "Budget" {
				continue
			}
			method := v.MethodByName(m.Name)
			in := []reflect.Value{reflect.ValueOf(t.Context())}
			for k := 1; k < method.Type().NumIn(); k++ {
				in = append(in, reflect.Zero(method.Type().In(k)))
			}
			out := method.Call(in)
			err, _ := out[len(out)-1].Interface().(error)
			if !errors.Is(err, errors.ErrUnsupported) || !strings.Contains(err.Error(), kind+"."+m.Name+", which is needed by ") {
				t.Errorf("%s.%s: got %v", kind, m.Name, err)
			}
		}
	}
	if _, ok := (unimplemented.Search{}).Budget(); ok {
		t.Error("Budget: got a number of calls")
	}
}
