package yamlfile

import (
	"strings"
	"unicode/utf8"
)

// A source is the name and the lines of a file.
type source struct {
	name  string
	lines []string
}

// newSource splits a text into lines like YAML's scanner does, so that line numbers agree.
func newSource(name, text string) source {
	text = strings.NewReplacer("\r\n", "\n", "\r", "\n", "\u0085", "\n", "\u2028", "\n", "\u2029", "\n").Replace(text)
	return source{name, strings.Split(text, "\n")}
}

// line returns the text of a line counted from 1, without its end.
func (s source) line(n int) string {
	if n < 1 || n > len(s.lines) {
		return ""
	}
	return s.lines[n-1]
}

// problem returns a problem at a line and column, both from 1.
func (s source) problem(line, col int, msg string) Problem {
	// If something is missing at the very end, the parser reports a line after the last one.
	if last := len(s.lines); line > last {
		line, col = last, utf8.RuneCountInString(s.line(last))+1
	}
	return Problem{File: s.name, Line: line, Column: col, Message: msg, Source: s.line(line)}
}
