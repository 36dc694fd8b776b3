package sanitize

import "strings"

// containerStart recognises the mark of a quote or a list item, and returns the rest of the line.
func containerStart(s string, inParagraph bool) (container, string, bool) {
	if s[0] == '>' {
		return container{}, strings.TrimPrefix(s[1:], " "), true
	}
	width := listMark(s)
	if width == 0 {
		return container{}, "", false
	}
	rest := s[width:]
	spaces, blank := indentOf(rest)
	if inParagraph && (blank || width > 1 && strings.TrimLeft(s[:width-1], "0") != "1") {
		return container{}, "", false
	}
	if blank {
		return container{indent: width + 1, empty: true}, "", true
	}
	if spaces > 4 {
		spaces = 1
	}
	return container{indent: width + spaces}, rest[spaces:], true
}

// listMark returns the width of the list mark at the start of s, or 0 if there is none.
func listMark(s string) int {
	n := 0
	if !strings.ContainsRune("-+*", rune(s[0])) {
		for n < len(s) && n < 9 && isDigit(s[n]) {
			n++
		}
		if n == 0 || n == len(s) || s[n] != '.' && s[n] != ')' {
			return 0
		}
	}
	n++
	if n < len(s) && s[n] != ' ' {
		return 0
	}
	return n
}

// leafStart recognises a block that begins with s and is not a paragraph. The zero leaf means that
// the block ends with its line. An HTML block may also end with its line.
func leafStart(s string, inParagraph bool) (leaf, bool) {
	if run := fenceRun(s); run != "" {
		return leaf{fence: run}, true
	}
	if h := htmlStart(s, inParagraph); h != nil {
		return leaf{html: h}, true
	}
	return leaf{}, isHeading(s) || isRule(s) || inParagraph && isUnderline(s)
}

// fenceRun returns the run of backticks or tildes with which s opens a fence; "" if it opens none.
func fenceRun(s string) string {
	n := len(s) - len(strings.TrimLeft(s, "`"))
	if n >= 3 && !strings.Contains(s[n:], "`") {
		return s[:n]
	}
	n = len(s) - len(strings.TrimLeft(s, "~"))
	if n >= 3 {
		return s[:n]
	}
	return ""
}

// closes reports whether line closes a fence that was opened by run.
func closes(line, run string) bool {
	indent, _ := indentOf(line)
	if indent > 3 {
		return false
	}
	s := strings.TrimRight(line[indent:], " \t")
	return len(s) >= len(run) && strings.Trim(s, run[:1]) == ""
}

// isHeading recognises a heading that begins with number signs.
func isHeading(s string) bool {
	rest := strings.TrimLeft(s, "#")
	n := len(s) - len(rest)
	return 0 < n && n <= 6 && (rest == "" || rest[0] == ' ')
}

// isRule recognises a thematic break such as "---". s is not empty.
func isRule(s string) bool {
	if strings.IndexByte("-_*", s[0]) < 0 {
		return false
	}
	return strings.Trim(s, s[:1]+" ") == "" && strings.Count(s, s[:1]) >= 3
}

// isUnderline recognises the line under a paragraph that makes the paragraph a heading.
func isUnderline(s string) bool {
	s = strings.TrimRight(s, " ")
	return strings.Trim(s, "=") == "" || strings.Trim(s, "-") == ""
}

// indentOf counts the leading spaces of a line, and reports whether it is blank.
func indentOf(line string) (n int, blank bool) {
	n = len(line) - len(strings.TrimLeft(line, " "))
	return n, n == len(line)
}

// expandTabs replaces tabs by spaces up to the next multiple of four columns.
func expandTabs(line string) string {
	if !strings.Contains(line, "\t") {
		return line
	}
	var b strings.Builder
	column := 0
	for _, r := range line {
		if r != '\t' {
			b.WriteRune(r)
			column++
			continue
		}
		n := 4 - column%4
		b.WriteString("    "[:n])
		column += n
	}
	return b.String()
}

// character is a byte or a rune. For ASCII characters these are equal.
type character interface{ byte | rune }

func isDigit[C character](c C) bool { return '0' <= c && c <= '9' }

func isLetter[C character](c C) bool { return 'a' <= c|0x20 && c|0x20 <= 'z' }

func isAlnum[C character](c C) bool { return isDigit(c) || isLetter(c) }

// word returns a function that matches ASCII letters and digits, and the characters in others.
func word(others string) func(rune) bool {
	return func(r rune) bool { return isAlnum(r) || strings.ContainsRune(others, r) }
}
