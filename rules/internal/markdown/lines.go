// Package markdown reads Markdown line by line: which lines are fenced code, and which ones
// people see as the plain text of their author.
package markdown

import (
	"strings"
)

// A Line is a line of Markdown without its end.
type Line struct {
	Text string
	Code bool // belongs to fenced code, its fences included
}

// A fence is a line that may begin or end fenced code.
type fence struct {
	line   int
	Char   byte // '`' or '~'
	Length int
	Bare   bool // nothing follows, so that it may end code
}

// Lines splits a text into lines and marks those of fenced code, as CommonMark has it ("Fenced
// code blocks"), but for two things: a fence that is never closed is none, because people forget
// it, and what stands in lists or quotes is not a fence. Its work grows with the length of the
// text, whatever the text holds.
func Lines(s string) []Line {
	lines := make([]Line, 0, strings.Count(s, "\n")+1)
	var fences []fence
	for text := range strings.Lines(s) {
		text = strings.TrimRight(text, "\r\n")
		if f, ok := ParseFence(text); ok {
			f.line = len(lines)
			fences = append(fences, f)
		}
		lines = append(lines, Line{Text: text})
	}
	// A fence as long as one without an end, or longer, has none either.
	endless := map[byte]int{}
	for i := 0; i < len(fences); i++ {
		if least := endless[fences[i].Char]; least > 0 && fences[i].Length >= least {
			continue
		}
		end := closes(fences, i)
		if end < 0 {
			endless[fences[i].Char] = fences[i].Length
			continue
		}
		for l := fences[i].line; l <= fences[end].line; l++ {
			lines[l].Code = true
		}
		i = end
	}
	return lines
}

// closes returns the index of the fence that closes the one at i, or -1.
func closes(fences []fence, i int) int {
	for j, f := range fences[i+1:] {
		if f.Bare && f.Char == fences[i].Char && f.Length >= fences[i].Length {
			return i + 1 + j
		}
	}
	return -1
}

// maxIndent is how many spaces may stand before a fence, a heading or a command; more
// make it code.
const maxIndent = 3

// Outdent drops the spaces before a line; ok is false when it is indented code.
func Outdent(line string) (text string, ok bool) {
	text = strings.TrimLeft(line, " ")
	return text, len(line)-len(text) <= maxIndent
}

// maxFence is the most signs of a fence that count, so that few lengths have to be
// looked for in vain.
const maxFence = 16

// ParseFence returns the fence that a line is; ok is false when it is none.
func ParseFence(line string) (fence, bool) {
	text, ok := Outdent(line)
	if !ok || !strings.HasPrefix(text, "```") && !strings.HasPrefix(text, "~~~") {
		return fence{}, false
	}
	rest := strings.TrimLeft(text, text[:1])
	if text[0] == '`' && strings.Contains(rest, "`") {
		return fence{}, false // code within a line
	}
	return fence{Char: text[0], Length: min(len(text)-len(rest), maxFence), Bare: strings.Trim(rest, " \t") == ""}, true
}
