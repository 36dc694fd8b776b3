package sanitize

import (
	"strings"
	"unicode"
)

// Log makes one or more lines safe to print to the log that GitHub's runner reads. The runner
// executes "::" at the start of a line, after optional white space, and "##[" anywhere. Log breaks
// these with a space. An invisible character would not be safe, because the runner compares with
// the rules of a language, which may ignore it.
//
// Line breaks become "\n", also a single carriage return, because the runner begins a new line
// there. Log drops terminal sequences, other control characters and all invisible ones.
func Log(s string) string {
	s = strings.Map(func(r rune) rune {
		if unicode.Is(ignorable, r) {
			return -1
		}
		return r
	}, plain(s))
	s = strings.ReplaceAll(s, "##[", "# #[")
	if !strings.Contains(s, "::") {
		return s
	}
	lines := strings.Split(s, "\n")
	for i, line := range lines {
		text := strings.TrimLeftFunc(line, unicode.IsSpace)
		if strings.HasPrefix(text, "::") {
			lines[i] = line[:len(line)-len(text)] + ": " + text[1:]
		}
	}
	return strings.Join(lines, "\n")
}

// Line is [Log] on a single line: line breaks, and runs of white space, become one space.
func Line(s string) string { return strings.Join(strings.Fields(Log(s)), " ") }
