package match

import (
	"regexp/syntax"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// A prefilter is the literals of a pattern: most texts lack them, and are ruled out without
// the pattern's engine. Literals are folded, as [fold] does it.
type prefilter struct {
	// needs lists clauses: every text that matches contains one literal of each.
	needs [][]string
	// whole, when it is set, matches exactly the texts of the pattern.
	whole *words
}

// Words are a pattern of literals alone, such as (?i)\b(panic|segfault)\b: a text matches
// when it contains one of them with the boundaries that the pattern asks for.
type words struct {
	list []word
	// folded means that case is ignored.
	folded        bool
	before, after syntax.EmptyOp // at the start and at the end of a word
}

// A word is one of words; folded is the same text when they are.
type word struct{ text, folded string }

const (
	maxLiterals     = 128  // of one clause
	maxLiteralBytes = 4096 // of the literals of one clause together
	maxClass        = 8    // characters of a class, folded, that are written out
	maxPruned       = 16   // literals of a clause that are compared with each other
)

// newPrefilter returns the prefilter of re, which is as the parser returned it.
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

// newWords returns nil for a pattern that is more than literals.
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

// emptyOp returns the assertion that an expression without characters makes; 0 for all
// others.
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
	all   []string   // every one of them; nil when they are too many
	needs [][]string // when all is nil: each of them holds one of every clause
}

// A literalReader finds the literals of patterns. One that is not strict may return more
// texts than a part matches; a strict one returns none then.
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

// once reads an expression that occurs once or more.
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
	if r.strict && !r.fold && folds && len(re.Rune) == 1 { // how the parser leaves [Pp]
		both := oneChar(re, 0)
		slices.Sort(both) // as in a class
		return r.class(&syntax.Regexp{Rune: both})
	}
	for _, c := range re.Rune {
		// Invalid UTF-8 is read as U+FFFD; bytes that differ would be compared.
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

// class reads a choice of few characters.
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

// holdsCases reports whether s holds what differs from c in case only.
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

// product returns every text of a followed by every one of b; nil when they are too
// many or too long.
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

// addClause adds a clause, without the texts that hold another of it. One with a
// text of a single byte would be true of most texts and is left out.
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
