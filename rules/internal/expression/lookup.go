package expression

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/expr-lang/expr/ast"

	"github.com/org/foreman-action/internal/text"
	"github.com/org/foreman-action/rules/facts"
	"github.com/org/foreman-action/rules/internal/cost"
	"github.com/org/foreman-action/rules/internal/expression/syntax"
	"github.com/org/foreman-action/rules/internal/match"
	"github.com/org/foreman-action/rules/internal/similarity"
	"github.com/org/foreman-action/triage"
)

// ErrNoLookup is the error of an expression that needs a look-up when [facts.Facts] has no Lookup.
var ErrNoLookup = errors.New("the event does not contain it, and no look-up is configured")

var errPartial = errors.New("the timeline of the issue is too long to decide")

// A caused is an error with a cause that callers of the package handle.
type caused struct{ error, cause error }

// Error returns the text of the error, without the cause.
func (c caused) Error() string { return c.error.Error() }

// Unwrap returns the error and its cause.
func (c caused) Unwrap() []error { return []error{c.error, c.cause} }

// from returns the error made. If the cause is [facts.ErrUnasked], a [facts.UnknownError] or a
// [facts.UnsuppliedError], the result wraps it, too.
func from(cause, made error) error {
	if unsupplied, ok := errors.AsType[*facts.UnsuppliedError](cause); ok {
		return caused{made, unsupplied}
	}
	if unknown, ok := errors.AsType[*facts.UnknownError](cause); ok {
		return caused{made, unknown}
	}
	if errors.Is(cause, facts.ErrUnasked) {
		return caused{made, facts.ErrUnasked}
	}
	return made
}

// lookup returns the Lookup of the facts, or an error if there is none.
func (r *run) lookup() (facts.Lookup, error) {
	if r.facts.Lookup == nil {
		return nil, ErrNoLookup
	}
	return r.facts.Lookup, nil
}

// timeline returns the timeline for a function that reads all of it.
func (r *run) timeline() (facts.Timeline, error) {
	_, _, p, err := r.newest(func(facts.Change) bool { return true })
	return p, err
}

// newest returns the newest change that matches, and the part of the timeline that it read. It
// reads earlier changes only until one matches.
func (r *run) newest(match func(facts.Change) bool) (c facts.Change, found bool, p facts.Timeline, err error) {
	l, err := r.lookup()
	if err != nil {
		return c, false, p, err
	}
	for ask := l.Timeline; ; ask = l.Earlier {
		if p, err = ask(r.ctx); err == nil {
			err = r.meter.Steps.Charge(1 + len(p.Changes))
		}
		if err != nil {
			return c, false, p, err
		}
		if c, found = p.Last(match); found || !p.More {
			return c, found, p, nil
		}
	}
}

// permission implements actor.permission.
func permission(args ...any) (any, error) {
	r := arg[*run](args, 0)
	l, err := r.lookup()
	if err != nil {
		return nil, err
	}
	return l.Permission(r.ctx, r.facts.Actor.Login)
}

// read looks a part up, for its field with that name; empty: for all fields.
func (r *run) read(s facts.LookupSpec, field string) error {
	l, err := r.lookup()
	if err != nil {
		return err
	}
	err = l.Read(r.ctx, s.Part, &r.looked)
	if err == nil && s.Part == facts.PullPart {
		r.pull = pullReader{true, r.looked.PullRequest}
	}
	unsupplied, ok := errors.AsType[*facts.UnsuppliedError](err)
	if !ok || field == "" {
		return err
	}
	path := s.Root + "." + field
	if !slices.Contains(unsupplied.Names, path) {
		return nil
	}
	return &facts.UnsuppliedError{Names: []string{path}}
}

// whole returns the function for a name whose value is the whole result of a look-up. Its second
// argument is the only field that is used; it may be missing.
func whole(s facts.LookupSpec) func(args ...any) (any, error) {
	return func(args ...any) (any, error) {
		r := arg[*run](args, 0)
		if err := r.read(s, usedField(args)); err != nil {
			return nil, err
		}
		return reflect.ValueOf(s.Value(&r.looked)).Elem().Interface(), nil
	}
}

// usedField returns the second argument of a function for a name; "" if there is none.
func usedField(args []any) string {
	if len(args) < 2 {
		return ""
	}
	return arg[string](args, 1)
}

// fieldOfLookup returns the function for one field of the result of a look-up.
func fieldOfLookup(s facts.LookupSpec, name string) func(...any) (any, error) {
	return func(args ...any) (any, error) {
		r := arg[*run](args, 0)
		if err := r.read(s, name); err != nil {
			return nil, err
		}
		value := s.Field(&r.looked, name).Interface()
		if list, ok := value.([]string); ok {
			return value, r.meter.Steps.Charge(1 + len(list))
		}
		return value, nil
	}
}

// A pullReader has the fields that only pull requests have, once they are known from the event or from
// a look-up.
type pullReader struct {
	known bool
	value triage.PullRequest
}

// pulled returns the function for pr.
func pulled() func(args ...any) (any, error) {
	read := whole(facts.SpecOf(facts.PullPart))
	return func(args ...any) (any, error) {
		if r := arg[*run](args, 0); r.pull.known {
			return r.pull.value, nil
		}
		return read(args...)
	}
}

// draft implements pr.draft. It needs no look-up, because every event on a pull request contains
// it.
func draft(args ...any) (any, error) {
	if f := arg[*run](args, 0).facts; f.Pull == nil {
		return f.Issue.Draft, nil
	}
	return arg[*run](args, 0).facts.Pull.Draft, nil
}

// reviewers implements pr.reviewers. It misses reviewers whose reviews are not in the known part of
// the timeline.
func reviewers(args ...any) (any, error) {
	r, list := arg[*run](args, 0), []string{}
	if r.facts.Pull == nil && !r.facts.Issue.PullRequest {
		return list, nil
	}
	p, err := r.timeline()
	if err != nil {
		return nil, err
	}
	for _, c := range p.Changes {
		if c.Kind == "reviewed" && c.Login != "" && !slices.Contains(list, c.Login) {
			list = append(list, c.Login)
		}
	}
	return list, nil
}

// labelAge implements label_age(name). If the label was added before the known part of the
// timeline, its age counts from the start of that part.
func labelAge(args ...any) (any, error) {
	r, name := arg[*run](args, 0), arg[string](args, 1)
	found, err := r.label(name)
	if err != nil || !found || !r.had(name) {
		return time.Duration(0), err // without the label, or if a rule of this run adds it
	}
	c, found, p, err := r.addition(name)
	switch {
	case err != nil:
		return nil, err
	case found:
		return r.since(c.At)
	case len(p.Changes) == 0:
		return nil, errPartial
	}
	return r.since(p.Changes[0].At)
}

// had reports whether the issue had the label before the rules of this run.
func (r *run) had(label string) bool {
	return slices.ContainsFunc(r.facts.Issue.Labels, func(l string) bool { return text.SameLabel(l, label) })
}

// addition returns the change that added a label which the issue has. found is false if the change
// is older than the timeline p. The error may be a [facts.UnknownError].
func (r *run) addition(label string) (c facts.Change, found bool, p facts.Timeline, err error) {
	if _, _, p, err = r.newest(func(c facts.Change) bool { return c.Kind == "labeled" && text.SameLabel(c.Label, label) }); err != nil {
		return c, false, p, err
	}
	c, found, why := p.Addition(label, r.facts.Issue.Labels, r.facts.Event.At)
	if why != "" {
		err = &facts.UnknownError{Reason: "the age of the label " + strconv.Quote(text.Quote(label)) + " is unknown: " + why}
	}
	return c, found, p, err
}

// since returns the time that has passed since t; 0 if t is in the future.
func (r *run) since(t time.Time) (any, error) {
	if r.facts.Now.IsZero() {
		return nil, errNow
	}
	return max(0, r.facts.Now.Sub(t)), nil
}

const withBots, onlyComments = "bots", "comments" // the arguments of idle

// idleBy has the changes that count for idle, by the argument of idle.
var idleBy = map[string]func(c facts.Change) bool{
	"":           func(c facts.Change) bool { return c.Human },
	withBots:     func(c facts.Change) bool { return !c.Ours },
	onlyComments: func(c facts.Change) bool { return c.Human && c.Kind == "commented" },
}

// idle implements idle(), idle("bots") and idle("comments").
func idle(args ...any) (any, error) {
	r, who := arg[*run](args, 0), ""
	if len(args) > 1 {
		who = arg[string](args, 1)
	}
	last, err := r.last(who)
	if err != nil {
		return nil, err
	}
	return r.since(last.At)
}

// cannotCount returns the error for any other argument of idle.
func cannotCount(who string) error {
	return fmt.Errorf("idle takes no argument, %q to include programs, or %q for comments alone; got %q", withBots, onlyComments, text.Shorten(who, text.Quoted))
}

// A Person is the author of a change on an issue.
type Person struct {
	Login string    `expr:"login"` // empty for a deleted account
	At    time.Time `expr:"at"`    // time of the change
}

// lastHumanOf implements last_human().
func lastHumanOf(args ...any) (any, error) { return arg[*run](args, 0).last("") }

// last returns who made the newest change that counts for idle(who), or the issue's author if there
// is none since the issue was opened. The author may be a program. Changes older than the issue,
// such as commits of a pull request, are ignored. It fails when the known timeline is too short.
func (r *run) last(who string) (Person, error) {
	counts := idleBy[who]
	if counts == nil {
		return Person{}, cannotCount(who)
	}
	c, found, p, err := r.newest(func(c facts.Change) bool { return counts(c) && active(c.Kind) })
	if err != nil {
		return Person{}, err
	}
	last := Person{r.facts.Issue.Author, r.facts.Issue.CreatedAt}
	if found && !c.At.Before(last.At) {
		last = Person{c.Login, c.At}
	}
	if now, ok := r.present(who); ok && now.At.After(last.At) {
		return now, nil
	}
	if !found && p.Partial {
		return Person{}, errPartial
	}
	return last, nil
}

// present returns the actor of the event if the event changes an existing issue. Some changes, such
// as edits of a text, are missing from the timeline. who is the argument of idle.
func (r *run) present(who string) (now Person, ok bool) {
	f := r.facts
	program := f.Actor.Type == "Bot" || strings.HasSuffix(f.Actor.Login, "[bot]")
	switch f.Event.Name {
	case triage.EventIssues, triage.EventIssueComment, triage.EventPullRequest:
		at := f.Event.At // the issue may have been read again since
		if at.IsZero() {
			at = f.Issue.UpdatedAt
		}
		return Person{f.Actor.Login, at}, f.Event.Action != "opened" && (who == withBots || !program) && (who != onlyComments || f.Event.Action == "created")
	}
	return Person{}, false
}

// active reports whether an event of that kind is an activity on this issue. A kind that rules.md does
// not list, such as a mention or a force push of the base branch, is none.
func active(kind string) bool {
	return slices.Contains([]string{"commented", "renamed", "labeled", "unlabeled", "assigned", "unassigned", "milestoned", "demilestoned", "issue_type_added", "issue_type_changed", "issue_type_removed", "marked_as_duplicate", "unmarked_as_duplicate", "closed", "reopened", "merged", "locked", "unlocked",
		"committed", "head_ref_force_pushed", "base_ref_changed", "convert_to_draft", "ready_for_review", "reviewed", "review_requested", "review_request_removed", "review_dismissed", "line-commented", "commit-commented"}, kind)
}

// addedByUs implements added_by_us(label). For a label that is no longer there, the last addition
// counts. The result is false if the addition is not known.
func addedByUs(args ...any) (any, error) {
	r, name := arg[*run](args, 0), arg[string](args, 1)
	if r.had(name) {
		c, _, _, err := r.addition(name)
		if _, unknown := errors.AsType[*facts.UnknownError](err); unknown {
			return false, nil
		}
		return c.Ours, err
	}
	c, _, _, err := r.newest(func(c facts.Change) bool { return c.Kind == "labeled" && text.SameLabel(c.Label, name) })
	return c.Ours, err
}

// removedByHuman implements removed_by_human(label). It is false if the label was added again.
func removedByHuman(args ...any) (any, error) {
	r, name := arg[*run](args, 0), arg[string](args, 1)
	c, _, _, err := r.newest(func(c facts.Change) bool {
		return (c.Kind == "labeled" || c.Kind == "unlabeled") && text.SameLabel(c.Label, name)
	})
	return c.Kind == "unlabeled" && c.Human, err
}

// asks replaces a looked-up name, such as pr.files, by a call of the function that looks it up. part
// is what the function reads; ok is false for any other node.
func asks(place *ast.Node) (part facts.Part, ok bool) {
	function := ""
	switch n := (*place).(type) {
	case *ast.IdentifierNode:
		if s, looked := wholeOf(n.Value); looked {
			function, part = "__"+n.Value, s.Part
		}
	case *ast.MemberNode:
		root, ok := n.Node.(*ast.IdentifierNode)
		name, named := n.Property.(*ast.StringNode)
		if !ok || !named {
			return "", false
		}
		for _, f := range lookedUp() {
			if f.root == root.Value && f.name == name.Value {
				function, part = f.function(), f.part
			}
		}
	}
	if function == "" {
		return "", false
	}
	*place = call(function, *place)
	return part, true
}

// wholeOf returns the look-up whose result is the value of a name, such as memory.
func wholeOf(name string) (facts.LookupSpec, bool) {
	specs := facts.LookupSpecs()
	if i := slices.IndexFunc(specs, func(s facts.LookupSpec) bool { return s.Root == name }); i >= 0 {
		return specs[i], true
	}
	return facts.LookupSpec{}, false
}

// asked reports whether a name that is no field of the environment is looked up as a whole.
func asked(name string) bool {
	_, ok := wholeOf(name)
	return ok && !slices.Contains(eventFields(), name)
}

// A lookedUpField is a field that a function of its own looks up, such as pr.files.
type lookedUpField struct {
	root, name string
	part       facts.Part // what the function reads; empty: something else, or nothing
	read       func(...any) (any, error)
	typ        reflect.Type // of the value
}

func (f lookedUpField) path() string     { return f.root + "." + f.name }
func (f lookedUpField) function() string { return "__" + f.root + "_" + f.name }

// lookedUp returns the fields that are no part of the value of their root.
var lookedUp = sync.OnceValue(func() []lookedUpField {
	list := []lookedUpField{
		{"actor", "permission", "", permission, reflect.TypeFor[string]()},
		{"pr", "draft", "", draft, reflect.TypeFor[bool]()},
		{"pr", "reviewers", "", reviewers, reflect.TypeFor[[]string]()},
	}
	for _, s := range facts.LookupSpecs() {
		if first, _ := wholeOf(s.Root); first.Part == s.Part {
			continue
		}
		for _, f := range s.Fields {
			list = append(list, lookedUpField{s.Root, f.Name, s.Part, fieldOfLookup(s, f.Name), s.Field(&facts.Known{}, f.Name).Type()})
		}
	}
	return list
})

// anyFile implements any_file(glob, ...).
func anyFile(args ...any) (any, error) {
	return eachFile(args, func(hits, files int) bool { return hits > 0 })
}

// allFiles implements all_files(glob, ...). It is false for a pull request without files.
func allFiles(args ...any) (any, error) {
	return eachFile(args, func(hits, files int) bool { return files > 0 && hits == files })
}

// foldersPerStep is the number of folder names that are compared in the time of one step.
const foldersPerStep = 8

// eachFile counts the changed files that match one of the globs, and returns holds(hits, files).
func eachFile(args []any, holds func(hits, files int) bool) (any, error) {
	r := arg[*run](args, 0)
	if err := r.read(facts.SpecOf(facts.FilesPart), ""); err != nil {
		return nil, err
	}
	files := r.looked.Changed
	hits, globs := 0, globsOf(args[1:])
	for _, file := range files {
		hit, err := r.onPath(globs, file)
		if err != nil {
			return nil, err
		}
		if hit {
			hits++
		}
	}
	return holds(hits, len(files)), nil
}

func globsOf(args []any) [][]string {
	globs := make([][]string, len(args))
	for i, g := range args {
		glob, _ := g.(string)
		globs[i] = match.SplitGlob(glob)
	}
	return globs
}

// onPath reports whether a path matches one of the globs.
func (r *run) onPath(globs [][]string, path string) (bool, error) {
	hit, work := match.AnyPath(globs, path)
	return hit, r.meter.Steps.Charge(1 + len(path)/cost.BytesPerStep + work/foldersPerStep)
}

// matchesGlob implements matches_glob(path, glob, ...). It is false for a missing path.
func matchesGlob(args ...any) (any, error) {
	if args[1] == nil {
		return false, nil
	}
	return arg[*run](args, 0).onPath(globsOf(args[2:]), arg[string](args, 1))
}

// checkGlobs rejects globs that match no file.
func checkGlobs(globs []ast.Node) error {
	for _, arg := range globs {
		if glob, ok := syntax.ConstantText(arg); ok {
			if msg := match.PathGlobMistake(glob); msg != "" {
				return refuse(arg, "the glob %q matches no file: %s", text.Shorten(glob, text.Quoted), msg)
			}
		}
	}
	return nil
}

// similar implements similar(text, text).
func similar(args ...any) (any, error) {
	r, a, b := arg[*run](args, 0), arg[string](args, 1), arg[string](args, 2)
	if err := r.meter.Steps.Charge(1 + (len(a)+len(b))/wordsPerStep); err != nil {
		return nil, err
	}
	return similarity.Of(a, b), nil
}

// wordsPerStep is the number of bytes that are split into words in the time of one step.
const wordsPerStep = 16

// idleIs compares idle(), with or without an argument, with a duration.
func idleIs(args ...any) (any, error) {
	r, op, than := arg[*run](args, 0), arg[string](args, 1), arg[time.Duration](args, len(args)-1)
	who := args[2 : len(args)-1]
	if len(who) == 1 && idleBy[arg[string](who, 0)] == nil {
		return nil, cannotCount(arg[string](who, 0))
	}
	if args[len(args)-1] == nil {
		return false, nil // nothing to compare with
	}
	if holds, sure := r.byTimes(op, than); sure {
		return holds, nil
	}
	return compared(op, than)(idle(slices.Concat([]any{r}, who)...))
}

// labelAgeIs compares label_age(name) with a duration.
func labelAgeIs(args ...any) (any, error) {
	r, op, name, than := arg[*run](args, 0), arg[string](args, 1), arg[string](args, 2), arg[time.Duration](args, 3)
	if args[len(args)-1] == nil {
		return false, nil // nothing to compare with
	}
	if r.had(name) {
		if holds, sure := r.byTimes(op, than); sure {
			return holds, nil
		}
	}
	return compared(op, than)(labelAge(r, name))
}

// byTimes compares the age of a change on the issue with a duration. The change happened between
// the times at which the issue was opened and last changed. sure reports whether these times
// decide the comparison.
func (r *run) byTimes(op string, than time.Duration) (holds, sure bool) {
	i := r.facts.Issue
	if !r.facts.ByTimes || r.facts.Now.IsZero() || i.CreatedAt.IsZero() || i.UpdatedAt.Before(i.CreatedAt) {
		return false, false
	}
	least, most := max(0, r.facts.Now.Sub(i.UpdatedAt)), max(0, r.facts.Now.Sub(i.CreatedAt))
	holds = ordered(op, least, than)
	return holds, holds == ordered(op, most, than)
}

// compared returns a function that compares an age with a duration, or returns the error of the
// age.
func compared(op string, than time.Duration) func(age any, err error) (any, error) {
	return func(age any, err error) (any, error) {
		if err != nil {
			return nil, err
		}
		d, _ := age.(time.Duration)
		return ordered(op, d, than), nil
	}
}

// ordered returns the value of "a op b".
func ordered(op string, a, b time.Duration) bool {
	switch op {
	case "<":
		return a < b
	case "<=":
		return a <= b
	case ">":
		return a > b
	}
	return a >= b
}
