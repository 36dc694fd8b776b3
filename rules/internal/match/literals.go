package match

import (
	"regexp/syntax"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/org/foreman-action/internal/order"
)

// A clause lists literals, folded by [fold]. A text satisfies it if it contains one of them without
// regard to case.
type clause []string

// literals describes the texts that a part of a pattern matches.
type literals struct {
	all     clause   // the matching texts, maybe with others; nil if there are too many
	clauses []clause // if all is nil: clauses that every matching text satisfies
}

const (
	maxLiterals     = 128  // of one clause
	maxLiteralBytes = 4096 // of the literals of one clause together
	maxClass        = 8    // characters of a folded class that is expanded
)

// requiredClauses returns the clauses that a text satisfies whenever re matches it. The clause with
// the longest literals is the first. re is parsed but not simplified.
func requiredClauses(re *syntax.Regexp) []clause {
	list := readLiterals(re).required()
	order.Stable(list, func(a, b clause) int { return b.shortest() - a.shortest() })
	for i, c := range list {
		list[i] = c.least()
	}
	return list
}

// required returns the clauses of l. A clause with a literal of one byte is left out, because most
// texts contain that byte.
func (l literals) required() []clause {
	if l.all.shortest() < 2 {
		return l.clauses
	}
	return append(l.clauses, l.all)
}

func readLiterals(re *syntax.Regexp) literals {
	switch re.Op {
	case syntax.OpLiteral:
		return literals{all: literal(re.Rune)}
	case syntax.OpCharClass:
		return literals{all: class(re.Rune)}
	case syntax.OpCapture:
		return readLiterals(re.Sub[0])
	case syntax.OpConcat:
		return concat(re.Sub)
	case syntax.OpAlternate:
		return alternate(re.Sub)
	case syntax.OpEmptyMatch, syntax.OpBeginLine, syntax.OpEndLine, syntax.OpBeginText, syntax.OpEndText, syntax.OpWordBoundary, syntax.OpNoWordBoundary:
		return literals{all: clause{""}}
	case syntax.OpQuest:
		if all := readLiterals(re.Sub[0]).all; all != nil {
			return literals{all: append(clause{""}, all...)}
		}
	case syntax.OpPlus:
		return literals{clauses: readLiterals(re.Sub[0]).required()}
	case syntax.OpRepeat:
		if re.Min > 0 {
			return literals{clauses: readLiterals(re.Sub[0]).required()}
		}
	}
	return literals{}
}

func literal(w []rune) clause {
	var b strings.Builder
	for _, c := range w {
		// The engine reads invalid UTF-8 as U+FFFD, so comparing the bytes could give another
		// result.
		if c == utf8.RuneError {
			return nil
		}
		b.WriteRune(folded(c))
	}
	return clause{b.String()}
}

// class returns the characters of a character class; nil if there are too many.
func class(set charSet) clause {
	var all clause
	for i := 0; i+1 < len(set); i += 2 {
		if set[i+1]-set[i] > 4*maxClass || set[i] <= utf8.RuneError && utf8.RuneError <= set[i+1] {
			return nil
		}
		for c := set[i]; c <= set[i+1]; c++ {
			if s := string(folded(c)); !slices.Contains(all, s) {
				all = append(all, s)
			}
			if len(all) > maxClass {
				return nil
			}
		}
	}
	return all
}

func concat(subs []*syntax.Regexp) literals {
	l, whole := literals{all: clause{""}}, true
	for _, sub := range subs {
		x := readLiterals(sub)
		if longer := product(l.all, x.all); longer != nil {
			l.all = longer
			continue
		}
		l, whole = literals{all: x.all, clauses: append(l.required(), x.clauses...)}, false
		if l.all == nil {
			l.all = clause{""}
		}
	}
	if whole {
		return l
	}
	return literals{clauses: l.required()}
}

// product returns every text of a followed by every text of b; nil when the results are too many or
// too long.
func product(a, b clause) clause {
	if len(a)*len(b) > maxLiterals || a.size()*len(b)+b.size()*len(a) > maxLiteralBytes {
		return nil
	}
	var list clause
	for _, s := range a {
		for _, t := range b {
			list = append(list, s+t)
		}
	}
	return list
}

func alternate(subs []*syntax.Regexp) literals {
	var either clause
	whole := true
	for _, sub := range subs {
		x := readLiterals(sub)
		c := x.all
		if c == nil {
			whole, c = false, longest(x.clauses)
		}
		if c == nil || len(either)+len(c) > maxLiterals {
			return literals{}
		}
		either = append(either, c...)
	}
	if whole {
		return literals{all: either}
	}
	return literals{clauses: literals{all: either}.required()}
}

// longest returns the clause whose shortest literal is the longest; nil when there is none.
func longest(list []clause) clause {
	if len(list) == 0 {
		return nil
	}
	return slices.MaxFunc(list, func(a, b clause) int { return a.shortest() - b.shortest() })
}

// shortest returns the length of the shortest literal; 0 if there is none.
func (c clause) shortest() int {
	if len(c) == 0 {
		return 0
	}
	return len(slices.MinFunc(c, func(a, b string) int { return len(a) - len(b) }))
}

// size returns the number of bytes of all literals.
func (c clause) size() int {
	n := 0
	for _, s := range c {
		n += len(s)
	}
	return n
}

// least returns the clause without the literals that contain another literal of the clause.
func (c clause) least() clause {
	slices.Sort(c)
	c = slices.Compact(c)
	var least clause
	for _, s := range c {
		if !slices.ContainsFunc(c, func(t string) bool { return t != s && strings.Contains(s, t) }) {
			least = append(least, s)
		}
	}
	return least
}
