package match

import (
	"unicode"
	"unicode/utf8"
)

// fold returns s without case, as for (?i): each character is replaced by the smallest character that
// equals it when case is ignored. A byte that is not UTF-8 becomes 0xFF, which occurs in no character.
// The result is never longer than s.
func fold(s string) string {
	var memo foldMemo
	out := make([]byte, 0, len(s))
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
		i += n
		if r == utf8.RuneError && n == 1 {
			out = append(out, 0xFF)
			continue
		}
		out = utf8.AppendRune(out, memo.fold(r))
	}
	return string(out)
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

// folded returns the smallest character that equals r when case is ignored.
func folded(r rune) rune {
	least := r
	for f := unicode.SimpleFold(r); f != r; f = unicode.SimpleFold(f) {
		least = min(least, f)
	}
	return least
}
