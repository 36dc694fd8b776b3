package rules

import (
	"fmt"
	"regexp"
	"regexp/syntax"
	"strings"
	"sync"
)

// A pattern is a regular expression and the work that a character of text is for it
// at most, in states. It is safe for concurrent use.
type pattern struct {
	src    string
	weight int

	read   sync.Once
	tree   *syntax.Regexp // until it is read
	said   needles
	built  sync.Once
	regexp *regexp.Regexp
}

const maxStates = 2000 // of a pattern, its repetitions written out

// newPattern parses s. What asking it about a text takes is built when it is asked.
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
	w, err := weigh(tree)
	if err != nil {
		return nil, patternError(err)
	}
	return &pattern{src: s, weight: w, tree: tree}, nil
}

// weigh returns the weight of a pattern: no more states wait at the same time than its
// program has, each once in the list of now and once in that of next.
func weigh(tree *syntax.Regexp) (int, error) {
	w := live(tree, nil)
	if w <= 2*leastProgram(tree) {
		return baseWeight + w, nil
	}
	prog, err := syntax.Compile(tree.Simplify())
	if err != nil {
		return 0, err
	}
	return baseWeight + min(w, 2*len(prog.Inst)), nil
}

// leastProgram returns a number of instructions that the program of re, which takes
// time to build, has at least.
func leastProgram(re *syntax.Regexp) int {
	n := 0
	switch re.Op {
	case syntax.OpLiteral:
		return len(re.Rune)
	case syntax.OpCharClass, syntax.OpAnyChar, syntax.OpAnyCharNotNL:
		return 1
	case syntax.OpRepeat:
		return max(re.Min, min(re.Max, 1)) * leastProgram(re.Sub[0])
	}
	for _, sub := range re.Sub {
		n += leastProgram(sub)
	}
	return n
}

// needles returns what is said of texts that match.
func (p *pattern) needles() needles {
	p.read.Do(func() { p.said, p.tree = newNeedles(p.tree), nil })
	return p.said
}

// engine returns the compiled pattern. It parsed, so it compiles.
func (p *pattern) engine() *regexp.Regexp {
	p.built.Do(func() { p.regexp = regexp.MustCompile(p.src) })
	return p.regexp
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
