package text

import (
	"strings"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// MatchLabel reports whether a pattern matches the name of a label. "*" stands for any characters.
// All other characters stand for themselves, so that a name always matches itself. Names are
// compared as by [SameLabel]. This is the only language for patterns of labels.
func MatchLabel(pattern, name string) bool {
	pattern, name = LabelKey(pattern), LabelKey(name)
	before, pattern, wild := strings.Cut(pattern, "*")
	if !wild {
		return before == name
	}
	name, ok := strings.CutPrefix(name, before)
	if !ok {
		return false
	}
	for {
		var part string
		if part, pattern, wild = strings.Cut(pattern, "*"); !wild {
			return strings.HasSuffix(name, part)
		}
		if _, name, ok = strings.Cut(name, part); !ok {
			return false
		}
	}
}

// SameLabel reports whether two names mean the same label. The case of letters does not matter, and
// an accent may be part of its letter or a character of its own.
func SameLabel(a, b string) bool { return a == b || LabelKey(a) == LabelKey(b) }

// Wildcards are the characters besides "*" that have a meaning in other languages for patterns. In
// patterns of labels they have none.
const Wildcards = `[?\`

// LabelKey returns a name or a pattern of labels in the form in which they are compared.
func LabelKey(s string) string {
	if strings.IndexFunc(s, func(r rune) bool { return r >= utf8.RuneSelf }) < 0 {
		return strings.ToLower(s)
	}
	return norm.NFC.String(Fold(norm.NFC.String(s)))
}
