package forms

import (
	"strings"

	"github.com/org/foreman-action/rules/internal/markdown"
)

// A section is the text between a heading and the next heading.
type section struct {
	heading string
	lines   []markdown.Line
}

// sectionsOf returns the sections under third-level headings, which GitHub writes for the fields of
// an issue form. Headings of other levels belong to the text of a field.
func sectionsOf(body string) []section {
	var list []section
	lines := markdown.Lines(body)
	start := 0
	end := func(at int) {
		if len(list) > 0 {
			list[len(list)-1].lines = lines[start:at]
		}
		start = at + 1
	}
	for i, l := range lines {
		if heading, ok := headingOf(l); ok {
			end(i)
			list = append(list, section{heading: heading})
		}
	}
	end(len(lines))
	return list
}

// headingOf returns the text of a third-level heading; ok is false for other lines.
func headingOf(l markdown.Line) (string, bool) {
	text, ok := markdown.Outdent(l.Text)
	if !ok || l.Code {
		return "", false
	}
	text, ok = strings.CutPrefix(text, "###")
	if !ok || text != "" && text[0] != ' ' && text[0] != '\t' {
		return "", false
	}
	text = strings.TrimRight(text, " \t")
	if open := strings.TrimRight(text, "#"); strings.HasSuffix(open, " ") || strings.HasSuffix(open, "\t") {
		text = open // drop closing number signs
	}
	return HeadingKey(text), true
}

// HeadingKey returns a heading for comparison: in lower case, with single spaces.
func HeadingKey(s string) string { return strings.ToLower(strings.Join(strings.Fields(s), " ")) }
