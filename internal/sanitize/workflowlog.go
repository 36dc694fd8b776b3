package sanitize

import (
	"strings"
	"unicode"
)

// Log makes one or more lines safe to print where GitHub's runner reads along. It
// acts on "::" at the start of a line, after white space, and on "##[" anywhere; a
// space breaks them, since the runner compares by the rules of a language, for which
// an invisible character may count as nothing. Line breaks become "\n", a carriage
// return alone too, for the runner begins a line there. Terminal sequences, other
// control characters and all invisible ones are dropped.
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
