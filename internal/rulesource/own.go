package rulesource

import (
	"context"
	"reflect"

	"github.com/org/foreman-action/protocol"
)

// Own has the functions and actions that a program adds to the language of rules. They are checked.
type Own struct {
	Funcs   []Func
	Actions []protocol.ActionSpec
}

// A Func is the content of a rules.Func. Its types are string, float64, bool, []string,
// time.Duration and time.Time.
type Func struct {
	Name, Doc string
	Params    []reflect.Type
	Result    reflect.Type
	MaxCost   int // steps
	Call      func(ctx context.Context, args []any) (any, error)
}
