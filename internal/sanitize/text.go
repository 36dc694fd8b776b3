package sanitize

import (
	"strings"
	"unicode"
)

func clean(s string) string {
	s = strings.ToValidUTF8(s, "\uFFFD")
	return strings.Map(func(r rune) rune {
		if r != '\n' && r != '\t' && (unicode.IsControl(r) || unicode.Is(unicode.Cf, r)) {
			return -1
		}
		return r
	}, s)
}

func breakMarkers(s string) string { return strings.ReplaceAll(s, "<!--", "&lt;!--") }

// HasMarker reports whether s holds the opening of one of our markers.
func HasMarker(s string) bool {
	return strings.Contains(strings.ToLower(s), "<!-- foreman:")
}

// Name cleans a label, login or keyword.
func Name(s string) string { return strings.TrimSpace(clean(s)) }

// Log neutralises workflow commands in log lines.
func Log(s string) string {
	return strings.ReplaceAll(strings.ReplaceAll(clean(s), "##[", "# #["), "::", ": :")
}
