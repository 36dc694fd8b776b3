package match

import (
	"fmt"
	"regexp/syntax"
	"slices"

	"github.com/org/foreman-action/rules/internal/cost"
)

// baseCost is the fixed work of an engine for a character, expressed as a number of states.
const baseCost = 2

// TooExpensive returns the message for a pattern that is too expensive. one is the cost of the
// pattern; all is the cost of all patterns of its expression.
func TooExpensive(all, one int) string {
	const most = "the largest issue: %s up to %d states for each of its characters, and %d are allowed; "
	if all == one {
		return fmt.Sprintf("the pattern is too expensive for "+most+"repeat less (+ and * cost less than {n,m}), or start it with ^, \\b or a longer word", "it goes through", all, cost.MaxStates)
	}
	return fmt.Sprintf("with this pattern the expression is too expensive for "+most+"make several rules of it, or put all words into one pattern", "its patterns go through", all, cost.MaxStates)
}

// liveStates returns an upper bound for the number of states of re that an engine is in at the same
// time. before contains the expressions before re in its sequence; nil means any.
func liveStates(re *syntax.Regexp, before []*syntax.Regexp) int {
	switch re.Op {
	case syntax.OpLiteral:
		if re.Flags&syntax.FoldCase != 0 {
			return 1 + 2*overlaps(re) // the engine tries both cases
		}
		return 1 + overlaps(re)
	case syntax.OpCapture:
		return 2 + liveStates(re.Sub[0], before)
	case syntax.OpQuest:
		return 1 + liveStates(re.Sub[0], before)
	case syntax.OpStar, syntax.OpPlus:
		return 1 + liveStates(re.Sub[0], nil)
	case syntax.OpRepeat:
		return liveRepeat(re, before)
	case syntax.OpConcat:
		n := 0
		for i, sub := range re.Sub {
			n = min(n+liveStates(sub, append(slices.Clip(before), re.Sub[:i]...)), maxStates)
		}
		return n
	case syntax.OpAlternate:
		n := len(re.Sub) - 1
		for _, sub := range re.Sub {
			n = min(n+liveStates(sub, before), maxStates)
		}
		return n
	}
	return 1
}

func liveRepeat(re *syntax.Regexp, before []*syntax.Regexp) int {
	copies, each := max(1, re.Min, re.Max), 1
	if re.Max != re.Min {
		each = 2 // a state that takes the character, and one that skips it
	}
	if set := charsOf(bare(re.Sub[0])); set != nil {
		return 1 + min(copies, entries(set, copies, before))*(each+2*captures(re.Sub[0]))
	}
	return min(copies*(each+liveStates(re.Sub[0], nil)), maxStates)
}

// entries returns an upper bound of the positions at which a repetition of set can have started,
// among the last n characters. before contains the expressions before the repetition.
func entries(set charSet, n int, before []*syntax.Regexp) int {
	if len(before) == 0 {
		return n
	}
	last := before[len(before)-1]
	if last.Op == syntax.OpWordBoundary && (set.within(wordChars()) || !set.meets(wordChars())) {
		return 1
	}
	if end := lastChars(last); end != nil && !end.meets(set) {
		return 1
	}
	if p := period(last); p > 1 {
		n = n/p + 1
	}
	// If set has no line end, the repetition can have started only in the current line.
	spread := 0
	for _, b := range slices.Backward(before) {
		switch {
		case b.Op == syntax.OpBeginText,
			b.Op == syntax.OpBeginLine && !set.meets(charSet{'\n', '\n'}):
			return min(n, spread+1)
		case b.Op == syntax.OpBeginLine:
			return n
		default:
			shortest, longest, ok := lengths(b)
			if !ok || takesLineEnd(b) {
				return n
			}
			spread += longest - shortest
		}
	}
	return n
}

// captures returns the number of captures around re, such as 2 for ((a)).
func captures(re *syntax.Regexp) int {
	n := 0
	for ; re.Op == syntax.OpCapture; re = re.Sub[0] {
		n++
	}
	return n
}

// bare returns re without the captures around it, such as a for ((a)).
func bare(re *syntax.Regexp) *syntax.Regexp {
	for re.Op == syntax.OpCapture {
		re = re.Sub[0]
	}
	return re
}

// overlaps returns how many proper prefixes of a literal can end at the same character of a text.
// It is more than 1 only if the literal repeats itself, as aa does.
func overlaps(re *syntax.Regexp) int {
	_, depth := borders(re)
	return depth
}

// period returns the least distance between two occurrences of a literal; 1 for
// anything else.
func period(re *syntax.Regexp) int {
	if re = bare(re); re.Op != syntax.OpLiteral {
		return 1
	}
	longest, _ := borders(re)
	return len(re.Rune) - longest
}

// borders returns the length of the longest proper prefix of a literal that is also its suffix, and
// the largest number of prefixes that end at the same character.
func borders(re *syntax.Regexp) (longest, depth int) {
	w := re.Rune
	same := func(a, b rune) bool { return a == b }
	if re.Flags&syntax.FoldCase != 0 {
		same = func(a, b rune) bool { return folded(a) == folded(b) }
	}
	fail, deep := make([]int, len(w)+1), make([]int, len(w)+1)
	for i, k := 1, 0; i <= len(w); i++ {
		if i > 1 {
			for k > 0 && !same(w[k], w[i-1]) {
				k = fail[k]
			}
			if same(w[k], w[i-1]) {
				k++
			}
		}
		fail[i] = k
		deep[i] = deep[k] + 1
		if i < len(w) {
			depth = max(depth, deep[i])
		}
	}
	return fail[len(w)], depth
}

// lengths returns the smallest and the largest length of a match of re, in characters. ok is false
// when there is no largest one.
func lengths(re *syntax.Regexp) (shortest, longest int, ok bool) {
	switch re.Op {
	case syntax.OpLiteral:
		return len(re.Rune), len(re.Rune), true
	case syntax.OpCharClass, syntax.OpAnyChar, syntax.OpAnyCharNotNL:
		return 1, 1, true
	case syntax.OpStar, syntax.OpPlus:
		return 0, 0, false
	}
	ok = true
	for i, sub := range re.Sub {
		s, l, bounded := lengths(sub)
		ok = ok && bounded
		if re.Op == syntax.OpAlternate && i > 0 {
			shortest, longest = min(shortest, s), max(longest, l)
		} else {
			shortest, longest = shortest+s, longest+l
		}
	}
	switch re.Op {
	case syntax.OpQuest:
		shortest = 0
	case syntax.OpRepeat:
		shortest, longest, ok = shortest*re.Min, longest*re.Max, ok && re.Max >= 0
	}
	return shortest, longest, ok
}

// takesLineEnd reports whether a match of re may contain a line end.
func takesLineEnd(re *syntax.Regexp) bool {
	if set := charsOf(re); set != nil {
		return set.meets(charSet{'\n', '\n'})
	}
	if re.Op == syntax.OpLiteral {
		return slices.Contains(re.Rune, '\n')
	}
	return slices.ContainsFunc(re.Sub, takesLineEnd)
}
