package rules

import (
	"errors"
	"reflect"
	"slices"
	"strings"

	"github.com/org/foreman-action/rules/facts"
	"github.com/org/foreman-action/rules/internal/cost"
	"github.com/org/foreman-action/rules/internal/forms"
	"github.com/org/foreman-action/rules/internal/match"
	"github.com/org/foreman-action/triage"
)

// env is what expressions see.
type env struct {
	Issue issue              `expr:"issue"`
	Event event              `expr:"event"`
	Actor triage.Actor       `expr:"actor"`
	Repo  repo               `expr:"repo"`
	Pull  triage.PullRequest `expr:"pr"`
	// Run is passed to our functions by the patched tree; rules cannot name it.
	Run *run `expr:"__run"`
}

// An issue is an issue as conditions see it, with its derived fields.
type issue struct {
	triage.Issue `expr:"-"`
	Text         string `expr:"text"` // title, blank line, body
}

// An event is an event as conditions see it, with its derived fields.
type event struct {
	triage.Event `expr:"-"`
	Key          string `expr:"key"` // "issues.opened", or the name alone
}

// A repo is a repository as conditions see it, with its derived fields.
type repo struct {
	triage.Repo `expr:"-"`
	FullName    string `expr:"full_name"` // "owner/name"
}

// runName is the name of env.Run; names that start like it are refused in rules.
const runName = "__run"

func newEnv(f facts.Facts) *env {
	e := &env{
		Issue: issue{f.Issue, f.Issue.Title + "\n\n" + f.Issue.Body},
		Event: event{f.Event, eventKey(f.Event.Name, f.Event.Action)},
		Actor: f.Actor,
		Repo:  repo{f.Repo, f.Repo.Owner + "/" + f.Repo.Name},
		Pull:  f.Pull,
	}
	e.Run = &run{
		facts: &f, labels: f.Issue.Labels, meter: cost.NewMeter(),
		matcher: match.NewMatcher(f.Issue.Title, f.Issue.Body, e.Issue.Text, f.Event.Comment.Body),
		forms:   forms.NewReader(f.Issue.Body),
	}
	return e
}

var errList = errors.New("join takes a list of strings")

// A run is the state of one evaluation.
type run struct {
	facts   *facts.Facts
	labels  []string
	meter   cost.Meter
	cased   caseCache
	matcher *match.Matcher
	forms   *forms.Reader
	comment commentReader
}

// reset makes the run ready for the next expression.
func (r *run) reset() {
	r.meter.Reset()
	r.cased.reset()
}

// tick is called once for each turn of a loop.
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

// textLength is len(text).
func textLength(args ...any) (any, error) {
	return args[0].(*run).matcher.Length(args[1].(string)), nil
}

// lower is lower(text).
func lower(args ...any) (any, error) {
	r := args[0].(*run)
	return r.cased.convert(args[1].(string), false, &r.meter.Text)
}

// upper is upper(text).
func upper(args ...any) (any, error) {
	r := args[0].(*run)
	return r.cased.convert(args[1].(string), true, &r.meter.Text)
}

// matches is the operator of that name with its constant pattern.
func matches(args ...any) (any, error) {
	r := args[0].(*run)
	return r.matcher.Match(args[2].(*match.Pattern), args[1].(string), &r.meter)
}

// label is label(name).
func label(args ...any) (any, error) {
	return args[0].(*run).label(args[1].(string))
}

func (r *run) label(name string) (bool, error) {
	found := slices.ContainsFunc(r.labels, func(l string) bool { return strings.EqualFold(l, name) })
	return found, r.meter.Steps.Charge(len(r.labels))
}

// anyLabel is any_label(glob, ...).
func anyLabel(args ...any) (any, error) {
	r := args[0].(*run)
	for _, g := range args[1:] {
		glob := g.(string)
		for _, l := range r.labels {
			if err := r.meter.Steps.Charge(1 + len(glob)*len(l)/cost.BytesPerStep); err != nil {
				return nil, err
			}
			if match.Glob(glob, l) {
				return true, nil
			}
		}
	}
	return false, nil
}

// join is join(list, separator); it measures before it builds.
func join(args ...any) (any, error) {
	r, sep := args[0].(*run), ""
	if len(args) == 3 {
		sep = args[2].(string)
	}
	list, ok := stringsOf(args[1])
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

// stringsOf returns the elements of a list of strings.
func stringsOf(v any) ([]string, bool) {
	switch x := v.(type) {
	case []string:
		return x, true
	case []any:
		list := make([]string, len(x))
		for i, e := range x {
			s, ok := e.(string)
			if !ok {
				return nil, false
			}
			list[i] = s
		}
		return list, true
	}
	return nil, false
}
