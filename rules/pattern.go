package rules

import (
	"fmt"
	"regexp"
	"regexp/syntax"
	"strings"
)

// A pattern is a compiled regular expression and the work that a character of text
// is for it at most, in states.
type pattern struct {
	re     *regexp.Regexp
	weight int
}

const maxStates = 2000 // of a pattern, its repetitions written out

func newPattern(s string) (*pattern, error) {
	if r, ok := control(s); ok {
		return nil, fmt.Errorf("the pattern holds the control character %U: in quotes \\b is a backspace; write the pattern in backticks", r)
	}
	tree, err := syntax.Parse(s, syntax.Perl)
	if err != nil {
		return nil, patternError(err)
	}
	n := states(tree)
	if n > maxStates {
		return nil, fmt.Errorf("the pattern is too large: its repetitions written out, it has more than %d parts", maxStates)
	}
	re, err := regexp.Compile(s)
	if err != nil {
		return nil, patternError(err)
	}
	w := live(tree, nil)
	prog, err := syntax.Compile(tree.Simplify())
	if err != nil {
		return nil, patternError(err)
	}
	return &pattern{re: re, weight: baseWeight + min(w, 2*len(prog.Inst))}, nil
}

// control returns the first control character that nobody means in a pattern.
func control(s string) (rune, bool) {
	for _, r := range s {
		if r < ' ' && r != '\t' && r != '\n' && r != '\r' {
			return r, true
		}
	}
	return 0, false
}

// patternError says what the library says, and why what is common elsewhere is
// missing here.
func patternError(err error) error {
	text := strings.TrimPrefix(err.Error(), "error parsing regexp: ")
	switch {
	case strings.Contains(text, "(?<=") || strings.Contains(text, "(?<!") || strings.HasSuffix(text, "`(?<`"):
		text += "; look-behind is not supported"
	case strings.Contains(text, "(?=") || strings.Contains(text, "(?!"):
		text += "; look-ahead is not supported"
	case strings.Contains(text, "invalid escape sequence: `\\") && strings.ContainsAny(text[len(text)-2:], "123456789"):
		text += "; back-references are not supported"
	}
	return fmt.Errorf("bad pattern: %s", text)
}

// states estimates the size of the compiled pattern; it stops counting beyond
// the allowed size.
func states(re *syntax.Regexp) int {
	n := 1
	switch re.Op {
	case syntax.OpLiteral:
		n = len(re.Rune)
	case syntax.OpCharClass:
		n = 1 + len(re.Rune)/32
	}
	for _, sub := range re.Sub {
		n = min(n+states(sub), maxStates+1)
	}
	if re.Op == syntax.OpRepeat {
		n = min(n*max(1, re.Min, re.Max), maxStates+1)
	}
	return n
}
