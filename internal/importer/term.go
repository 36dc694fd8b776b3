package importer

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/org/foreman-action/internal/othertools"
	"github.com/org/foreman-action/internal/text"
)

// maxCondition is below the 4,096 bytes that a condition may have, so that a rule can add terms.
const maxCondition = 3800

// A term is a condition: a text, or other terms that are joined by "and" or "or".
type term struct {
	text   string
	op     string // "and", "or", counted, or "not" for a text that is the opposite of the only part
	parts  []term
	number string // of parts that are true, for op counted: such as ">= 4"
	sample sample // what an event needs so that a condition with a text is true
}

// Conditions that are the same for every event.
const always, never = "true", "false"

// counted is the op of a condition about the number of its parts that are true.
const counted = "count"

// atLeast returns the condition that at least n of the terms are true.
func atLeast(n int, terms []term) term {
	switch {
	case n == 1 && len(terms) <= 2:
		return some(terms...)
	case n == len(terms):
		return all(terms...)
	}
	return term{op: counted, parts: terms, number: fmt.Sprintf(">= %d", n)}
}

// fewerThan returns the condition that fewer than n of the terms are true; empty if that is always so.
func fewerThan(n int, terms []term) term {
	switch {
	case n > len(terms):
		return term{}
	case n == 1 && len(terms) <= 2, n == len(terms):
		return not(atLeast(n, terms))
	}
	return term{op: counted, parts: terms, number: fmt.Sprintf("< %d", n)}
}

// neutral returns the condition that an operator's result does not depend on.
func neutral(op string) string {
	if op == "or" {
		return never
	}
	return always
}

// is returns a condition with this text.
func is(text string) term { return term{text: text} }

// all returns the condition that all of the terms are true; empty terms are omitted.
func all(terms ...term) term { return join("and", terms) }

// some returns the condition that at least one of the terms is true.
func some(terms ...term) term { return join("or", terms) }

func join(op string, terms []term) term {
	out, known := term{op: op}, term{}
	for _, t := range terms {
		switch {
		case t.empty():
		case t.text == always || t.text == never:
			if t.text != neutral(op) {
				return t
			}
			known = t
		case t.op == op:
			out.parts = append(out.parts, t.parts...)
		default:
			out.parts = append(out.parts, t)
		}
	}
	switch len(out.parts) {
	case 0:
		return known
	case 1:
		return out.parts[0]
	}
	return out
}

func (t term) empty() bool { return t.text == "" && len(t.parts) == 0 }

func (t term) size() int {
	if t.text != "" {
		return len(t.text)
	}
	n := 0
	for _, p := range t.parts {
		n += p.size() + 6
	}
	return n
}

// all returns the terms that must all be true.
func (t term) all() []term {
	if t.op == "and" {
		return t.parts
	}
	return []term{t}
}

// line returns the text of a condition.
func (t term) line() string {
	lines := t.lines()
	for i, l := range lines {
		lines[i] = strings.TrimLeft(l, " ")
	}
	return strings.Join(lines, " ")
}

// A condition with more than manyParts parts has several parts on a line, up to fullLine bytes.
const (
	manyParts = 6
	fullLine  = 90
)

// lines returns the text of a condition. If it has few parts, each is on a line of its own.
func (t term) lines() []string {
	if t.text != "" {
		return []string{t.text}
	}
	var out []string
	if t.op == counted {
		for i, p := range t.parts {
			comma := ","
			if i == len(t.parts)-1 {
				comma = ""
			}
			out = append(out, "  "+p.inline()+comma)
		}
		return slices.Concat([]string{"count(["}, out, []string{"], #) " + t.number})
	}
	for i, p := range t.parts {
		text := p.inline()
		if i > 0 {
			text = t.op + " " + text
		}
		switch last := len(out) - 1; {
		case i > 0 && p.op == counted:
			lines := p.lines()
			lines[0] = t.op + " " + lines[0]
			for _, line := range lines {
				out = append(out, "  "+line)
			}
		case i == 0:
			out = append(out, text)
		case len(t.parts) > manyParts && len(out[last])+1+len(text) <= fullLine:
			out[last] += " " + text
		default:
			out = append(out, "  "+text)
		}
	}
	return out
}

func (t term) inline() string {
	if t.text != "" {
		return t.text
	}
	texts := make([]string, len(t.parts))
	for i, p := range t.parts {
		texts[i] = p.inline()
	}
	if t.op == counted {
		return "count([" + strings.Join(texts, ", ") + "], #) " + t.number
	}
	return "(" + strings.Join(texts, " "+t.op+" ") + ")"
}

// call returns a call of a function with constant texts as arguments.
func call(function string, texts ...string) string {
	for i, s := range texts {
		texts[i] = strconv.Quote(s)
	}
	return function + "(" + strings.Join(texts, ", ") + ")"
}

// list returns a list of constant texts.
func list(texts []string) string {
	return "[" + strings.TrimSuffix(strings.TrimPrefix(call("", slices.Clone(texts)...), "("), ")") + "]"
}

// hasLabel returns the condition that the issue has at least one of the labels.
func hasLabel(names []string) term {
	if len(names) == 0 {
		return term{}
	}
	// In any_label a "*" is a wildcard, so a name with a "*" cannot be listed there.
	if len(names) > 1 && !slices.ContainsFunc(names, func(s string) bool { return strings.Contains(s, "*") }) {
		return is(call("any_label", slices.Clone(names)...)).needs(othertools.Example{Labels: names[:1]})
	}
	terms := make([]term, len(names))
	for i, name := range names {
		terms[i] = labeled(name)
	}
	return some(terms...)
}

// operand matches conditions that need no brackets after "not".
var operand = text.Regexp(`^[a-z_.]+(\([^()]*\))?$`)

// not negates a condition.
func not(t term) term {
	switch {
	case t.empty():
		return t
	case t.text == always:
		return is(never)
	case t.text == never:
		return is(always)
	case t.op == "not":
		return t.parts[0]
	}
	text := t.inline()
	if t.text != "" && !operand().MatchString(text) {
		text = "(" + text + ")"
	}
	return term{text: "not " + text, op: "not", parts: []term{t}}
}

// notPrinted reports whether a character is invisible.
func notPrinted(r rune) bool { return !unicode.IsPrint(r) }
