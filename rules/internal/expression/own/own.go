// Package own calls the functions that a program adds to expressions. It bounds what they return, and
// uses the results of equal calls again.
package own

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/org/foreman-action/internal/rulesource"
	"github.com/org/foreman-action/internal/text"
	"github.com/org/foreman-action/rules/internal/cost"
	"github.com/org/foreman-action/rules/internal/expression/missing"
)

// Calls are the calls of one evaluation. The zero value has none. It is not safe for concurrent use.
type Calls struct{ list []call }

// A call is a call of a function with its result.
type call struct {
	name  string
	args  []any
	value any
	err   error
}

// maxKept is the number of calls whose results are used again, and maxResult the size of such a
// result.
const (
	maxKept   = 100
	maxResult = cost.MaxText / maxKept
)

// Call calls a function, or returns the result of an equal call. recorded has the results of a test;
// nil: the function is called. Each use of a result is charged.
func (c *Calls) Call(ctx context.Context, m *cost.Meter, f rulesource.Func, args []any, recorded map[string]any) (any, error) {
	if err := m.Steps.Charge(f.MaxCost); err != nil {
		return nil, fmt.Errorf("%s: %w", f.Name, err)
	}
	args = slices.Clone(args)
	for i, t := range f.Params {
		v, ok := converted(args[i], t)
		if !ok {
			return nil, fmt.Errorf("argument %d of %s: want %s, got %s", i+1, f.Name, nameOf(t), nameOf(reflect.TypeOf(args[i])))
		}
		args[i] = v
	}
	i := slices.IndexFunc(c.list, func(o call) bool { return o.name == f.Name && reflect.DeepEqual(o.args, args) })
	if i >= 0 {
		return paid(m, c.list[i])
	}
	made := call{name: f.Name, args: args}
	made.value, made.err = answer(ctx, f, args, recorded)
	if len(c.list) < maxKept && size(made.value) <= maxResult {
		c.list = append(c.list, made)
	}
	return paid(m, made)
}

// paid charges for the result of a call, and returns it.
func paid(m *cost.Meter, c call) (any, error) {
	if c.err != nil {
		return nil, c.err
	}
	err := m.Text.Charge(size(c.value))
	if list, ok := c.value.([]string); ok && err == nil {
		err = m.Steps.Charge(len(list))
	}
	if err != nil {
		return nil, fmt.Errorf("the result of %s: %w", c.name, err)
	}
	return c.value, nil
}

// answer returns the recorded result of a function, or calls it.
func answer(ctx context.Context, f rulesource.Func, args []any, recorded map[string]any) (any, error) {
	value, ok := recorded[f.Name]
	if recorded != nil && !ok {
		return nil, fmt.Errorf("there is no recorded result of %s; a test names it under functions", f.Name)
	}
	if recorded == nil {
		var err error
		if value, err = called(ctx, f, args); err != nil {
			return nil, failure{f.Name + ": " + oneLine(err), err}
		}
	}
	out, ok := converted(value, f.Result)
	if !ok || value == nil {
		return nil, fmt.Errorf("%s returned %s; its result is declared as %s", f.Name, nameOf(reflect.TypeOf(value)), nameOf(f.Result))
	}
	return out, nil
}

// called calls a function. A panic is an error.
func called(ctx context.Context, f rulesource.Func, args []any) (value any, err error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	defer func() {
		if p := recover(); p != nil {
			value, err = nil, fmt.Errorf("it panicked: %v", p)
		}
	}()
	return f.Call(ctx, slices.Clone(args))
}

// A failure is the error of a call.
type failure struct {
	msg   string
	cause error
}

// Error returns one line without control characters.
func (f failure) Error() string { return f.msg }

// Unwrap returns the error that the function returned.
func (f failure) Unwrap() error { return f.cause }

const maxMessage = 200 // characters

func oneLine(err error) string {
	line := strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return ' '
		}
		return r
	}, valid(err.Error()))
	return text.Shorten(strings.Join(strings.Fields(line), " "), maxMessage)
}

// converted returns a value as one of type t. Numbers may be whole, a missing text is empty, and a
// list is a copy. Texts become valid UTF-8.
func converted(v any, t reflect.Type) (any, bool) {
	switch {
	case t.Kind() == reflect.Slice:
		list, ok := missing.Flat(v, cost.MaxItems+1)
		list = append([]string{}, list...)
		for i, s := range list {
			list[i] = valid(s)
		}
		return list, ok && len(list) <= cost.MaxItems
	case t.Kind() == reflect.Float64:
		if n, ok := v.(int); ok {
			return float64(n), true
		}
	case t.Kind() == reflect.String:
		if s, ok := v.(string); ok || v == nil {
			return valid(s), true
		}
	}
	return v, reflect.TypeOf(v) == t
}

func valid(s string) string { return strings.ToValidUTF8(s, "\uFFFD") }

// size returns the number of bytes of a text or of the texts of a list.
func size(v any) int {
	switch v := v.(type) {
	case string:
		return len(v)
	case []string:
		n := 0
		for _, s := range v {
			n += len(s)
		}
		return n
	}
	return 0
}

// nameOf names a type in messages; nil is the type of the value nil.
func nameOf(t reflect.Type) string {
	switch t {
	case nil:
		return "nothing"
	case reflect.TypeFor[time.Time]():
		return "a time"
	case reflect.TypeFor[time.Duration]():
		return "a duration"
	case reflect.TypeFor[string]():
		return "text"
	case reflect.TypeFor[bool]():
		return "true or false"
	case reflect.TypeFor[int](), reflect.TypeFor[float64]():
		return "a number"
	case reflect.TypeFor[[]string]():
		return "a list of texts"
	}
	return "a value of type " + t.String()
}

// Check returns an error if the parameter i is a list and an argument of that type is not. The type of
// the items is not known for lists that an expression computes.
func Check(f rulesource.Func, i int, argument reflect.Type) error {
	switch argument.Kind() {
	case reflect.Slice, reflect.Array, reflect.Interface:
		return nil
	}
	if f.Params[i].Kind() != reflect.Slice {
		return nil
	}
	return errors.New("argument " + fmt.Sprint(i+1) + " of " + f.Name + ": want a list of texts, got " + nameOf(argument))
}
