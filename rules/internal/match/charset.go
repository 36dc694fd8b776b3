package match

import (
	"regexp/syntax"
	"unicode"
)

// A charSet contains characters as ranges: pairs of a first and a last character.
type charSet []rune

func wordChars() charSet { return charSet{'0', '9', 'A', 'Z', '_', '_', 'a', 'z'} }

// meets reports whether a character is in both sets.
func (s charSet) meets(t charSet) bool {
	for i := 0; i+1 < len(s); i += 2 {
		for j := 0; j+1 < len(t); j += 2 {
			if s[i] <= t[j+1] && t[j] <= s[i+1] {
				return true
			}
		}
	}
	return false
}

// within reports whether every range of s lies in a range of t.
func (s charSet) within(t charSet) bool {
	for i := 0; i+1 < len(s); i += 2 {
		in := false
		for j := 0; j+1 < len(t); j += 2 {
			in = in || t[j] <= s[i] && s[i+1] <= t[j+1]
		}
		if !in {
			return false
		}
	}
	return true
}

// charsOf returns the characters that an expression matches if it always matches exactly one
// character; nil for any other expression.
func charsOf(re *syntax.Regexp) charSet {
	switch re.Op {
	case syntax.OpCharClass:
		return append(charSet{}, re.Rune...)
	case syntax.OpAnyChar:
		return charSet{0, unicode.MaxRune}
	case syntax.OpAnyCharNotNL:
		return charSet{0, '\n' - 1, '\n' + 1, unicode.MaxRune}
	case syntax.OpLiteral:
		if len(re.Rune) == 1 {
			return oneChar(re, 0)
		}
	}
	return nil
}

// lastChars returns the characters with which a match of re may end; nil when they are not known.
func lastChars(re *syntax.Regexp) charSet {
	re = bare(re)
	if re.Op == syntax.OpLiteral {
		return oneChar(re, len(re.Rune)-1)
	}
	return charsOf(re)
}

// oneChar returns the character of a literal at i, or both its cases if the literal ignores case.
func oneChar(re *syntax.Regexp, i int) charSet {
	r := re.Rune[i]
	set := charSet{r, r}
	if re.Flags&syntax.FoldCase == 0 {
		return set
	}
	for f := unicode.SimpleFold(r); f != r; f = unicode.SimpleFold(f) {
		set = append(set, f, f)
	}
	return set
}
