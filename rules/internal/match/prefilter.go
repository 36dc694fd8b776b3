package match

import (
	"regexp/syntax"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// A prefilter contains the literals of a pattern. Most texts lack them, and are ruled out without
// the pattern's engine. Literals are folded by [fold].
type prefilter struct {
	// needs lists clauses. Every matching text contains at least one literal of each clause.
	needs [][]string
	// whole is set for a pattern of literals alone. It matches exactly the texts that the pattern
	// matches.
	whole *words
}

// words are the literals of a pattern that consists of literals only, such as
// (?i)\b(panic|segfault)\b. A text matches when it contains one of them with the boundaries of the
// pattern.
type words struct {
	list []word
	// folded means that case is ignored.
	folded        bool
	before, after syntax.EmptyOp // at the start and at the end of a word
}

// A word is a literal. folded is its text without case; if case is ignored, both are the same.
type word struct{ text, folded string }

const (
	maxLiterals     = 128  // of one clause
	maxLiteralBytes = 4096 // of the literals of one clause together
	maxClass        = 8    // characters of a folded class that is expanded
	maxPruned       = 16   // literals of a clause that is searched for redundant ones
)

// newPrefilter returns the prefilter of re, which is parsed but not simplified.
func newPrefilter(re *syntax.Regexp) prefilter {
	n := prefilter{whole: newWords(re)}
	if n.whole != nil {
		return n
	}
	x := literalReader{fold: true}.read(re)
	if x.all != nil {
		x.needs = addClause(x.needs, x.all)
	}
	n.needs = x.needs
	return n
}

// newWords returns the words of a pattern; nil for a pattern that does not consist of literals
// only.
func newWords(re *syntax.Regexp) *words {
	var w words
	subs := []*syntax.Regexp{bare(re)}
	if subs[0].Op == syntax.OpConcat {
		subs = subs[0].Sub
	}
	for ; len(subs) > 0 && emptyOp(subs[0]) != 0; subs = subs[1:] {
		w.before |= emptyOp(subs[0])
	}
	for ; len(subs) > 0 && emptyOp(subs[len(subs)-1]) != 0; subs = subs[:len(subs)-1] {
		w.after |= emptyOp(subs[len(subs)-1])
	}
	for _, w.folded = range []bool{false, true} {
		all := literalReader{fold: w.folded, strict: true}.concat(subs).all
		if len(all) == 0 || slices.Contains(all, "") {
			continue
		}
		for _, s := range all {
			w.list = append(w.list, word{s, fold(s).folded})
		}
		return &w
	}
	return nil
}

// emptyOp returns the assertion of an expression such as ^ or \b; 0 for all other expressions.
func emptyOp(re *syntax.Regexp) syntax.EmptyOp {
	switch re.Op {
	case syntax.OpBeginLine:
		return syntax.EmptyBeginLine
	case syntax.OpEndLine:
		return syntax.EmptyEndLine
	case syntax.OpBeginText:
		return syntax.EmptyBeginText
	case syntax.OpEndText:
		return syntax.EmptyEndText
	case syntax.OpWordBoundary:
		return syntax.EmptyWordBoundary
	case syntax.OpNoWordBoundary:
		return syntax.EmptyNoWordBoundary
	}
	return 0
}

// A literals value describes the texts that a part of a pattern matches.
type literals struct {
	all   []string   // all matching texts; nil when they are too many
	needs [][]string // if all is nil: every matching text contains a literal of each clause
}

// A literalReader finds the literals of patterns. If strict is false, it may return more texts than
// match; if strict is true, it returns none in such a case.
type literalReader struct{ fold, strict bool }

func (r literalReader) read(re *syntax.Regexp) literals {
	switch re.Op {
	case syntax.OpLiteral:
		return r.literal(re)
	case syntax.OpCharClass:
		return r.class(re)
	case syntax.OpCapture:
		return r.read(re.Sub[0])
	case syntax.OpConcat:
		return r.concat(re.Sub)
	case syntax.OpAlternate:
		return r.alternate(re.Sub)
	case syntax.OpEmptyMatch:
		return literals{all: []string{""}}
	case syntax.OpQuest:
		if all := r.read(re.Sub[0]).all; all != nil {
			return literals{all: append([]string{""}, all...)}
		}
	case syntax.OpPlus:
		return r.once(re.Sub[0])
	case syntax.OpRepeat:
		if re.Min > 0 {
			return r.once(re.Sub[0])
		}
	default:
		if emptyOp(re) != 0 && !r.strict {
			return literals{all: []string{""}}
		}
	}
	return literals{}
}

// once reads an expression that occurs one or more times.
func (r literalReader) once(re *syntax.Regexp) literals {
	x := r.read(re)
	if x.all != nil {
		return literals{needs: addClause(nil, x.all)}
	}
	return x
}

func (r literalReader) literal(re *syntax.Regexp) literals {
	var b strings.Builder
	folds := re.Flags&syntax.FoldCase != 0
	if r.strict && !r.fold && folds && len(re.Rune) == 1 { // [Pp] after parsing
		both := oneChar(re, 0)
		slices.Sort(both) // the ranges of a class are in order
		return r.class(&syntax.Regexp{Rune: both})
	}
	for _, c := range re.Rune {
		// The engine reads invalid UTF-8 as U+FFFD, so comparing the bytes could give another
		// result.
		if c == utf8.RuneError || r.strict && folds != r.fold && unicode.SimpleFold(c) != c {
			return literals{}
		}
		if r.fold {
			c = folded(c)
		}
		b.WriteRune(c)
	}
	return literals{all: []string{b.String()}}
}

// class reads a character class; it gives up if the class has too many characters.
func (r literalReader) class(re *syntax.Regexp) literals {
	var all []string
	set := charSet(re.Rune)
	for i := 0; i+1 < len(set); i += 2 {
		if set[i+1]-set[i] > 4*maxClass || set[i] <= utf8.RuneError && utf8.RuneError <= set[i+1] {
			return literals{}
		}
		for c := set[i]; c <= set[i+1]; c++ {
			s := string(c)
			if r.fold {
				if r.strict && !set.holdsCases(c) {
					return literals{}
				}
				s = string(folded(c))
			}
			if !slices.Contains(all, s) {
				all = append(all, s)
			}
			if len(all) > maxClass {
				return literals{}
			}
		}
	}
	return literals{all: all}
}

// holdsCases reports whether s contains the other cases of c, too.
func (s charSet) holdsCases(c rune) bool {
	for f := unicode.SimpleFold(c); f != c; f = unicode.SimpleFold(f) {
		if !(charSet{f, f}).within(s) {
			return false
		}
	}
	return true
}

func (r literalReader) concat(subs []*syntax.Regexp) literals {
	all, needs, whole := []string{""}, [][]string(nil), true
	for _, sub := range subs {
		x := r.read(sub)
		if x.all != nil {
			if longer := product(all, x.all); longer != nil {
				all = longer
				continue
			}
		}
		needs, whole = append(addClause(needs, all), x.needs...), false
		if all = x.all; all == nil {
			all = []string{""}
		}
	}
	if whole {
		return literals{all: all}
	}
	return literals{needs: addClause(needs, all)}
}

// product returns every text of a followed by every text of b; nil when the results are too many or
// too long.
func product(a, b []string) []string {
	if len(a)*len(b) > maxLiterals || size(a)*len(b)+size(b)*len(a) > maxLiteralBytes {
		return nil
	}
	list := make([]string, 0, len(a)*len(b))
	for _, s := range a {
		for _, t := range b {
			list = append(list, s+t)
		}
	}
	return list
}

// size returns the number of bytes of all texts of a list.
func size(list []string) int {
	n := 0
	for _, s := range list {
		n += len(s)
	}
	return n
}

func (r literalReader) alternate(subs []*syntax.Regexp) literals {
	var either []string
	whole := true
	for _, sub := range subs {
		x := r.read(sub)
		clause := x.all
		if clause == nil {
			whole = false
			clause = best(x.needs)
		}
		if clause == nil || len(either)+len(clause) > maxLiterals {
			return literals{}
		}
		either = append(either, clause...)
	}
	if whole {
		return literals{all: either}
	}
	return literals{needs: addClause(nil, either)}
}

// best returns the clause whose shortest text is the longest; nil when there is none.
func best(clauses [][]string) []string {
	var longest []string
	for _, c := range clauses {
		if longest == nil || shortest(c) > shortest(longest) {
			longest = c
		}
	}
	return longest
}

// shortest returns the length of the shortest text of a clause.
func shortest(clause []string) int {
	return len(slices.MinFunc(clause, func(a, b string) int { return len(a) - len(b) }))
}

// addClause adds a clause. It drops literals that contain another literal of the clause. It leaves
// the clause out if one of its literals has a single byte, because most texts contain that byte.
func addClause(clauses [][]string, clause []string) [][]string {
	if len(clause) == 0 || shortest(clause) < 2 {
		return clauses
	}
	if len(clause) > maxPruned {
		return append(clauses, clause)
	}
	var least []string
	for i, s := range clause {
		if !slices.Contains(clause[:i], s) &&
			!slices.ContainsFunc(clause, func(t string) bool { return t != s && strings.Contains(s, t) }) {
			least = append(least, s)
		}
	}
	return append(clauses, least)
}
