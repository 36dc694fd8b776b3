// Package jsregexp translates regular expressions of JavaScript to the syntax of RE2.
//
// The functions are pure and safe for concurrent use. Their cost depends only on the length of the
// expression, which is limited.
package jsregexp

import (
	"fmt"
	"regexp/syntax"
	"strings"
	"unicode"
)

// A Problem is a part of a regular expression that has no counterpart in RE2.
type Problem struct {
	At    int    // offset in the expression, in characters
	Msg   string // the part and the reason, on one line
	Fails bool   // JavaScript rejects the expression as well
}

// Rejected returns the problems because of which JavaScript rejects the expression as well. The
// messages say what follows for the action that uses it.
func Rejected(problems []Problem) []Problem {
	var out []Problem
	for _, p := range problems {
		if p.Fails {
			p.Msg += "; JavaScript rejects the expression, so the original action fails and adds no label at all"
			out = append(out, p)
		}
	}
	return out
}

const (
	maxPattern = 3000 // bytes; a condition has at most 4,096
	maxRepeat  = 1000 // the limit of RE2
)

// Translate renders a regular expression of JavaScript, without its slashes, in RE2's syntax; flags
// are the letters after the last slash. Groups lose their names, because nothing can refer to them.
// If there are problems, the text must not be used.
func Translate(src, flags string) (string, []Problem) {
	if len(src) > maxPattern {
		return "", []Problem{{Msg: fmt.Sprintf("the regular expression has more than %d bytes", maxPattern)}}
	}
	t := &translator{in: []rune(src), bare: true}
	start := t.flags(flags)
	t.survey()
	for t.pos < len(t.in) {
		t.term()
	}
	if len(t.open) > 0 {
		t.fault(0, "a group is not closed")
	}
	out := start + t.out.String()
	if strings.ContainsRune(flags, 'y') {
		out = start + `\A(?:` + t.out.String() + ")"
	}
	if len(t.found) == 0 {
		if _, err := syntax.Parse(out, syntax.Perl); err != nil {
			t.problem(0, "%s", strings.TrimPrefix(err.Error(), "error parsing regexp: "))
		}
	}
	for i := range t.found {
		// In a class, the flag v permits syntax that is a mistake without it.
		t.found[i].Fails = t.found[i].Fails && !strings.ContainsRune(flags, 'v')
	}
	return out, t.found
}

// A translator reads a regular expression from left to right.
type translator struct {
	in      []rune
	pos     int
	out     strings.Builder
	found   []Problem
	unicode bool
	mode    mode
	open    []mode // the mode outside of each open group
	bare    bool   // the last term cannot be repeated
	groups  int    // number of capturing groups
	named   bool   // a group has a name
}

// A mode contains the settings of flags, and of groups like (?s:…).
type mode struct{ multi, dotAll bool }

func (t *translator) problem(at int, format string, args ...any) {
	t.found = append(t.found, Problem{At: at, Msg: fmt.Sprintf(format, args...)})
}

// fault is like problem for a part that JavaScript rejects.
func (t *translator) fault(at int, format string, args ...any) {
	t.found = append(t.found, Problem{at, fmt.Sprintf(format, args...), true})
}

// repeat notes a quantifier that begins at an offset.
func (t *translator) repeat(at int) {
	if t.bare {
		t.fault(at, "there is nothing that %s can repeat", string(t.in[at:t.pos]))
	}
	if t.bare = true; has(t.in, t.pos, "?") {
		t.out.WriteByte('?')
		t.pos++
	}
}

// flags translates the flags and returns the start of the result.
func (t *translator) flags(flags string) string {
	ours := ""
	for _, f := range flags {
		switch f {
		case 'g', 'd', 'y':
		case 'u':
			t.unicode = true
		case 'i', 'm', 's':
			t.mode.multi = t.mode.multi || f == 'm'
			t.mode.dotAll = t.mode.dotAll || f == 's'
			if !strings.ContainsRune(ours, f) {
				ours += string(f)
			}
		case 'v':
			t.problem(0, "the flag v (sets in classes) has no counterpart")
		default:
			t.fault(0, "%q is not a flag of a regular expression", f)
		}
	}
	if ours == "" {
		return ""
	}
	return "(?" + ours + ")"
}

// survey counts the capturing groups, because the meaning of \1 depends on their number.
func (t *translator) survey() {
	class := false
	for i := 0; i < len(t.in); i++ {
		switch c := t.in[i]; {
		case c == '\\':
			i++
		case class:
			class = c != ']'
		case c == '[':
			class = true
		case c == '(' && !has(t.in, i+1, "?"):
			t.groups++
		case c == '(' && has(t.in, i+1, "?<") && !has(t.in, i+1, "?<=") && !has(t.in, i+1, "?<!"):
			t.groups++
			t.named = true
		}
	}
}

// term translates the term at t.pos, outside of classes.
func (t *translator) term() {
	c, bare := t.in[t.pos], false
	t.pos++
	defer func() { t.bare = bare }()
	switch c {
	case '\\':
		bare = has(t.in, t.pos, "b") || has(t.in, t.pos, "B")
		t.escape()
	case '[':
		t.take(class(t.in, t.pos, t.unicode))
	case '(':
		bare = true
		t.group()
	case ')':
		if n := len(t.open); n > 0 {
			t.mode, t.open = t.open[n-1], t.open[:n-1]
		} else {
			t.fault(t.pos-1, "no group is open")
		}
		t.out.WriteByte(')')
	case '.':
		// Lines on GitHub may end with "\r\n". RE2's dot would match the "\r", and JavaScript's
		// does not.
		t.out.WriteString(map[bool]string{true: ".", false: `[^\r\n]`}[t.mode.dotAll])
	case '$':
		bare = true
		t.out.WriteString(map[bool]string{true: `(?:\r?$)`, false: "$"}[t.mode.multi])
	case '{':
		bare = t.brace()
	case '*', '+', '?':
		t.out.WriteRune(c)
		t.repeat(t.pos - 1)
		bare = true
	case '^', '|':
		bare = true
		t.out.WriteRune(c)
	default:
		t.lone(c)
		t.out.WriteString(literal(c, special))
	}
}

// lone reports a bracket before t.pos that belongs to no other one, which the flag u forbids.
func (t *translator) lone(c rune) {
	if t.unicode && strings.ContainsRune("{}]", c) {
		t.fault(t.pos-1, `the flag u forbids %c alone; write \%c`, c, c)
	}
}

// special are the characters that have a meaning outside of classes.
const special = `\.+*?()|[]{}^$`

// take appends a translated part to the result.
func (t *translator) take(a atom) {
	t.out.WriteString(a.text)
	t.pos, t.found = a.next, append(t.found, a.found...)
}

// escape translates an escape outside of a class. t.pos is the offset after its backslash.
func (t *translator) escape() {
	at := t.pos - 1
	if t.pos == len(t.in) {
		t.fault(at, "the regular expression ends with a backslash")
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
		t.take(escaped(t.in, t.pos, t.unicode, special))
	}
}

// brace translates a repetition such as {2,3}, or a brace that means itself. It reports whether the
// brace was a repetition.
func (t *translator) brace() bool {
	at := t.pos - 1
	end := t.pos
	for end < len(t.in) && t.in[end] != '}' && end-t.pos < 20 {
		end++
	}
	var least, most int
	text := string(t.in[t.pos:end])
	low, high, comma := strings.Cut(text, ",")
	switch {
	case end == len(t.in) || t.in[end] != '}' || !number(low, &least) || high != "" && !number(high, &most):
		t.lone('{')
		t.out.WriteString(`\{`)
		return false
	case max(least, most) > maxRepeat:
		t.problem(t.pos-1, "more than %d repetitions have no counterpart", maxRepeat)
	case comma && high != "" && most < least:
		t.fault(t.pos-1, "{%s} is reversed", text)
	}
	t.out.WriteString("{" + text + "}")
	t.pos = end + 1
	t.repeat(at)
	return true
}

// number reads digits.
func number(s string, n *int) bool {
	if s == "" || len(s) > 9 {
		return false
	}
	for _, r := range s {
		if r < '0' || r > '9' {
			return false
		}
		*n = *n*10 + int(r-'0')
	}
	return true
}

// group translates the start of a group.
func (t *translator) group() {
	at := t.pos - 1
	t.open = append(t.open, t.mode)
	switch {
	case !has(t.in, t.pos, "?"):
		t.out.WriteByte('(')
		return
	case has(t.in, t.pos, "?="), has(t.in, t.pos, "?!"):
		t.problem(at, "look-ahead (%s has no counterpart in RE2", string(t.in[t.pos:t.pos+2]))
		t.pos += 2
	case has(t.in, t.pos, "?<="), has(t.in, t.pos, "?<!"):
		t.problem(at, "look-behind (%s has no counterpart in RE2", string(t.in[t.pos:t.pos+3]))
		t.pos += 3
	case has(t.in, t.pos, "?:"):
		t.pos += 2
	case has(t.in, t.pos, "?<"):
		for t.pos < len(t.in) && t.in[t.pos] != '>' {
			t.pos++
		}
		t.pos++
	default:
		t.modifiers(at)
		return
	}
	t.out.WriteString("(?:")
}

// modifiers translates the start of a group such as (?i-s:…).
func (t *translator) modifiers(at int) {
	end := t.pos + 1
	on := true
	for ; end < len(t.in) && strings.ContainsRune("ims-", t.in[end]); end++ {
		switch t.in[end] {
		case '-':
			on = false
		case 'm':
			t.mode.multi = on
		case 's':
			t.mode.dotAll = on
		}
	}
	if end == len(t.in) || t.in[end] != ':' {
		t.fault(at, "there is no such group (flags follow the last slash)")
		t.pos, t.open = len(t.in), nil
		return
	}
	t.out.WriteString("(" + string(t.in[t.pos:end+1]))
	t.pos = end + 1
}

// Capture returns the position of the first capturing group of an expression; open is -1 if there is none.
func Capture(src string) (open, end int) {
	open, depth := -1, 0
	for i := 0; i < len(src); i++ {
		switch src[i] {
		case '\\':
			i++
		case '(':
			if open < 0 && !strings.HasPrefix(src[i+1:], "?") {
				open, depth = i, 0
			}
			depth++
		case ')':
			if depth--; open >= 0 && depth == 0 {
				return open, i + 1
			}
		}
	}
	return -1, 0
}
