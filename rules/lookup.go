package rules

import (
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/expr-lang/expr/ast"

	"github.com/org/foreman-action/rules/facts"
)

var errLookup = errors.New("the event does not tell, and there is nobody to ask; a token is needed")

var errPartial = errors.New("the timeline of the issue is too long to tell")

// An unasked is an error that comes from ErrUnasked.
type unasked struct{ error }

// Unwrap returns both.
func (u unasked) Unwrap() []error { return []error{u.error, facts.ErrUnasked} }

// from returns an error made of cause.
func from(cause, made error) error {
	if errors.Is(cause, facts.ErrUnasked) {
		return unasked{made}
	}
	return made
}

// lookup returns who answers.
func (r *run) lookup() (facts.Lookup, error) {
	if r.facts.Lookup == nil {
		return nil, errLookup
	}
	return r.facts.Lookup, nil
}

// past returns the past for a function that goes through it.
func (r *run) past() (facts.Past, error) {
	l, err := r.lookup()
	if err != nil {
		return facts.Past{}, err
	}
	p, err := l.Past()
	if err != nil {
		return facts.Past{}, err
	}
	return p, r.meter.Steps.Charge(1 + len(p.Changes))
}

// newest returns the newest change that matches.
func newest(p facts.Past, match func(facts.Change) bool) (facts.Change, bool) {
	for _, c := range slices.Backward(p.Changes) {
		if match(c) {
			return c, true
		}
	}
	return facts.Change{}, false
}

// permission is actor.permission.
func permission(args ...any) (any, error) {
	r := arg[*run](args, 0)
	l, err := r.lookup()
	if err != nil {
		return nil, err
	}
	return l.Permission(r.facts.Actor.Login)
}

// remembered is memory.
func remembered(args ...any) (any, error) {
	l, err := arg[*run](args, 0).lookup()
	if err != nil {
		return nil, err
	}
	return l.Memory()
}

// labelAge is label_age(name). What the past is too short to tell began at the latest
// where it does.
func labelAge(args ...any) (any, error) {
	r, name := arg[*run](args, 0), arg[string](args, 1)
	found, err := r.label(name)
	if err != nil || !found {
		return time.Duration(0), err
	}
	if !slices.ContainsFunc(r.facts.Issue.Labels, func(l string) bool { return strings.EqualFold(l, name) }) {
		return time.Duration(0), nil // a rule of this run adds it
	}
	p, err := r.past()
	if err != nil {
		return nil, err
	}
	since := r.facts.Issue.CreatedAt
	if p.Partial {
		if len(p.Changes) == 0 {
			return nil, errPartial
		}
		since = p.Changes[0].At
	}
	if c, ok := newest(p, func(c facts.Change) bool { return c.Kind == "labeled" && strings.EqualFold(c.Label, name) }); ok {
		since = c.At
	}
	return r.since(since)
}

// since is how long ago a time was; never less than nothing.
func (r *run) since(t time.Time) (any, error) {
	if r.facts.Now.IsZero() {
		return nil, errNow
	}
	return max(0, r.facts.Now.Sub(t)), nil
}

// idle is idle().
func idle(args ...any) (any, error) {
	r := arg[*run](args, 0)
	who, err := r.lastHuman()
	if err != nil {
		return nil, err
	}
	return r.since(who.At)
}

// A Person is somebody who did something on an issue.
type Person struct {
	Login string    `expr:"login"` // empty for a deleted account
	At    time.Time `expr:"at"`    // when
}

// lastHumanOf is last_human().
func lastHumanOf(args ...any) (any, error) { return arg[*run](args, 0).lastHuman() }

// lastHuman returns who did something last, and fails when the past is too short to
// tell; that was its author when nobody did
// anything since the issue was opened, also when that is a program.
func (r *run) lastHuman() (Person, error) {
	p, err := r.past()
	if err != nil {
		return Person{}, err
	}
	if c, ok := newest(p, func(c facts.Change) bool { return c.Human && active(c.Kind) }); ok {
		return Person{c.Login, c.At}, nil
	}
	if p.Partial {
		return Person{}, errPartial
	}
	return Person{r.facts.Issue.Author, r.facts.Issue.CreatedAt}, nil
}

// active reports whether who is named for an event did something on this issue
// himself. Somebody who is mentioned, or who refers to the issue elsewhere, did not.
func active(kind string) bool {
	return !slices.Contains([]string{"mentioned", "subscribed", "unsubscribed", "cross-referenced", "referenced"}, kind)
}

// addedByUs is added_by_us(label): of a label that was taken off, before.
func addedByUs(args ...any) (any, error) {
	r, name := arg[*run](args, 0), arg[string](args, 1)
	p, err := r.past()
	if err != nil {
		return nil, err
	}
	c, _ := newest(p, func(c facts.Change) bool { return c.Kind == "labeled" && strings.EqualFold(c.Label, name) })
	return c.Ours, nil
}

// removedByHuman is removed_by_human(label): nobody added it again since.
func removedByHuman(args ...any) (any, error) {
	r, name := arg[*run](args, 0), arg[string](args, 1)
	p, err := r.past()
	if err != nil {
		return nil, err
	}
	c, _ := newest(p, func(c facts.Change) bool {
		return (c.Kind == "labeled" || c.Kind == "unlabeled") && strings.EqualFold(c.Label, name)
	})
	return c.Kind == "unlabeled" && c.Human, nil
}

// asks replaces a name that is looked up by a call; ok is false when the node at place
// is something else.
func asks(place *ast.Node) (ok bool) {
	switch n := (*place).(type) {
	case *ast.IdentifierNode:
		if n.Value == memoryName {
			*place = call("__memory", n)
			return true
		}
	case *ast.MemberNode:
		root, ok := n.Node.(*ast.IdentifierNode)
		name, named := n.Property.(*ast.StringNode)
		if ok && named && root.Value == "actor" && name.Value == "permission" {
			*place = call("__permission", n)
			return true
		}
	}
	return false
}
