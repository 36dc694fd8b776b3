package staleversions

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"github.com/org/foreman-action/internal/importer/workflow"
)

// Accents reports whether the version compares names of labels, milestones and people with their
// accents.
func Accents(v workflow.Version) bool { return v.Before(3, 0, 14) }

// Plain returns a name in lower case and without accents. Versions without [Accents] compare names
// in this form. Like lodash.deburr, which they use, it changes only letters below U+0180.
func Plain(name string) string {
	letters := strings.NewReplacer("æ", "ae", "ð", "d", "ø", "o", "þ", "th", "ß", "ss", "đ", "d", "ħ", "h", "ı", "i", "ĳ", "ij",
		"ĸ", "k", "ŀ", "l", "ł", "l", "ŉ", "'n", "ŋ", "n", "œ", "oe", "ŧ", "t", "ſ", "ss")
	var b strings.Builder
	for _, r := range letters.Replace(strings.ToLower(name)) {
		if r < 0x180 {
			r, _ = utf8.DecodeRuneInString(norm.NFD.String(string(r)))
		}
		if !mark(r) {
			b.WriteRune(r)
		}
	}
	return b.String()
}

// mark reports whether a character is a mark on the one before it, for lodash.deburr.
func mark(r rune) bool {
	return unicode.In(r, &unicode.RangeTable{R16: []unicode.Range16{{Lo: 0x300, Hi: 0x36f, Stride: 1}, {Lo: 0x20d0, Hi: 0x20f0, Stride: 1}, {Lo: 0xfe20, Hi: 0xfe23, Stride: 1}}})
}
