package jsregexp

const (
	nothing  = `[^\x00-\x{10FFFF}]`
	anything = `[\x00-\x{10FFFF}]`
)

// class translates a character class. pos is the offset after its opening bracket.
func class(in []rune, pos int, unicodeMode bool) atom {
	a := atom{next: pos}
	negated := has(in, pos, "^")
	if negated {
		a.next++
	}
	if has(in, a.next, "]") {
		a.next++
		a.text = map[bool]string{true: anything, false: nothing}[negated]
		return a
	}
	text := []byte(map[bool]string{true: "[^", false: "["}[negated])
	for a.next < len(in) && in[a.next] != ']' {
		m := member(in, a.next, unicodeMode)
		text = append(text, m.text...)
		a.next, a.found = m.next, append(a.found, m.found...)
	}
	if a.next == len(in) {
		return a.fault(pos-1, "the class is not closed")
	}
	a.next++
	a.text = string(append(text, ']'))
	return a
}

// member translates one member of a class: a character, a range, or a set such as \d.
func member(in []rune, pos int, unicodeMode bool) atom {
	low := classAtom(in, pos, unicodeMode)
	if !low.single || !has(in, low.next, "-") || low.next+1 >= len(in) || in[low.next+1] == ']' {
		return low
	}
	high := classAtom(in, low.next+1, unicodeMode)
	out := atom{next: high.next, found: append(low.found, high.found...)}
	switch {
	case !high.single:
		out.text = low.text + `\-` + high.text
	case high.char < low.char:
		out = out.fault(pos, "the range in a class is reversed")
	default:
		out.text = low.text + "-" + high.text
	}
	return out
}

// classAtom translates one character or set inside a class.
func classAtom(in []rune, pos int, unicodeMode bool) atom {
	const special = `\]^-[`
	c, next := in[pos], pos+1
	switch {
	case c != '\\':
		return atom{text: literal(c, special), char: c, single: true, next: next}
	case next == len(in):
		return atom{single: true, next: next}.fault(pos, "the regular expression ends with a backslash")
	case in[next] == 'b':
		return atom{text: `\x08`, char: '\b', single: true, next: next + 1}
	}
	a := escaped(in, next, unicodeMode, special)
	if in[next] >= '1' && in[next] <= '9' {
		a.found = append([]Problem{{At: pos, Msg: `an octal escape: write \xHH`}}, a.found...)
	}
	return a
}
