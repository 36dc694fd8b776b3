package forms

import (
	"strings"

	"github.com/org/foreman-action/rules/internal/markdown"
)

// A section is the text between a heading and the next.
type section struct {
	heading string
	lines   []markdown.Line
}

// sectionsOf returns the sections under the headings of third level, which is how
// GitHub writes the answers in an issue form; headings of other levels belong to an answer.
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

// headingOf returns the text of a heading of third level.
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
		text = open // closing signs
	}
	return HeadingKey(text), true
}

// HeadingKey is a heading as it is compared: without regard to case and to the number
// of spaces.
func HeadingKey(s string) string { return strings.ToLower(strings.Join(strings.Fields(s), " ")) }
