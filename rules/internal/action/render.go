package action

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/org/foreman-action/internal/sanitize"
	"github.com/org/foreman-action/internal/text"
	"github.com/org/foreman-action/protocol"
	"github.com/org/foreman-action/rules/internal/expression"
	"github.com/org/foreman-action/rules/internal/expression/missing"
	"github.com/org/foreman-action/rules/internal/template"
)

// The limits of values of expressions in parameters.
const (
	MaxName    = 256  // characters of a name or keyword
	MaxForeign = 4096 // characters of one value in Markdown
)

// most returns the largest number of characters of a string parameter.
func most(p protocol.Param) int {
	if p.Kind == protocol.KindMarkdown {
		return MaxMarkdown
	}
	return MaxName
}

// supplied are the fields with an address, or a part of one, that the host of the issue determines.
// No account can choose their text.
var supplied = []string{"issue.url", "repo.full_name"}

// escape returns the function that escapes the value of a {{ }} part. unescapable says why a value
// at this place loses its meaning; it is empty if it does not.
func escape(p protocol.Param, at template.Part) (e template.Escape, unescapable string) {
	if p.Kind != protocol.KindMarkdown {
		return func(s string, _ bool) string { return sanitize.NamePart(s, MaxName) }, ""
	}
	place, valueAt := sanitize.PlaceAt(at.Before), sanitize.ValueAt
	unescapable = place.Unescapable()
	if at.Expr != nil && slices.Contains(supplied, at.Expr.Field()) {
		valueAt = sanitize.SuppliedAt
		if place == sanitize.InDestination {
			unescapable = ""
		}
	}
	return func(s string, after bool) string {
		s = valueAt(text.Shorten(s, MaxForeign), place)
		if s != "" && after && (place == sanitize.InText || place == sanitize.AtLineStart || place == sanitize.InCode) {
			return "\u200b" + s
		}
		return s
	}, unescapable
}

// literal returns the value of a parameter that has no expressions.
func (p param) literal() (any, bool) {
	switch {
	case p.list != nil || p.whole != nil:
		return nil, false
	case p.spec.Kind == protocol.KindInt:
		return p.value, p.value != nil
	}
	list := []string{}
	for _, t := range p.texts {
		s, ok := t.Constant()
		if !ok {
			return nil, false
		}
		list = append(list, s)
	}
	if p.spec.Kind == protocol.KindTexts {
		return list, true
	}
	if len(list) != 1 {
		return nil, false // the mistake is already recorded
	}
	return list[0], true
}

// render evaluates the parameter. ok is false for an empty computed list that is not required, and for
// a computed number below 1. Empty texts of a written list are left out. The value is nil for a missing number.
func (p param) render(v *expression.Evaluation) (value any, ok bool, err error) {
	switch {
	case p.whole != nil:
		value, err = v.Eval(p.whole)
		n, whole := value.(int)
		return value, !whole || n > 0, err
	case p.list != nil:
		return p.renderList(v)
	case p.spec.Kind == protocol.KindInt:
		return p.value, true, nil
	}
	list := make([]string, len(p.texts))
	for i, t := range p.texts {
		if list[i], err = t.Render(v); err != nil {
			return nil, false, err
		}
		list[i] = text.Shorten(list[i], most(p.spec))
	}
	if p.spec.Kind == protocol.KindTexts {
		return slices.DeleteFunc(list, blank), true, nil
	}
	return list[0], true, nil
}

func blank(s string) bool { return strings.TrimSpace(s) == "" }

// empty reports whether a parameter has no value.
func empty(value any) bool {
	switch v := value.(type) {
	case nil:
		return true
	case string:
		return blank(v)
	case []string:
		return len(v) == 0
	}
	return false
}

func (p param) renderList(v *expression.Evaluation) (any, bool, error) {
	value, err := v.Eval(p.list)
	if err != nil {
		return nil, false, err
	}
	items, ok := missing.Flat(value, MaxList+1)
	if !ok {
		return nil, false, p.list.Problem("want a list of strings, but an item is not a string")
	}
	if len(items) > MaxList {
		return nil, false, p.list.Problem(fmt.Sprintf("the list has more than %d items", MaxList))
	}
	list := []string{}
	for _, item := range items {
		if item = sanitize.NamePart(item, MaxName); !blank(item) && !slices.Contains(list, item) {
			list = append(list, item)
		}
	}
	return list, len(list) > 0 || p.spec.Required, nil
}

// Render evaluates the action's parameters. ok is false when there is nothing to do, because a computed
// number is below 1, or a computed list that is not required is empty. lacks names the required
// parameter that is empty, so that the action cannot be carried out.
func (a Action) Render(v *expression.Evaluation) (item protocol.ActionItem, lacks string, ok bool, err error) {
	params := make(map[string]any, len(a.params))
	for _, p := range a.params {
		value, ok, err := p.render(v)
		none := empty(value)
		switch {
		case err == nil && none && a.spec.NeedsOne:
			continue
		case err != nil || !ok:
			return protocol.ActionItem{}, "", false, err
		}
		switch {
		case none && p.spec.Required:
			lacks = cmp.Or(lacks, p.spec.Name)
		case none && a.spec.Name == Escalate:
			continue // its reason
		}
		params[p.spec.Name] = value
	}
	if a.spec.NeedsOne && len(params) == 0 {
		return protocol.ActionItem{}, "", false, nil
	}
	a.addIntent(params)
	item, err = protocol.NewAction(a.spec.Name, params)
	if err == nil && lacks == "" {
		err = a.spec.Check(item)
	}
	if err != nil {
		return protocol.ActionItem{}, "", false, &expression.PlacedError{Problem: a.file.At(a.Node, 1, 1, err.Error())}
	}
	return item, lacks, true, nil
}
