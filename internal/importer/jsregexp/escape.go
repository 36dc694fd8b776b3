package jsregexp

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf16"
)

// An atom is one escape, or one member of a class, in RE2's syntax.
type atom struct {
	text   string
	char   rune // the character that it matches, if single
	single bool // it matches one character
	next   int  // the offset after it
	found  []Problem
}

// problem returns the atom with one more problem.
func (a atom) problem(at int, format string, args ...any) atom {
	a.found = append(a.found, Problem{At: at, Msg: fmt.Sprintf(format, args...)})
	return a
}

// fault returns the atom with one more problem, because of which JavaScript rejects the expression.
func (a atom) fault(at int, msg string) atom {
	a.found = append(a.found, Problem{at, msg, true})
	return a
}

// escaped translates an escape that means the same inside and outside of classes. pos is the offset
// after its backslash. Characters in special are escaped in the result.
func escaped(in []rune, pos int, unicodeMode bool, special string) atom {
	at, c := pos-1, in[pos]
	a := atom{char: c, single: true, next: pos + 1}
	switch {
	case strings.ContainsRune("dDwWsS", c):
		return atom{text: `\` + string(c), next: a.next}
	case (c == 'p' || c == 'P') && unicodeMode:
		return property(in, at)
	case strings.ContainsRune("nrtvf", c):
		a.text = `\` + string(c)
		a.char = map[rune]rune{'n': '\n', 'r': '\r', 't': '\t', 'v': '\v', 'f': '\f'}[c]
		return a
	case c == '0':
		if a.next < len(in) && unicode.IsDigit(in[a.next]) {
			a = a.problem(at, `an octal escape: write \xHH`)
		}
		a.char = 0
	case c == 'c' && a.next < len(in) && in[a.next] < 0x80 && unicode.IsLetter(in[a.next]):
		a.char = in[a.next] % 32
		a.next++
	case c == 'c' && !unicodeMode:
		a.next-- // without a letter after it, the backslash of \c means a backslash
		a.char = '\\'
	case c == 'u' && unicodeMode && has(in, a.next, "{"):
		a = braced(in, at)
	case c == 'x' || c == 'u':
		if a = digits(in, at); a.next == pos+1 && unicodeMode {
			a = a.fault(at, `the digits of the escape \`+string(c)+` are missing, which the flag u requires`)
		}
	case unicodeMode && !strings.ContainsRune(`^$\.*+?()[]{}|/`, c) && (c != '-' || !strings.ContainsRune(special, '-')):
		a = a.fault(at, `the flag u forbids the escape \`+string(c))
	}
	a.text = literal(a.char, special)
	return a
}

// braced reads the digits of the \u{H…} at an offset.
func braced(in []rune, at int) atom {
	start := at + len(`\u{`)
	end := start
	for end < len(in) && in[end] != '}' {
		end++
	}
	r, ok := hex(in[start:end])
	a := atom{char: r, single: true, next: min(end+1, len(in))}
	if !ok || end == len(in) || r > unicode.MaxRune {
		a = a.fault(at, `\u{…} is not a character`)
	}
	return a.whole(at)
}

// digits reads the digits of the \xHH or \uHHHH at an offset. Without digits the escape means the
// letter itself.
func digits(in []rune, at int) atom {
	letter := in[at+1]
	a := atom{char: letter, single: true, next: at + 2}
	n := map[rune]int{'x': 2, 'u': 4}[letter]
	r, ok := hexAt(in, a.next, n)
	if !ok {
		return a
	}
	a.next += n
	if utf16.IsSurrogate(r) && has(in, a.next, `\u`) {
		a.next += 2
		second, ok := hexAt(in, a.next, 4)
		if ok {
			a.next += 4
		}
		if r = utf16.DecodeRune(r, second); r == unicode.ReplacementChar {
			r = second
		}
	}
	a.char = r
	return a.whole(at)
}

// whole reports a problem for a surrogate, because RE2 has no halves of a character.
func (a atom) whole(at int) atom {
	if utf16.IsSurrogate(a.char) || a.char > unicode.MaxRune {
		a = a.problem(at, "a lone surrogate (half of a character) has no counterpart in RE2")
		a.char = unicode.ReplacementChar
	}
	return a
}

// hexAt reads n hexadecimal digits at an offset; ok is false if there are fewer.
func hexAt(in []rune, at, n int) (r rune, ok bool) {
	if at+n > len(in) {
		return 0, false
	}
	return hex(in[at : at+n])
}

// hex parses hexadecimal digits. For a number above the last character the result is above it, too.
func hex(digits []rune) (rune, bool) {
	n, err := strconv.ParseUint(string(digits), 16, 31)
	return rune(min(n, unicode.MaxRune+1)), err == nil && len(digits) <= 8
}

// property translates the \p{…} or \P{…} at an offset. RE2 supports categories and scripts. It does
// not accept the name of their kind, as in \p{Script=Greek}.
func property(in []rune, at int) atom {
	c, open := in[at+1], at+2
	end := open
	for end < len(in) && in[end] != '}' {
		end++
	}
	if !has(in, open, "{") || end == len(in) {
		return atom{next: open}.problem(at, `\%c needs a property in braces`, c)
	}
	a := atom{next: end + 1}
	name := string(in[open+1 : end])
	if kind, value, ok := strings.Cut(name, "="); ok {
		if !slices.Contains([]string{"General_Category", "gc", "Script", "sc"}, kind) {
			a = a.problem(at, `\%c{%s} has no counterpart in RE2`, c, name)
		}
		name = value
	}
	if _, script := unicode.Scripts[name]; !script {
		if _, category := unicode.Categories[name]; !category {
			a = a.problem(at, `\%c{%s} has no counterpart in RE2`, c, name)
		}
	}
	a.text = `\` + string(c) + "{" + name + "}"
	return a
}

// literal renders a character. It escapes characters in special and invisible ones. It also escapes
// the backtick, which would end a text in backticks.
func literal(r rune, special string) string {
	switch {
	case r == '\n':
		return `\n`
	case r == '\r':
		return `\r`
	case r == '\t':
		return `\t`
	case strings.ContainsRune(special, r):
		return `\` + string(r)
	case r == '`' || !unicode.IsPrint(r):
		return fmt.Sprintf(`\x{%x}`, r)
	}
	return string(r)
}

// has reports whether the text is at an offset.
func has(in []rune, at int, text string) bool {
	for i, r := range []rune(text) {
		if at+i >= len(in) || in[at+i] != r {
			return false
		}
	}
	return true
}
