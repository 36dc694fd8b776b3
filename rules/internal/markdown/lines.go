// Package markdown reads Markdown line by line. It finds the lines of fenced code, and the lines
// that readers see as the author's own plain text.
package markdown

import (
	"strings"
)

// A Line is a line of Markdown without its end.
type Line struct {
	Text string
	Code bool // belongs to fenced code; true for the fences, too
	// Comment is true in a comment of HTML that begins a line, which GitHub does not show. The last
	// line may show text after the comment.
	Comment bool
}

// A fence is a line that may begin or end fenced code.
type fence struct {
	line   int
	Char   byte // nothing follows the fence, so it may close a block
	Length int
	Bare   bool // nothing follows, so that it may end code
}

// Lines splits a text into lines and marks those of fenced code, as CommonMark defines it ("Fenced
// code blocks") with two exceptions. A fence that is never closed is not a fence, because people
// forget to close it. Fences in lists and quotes are ignored. The work is linear in the length of
// the text.
func Lines(s string) []Line {
	lines := make([]Line, 0, strings.Count(s, "\n")+1)
	var fences []fence
	last := -1 // the last line that ends a comment
	for text := range strings.Lines(s) {
		text = strings.TrimRight(text, "\r\n")
		if f, ok := ParseFence(text); ok {
			f.line = len(lines)
			fences = append(fences, f)
		}
		if strings.Contains(text, commentEnd) {
			last = len(lines)
		}
		lines = append(lines, Line{Text: text})
	}
	// A fence that is at least as long as an unclosed one is unclosed, too.
	endless := map[byte]int{}
	open := 0 // the first line that may begin a comment
	for i := 0; i < len(fences); i++ {
		if open = comments(lines, open, fences[i].line, last); open > fences[i].line {
			continue // the fence is in a comment
		}
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
		open = fences[end].line + 1
		i = end
	}
	comments(lines, open, len(lines), last)
	return lines
}

// comments marks the lines of the comments that begin in lines[from:to] and end at last or before. A
// comment that is never closed is none, because people forget to close it. It returns the line after
// the last comment, or to if that is later.
func comments(lines []Line, from, to, last int) int {
	for i := from; i < to && i <= last; i++ {
		text, ok := Outdent(lines[i].Text)
		if !ok || !strings.HasPrefix(text, "<!--") {
			continue
		}
		for {
			lines[i].Comment = true
			if strings.Contains(lines[i].Text, commentEnd) {
				break
			}
			i++
		}
		from = i + 1
	}
	return max(from, to)
}

const commentEnd = "-->"

// closes returns the index of the fence that closes the fence at i, or -1.
func closes(fences []fence, i int) int {
	for j, f := range fences[i+1:] {
		if f.Bare && f.Char == fences[i].Char && f.Length >= fences[i].Length {
			return i + 1 + j
		}
	}
	return -1
}

// maxIndent is the largest number of spaces before a fence, a heading or a command. A line with
// more spaces is indented code.
const maxIndent = 3

// Outdent removes the spaces before a line. ok is false when the line is indented code.
func Outdent(line string) (text string, ok bool) {
	text = strings.TrimLeft(line, " ")
	return text, len(line)-len(text) <= maxIndent
}

// maxFence limits the length of a fence; longer fences count as this long. So there are few lengths
// for which no closing fence is found.
const maxFence = 16

// ParseFence returns the fence of a line. ok is false when the line is not a fence.
func ParseFence(line string) (fence, bool) {
	text, ok := Outdent(line)
	if !ok || !strings.HasPrefix(text, "```") && !strings.HasPrefix(text, "~~~") {
		return fence{}, false
	}
	rest := strings.TrimLeft(text, text[:1])
	if text[0] == '`' && strings.Contains(rest, "`") {
		return fence{}, false // inline code
	}
	return fence{Char: text[0], Length: min(len(text)-len(rest), maxFence), Bare: strings.Trim(rest, " \t") == ""}, true
}
