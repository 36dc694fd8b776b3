package layout

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// ID returns an identifier that resembles a text, with at most n bytes. It is empty if the text has
// no letter or digit of ASCII.
func ID(text string, n int) string {
	var b strings.Builder
	for _, r := range strings.ToLower(text) {
		switch {
		case r < utf8.RuneSelf && (unicode.IsLower(r) || unicode.IsDigit(r)), r == '_' && b.Len() > 0:
			b.WriteRune(r)
		case b.Len() > 0 && !strings.HasSuffix(b.String(), "-"):
			b.WriteByte('-')
		}
		if b.Len() == n {
			break
		}
	}
	return strings.Trim(b.String(), "-")
}
