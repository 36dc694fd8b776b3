package sanitize

import (
	"strings"
	"unicode/utf8"
)

// Markdown escapes text for a job summary, so that it is shown as typed: no markup, no mention, no
// link. It keeps line breaks: a line that is not followed by an empty line ends with a hard break.
// Indentation becomes no-break spaces. It escapes escaped text again, so it is not idempotent.
func Markdown(s string) string {
	lines := strings.Split(clean(s), "\n")
	for i, line := range lines {
		lines[i] = escape(line)
		if i+1 < len(lines) && lines[i] != "" && strings.TrimSpace(lines[i+1]) != "" {
			lines[i] += "\\"
		}
	}
	return strings.Join(lines, "\n")
}

// Cell is [Markdown] for a cell of a table: one line. It first shortens the text to at most max
// characters, including the ellipsis, and then escapes it. If max is 0 or less, it does not shorten
// the text.
func Cell(s string, max int) string {
	s = strings.Join(strings.Fields(clean(s)), " ")
	if max > 0 && utf8.RuneCountInString(s) > max {
		s = string([]rune(s)[:max-1])
		// visible drops a joiner at the end of the shortened text, because it joins nothing.
		s = strings.TrimRight(visible(s), " ") + "…"
	}
	return escape(s)
}

// escape escapes one line.
func escape(s string) string {
	text := strings.TrimLeft(s, " \t")
	if text == "" {
		return ""
	}
	var b strings.Builder
	for _, c := range s[:len(s)-len(text)] {
		b.WriteString(strings.Repeat("\u00A0", map[rune]int{' ': 1, '\t': 4}[c]))
	}
	mark := listMark(text)
	for i, r := range text {
		switch next := text[i+utf8.RuneLen(r):]; {
		case r >= utf8.RuneSelf:
			b.WriteRune(r)
		case i+1 == mark, i == 0 && (r == '=' || r == '-' || r == '+'), strings.ContainsRune("\\`*_[]!~$", r):
			b.WriteString("\\" + string(r))
		case r == '#' && next != "" && isDigit(next[0]):
			b.WriteString("\\#" + zwsp)
		case r == '#':
			b.WriteString("\\#")
		case r == '@':
			b.WriteString("@" + zwsp)
		case r == '-' && isTicket(text, i):
			b.WriteString("-" + zwsp)
		case r == ':' && next != "" && next[0] != ' ':
			// An escaped colon begins neither an address nor the name of an emoji.
			b.WriteString("\\:")
		case r == '.' && i >= 3 && strings.EqualFold(text[i-3:i], "www"):
			b.WriteString("\\.")
		default:
			b.WriteString(entity(r))
		}
	}
	return b.String()
}

// entity returns the entity of a character that a backslash does not escape everywhere: after a
// backslash, a bar would still end a cell.
func entity(r rune) string {
	switch r {
	case '<':
		return "&lt;"
	case '>':
		return "&gt;"
	case '&':
		return "&amp;"
	case '|':
		return "&#124;"
	}
	return string(r)
}

// Code returns s as inline code: on one line, between runs of backticks that s does not contain. It
// breaks HTML comments. Empty text results in empty text. In a cell of a table a bar would still
// end the cell.
func Code(s string) string {
	s = breakComments(strings.ReplaceAll(clean(s), "\n", " "))
	if s == "" {
		return ""
	}
	run := strings.Repeat("`", longestRun(s)+1)
	if strings.TrimSpace(s) != "" && strings.ContainsRune("` ", rune(s[0])) ||
		strings.HasSuffix(s, "`") {
		s = " " + s + " "
	}
	return run + s + run
}

// Fence returns s as a fenced code block in the language lang, "" for none. The fence is longer
// than any run of backticks in s. Fence breaks HTML comments. The result does not end with a line
// break.
func Fence(s, lang string) string {
	lang = strings.Map(func(r rune) rune {
		if word("+#._-")(r) {
			return r
		}
		return -1
	}, lang)
	s = breakComments(strings.TrimRight(clean(s), "\n"))
	run := strings.Repeat("`", max(3, longestRun(s)+1))
	return run + lang + "\n" + s + "\n" + run
}

// longestRun returns the length of the longest run of backticks in s.
func longestRun(s string) int {
	longest := 0
	for _, r := range backtickRuns(s) {
		longest = max(longest, r.end-r.start)
	}
	return longest
}
