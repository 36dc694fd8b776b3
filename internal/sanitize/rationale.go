package sanitize

import (
	"strings"
	"unicode/utf8"
)

// MaxRationale is the length that GitHub allows for a rationale, in characters.
const MaxRationale = 280

// Rationale neutralizes an untrusted rationale, so that it can be a line of a comment or of a job
// summary. It does what [Value] does, with these differences:
//
//   - Web and email addresses are inert; the text of an address stays readable.
//   - Bars stay, because rules contain them. A rationale in a cell of a table needs [Cell].
//   - It is at most [MaxRationale] characters long, the inserted ones included. The last character
//     of a shortened rationale is an ellipsis.
func Rationale(s string) string {
	s = strings.ReplaceAll(oneLine(s), "`", "'")
	text := []rune(s)
	if len(text) <= MaxRationale {
		if out := inert(s); utf8.RuneCountInString(out) <= MaxRationale {
			return out
		}
	}
	// The text is shortened before it is neutralized. A shortened result could become active again.
	for n := min(len(text), MaxRationale-1); ; {
		out := inert(oneLine(string(text[:n])) + "…")
		over := utf8.RuneCountInString(out) - MaxRationale
		if over <= 0 {
			return out
		}
		n -= max(1, over/2) // most characters get at most one zero width space
	}
}

// inert breaks the active sequences of a clean line that is a line of its own.
func inert(s string) string {
	if s == "" {
		return ""
	}
	w := writer{options: Options{AllowLink: func(string) bool { return false }}, value: true}
	return apartFrom(s, w.line(s, fixed(prose)), "#>-+*=~:|[_")
}

// apartFrom inserts zero width spaces at the ends of out, the neutralized form of s, so that it
// begins no block and joins with no text after it. The signs in begin could begin a block.
func apartFrom(s, out, begin string) string {
	if strings.IndexByte(begin, s[0]) >= 0 || listMark(s) > 0 {
		out = zwsp + out
	}
	if strings.IndexByte("@#&<\\/-]", s[len(s)-1]) >= 0 && !strings.HasSuffix(out, zwsp) {
		out += zwsp
	}
	return out
}
