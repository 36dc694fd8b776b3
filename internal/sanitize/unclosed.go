package sanitize

import "strings"

// Unclosed reports whether HTML ends inside a tag or a comment. A browser would then read the
// following text as part of that tag or comment.
func Unclosed(html string) bool { return unclosed(html) >= 0 }

// unclosed returns the offset of the "<" of a tag or a comment that has no end in s, as a browser
// reads it (WHATWG HTML, section 13.2.5); -1: there is none.
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

// markupLen returns the length of the tag or comment at the start of s; 1: the "<" begins neither;
// -1: it does not end.
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

// endOfTag returns the offset after the tag whose attributes begin at i; -1: it does not end. An
// equals sign begins a value only after a name. Elsewhere it is the first character of a name.
func endOfTag(s string, i int) int {
	skip := func(stop string) { // advances i to the next character in stop
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
			skip(quote)
			i++
		case s[i] != '>':
			skip(htmlSpace + ">")
		}
	}
}
