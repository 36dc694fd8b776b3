package rules

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/org/foreman-action/protocol"
	"github.com/org/foreman-action/rules/facts"
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
	e.Run = &run{eventText: eventText{facts: &f}, labels: f.Issue.Labels, haystacks: haystacks(f, e.Issue.Text), answers: map[*pattern]answer{}}
	return e
}

// The bounds of one evaluation. A step is a turn of a loop or comparable work.
const (
	maxSteps = 100_000
	maxMade  = 4 << 20 // bytes of new strings
	maxCells = 100_000 // list and map elements, the virtual machine's budget
)

var (
	errSteps   = fmt.Errorf("the expression takes more than %d steps", maxSteps)
	errMatched = errors.New("the expression's patterns are too much work on a text of this size")
	errMade    = fmt.Errorf("the expression builds more than %d bytes of text", maxMade)
	errList    = errors.New("join takes a list of strings")
)

// A run is the state of one evaluation.
type run struct {
	eventText
	labels               []string
	changed              []string // labels that were added or removed, in order and in lower case
	steps, matched, made int
	cased                []casing
	haystacks            []haystack
	answers              map[*pattern]answer // the last of each pattern
}

// An answer is whether a text matched.
type answer struct {
	text           string
	known, matched bool
	charged        bool // a shortcut does not charge
}

// relabel lets what is asked from now on see what an action does to the labels.
func (e *env) relabel(rule string, item protocol.ActionItem) {
	var names []string
	adds := true
	switch item.Type {
	case protocol.ActionAddLabel:
		names, _, _ = item.Texts("label")
	case protocol.ActionAddLabels:
		names, _, _ = item.Texts("labels")
	case protocol.ActionRemoveLabel:
		names, _, _ = item.Texts("label")
		adds = false
	}
	may := e.Run.facts.May
	if effect := e.Run.facts.Effect; effect != nil && len(names) > 0 {
		names, may = effect(rule, item), nil
	}
	for _, name := range names {
		same := func(l string) bool { return strings.EqualFold(l, name) }
		if slices.ContainsFunc(e.Issue.Labels, same) == adds || may != nil && !may(name) {
			continue
		}
		labels := slices.Clone(e.Issue.Labels)
		if adds {
			labels = append(labels, name)
		} else {
			labels = slices.DeleteFunc(labels, same)
		}
		e.Issue.Labels, e.Run.labels = labels, labels
		e.Run.changed = append(e.Run.changed, strings.ToLower(name))
	}
}

// reset makes the run ready for the next expression.
func (r *run) reset() {
	r.steps, r.matched, r.made = 0, 0, 0
	for i := range r.cased {
		r.cased[i].paid = false
	}
}

func (r *run) step(n int) error {
	r.steps += n
	if r.steps > maxSteps {
		return errSteps
	}
	return nil
}

func (r *run) build(n int) error {
	r.made += n
	if r.made > maxMade {
		return errMade
	}
	return nil
}

// bytesPerStep is how much text a cheap scan reads in the time of a step.
const bytesPerStep = 256

// tick is called once for each turn of a loop.
func tick(args ...any) (any, error) {
	return true, args[0].(*run).step(1)
}

// pay charges for reading a value inside a loop and returns the value.
func pay(args ...any) (any, error) {
	n := 0
	switch x := args[1].(type) {
	case string:
		n = len(x) / bytesPerStep
	case int, bool, float64, nil:
	default:
		switch v := reflect.ValueOf(x); v.Kind() {
		case reflect.Slice, reflect.Array, reflect.Map:
			n = v.Len()
		}
	}
	return args[1], args[0].(*run).step(n)
}

// made charges for a new value and returns it.
func made(args ...any) (any, error) {
	s, ok := args[1].(string)
	if !ok {
		return args[1], nil
	}
	return s, args[0].(*run).build(len(s))
}

// textLength is len(text).
func textLength(args ...any) (any, error) {
	return args[0].(*run).length(args[1].(string)), nil
}

// lower is lower(text).
func lower(args ...any) (any, error) {
	return args[0].(*run).inCase(args[1].(string), false)
}

// upper is upper(text).
func upper(args ...any) (any, error) {
	return args[0].(*run).inCase(args[1].(string), true)
}

// matches is the operator of that name with its constant pattern. A pattern that is
// asked again about the same text, as in a loop, is not run again. What is charged is
// the work of its engine, which seldom is needed: whether an expression fails depends
// on the length of a text and not on its words.
func matches(args ...any) (any, error) {
	r, s, p := args[0].(*run), args[1].(string), args[2].(*pattern)
	a := r.answers[p]
	if a.charged && len(a.text) == len(s) {
		if err := r.step(1 + len(s)/bytesPerStep); err != nil {
			return nil, err
		}
		if a.text == s {
			return a.matched, nil
		}
	}
	r.matched += r.length(s) * p.weight
	if r.matched > maxMatched {
		return nil, errMatched
	}
	return r.answer(p, s, true), nil
}

// label is label(name).
func label(args ...any) (any, error) {
	return args[0].(*run).label(args[1].(string))
}

func (r *run) label(name string) (bool, error) {
	found := slices.ContainsFunc(r.labels, func(l string) bool { return strings.EqualFold(l, name) })
	return found, r.step(len(r.labels))
}

// anyLabel is any_label(glob, ...).
func anyLabel(args ...any) (any, error) {
	r := args[0].(*run)
	for _, g := range args[1:] {
		glob := g.(string)
		for _, l := range r.labels {
			if err := r.step(1 + len(glob)*len(l)/bytesPerStep); err != nil {
				return nil, err
			}
			if globMatch(glob, l) {
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
	if err := r.build(n); err != nil {
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

// plain drops the control and formatting characters of a foreign value and what
// is not UTF-8, and cuts it to most characters.
func plain(s string, most int) string {
	var b strings.Builder
	n := 0
	for _, r := range s {
		if n == most {
			break
		}
		if unicode.IsControl(r) || unicode.Is(unicode.Cf, r) || r == utf8.RuneError {
			continue
		}
		b.WriteRune(r)
		n++
	}
	return b.String()
}
