package importer

import "strings"

// maxCondition leaves room in the 4,096 bytes of a condition.
const maxCondition = 3800

// A term is a condition: a text, or others that are joined by "and" or "or".
type term struct {
	text  string
	op    string // "and" or "or"
	parts []term
}

// is returns a condition as it is written.
func is(text string) term { return term{text: text} }

// all returns the condition that every one of the terms holds; empty ones are left out.
func all(terms ...term) term { return join("and", terms) }

// some returns the condition that at least one of the terms holds.
func some(terms ...term) term { return join("or", terms) }

func join(op string, terms []term) term {
	out := term{op: op}
	for _, t := range terms {
		switch {
		case t.empty():
		case t.op == op:
			out.parts = append(out.parts, t.parts...)
		default:
			out.parts = append(out.parts, t)
		}
	}
	if len(out.parts) == 1 {
		return out.parts[0]
	}
	return out
}

func (t term) empty() bool { return t.text == "" && len(t.parts) == 0 }

func (t term) size() int {
	n := len(t.text)
	for _, p := range t.parts {
		n += p.size() + 6
	}
	return n
}

// lines returns the text of a condition, a line for each of its parts.
func (t term) lines() []string {
	if t.text != "" {
		return []string{t.text}
	}
	var out []string
	for i, p := range t.parts {
		text := p.inline()
		if i > 0 {
			text = "  " + t.op + " " + text
		}
		out = append(out, text)
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
	return "(" + strings.Join(texts, " "+t.op+" ") + ")"
}
