package importer

import (
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf16"
)

const (
	nothing  = `[^\x00-\x{10FFFF}]`
	anything = `[\x00-\x{10FFFF}]`
)

// escape translates what follows a backslash outside of a class.
func (t *translator) escape() {
	at := t.pos - 1
	if t.pos == len(t.in) {
		t.problem(at, "the regular expression ends with a backslash")
		return
	}
	switch c := t.in[t.pos]; {
	case c >= '1' && c <= '9':
		start := t.pos
		for t.pos < len(t.in) && unicode.IsDigit(t.in[t.pos]) {
			t.pos++
		}
		digits := string(t.in[start:t.pos])
		if n := 0; number(digits, &n) && n > t.groups && !t.unicode {
			t.problem(at, `\%s is an octal escape: write \xHH`, digits)
			return
		}
		t.problem(at, `the back-reference \%s has no counterpart in RE2`, digits)
	case c == 'k' && (t.named || t.unicode):
		t.pos++
		t.problem(at, `the back-reference \k has no counterpart in RE2`)
	case c == 'b' || c == 'B':
		t.pos++
		t.out.WriteString(`\` + string(c))
	default:
		text, _, _ := t.atom(`\.+*?()|[]{}^$`)
		t.out.WriteString(text)
	}
}

// atom translates an escape, whose backslash is behind t.pos, that means the same inside
// and outside of classes. single is false when it stands for several characters.
func (t *translator) atom(special string) (text string, r rune, single bool) {
	at := t.pos - 1
	c := t.in[t.pos]
	t.pos++
	switch {
	case strings.ContainsRune("dDwWsS", c):
		return `\` + string(c), 0, false
	case (c == 'p' || c == 'P') && t.unicode:
		return t.property(at, c), 0, false
	case strings.ContainsRune("nrtvf", c):
		return `\` + string(c), map[rune]rune{'n': '\n', 'r': '\r', 't': '\t', 'v': '\v', 'f': '\f'}[c], true
	case c == '0':
		if t.pos < len(t.in) && unicode.IsDigit(t.in[t.pos]) {
			t.problem(at, `an octal escape: write \xHH`)
		}
		r = 0
	case c == 'c' && t.pos < len(t.in) && t.in[t.pos] < 0x80 && unicode.IsLetter(t.in[t.pos]):
		r = t.in[t.pos] % 32
		t.pos++
	case c == 'c':
		t.pos-- // without a letter behind it the backslash stands for itself
		r = '\\'
	case c == 'x' || c == 'u':
		r = t.code(at, c)
	default:
		r = c
	}
	return literal(r, special), r, true
}

// code reads the digits of \xHH, \uHHHH and \u{H…}; without them the letter stands for
// itself.
func (t *translator) code(at int, letter rune) rune {
	if letter == 'u' && t.unicode && t.has(t.pos, "{") {
		end := t.pos + 1
		for end < len(t.in) && t.in[end] != '}' {
			end++
		}
		r, ok := hex(t.in[t.pos+1 : end])
		if !ok || end == len(t.in) || r > unicode.MaxRune {
			t.problem(at, `\u{…} names no character`)
		}
		t.pos = min(end+1, len(t.in))
		return t.whole(at, r)
	}
	r, ok := t.digits(map[rune]int{'x': 2, 'u': 4}[letter])
	if !ok {
		return letter
	}
	if utf16.IsSurrogate(r) && t.has(t.pos, `\u`) {
		t.pos += 2
		second, _ := t.digits(4)
		r = utf16.DecodeRune(r, second)
		if r == unicode.ReplacementChar {
			r = second
		}
	}
	return t.whole(at, r)
}

// whole refuses halves of characters.
func (t *translator) whole(at int, r rune) rune {
	if utf16.IsSurrogate(r) || r > unicode.MaxRune {
		t.problem(at, "half of a character has no counterpart in RE2")
		return unicode.ReplacementChar
	}
	return r
}

// digits reads n hexadecimal digits, or nothing.
func (t *translator) digits(n int) (rune, bool) {
	if t.pos+n > len(t.in) {
		return 0, false
	}
	r, ok := hex(t.in[t.pos : t.pos+n])
	if ok {
		t.pos += n
	}
	return r, ok
}

// hex reads hexadecimal digits; what is beyond the last character stays so.
func hex(digits []rune) (rune, bool) {
	n, err := strconv.ParseUint(string(digits), 16, 31)
	return rune(min(n, unicode.MaxRune+1)), err == nil && len(digits) <= 8
}

// property translates \p{…}; RE2 knows categories and scripts, without the name of what
// they are.
func (t *translator) property(at int, c rune) string {
	end := t.pos
	for end < len(t.in) && t.in[end] != '}' {
		end++
	}
	if !t.has(t.pos, "{") || end == len(t.in) {
		t.problem(at, `\%c needs a property in braces`, c)
		return ""
	}
	name := string(t.in[t.pos+1 : end])
	t.pos = end + 1
	if kind, value, ok := strings.Cut(name, "="); ok {
		if !slices.Contains([]string{"General_Category", "gc", "Script", "sc"}, kind) {
			t.problem(at, `\%c{%s} has no counterpart in RE2`, c, name)
		}
		name = value
	}
	if _, script := unicode.Scripts[name]; !script {
		if _, category := unicode.Categories[name]; !category {
			t.problem(at, `\%c{%s} has no counterpart in RE2`, c, name)
		}
	}
	return `\` + string(c) + "{" + name + "}"
}

// class translates a class, whose bracket is behind t.pos.
func (t *translator) class() {
	at := t.pos - 1
	negated := t.has(t.pos, "^")
	if negated {
		t.pos++
	}
	if t.has(t.pos, "]") {
		t.pos++
		t.out.WriteString(map[bool]string{true: anything, false: nothing}[negated])
		return
	}
	t.out.WriteString(map[bool]string{true: "[^", false: "["}[negated])
	for t.pos < len(t.in) && t.in[t.pos] != ']' {
		t.member()
	}
	if t.pos == len(t.in) {
		t.problem(at, "the class is not closed")
		return
	}
	t.pos++
	t.out.WriteByte(']')
}

// member translates a character of a class, a range or a set such as \d.
func (t *translator) member() {
	at := t.pos
	text, low, single := t.classAtom()
	t.out.WriteString(text)
	if !single || !t.has(t.pos, "-") || t.pos+1 >= len(t.in) || t.in[t.pos+1] == ']' {
		return
	}
	t.pos++
	text, high, single := t.classAtom()
	switch {
	case !single:
		t.out.WriteString(`\-` + text)
	case high < low:
		t.problem(at, "the range in a class is the wrong way round")
	default:
		t.out.WriteString("-" + text)
	}
}

// classAtom translates one character, or a set, inside a class.
func (t *translator) classAtom() (text string, r rune, single bool) {
	const special = `\]^-[`
	c := t.in[t.pos]
	t.pos++
	switch {
	case c != '\\':
		return literal(c, special), c, true
	case t.pos == len(t.in):
		t.problem(t.pos-1, "the regular expression ends with a backslash")
		return "", 0, true
	case t.in[t.pos] == 'b':
		t.pos++
		return `\x08`, '\b', true
	case t.in[t.pos] >= '1' && t.in[t.pos] <= '9':
		t.problem(t.pos-1, `an octal escape: write \xHH`)
	}
	return t.atom(special)
}
