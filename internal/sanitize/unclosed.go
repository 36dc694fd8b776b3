package sanitize

import (
	"regexp"
	"strings"
)

// closeHTML shows as typed the HTML tags and comments that their block does not end: a
// browser would take in what follows, up to the next ">" or "-->". It is repeated until
// nothing changes, since a block whose first tag is broken is no HTML block any more; in
// a text that does not settle, no "<" is left.
func closeHTML(s string) string {
	// Versions of CommonMark differ in whether this begins an HTML block.
	s = smallDeclaration.ReplaceAllString(s, "<"+zwsp+"!$1")
	s = strings.ReplaceAll(s, "--!>", "--"+zwsp+"!>") // ends a comment for browsers, and not for CommonMark
	s = rawText.ReplaceAllString(s, "<"+zwsp+"$1")
	if foreign.MatchString(s) {
		s = strings.ReplaceAll(s, "<![CDATA[", "<"+zwsp+"![CDATA[")
	}
	for range passes {
		lines := strings.Split(s, "\n")
		var b blocks
		var block htmlText
		for i, line := range lines {
			b.next(line)
			if !b.last.html || b.last.begins {
				block.breakOpen(lines, "")
				block = htmlText{}
			}
			if b.last.doubtful {
				lines[i] = breakTags(line, 0)
			}
			if b.last.html {
				block.add(i, b.last.text)
			}
		}
		block.breakOpen(lines, b.closer())
		next := strings.Join(lines, "\n")
		if next == s {
			return s
		}
		s = next
	}
	return strings.ReplaceAll(s, "<", "<"+zwsp)
}

var (
	smallDeclaration = regexp.MustCompile("<!([a-z])")
	// rawText matches the tags of elements that take in what follows as text, in the form in
	// which GitHub lets them through.
	rawText = regexp.MustCompile(`(?i)<(/?(?:title|textarea|style|xmp|iframe|noembed|noframes|script|plaintext)/[^>])`)
	// foreign matches the tags of elements in which CDATA sections are read.
	foreign = regexp.MustCompile(`(?i)<(?:svg|math)\b`)
)

// htmlText is the text of one HTML block, without the marks of quotes and lists.
type htmlText struct {
	text  string
	lines []int // of the document
}

func (h *htmlText) add(line int, text string) {
	h.text += text + "\n"
	h.lines = append(h.lines, line)
}

// breakOpen breaks every "<" from the one on that opens what neither the block nor closer,
// which comes after it, ends.
func (h *htmlText) breakOpen(lines []string, closer string) {
	open := unclosed(h.text + closer)
	if open < 0 || open >= len(h.text) {
		return
	}
	row := strings.Count(h.text[:open], "\n")
	start := strings.LastIndexByte(h.text[:open], '\n') + 1
	whole := strings.Count(h.text[start:open], "<") // those that stay in that row
	for _, i := range h.lines[row:] {
		lines[i] = breakTags(lines[i], whole)
		whole = 0
	}
}

// breakTags breaks every "<" of a line after the first n.
func breakTags(line string, n int) string {
	for i := range len(line) {
		if line[i] != '<' {
			continue
		}
		if n--; n < 0 {
			return line[:i] + strings.ReplaceAll(line[i:], "<", "<"+zwsp)
		}
	}
	return line
}

// Unclosed reports whether HTML ends within a tag or a comment: a browser takes in what
// follows it.
func Unclosed(html string) bool { return unclosed(html) >= 0 }

// unclosed returns the offset of the "<" that opens a tag or a comment which s does not
// end, as a browser reads it (WHATWG HTML, section 13.2.5); -1: there is none.
func unclosed(s string) int {
	for i := 0; i < len(s); {
		open := strings.IndexByte(s[i:], '<')
		if open < 0 {
			return -1
		}
		open += i
		n := markupLen(s[open:])
		if n < 0 {
			return open
		}
		i = open + n
	}
	return -1
}

// markupLen is the length of the tag or comment that s begins with, 1 if the "<" begins
// none; -1: it does not end.
func markupLen(s string) int {
	upTo := func(from int, end string) int {
		if n := strings.Index(s[from:], end); n >= 0 {
			return from + n + len(end)
		}
		return -1
	}
	switch {
	case strings.HasPrefix(s, "<!-->"), strings.HasPrefix(s, "<!--->"):
		return upTo(4, ">")
	case strings.HasPrefix(s, "<!--"):
		end, bang := upTo(4, "-->"), upTo(4, "--!>")
		if bang >= 0 && (end < 0 || bang < end) {
			return bang
		}
		return end
	case strings.HasPrefix(s, "<!"), strings.HasPrefix(s, "<?"):
		return upTo(2, ">")
	case strings.HasPrefix(s, "</") && len(s) > 2 && !isLetter(s[2]):
		return upTo(2, ">")
	}
	name := strings.TrimPrefix(s[1:], "/")
	if name == "" || !isLetter(name[0]) {
		return 1
	}
	return endOfTag(s, len(s)-len(strings.TrimLeftFunc(name, func(r rune) bool { return !strings.ContainsRune(htmlSpace+"/>", r) })))
}

const htmlSpace = " \t\n\f\r"

// endOfTag returns the offset after the tag whose attributes begin at i; -1: it does not end.
// A sign of equality begins a value only behind a name, and may be the first character of one.
func endOfTag(s string, i int) int {
	skip := func(stop string) { // up to one of stop
		for i < len(s) && strings.IndexByte(stop, s[i]) < 0 {
			i++
		}
	}
	space := func(signs string) {
		for i < len(s) && strings.IndexByte(signs, s[i]) >= 0 {
			i++
		}
	}
	for {
		space(htmlSpace + "/")
		if i >= len(s) {
			return -1
		}
		if s[i] == '>' {
			return i + 1
		}
		i++ // the first character of the name
		skip(htmlSpace + "/>=")
		space(htmlSpace)
		if i >= len(s) || s[i] != '=' {
			continue
		}
		i++
		space(htmlSpace)
		switch {
		case i >= len(s):
			return -1
		case s[i] == '"' || s[i] == '\'':
			quote := s[i : i+1]
			i++
			if skip(quote); i >= len(s) {
				return -1
			}
			i++
		case s[i] != '>':
			skip(htmlSpace + ">")
		}
	}
}
