// Package template renders the texts of actions, which may have {{ expression }} parts.
package template

import (
	"fmt"
	"strconv"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/org/foreman-action/internal/text"
	"github.com/org/foreman-action/internal/yamlfile"
	"github.com/org/foreman-action/rules/internal/expression"
	"github.com/org/foreman-action/rules/internal/symbols"
)

// Contains reports whether a text has a {{ }} part.
func Contains(s string) bool { return strings.Contains(s, opening) }

// Single returns the expression of a text that consists of one {{ }} part, and its byte offset.
func Single(s string) (src string, start int, ok bool) {
	spans, _, err := split(s)
	if err != nil || len(spans) != 1 || !spans[0].expr {
		return "", 0, false
	}
	return spans[0].text, spans[0].start, true
}

// A span is a part of a template.
type span struct {
	text  string
	start int // byte offset in the template
	expr  bool
}

// MaxParts is how many {{ }} parts a text may have.
const MaxParts = 50

const (
	opening = "{{"
	closing = "}}"
)

// split splits a template into its parts. If it fails, offset is that of the opening "{{".
func split(s string) (parts []span, offset int, err error) {
	exprs := 0
	for pos := 0; pos < len(s); {
		i := strings.Index(s[pos:], opening)
		if i < 0 {
			return append(parts, span{text: s[pos:], start: pos}), 0, nil
		}
		if i > 0 {
			parts = append(parts, span{text: s[pos : pos+i], start: pos})
		}
		start := pos + i + len(opening)
		n := exprEnd(s[start:])
		if n < 0 {
			return nil, pos + i, fmt.Errorf("%s without %s; a literal %s is written {{ %q }}", opening, closing, opening, opening)
		}
		if exprs++; exprs > MaxParts {
			return nil, pos + i, fmt.Errorf("more than %d {{ }} in one string", MaxParts)
		}
		parts = append(parts, span{text: s[start : start+n], start: start, expr: true})
		pos = start + n + len(closing)
	}
	return parts, 0, nil
}

// exprEnd returns the offset of the "}}" that ends an expression, or -1. It skips "}}" in string
// literals.
func exprEnd(s string) int {
	quote := byte(0)
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case quote != 0 && c == '\\' && quote != '`':
			i++
		case quote != 0 && c == quote:
			quote = 0
		case quote != 0:
		case c == '"' || c == '\'' || c == '`':
			quote = c
		case strings.HasPrefix(s[i:], closing):
			return i
		}
	}
	return -1
}

// A Template is a string with {{ }} parts.
type Template struct {
	node  *yaml.Node // the scalar that contains it
	parts []templatePart
}

// A templatePart is literal text or an expression.
type templatePart struct {
	literal string
	expr    *expression.Expression // nil for literal text
	escape  Escape                 // of the value of expr
}

// An Escape escapes the value of a {{ }} part, which is untrusted text, for its place. after is
// true when the value directly follows another value. Together they could form something that
// neither contains, such as a reference to another issue.
type Escape func(value string, after bool) string

// A Part is a {{ }} part of a template.
type Part struct {
	// Before is the text before the part, with "x" in place of other values.
	Before string
	// Line and Col are the position of the part in the scalar's text.
	Line, Col int
	// Expr is nil if the expression has a mistake.
	Expr *expression.Expression
}

// Compile compiles the value of the scalar n. Mistakes are recorded in f; the result is nil then.
// escape returns the function that escapes the value of a part.
func Compile(c *expression.Compiler, f *yamlfile.File, n *yaml.Node, escape func(Part) Escape) *Template {
	spans, offset, err := split(n.Value)
	if err != nil {
		line, col := text.Position(n.Value, offset)
		f.ProblemIn(n, line, col, err.Error())
		return nil
	}
	t, ok := &Template{node: n}, true
	var before strings.Builder
	for _, s := range spans {
		if !s.expr {
			t.parts = append(t.parts, templatePart{literal: s.text})
			before.WriteString(s.text)
			continue
		}
		x := c.Compile(expression.Source{File: f, Node: n, Text: s.text, Start: s.start}, expression.Text)
		ok = ok && x != nil
		line, col := text.Position(n.Value, s.start-len(opening))
		t.parts = append(t.parts, templatePart{expr: x, escape: escape(Part{before.String(), line, col, x})})
		before.WriteString("x")
	}
	if !ok {
		return nil
	}
	return t
}

// Constant returns the text of a template without {{ }}.
func (t *Template) Constant() (string, bool) {
	switch {
	case len(t.parts) == 0:
		return "", true
	case len(t.parts) == 1 && t.parts[0].expr == nil:
		return t.parts[0].literal, true
	}
	return "", false
}

// AppendCanonical appends to b a form of the template that does not depend on how its expressions are
// written. trimmed means that white space at the end of the text has no effect.
func (t *Template) AppendCanonical(b []byte, names *symbols.Table, trimmed bool) []byte {
	for i, p := range t.parts {
		if p.expr != nil {
			b = append(p.expr.AppendCanonical(append(b, "{{"...), names), "}}"...)
			continue
		}
		literal := p.literal
		if trimmed && i == len(t.parts)-1 {
			literal = strings.TrimRight(literal, " \t\r\n")
		}
		b = strconv.AppendQuote(b, literal)
	}
	return b
}

// References returns the label that the template renders, if its source names the label. file is
// the file that contains the template.
func (t *Template) References(file *yamlfile.File, names *symbols.Table) []expression.LabelReference {
	if len(t.parts) == 1 && t.parts[0].expr != nil {
		return t.parts[0].expr.ResultReferences(names)
	}
	var name strings.Builder
	for _, p := range t.parts {
		name.WriteString(p.literal)
		if p.expr != nil {
			name.WriteString("*")
		}
	}
	return []expression.LabelReference{{Label: name.String(), Glob: len(t.parts) > 1, Place: file.At(t.node, 1, 1, "")}}
}

// Expressions returns the expressions of the {{ }} parts.
func (t *Template) Expressions() []*expression.Expression {
	var list []*expression.Expression
	for _, p := range t.parts {
		if p.expr != nil {
			list = append(list, p.expr)
		}
	}
	return list
}

// Render evaluates the template.
func (t *Template) Render(v *expression.Evaluation) (string, error) {
	var b strings.Builder
	foreign := false // whether b ends with a value
	for _, p := range t.parts {
		if p.expr == nil {
			b.WriteString(p.literal)
			foreign = false
			continue
		}
		value, err := v.Eval(p.expr)
		if err != nil {
			return "", err
		}
		if s := p.escape(expression.Format(value), foreign); s != "" {
			b.WriteString(s)
			foreign = true
		}
	}
	return b.String(), nil
}
