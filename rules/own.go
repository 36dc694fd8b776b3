package rules

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/org/foreman-action/internal/rulesource"
	"github.com/org/foreman-action/protocol"
	"github.com/org/foreman-action/rules/internal/cost"
	"github.com/org/foreman-action/rules/internal/expression"
)

// A Kind is the type of a parameter or of the result of a [Func].
type Kind string

// The kinds, with their types in Go.
const (
	KindText     Kind = "text"          // string
	KindNumber   Kind = "number"        // float64; as a result also int
	KindBool     Kind = "true or false" // bool
	KindTexts    Kind = "list of texts" // []string
	KindDuration Kind = "duration"      // time.Duration
	KindTime     Kind = "time"          // time.Time
)

// typ returns the type in Go; nil for an unknown kind.
func (k Kind) typ() reflect.Type {
	switch k {
	case KindText:
		return reflect.TypeFor[string]()
	case KindNumber:
		return reflect.TypeFor[float64]()
	case KindBool:
		return reflect.TypeFor[bool]()
	case KindTexts:
		return reflect.TypeFor[[]string]()
	case KindDuration:
		return reflect.TypeFor[time.Duration]()
	case KindTime:
		return reflect.TypeFor[time.Time]()
	}
	return nil
}

// A Func is a function that the program adds to conditions and to {{ }}, such as the tier of a
// customer. All fields but Doc and Params are required.
type Func struct {
	// Name is the name in conditions: at most 64 of a-z, 0-9 and _, the first a letter. It must not be
	// a name of [Reference].
	Name string
	Doc  string // a clause for Reference: what the function yields
	// Params are the kinds of the arguments. Each call has all of them.
	Params []Kind
	Result Kind
	// MaxCost is the highest cost of a call, in steps of half a microsecond, from 1 to 100,000. Each
	// call is charged with it. An expression whose calls and other work cost more than 100,000 steps
	// fails, so a function of 50,000 can be called twice.
	MaxCost int
	// Call returns the result for the arguments, whose number and types are those of Params. They are
	// untrusted text, and must not be changed. Within one [Set.Decide], the result may be used again
	// for equal arguments.
	//
	// ctx is that of Decide. Call must return when it ends. An error, a panic, or a result of another
	// type makes the rule fail, and no other. An error that wraps a [*facts.UnknownError] means that
	// the value is not known: then the rule does nothing. Results are data: a text costs its length,
	// and one of more than 4 MiB fails. Call may be called by several goroutines.
	Call func(ctx context.Context, args []any) (any, error)
}

// CompileOptions add to the language of rules. The zero value adds nothing.
type CompileOptions struct {
	Funcs []Func
	// Actions are own actions that rules can have under "then"; see runner.Action. A rule's action is
	// carried out only by a runner that has it, under a policy that names it.
	Actions []protocol.ActionSpec
}

// CompileWith is [Compile] with functions and actions of the program's own. An error about the
// options names the field.
func CompileWith(o CompileOptions, sources ...Source) (*Set, error) {
	own, err := o.Source()
	if err != nil {
		return nil, err
	}
	return Compile(append([]Source{own}, sources...)...)
}

// Source returns a source without rules that declares the functions and actions for all rules and
// tests: for [CompileCondition] and [ruletest.Parse]. The error names the wrong field.
func (o CompileOptions) Source() (Source, error) {
	var own rulesource.Own
	names := map[string]bool{}
	for i, f := range o.Funcs {
		converted, err := f.source()
		if err == nil && names[f.Name] {
			err = wrong("Name", "%s is used twice", f.Name)
		}
		if err != nil {
			return Source{}, fmt.Errorf("rules: CompileOptions.Funcs[%d].%w", i, err)
		}
		names[f.Name] = true
		own.Funcs = append(own.Funcs, converted)
	}
	names = map[string]bool{}
	for i, a := range o.Actions {
		err := a.CheckOwn()
		if err == nil && names[a.Name] {
			err = wrong("Name", "%s is used twice", a.Name)
		}
		if err != nil {
			return Source{}, fmt.Errorf("rules: CompileOptions.Actions[%d].%w", i, err)
		}
		names[a.Name] = true
		own.Actions = append(own.Actions, a)
	}
	return Source(rulesource.New(rulesource.Parts{Own: &own})), nil
}

// source returns the checked function. The error begins with the wrong field.
func (f Func) source() (rulesource.Func, error) {
	out := rulesource.Func{Name: f.Name, Doc: f.Doc, Result: f.Result.typ(), MaxCost: f.MaxCost, Call: f.Call}
	if err := expression.CheckName(f.Name); err != nil {
		return out, wrong("Name", "%w", err)
	}
	for i, k := range f.Params {
		if k.typ() == nil {
			return out, wrong(fmt.Sprintf("Params[%d]", i), "there is no kind %q", k)
		}
		out.Params = append(out.Params, k.typ())
	}
	switch {
	case out.Result == nil:
		return out, wrong("Result", "there is no kind %q", f.Result)
	case f.MaxCost < 1 || f.MaxCost > cost.MaxSteps:
		return out, wrong("MaxCost", "want 1 to %d, got %d", cost.MaxSteps, f.MaxCost)
	case f.Call == nil:
		return out, wrong("Call", "is nil")
	}
	return out, nil
}

// name returns the entry of the function in a reference.
func (f Func) name() Name {
	params := make([]string, len(f.Params))
	for i, k := range f.Params {
		params[i] = string(k)
	}
	return Name{Name: f.Name, Type: fmt.Sprintf("(%s) %s", strings.Join(params, ", "), f.Result), Doc: f.Doc}
}

// ownOf returns the functions and actions of all sources.
func ownOf(list []rulesource.Parts) rulesource.Own {
	var own rulesource.Own
	for _, src := range list {
		if src.Own != nil {
			own.Funcs, own.Actions = slices.Concat(own.Funcs, src.Own.Funcs), slices.Concat(own.Actions, src.Own.Actions)
		}
	}
	return own
}

// wrong returns an error that begins with the name of a field.
func wrong(field, format string, args ...any) error {
	return fmt.Errorf(field+": "+format, args...)
}
