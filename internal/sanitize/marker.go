package sanitize

import (
	"strings"
	"unicode"
)

// HasMarker reports whether s contains the start of one of our markers, "<!-- foreman:", ignoring
// case and white space.
func HasMarker(s string) bool {
	for {
		_, after, ok := strings.Cut(s, "<!--")
		if !ok {
			return false
		}
		if startsMarker(after) {
			return true
		}
		s = after
	}
}

// startsMarker reports whether s, the text after "<!--", begins with our name.
func startsMarker(s string) bool {
	const name = "foreman"
	s = strings.TrimLeftFunc(s, unicode.IsSpace)
	if len(s) < len(name) || !strings.EqualFold(s[:len(name)], name) {
		return false
	}
	return strings.HasPrefix(strings.TrimLeftFunc(s[len(name):], unicode.IsSpace), ":")
}

// breakMarkers breaks our own markers, and no other comments.
func breakMarkers(s string) string {
	var b strings.Builder
	for {
		before, after, ok := strings.Cut(s, "<!--")
		b.WriteString(before)
		switch {
		case !ok:
			return b.String()
		case startsMarker(after):
			b.WriteString("<" + zwsp + "!--")
		default:
			b.WriteString("<!--")
		}
		s = after
	}
}

// breakComments breaks every HTML comment, including our markers.
func breakComments(s string) string {
	return strings.ReplaceAll(s, "<!--", "<"+zwsp+"!--")
}
