package rules

import (
	"strings"
)

// A markdownLine is a line of Markdown without its end.
type markdownLine struct {
	text string
	code bool // belongs to fenced code, its fences included
}

// A fence is a line that may begin or end fenced code.
type fence struct {
	line   int
	char   byte // '`' or '~'
	length int
	bare   bool // nothing follows, so that it may end code
}

// markdownLines splits a text into lines and marks those of fenced code, as
// CommonMark has it ("Fenced code blocks"), but for two things: a fence that is never
// closed is none, because people forget it, and what stands in lists or quotes is no
// fence. Its work grows with the length of the text, whatever the text holds.
func markdownLines(s string) []markdownLine {
	lines := make([]markdownLine, 0, strings.Count(s, "\n")+1)
	var fences []fence
	for text := range strings.Lines(s) {
		text = strings.TrimRight(text, "\r\n")
		if f, ok := fenceOf(text); ok {
			f.line = len(lines)
			fences = append(fences, f)
		}
		lines = append(lines, markdownLine{text: text})
	}
	// What is as long as one that found no end, or longer, finds none either.
	endless := map[byte]int{}
	for i := 0; i < len(fences); i++ {
		if least := endless[fences[i].char]; least > 0 && fences[i].length >= least {
			continue
		}
		end := closes(fences, i)
		if end < 0 {
			endless[fences[i].char] = fences[i].length
			continue
		}
		for l := fences[i].line; l <= fences[end].line; l++ {
			lines[l].code = true
		}
		i = end
	}
	return lines
}

// closes returns the index of the fence that closes the one at i, or -1.
func closes(fences []fence, i int) int {
	for j, f := range fences[i+1:] {
		if f.bare && f.char == fences[i].char && f.length >= fences[i].length {
			return i + 1 + j
		}
	}
	return -1
}

// maxIndent is how many spaces may stand before a fence, a heading or a command; more
// make it code.
const maxIndent = 3

// outdent drops the spaces before a line; ok is false when it is indented code.
func outdent(line string) (text string, ok bool) {
	text = strings.TrimLeft(line, " ")
	return text, len(line)-len(text) <= maxIndent
}

// maxFence is the most signs of a fence that count, so that few lengths have to be
// looked for in vain.
const maxFence = 16

func fenceOf(line string) (fence, bool) {
	text, ok := outdent(line)
	if !ok || !strings.HasPrefix(text, "```") && !strings.HasPrefix(text, "~~~") {
		return fence{}, false
	}
	rest := strings.TrimLeft(text, text[:1])
	if text[0] == '`' && strings.Contains(rest, "`") {
		return fence{}, false // code within a line
	}
	return fence{char: text[0], length: min(len(text)-len(rest), maxFence), bare: strings.Trim(rest, " \t") == ""}, true
}
