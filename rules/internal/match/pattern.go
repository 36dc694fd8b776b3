package match

import (
	"fmt"
	"regexp"
	"regexp/syntax"
	"strings"
	"sync"
)

// A Pattern is a regular expression with its cost: the largest number of states that the regexp
// engine visits for one character of text. It is safe for concurrent use.
type Pattern struct {
	src  string
	Cost int

	read    sync.Once
	tree    *syntax.Regexp // nil once the clauses are read
	clauses []clause
	built   sync.Once
	regexp  *regexp.Regexp
}

const maxStates = 2000 // of a pattern with its repetitions expanded

// NewPattern parses s. Its clauses are read and its engine is built when they are first needed.
func NewPattern(s string) (*Pattern, error) {
	if r, ok := control(s); ok {
		return nil, fmt.Errorf("the pattern contains the control character %U: in quotes \\b is a backspace; write the pattern in backticks", r)
	}
	tree, err := syntax.Parse(s, syntax.Perl)
	if err != nil {
		return nil, patternError(err)
	}
	n := states(tree)
	if n > maxStates {
		return nil, fmt.Errorf("the pattern is too large: with its repetitions expanded it has more than %d parts", maxStates)
	}
	c, err := costOf(tree)
	if err != nil {
		return nil, patternError(err)
	}
	return &Pattern{src: s, Cost: c, tree: tree}, nil
}

// costOf returns the cost of a pattern. The engine is in at most all states of its program, and
// each may be listed twice: for the current character and for the next one.
func costOf(tree *syntax.Regexp) (int, error) {
	w := liveStates(tree, nil)
	if w <= 2*leastProgram(tree) {
		return baseCost + w, nil
	}
	prog, err := syntax.Compile(tree.Simplify())
	if err != nil {
		return 0, err
	}
	return baseCost + min(w, 2*len(prog.Inst)), nil
}

// leastProgram returns a lower bound of the number of instructions in the program of re. It avoids
// building the program, which takes time.
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

// requiredClauses returns the clauses that every matching text satisfies.
func (p *Pattern) requiredClauses() []clause {
	p.read.Do(func() { p.clauses, p.tree = requiredClauses(p.tree), nil })
	return p.clauses
}

// engine returns the compiled pattern. It never fails, because the pattern was parsed before.
func (p *Pattern) engine() *regexp.Regexp {
	p.built.Do(func() { p.regexp = regexp.MustCompile(p.src) })
	return p.regexp
}

// control returns the first control character that does not belong in a pattern.
func control(s string) (rune, bool) {
	for _, r := range s {
		if r < ' ' && r != '\t' && r != '\n' && r != '\r' {
			return r, true
		}
	}
	return 0, false
}

// patternError rewrites an error of package regexp/syntax. It adds which features of other engines
// are not supported.
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

// states estimates the size of the compiled pattern. It stops counting above maxStates.
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
