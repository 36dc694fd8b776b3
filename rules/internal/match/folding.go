package match

import (
	"unicode/utf8"
)

// A folding is a text without case, as for (?i): each character is replaced by the smallest
// character that equals it when case is ignored.
type folding struct {
	folded string // a byte that is not UTF-8 becomes 0xFF, which occurs in no character
	// foreign is true when a character outside of ASCII became an ASCII letter, as ſ becomes S.
	// Only the ASCII letter is a word character.
	foreign bool
}

// fold returns the folding of s. It is never longer than s.
func fold(s string) folding {
	var memo foldMemo
	out, foreign := make([]byte, 0, len(s)), false
	for i := 0; i < len(s); {
		c := s[i]
		if c < utf8.RuneSelf {
			if 'a' <= c && c <= 'z' {
				c -= 'a' - 'A'
			}
			out = append(out, c)
			i++
			continue
		}
		r, n := utf8.DecodeRuneInString(s[i:])
		if r == utf8.RuneError && n == 1 {
			out = append(out, 0xFF)
			i++
			continue
		}
		f := memo.fold(r)
		foreign = foreign || f < utf8.RuneSelf
		out = utf8.AppendRune(out, f)
		i += n
	}
	return folding{string(out), foreign}
}

// A foldMemo caches the folding of characters. It works well because a text is mostly in one
// script.
type foldMemo [256]struct{ from, to rune }

func (m *foldMemo) fold(r rune) rune {
	if caseless(r) {
		return r
	}
	e := &m[r%256]
	if e.from != r {
		e.from, e.to = r, folded(r)
	}
	return e.to
}

// caseless reports whether r is in one of the large ranges of characters without case, such as
// Chinese, Korean and emoji.
func caseless(r rune) bool {
	return 0x2E80 <= r && r < 0xA640 || 0xAC00 <= r && r < 0xFB00 || r >= 0x1F000
}
