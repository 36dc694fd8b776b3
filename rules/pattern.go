package rules

import (
	"fmt"
	"regexp"
	"regexp/syntax"
	"strings"
)

// A pattern is a compiled regular expression and what a byte of text costs it,
// compared with one of ordinary size.
type pattern struct {
	re     *regexp.Regexp
	weight int
}

const (
	maxStates = 2000 // of a pattern, its repetitions written out
	perWeight = 5    // states that are tried for a byte in ordinary patterns
	perTried  = 8    // letters of a literal, of which a text seldom meets more than a few
)

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
	return &pattern{re: re, weight: 1 + tried(tree, false)/perWeight}, nil
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

// tried estimates how many states a matcher goes through for each byte of a text
// that was made to be slow.
func tried(re *syntax.Regexp, repeated bool) int {
	n := 0
	switch re.Op {
	case syntax.OpCharClass, syntax.OpAnyChar, syntax.OpAnyCharNotNL:
		n = 1
	case syntax.OpLiteral:
		n = 1 + len(re.Rune)/perTried
		if repeated {
			n = len(re.Rune)
		}
	}
	for _, sub := range re.Sub {
		n += tried(sub, repeated || re.Op == syntax.OpRepeat)
	}
	if re.Op == syntax.OpRepeat {
		n *= max(1, re.Min, re.Max)
	}
	return n
}
