package expression

import (
	"errors"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/expr-lang/expr/vm/runtime"

	"github.com/org/foreman-action/internal/text"
	"github.com/org/foreman-action/protocol"
	"github.com/org/foreman-action/rules/facts"
	"github.com/org/foreman-action/rules/internal/characters"
	"github.com/org/foreman-action/rules/internal/cost"
	"github.com/org/foreman-action/rules/internal/expression/missing"
	"github.com/org/foreman-action/rules/internal/forms"
	"github.com/org/foreman-action/rules/internal/match"
	"github.com/org/foreman-action/rules/internal/semver"
	"github.com/org/foreman-action/rules/internal/slash"
)

var errList = errors.New("join takes a list of strings")

// tick is called once for each iteration of a loop.
func tick(args ...any) (any, error) {
	return true, args[0].(*run).meter.Steps.Charge(1)
}

// pay charges for reading a value inside a loop and returns the value.
func pay(args ...any) (any, error) {
	n := 0
	switch x := args[1].(type) {
	case string:
		n = len(x) / cost.BytesPerStep
	case int, bool, float64, nil:
	default:
		switch v := reflect.ValueOf(x); v.Kind() {
		case reflect.Slice, reflect.Array, reflect.Map:
			n = v.Len()
		}
	}
	return args[1], args[0].(*run).meter.Steps.Charge(n)
}

// made charges for a new value and returns it.
func made(args ...any) (any, error) {
	s, ok := args[1].(string)
	if !ok {
		return args[1], nil
	}
	return s, args[0].(*run).meter.Text.Charge(len(s))
}

// textLength implements len(text).
func textLength(args ...any) (any, error) {
	return args[0].(*run).matcher.Length(textArg(args, 1)), nil
}

// sliced implements value[from:to]. Offsets into a text count characters.
func sliced(args ...any) (any, error) {
	s, isText := args[1].(string)
	if args[1] == nil {
		return "", nil
	}
	if !isText {
		return runtime.Slice(args[1], args[2], args[3]), nil
	}
	n, err := args[0].(*run).characters(s)
	return characters.Slice(s, runtime.ToInt(args[2]), runtime.ToInt(args[3]), n), err
}

// item implements value[index] for a value that may be a text. An index into a text counts
// characters.
func item(args ...any) (any, error) {
	s, isText := args[1].(string)
	if !isText {
		return runtime.Fetch(args[1], args[2]), nil
	}
	n, err := args[0].(*run).characters(s)
	c, ok := characters.At(s, runtime.ToInt(args[2]), n)
	if err == nil && !ok {
		err = fmt.Errorf("index out of range: %v (the text has %d characters)", args[2], n)
	}
	return c, err
}

// indexOf implements indexOf(text, part). The index counts characters.
func indexOf(args ...any) (any, error) {
	_, err := args[0].(*run).characters(textArg(args, 1))
	return characters.Index(strings.Index, textArg(args, 1), textArg(args, 2)), err
}

// lastIndexOf implements lastIndexOf(text, part). The index counts characters.
func lastIndexOf(args ...any) (any, error) {
	_, err := args[0].(*run).characters(textArg(args, 1))
	return characters.Index(strings.LastIndex, textArg(args, 1), textArg(args, 2)), err
}

// characters returns the number of characters of a text. It charges for counting them twice.
func (r *run) characters(s string) (int, error) {
	if err := r.meter.Steps.Charge(1 + 2*len(s)/cost.BytesPerStep); err != nil {
		return 0, err
	}
	return r.matcher.Length(s), nil
}

// lower implements lower(text).
func lower(args ...any) (any, error) {
	r := args[0].(*run)
	return r.cased.Convert(textArg(args, 1), false, &r.meter.Text)
}

// upper implements upper(text).
func upper(args ...any) (any, error) {
	r := args[0].(*run)
	return r.cased.Convert(textArg(args, 1), true, &r.meter.Text)
}

// matches implements the operator matches with a constant pattern. It is false for a missing text.
func matches(args ...any) (any, error) {
	r := args[0].(*run)
	if args[1] == nil {
		return false, nil
	}
	return r.matcher.Match(args[2].(*match.Pattern), args[1].(string), &r.meter)
}

// join implements join(list, separator). It charges for the result before building it.
func join(args ...any) (any, error) {
	r, sep := args[0].(*run), ""
	if len(args) == 3 {
		sep = textArg(args, 2)
	}
	list, ok := missing.Strings(args[1])
	if !ok {
		return nil, errList
	}
	n := len(sep) * max(0, len(list)-1)
	for _, s := range list {
		n += len(s)
	}
	if err := r.meter.Text.Charge(n); err != nil {
		return nil, err
	}
	return strings.Join(list, sep), nil
}

// label implements label(name).
func label(args ...any) (any, error) {
	return args[0].(*run).label(textArg(args, 1))
}

// anyLabel implements any_label(glob, ...).
func anyLabel(args ...any) (any, error) {
	r := args[0].(*run)
	for i := range args[1:] {
		glob := textArg(args, 1+i)
		for _, l := range r.labels {
			if err := r.meter.Steps.Charge(1 + len(glob)*len(l)/cost.BytesPerStep); err != nil {
				return nil, err
			}
			if text.MatchLabel(glob, l) {
				return true, nil
			}
		}
	}
	return false, nil
}

// asText implements string(x).
func asText(args ...any) (any, error) {
	switch x := args[0].(type) {
	case nil:
		return "", nil
	case string:
		return x, nil
	case int, int64, float64, bool:
		return Format(x), nil
	}
	return nil, errors.New("string takes a text, a number or a boolean")
}

// versionWithin implements semver(version, constraint). It is false for a text that is not a
// version, and for an empty constraint, which is the value of a table for a missing key.
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

// command implements command(name).
func command(args ...any) (any, error) {
	r, name := arg[*run](args, 0), arg[string](args, 1)
	given := r.comment.commands(r.facts)
	return slices.ContainsFunc(given, func(c slash.Command) bool { return strings.EqualFold(c.Name, name) }), r.meter.Steps.Charge(1 + len(given))
}

// commandArgs implements command(name).args: the arguments of all lines with the command, in order.
func commandArgs(args ...any) (any, error) {
	r, name := arg[*run](args, 0), arg[string](args, 1)
	given, list := r.comment.commands(r.facts), []string{}
	for _, c := range given {
		if strings.EqualFold(c.Name, name) {
			list = append(list, c.Args()...)
		}
	}
	return list, r.meter.Steps.Charge(1 + len(given) + len(list))
}

// issueNumber implements issue_number(text). It returns the number if the whole text refers to an
// issue of this repository; 0 for any other text.
func issueNumber(args ...any) (any, error) {
	r, s := arg[*run](args, 0), strings.TrimSpace(arg[string](args, 1))
	if err := r.meter.Steps.Charge(1 + len(s)/cost.BytesPerStep); err != nil {
		return 0, err
	}
	repo := strings.ToLower(r.facts.Repo.Owner + "/" + r.facts.Repo.Name)
	page, _, _ := strings.Cut(strings.ToLower(r.facts.Issue.URL), "/"+repo+"/")
	digits := s
	for _, before := range []string{"#", repo + "#", page + "/" + repo + "/issues/"} {
		if len(s) > len(before) && strings.EqualFold(s[:len(before)], before) {
			digits = s[len(before):]
		}
	}
	if strings.Trim(digits, "0123456789") != "" || strings.HasPrefix(digits, "0") {
		return 0, nil
	}
	n, err := strconv.Atoi(digits)
	if err != nil || n > math.MaxInt32 {
		return 0, nil //nolint:nilerr // a text that refers to no issue is none
	}
	return n, nil
}

// A commentReader reads the commands of the event's comment, once.
type commentReader struct {
	read bool
	list []slash.Command
}

// commands returns the commands of the comment. A deleted comment has none. A comment that somebody
// other than its author edited has none, either, because the actor did not write its text.
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

// duration implements duration(text).
func duration(args ...any) (any, error) {
	return protocol.ParseDuration(arg[string](args, 0))
}

// now returns the time of the run from the facts.
func now(args ...any) (any, error) {
	t := arg[*run](args, 0).facts.Now
	if t.IsZero() {
		return nil, errNow
	}
	return t, nil
}

// The functions that replace form.name in the tree; see resolve.go.

func formTextOf(args ...any) (any, error) { return formOf(args).Text, nil }

func formNumberOf(args ...any) (any, error) { return formOf(args).Number, nil }

func formListOf(args ...any) (any, error) { return formOf(args).List, nil }

// formIsNil implements the comparison of a form field with nil.
func formIsNil(args ...any) (any, error) { return formOf(args).Absent, nil }

// formAny returns the value of a form field for an explanation; nil if the field is empty.
func formAny(args ...any) (any, error) {
	v := formOf(args)
	switch {
	case v.Absent:
		return nil, nil
	case v.List != nil:
		return v.List, nil
	case arg[*forms.Field](args, 1).Type == forms.Number:
		return v.Number, nil
	}
	return v.Text, nil
}

func formOf(args []any) forms.Value {
	return arg[*run](args, 0).forms.Value(arg[*forms.Field](args, 1))
}

// Format returns a value as text for a template. A missing value and NaN, the number of an empty form
// field, become "".
func Format(value any) string {
	if value == nil {
		return ""
	}
	if n, ok := value.(float64); ok {
		if math.IsNaN(n) {
			return ""
		}
		return strconv.FormatFloat(n, 'f', -1, 64)
	}
	return fmt.Sprint(value)
}

// textArg returns an argument that must be a text; "" if it is missing. It panics for other types, as
// a function of expr does.
func textArg(args []any, i int) string {
	if args[i] == nil {
		return ""
	}
	return args[i].(string)
}
