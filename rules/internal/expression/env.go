package expression

import (
	"context"
	"errors"
	"reflect"
	"slices"
	"strings"

	"github.com/org/foreman-action/internal/text"
	"github.com/org/foreman-action/rules/facts"
	"github.com/org/foreman-action/rules/internal/casing"
	"github.com/org/foreman-action/rules/internal/cost"
	"github.com/org/foreman-action/rules/internal/events"
	"github.com/org/foreman-action/rules/internal/expression/own"
	"github.com/org/foreman-action/rules/internal/forms"
	"github.com/org/foreman-action/rules/internal/match"
	"github.com/org/foreman-action/triage"
)

// env is the environment of expressions.
type env struct {
	Issue issue              `expr:"issue"`
	Event event              `expr:"event"`
	Actor triage.Actor       `expr:"actor"`
	Repo  repo               `expr:"repo"`
	Pull  triage.PullRequest `expr:"pr"` // only its type; the function __pr returns the value
	// Run is the first argument of the functions of rules. The guard inserts it; rules cannot name
	// it.
	Run *run `expr:"__run"`
}

// eventFields returns the names of the fields of env.
func eventFields() []string { return []string{"issue", "event", "actor", "repo", "pr"} }

// An issue is an issue with the fields that conditions see, including derived ones.
type issue struct {
	triage.Issue `expr:"-"`
	Text         string `expr:"text"` // title, blank line, body
}

// An event is an event with the fields that conditions see, including derived ones.
type event struct {
	triage.Event `expr:"-"`
	Key          string `expr:"key"` // "issues.opened", or only the name
}

// A repo is a repository with the fields that conditions see, including derived ones.
type repo struct {
	triage.Repo `expr:"-"`
	FullName    string `expr:"full_name"` // "owner/name"
}

// runName is the name of env.Run. Rules cannot use names that start with "__".
const runName = "__run"

func newEnv(ctx context.Context, f facts.Facts) *env {
	e := &env{
		Issue: issue{f.Issue, f.Issue.Title + "\n\n" + f.Issue.Body},
		Event: event{f.Event, events.Key(f.Event.Name, f.Event.Action)},
		Actor: f.Actor,
		Repo:  repo{f.Repo, f.Repo.Owner + "/" + f.Repo.Name},
	}
	e.Run = &run{
		ctx: ctx, facts: &f, labels: f.Issue.Labels, meter: cost.NewMeter(),
		matcher: match.NewMatcher(f.Issue.Title, f.Issue.Body, e.Issue.Text, f.Event.Comment.Body),
		forms:   forms.NewReader(f.Issue.Body),
		pull:    pullReader{known: f.Pull != nil || !f.Issue.PullRequest},
	}
	if f.Pull != nil {
		e.Run.pull.value = *f.Pull
	}
	return e
}

// A run is the state of one evaluation.
type run struct {
	ctx     context.Context //nolint:containedctx // of the evaluation; expressions pass their functions nothing but this value
	facts   *facts.Facts
	labels  []string
	meter   cost.Meter
	cased   casing.Cache
	matcher *match.Matcher
	forms   *forms.Reader
	comment commentReader
	pull    pullReader
	looked  facts.Known // the results of look-ups
	own     own.Calls   // calls of the program's own functions
}

// reset prepares the run for the next expression.
func (r *run) reset() {
	r.meter.Reset()
	r.cased.Reset()
}

// label reports whether the issue has a label, in any case.
func (r *run) label(name string) (bool, error) {
	found := slices.ContainsFunc(r.labels, func(l string) bool { return text.SameLabel(l, name) })
	return found, r.meter.Steps.Charge(len(r.labels))
}

var errNow = errors.New("now is not known for this event")

// arg returns an argument. The compiler of expr has already checked its type.
func arg[T any](args []any, i int) T {
	v, _ := args[i].(T)
	return v
}

// nouns returns the types of structs that conditions can reach.
func nouns() []reflect.Type {
	list := []reflect.Type{
		reflect.TypeFor[issue](), reflect.TypeFor[event](), reflect.TypeFor[triage.Comment](), reflect.TypeFor[triage.Actor](), reflect.TypeFor[repo](),
		reflect.TypeFor[triage.PullRequest](), reflect.TypeFor[triage.Reactions](), reflect.TypeFor[Person](),
	}
	for _, root := range lookedUpRoots() {
		s, _ := wholeOf(root)
		list = append(list, typeOf(s))
	}
	return list
}

// nounName returns the name of a struct as messages write it.
func nounName(typ string) string { return strings.TrimSuffix(strings.ToLower(typ), "request") }

// names returns the names of a struct's fields as rules write them.
func names(t reflect.Type) []string {
	var list []string
	for _, field := range reflect.VisibleFields(t) {
		if name := field.Tag.Get("expr"); name != "-" && !strings.HasPrefix(name, "__") {
			list = append(list, name)
		}
	}
	for _, f := range lookedUp() {
		if f.root == rootOf(t) && !slices.Contains(list, f.name) {
			list = append(list, f.name)
		}
	}
	return list
}

// rootOf returns the name without a dot whose value has that type; "" if there is none.
func rootOf(t reflect.Type) string {
	for f := range reflect.TypeFor[env]().Fields() {
		if f.Type == t {
			return f.Tag.Get("expr")
		}
	}
	for _, root := range lookedUpRoots() {
		if s, _ := wholeOf(root); typeOf(s) == t {
			return root
		}
	}
	return ""
}

// lookedUpRoots returns the names without a dot that are looked up and are not fields of env.
func lookedUpRoots() []string {
	var list []string
	for _, s := range facts.LookupSpecs() {
		if asked(s.Root) && !slices.Contains(list, s.Root) {
			list = append(list, s.Root)
		}
	}
	return list
}

// typeOf returns the type of a look-up's whole result.
func typeOf(s facts.LookupSpec) reflect.Type {
	return reflect.TypeOf(s.Value(&facts.Known{})).Elem()
}

// RootNames returns the names of values that rules may use, without fields.
func RootNames() []string {
	return slices.Concat(eventFields(), []string{formName, tablesName, nowName}, lookedUpRoots())
}

// Names that are not fields of env. The guard replaces them by calls.
const (
	formName   = "form"
	tablesName = "tables"
	nowName    = "now"
)
