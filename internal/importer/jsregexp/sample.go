package jsregexp

import (
	"regexp"
	"regexp/syntax"
	"strings"
)

// Sample returns a short text that a regular expression of RE2 matches; "": none was found.
func Sample(pattern string) string {
	re, err := syntax.Parse(pattern, syntax.Perl)
	if err != nil {
		return ""
	}
	s := shortest(re.Simplify())
	if whole, err := regexp.Compile(pattern); err != nil || !whole.MatchString(s) {
		return ""
	}
	return s
}

// shortest returns a text for a simplified expression. It leaves out a repetition that may be empty,
// and takes the first of several alternatives.
func shortest(re *syntax.Regexp) string {
	switch re.Op {
	case syntax.OpLiteral:
		return string(re.Rune)
	case syntax.OpCharClass:
		for _, c := range "ae1- " {
			for i := 0; i+1 < len(re.Rune); i += 2 {
				if re.Rune[i] <= c && c <= re.Rune[i+1] {
					return string(c)
				}
			}
		}
		if len(re.Rune) > 0 {
			return string(re.Rune[0])
		}
	case syntax.OpAnyChar, syntax.OpAnyCharNotNL:
		return "a"
	case syntax.OpCapture, syntax.OpPlus, syntax.OpAlternate:
		return shortest(re.Sub[0])
	case syntax.OpConcat:
		var b strings.Builder
		for _, sub := range re.Sub {
			b.WriteString(shortest(sub))
		}
		return b.String()
	}
	return ""
}
