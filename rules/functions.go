package rules

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/expr-lang/expr/ast"
	"github.com/expr-lang/expr/builtin"

	length "github.com/org/foreman-action/internal/duration"
	"github.com/org/foreman-action/protocol"
	"github.com/org/foreman-action/rules/facts"
	"github.com/org/foreman-action/rules/internal/cost"
	"github.com/org/foreman-action/rules/internal/forms"
	"github.com/org/foreman-action/rules/internal/semver"
	"github.com/org/foreman-action/rules/internal/slash"
)

var errNow = errors.New("now is not known for this event")

// moreFunctions are those of versions, times, commands and forms.
func moreFunctions() []*builtin.Function {
	fn := func(name string, f func(...any) (any, error), types ...reflect.Type) *builtin.Function {
		return &builtin.Function{Name: name, Func: f, Types: types}
	}
	return []*builtin.Function{
		fn("semver", versionWithin, reflect.TypeFor[func(*run, string, *semver.Constraint) bool](), reflect.TypeFor[func(*run, string, string) bool]()),
		fn("command", command, reflect.TypeFor[func(*run, string) bool]()),
		fn("duration", duration, reflect.TypeFor[func(string) time.Duration]()),
		fn("__now", now, reflect.TypeFor[func(*run) time.Time]()),
		fn("__form_text", formTextOf, reflect.TypeFor[func(*run, *forms.Field) string]()),
		fn("__form_number", formNumberOf, reflect.TypeFor[func(*run, *forms.Field) float64]()),
		fn("__form_list", formListOf, reflect.TypeFor[func(*run, *forms.Field) []string]()),
		fn("__form_nil", formIsNil, reflect.TypeFor[func(*run, *forms.Field) bool]()),
		fn("__form_any", formAny, reflect.TypeFor[func(*run, *forms.Field) any]()),
		fn("__permission", permission, reflect.TypeFor[func(*run) string]()),
		fn("__memory", remembered, reflect.TypeFor[func(*run) facts.Memory]()),
		fn("label_age", labelAge, reflect.TypeFor[func(*run, string) time.Duration]()),
		fn("idle", idle, reflect.TypeFor[func(*run) time.Duration]()),
		fn("last_human", lastHumanOf, reflect.TypeFor[func(*run) Person]()),
		fn("added_by_us", addedByUs, reflect.TypeFor[func(*run, string) bool]()),
		fn("removed_by_human", removedByHuman, reflect.TypeFor[func(*run, string) bool]()),
		fn("any_file", anyFile, reflect.TypeFor[func(*run, string, ...string) bool]()),
		fn("all_files", allFiles, reflect.TypeFor[func(*run, string, ...string) bool]()),
		fn("similar", similar, reflect.TypeFor[func(*run, string, string) float64]()),
	}
}

// arg returns an argument whose type the expression language has checked.
func arg[T any](args []any, i int) T {
	v, _ := args[i].(T)
	return v
}

// versionWithin is semver(version, constraint). A text that is no version is within no
// constraint, and nothing is within the empty one, which a table gives for a key that
// it does not hold.
func versionWithin(args ...any) (any, error) {
	r, s := arg[*run](args, 0), arg[string](args, 1)
	if err := r.meter.Steps.Charge(1 + min(len(s), semver.MaxVersion)/cost.BytesPerStep); err != nil {
		return nil, err
	}
	c, constant := args[2].(*semver.Constraint)
	if text, _ := args[2].(string); !constant {
		if text == "" {
			return false, nil
		}
		var err error
		if c, err = semver.ParseConstraint(text); err != nil {
			return nil, err
		}
	}
	v, ok := semver.Parse(s)
	return ok && c.Allows(v), nil
}

// command is command(name).
func command(args ...any) (any, error) {
	r, name := arg[*run](args, 0), arg[string](args, 1)
	given := r.comment.commands(r.facts)
	return slices.ContainsFunc(given, func(c slash.Command) bool { return strings.EqualFold(c.Name, name) }), r.meter.Steps.Charge(1 + len(given))
}

// A commentReader reads the commands of the event's comment, once.
type commentReader struct {
	read bool
	list []slash.Command
}

// commands returns the commands of the comment. A deleted comment has none, nor one that
// somebody else edited: the actor did not write its text.
func (c *commentReader) commands(f *facts.Facts) []slash.Command {
	e := &f.Event
	if e.Name != "issue_comment" || e.Action == "deleted" || !strings.EqualFold(e.Comment.Author, f.Actor.Login) {
		return nil
	}
	if !c.read {
		c.read, c.list = true, slash.Commands(e.Comment.Body)
	}
	return c.list
}

// duration is duration(text).
func duration(args ...any) (any, error) {
	return protocol.ParseDuration(arg[string](args, 0))
}

// now is the time of the run, which comes with the facts.
func now(args ...any) (any, error) {
	t := arg[*run](args, 0).facts.Now
	if t.IsZero() {
		return nil, errNow
	}
	return t, nil
}

// constantArgument checks the last argument of a call of ours when it is a constant,
// and reads it once. Calls with too many or too few are left to the type check.
func constantArgument(n *ast.CallNode) error {
	name, ok := n.Callee.(*ast.IdentifierNode)
	if !ok {
		return nil
	}
	if name.Value == "any_file" || name.Value == "all_files" {
		return checkGlobs(n)
	}
	last := map[string]int{"semver": 1, "duration": 0, "command": 0}[name.Value]
	if len(n.Arguments) != last+1 {
		return nil
	}
	text, ok := constantText(n.Arguments[last])
	if !ok {
		return nil
	}
	var err error
	switch name.Value {
	case "semver":
		var c *semver.Constraint
		if c, err = semver.ParseConstraint(text); err == nil {
			n.Arguments[last] = at(&ast.ConstantNode{Value: c}, n.Arguments[last])
		}
	case "duration":
		if _, bad := protocol.ParseDuration(text); errors.Is(bad, length.ErrTooLong) {
			err = bad
		} else if bad != nil {
			err = fmt.Errorf(`%s; write it like "90m", "12h" or "14d"`, cannotRead(name.Value, text))
		}
	case "command":
		err = slash.CheckName(text)
	}
	if err != nil {
		return refuse(n.Arguments[last], "%v", err)
	}
	return nil
}
