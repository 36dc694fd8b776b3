package layout

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// Condition writes "key: expression". parts are the lines of the expression, for the case that it
// is too long for one line.
func Condition(indent int, key string, parts []string) []string {
	head := pad(indent) + key + ": "
	joined := make([]string, len(parts))
	for i, p := range parts {
		joined[i] = strings.TrimLeft(p, " ")
	}
	whole := strings.Join(joined, " ")
	switch {
	case !fits(len(head)+Step, whole):
	case plain(whole):
		return []string{head + whole}
	case !strings.Contains(whole, "'") && !strings.ContainsFunc(whole, notPrinted):
		return []string{head + "'" + whole + "'"}
	}
	out := []string{head + "|"}
	for _, p := range parts {
		out = append(out, Expression(indent+Step, p)...)
	}
	return out
}

// plain reports whether an expression is a valid plain scalar of YAML.
func plain(s string) bool {
	first, _ := utf8.DecodeRuneInString(s)
	return first >= 'a' && first <= 'z' && !strings.Contains(s, ": ") && !strings.Contains(s, " #") &&
		!strings.HasSuffix(s, ":") && !strings.ContainsFunc(s, notPrinted)
}

// Expression writes an expression of the rule language, or a part of one, as lines of a literal
// block. It splits constant texts that are too long for a line and joins them with "+".
func Expression(indent int, s string) []string {
	more := len(s) - len(strings.TrimLeft(s, " "))
	indent, s = indent+more, s[more:]
	if fits(indent, s) {
		return []string{pad(indent) + s}
	}
	width := Width - indent - Step
	var words []string
	for _, w := range breaks(s) {
		words = append(words, shorten(w, width)...)
	}
	out := fill(words, width+Step, Step)
	for i := range out {
		out[i] = pad(indent) + out[i]
	}
	return out
}

// operators are the words before which a line may end.
var operators = []string{"and", "or", "?", "+"}

// breaks splits an expression where a line may end: after a comma and before an operator, outside
// of texts.
func breaks(s string) []string {
	var out []string
	start, quote := 0, byte(0)
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case quote != 0:
			if c == '\\' && quote != '`' {
				i++
			} else if c == quote {
				quote = 0
			}
		case c == '"' || c == '`' || c == '\'':
			quote = c
		case c == ' ' && i > start && breakable(s[start:i], s[i+1:]):
			out, start = append(out, s[start:i]), i+1
		}
	}
	return append(out, s[start:])
}

// breakable reports whether a line may end between two parts of an expression.
func breakable(before, after string) bool {
	word, _, _ := strings.Cut(after, " ")
	return strings.HasSuffix(before, ",") || slices.Contains(operators, word)
}

// shorten splits a part of an expression inside its texts until no piece is longer than width, if
// that is possible.
func shorten(s string, width int) []string {
	var out []string
	for utf8.RuneCountInString(s) > width {
		head, tail, ok := cut(s, width)
		if !ok {
			break
		}
		out, s = append(out, head), "+ "+tail
	}
	return append(out, s)
}

const (
	leastPiece = 20 // minimal number of characters of a text on a line
	near       = 30 // how many characters cut goes back to find a good place to split a text
)

// cut splits the last text that begins within a width. It prefers a place after a character that
// ends a word or an alternative. ok is false if there is no such text.
func cut(s string, width int) (head, tail string, ok bool) {
	quote, column, at, good := byte(0), 0, 0, 0
	var opened int // column at which the text begins
	for i := 0; i < len(s); {
		n := 1 // length of the character at i, which must not be split, in bytes
		switch c := s[i]; {
		case quote == 0 && (c == '"' || c == '`' || c == '\''):
			quote, opened = c, column
		case quote == 0:
			if column+1 >= width {
				return join(s, at, good, ok)
			}
		case c == quote:
			quote = 0
		case column+1 >= width:
			return join(s, at, good, ok)
		default:
			if column-opened >= leastPiece {
				if at, ok = i, true; strings.IndexByte("|) /", s[i-1]) >= 0 {
					good = i
				}
			}
			n = letter(s[i:], quote)
		}
		column += utf8.RuneCountInString(s[i : i+n])
		i += n
	}
	return join(s, at, good, ok)
}

// join splits the text in an expression at good or else at at, and returns the two parts of the
// expression.
func join(s string, at, good int, ok bool) (head, tail string, split bool) {
	if good > at-near && good > 0 {
		at = good
	}
	if !ok || at == 0 {
		return "", "", false
	}
	quote := openAt(s, at)
	if quote == "" {
		return "", "", false
	}
	return s[:at] + quote, quote + s[at:], true
}

// openAt returns the quotation mark of the text that contains a position.
func openAt(s string, at int) string {
	quote := ""
	for i := 0; i < at; i++ {
		switch c := s[i]; {
		case quote == "" && (c == '"' || c == '`' || c == '\''):
			quote = string(c)
		case quote != "" && quote != "`" && c == '\\':
			i++
		case string(c) == quote:
			quote = ""
		}
	}
	return quote
}

// letter returns the length in bytes of the first character of a text, in its notation between
// quotation marks.
func letter(s string, quote byte) int {
	_, n := utf8.DecodeRuneInString(s)
	if quote == '`' || s[0] != '\\' || len(s) < 2 {
		return n
	}
	n = map[byte]int{'x': 4, 'u': 6, 'U': 10}[s[1]]
	if n == 0 {
		_, n = utf8.DecodeRuneInString(s[1:])
		n++
	}
	return min(n, len(s))
}
