package match

import (
	"unicode/utf8"
)

// A folding is a text without its case, as (?i) takes it: each character is the least
// of those that differ from it in case only.
type folding struct {
	folded string // a byte that is not UTF-8 is 0xFF, which no character holds
	// foreign is whether a character outside of ASCII became an ASCII letter, which is
	// a word character.
	foreign bool
}

// fold returns the folding of s, which is no longer than s.
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

// A foldMemo remembers characters of a text, which often are of one script.
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

// caseless reports whether r is in one of the large ranges of characters that have no
// case, such as those of Chinese, Korean and emoji.
func caseless(r rune) bool {
	return 0x2E80 <= r && r < 0xA640 || 0xAC00 <= r && r < 0xFB00 || r >= 0x1F000
}
