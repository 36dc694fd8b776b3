package forms

import (
	"slices"
	"strings"

	"github.com/org/foreman-action/internal/text"
	"github.com/org/foreman-action/rules/internal/markdown"
)

// A section is the text between a heading and the next heading.
type section struct {
	heading string
	apart   bool // blank lines are around the heading, as GitHub writes it
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
	blank := func(i int) bool { return i < 0 || i >= len(lines) || strings.TrimSpace(lines[i].Text) == "" }
	for i, l := range lines {
		if heading, ok := headingOf(l); ok {
			end(i)
			list = append(list, section{heading: heading, apart: blank(i-1) && blank(i+1)})
		}
	}
	end(len(lines))
	return list
}

// answers returns the section of each heading. A heading may occur again in the text of a field, for
// example in a log or in another issue that the author pasted.
func answers(list []section, templates []Template) map[string]section {
	first := map[string][]int{}
	for i, s := range list {
		first[s.heading] = append(first[s.heading], i)
	}
	chosen := make(map[string]section, len(first))
	for heading, at := range first {
		chosen[heading] = list[likely(list, at)]
	}
	if len(first) < len(list) {
		for _, t := range templates {
			if found, ok := t.align(list); ok {
				for i, heading := range t.order {
					chosen[heading] = list[found[i]]
				}
				break
			}
		}
	}
	return chosen
}

// likely returns which of several sections with the same heading GitHub wrote, when the order of the
// fields is not known. GitHub writes blank lines around a heading. Of headings that follow each
// other, the earlier ones belong to the text of the field before them. Of headings that do not, the first counts,
// so that text in a later field cannot replace it.
func likely(list []section, at []int) int {
	if apart := slices.DeleteFunc(slices.Clone(at), func(i int) bool { return !list[i].apart }); len(apart) > 0 {
		at = apart
	}
	last := len(at) - 1
	if at[last]-at[0] == last {
		return at[last]
	}
	return at[0]
}

// headingOf returns the text of a third-level heading; ok is false for other lines.
func headingOf(l markdown.Line) (string, bool) {
	heading, ok := markdown.Outdent(l.Text)
	if !ok || l.Code || l.Comment {
		return "", false
	}
	heading, ok = strings.CutPrefix(heading, "###")
	if !ok || heading != "" && heading[0] != ' ' && heading[0] != '\t' {
		return "", false
	}
	heading = strings.TrimRight(heading, " \t")
	if open := strings.TrimRight(heading, "#"); strings.HasSuffix(open, " ") || strings.HasSuffix(open, "\t") {
		heading = open // drop closing number signs
	}
	return text.HeadingKey(heading), true
}
