package rules

import (
	"github.com/org/foreman-action/rules/facts"
	"regexp/syntax"
	"strings"
	"unicode/utf8"
)

// A haystack is a text that expressions ask about, counted once and prepared for
// needles: folded, with the set of its runs of three bytes. It is no automaton of the
// needles of all rules: for 1,000 rules that takes twice as long to build as the
// largest issue takes to prepare, and a run of the action reads one issue. It is
// prepared on first use and not safe for concurrent use.
type haystack struct {
	text       string
	characters int // of text; 0 when they are not counted
	folding
	grams    *[1 << gramBits / 64]uint64 // nil for short texts
	prepared bool
}

const (
	maxHaystacks = 8       // that one evaluation keeps
	maxHaystack  = 1 << 20 // bytes of one
	gramBits     = 17      // of the set: 16 KiB
	shortText    = 128     // bytes of a text that is searched in less time than the set takes
)

// haystacks returns those of the texts that rules ask about most.
func haystacks(f facts.Facts, text string) []haystack {
	list := make([]haystack, 0, maxHaystacks)
	for _, s := range [...]string{f.Issue.Title, f.Issue.Body, text, f.Event.Comment.Body} {
		list = append(list, haystack{text: s})
	}
	return list
}

// known returns the haystack of s; nil when there is none.
func (r *run) known(s string) *haystack {
	for i := range r.haystacks {
		if h := &r.haystacks[i]; h.text == s {
			return h
		}
	}
	return nil
}

// haystack returns that of s; nil when there are too many others, or when s is too long.
func (r *run) haystack(s string) *haystack {
	if h := r.known(s); h != nil {
		return h
	}
	if len(r.haystacks) >= maxHaystacks || len(s) > maxHaystack {
		return nil
	}
	r.haystacks = append(r.haystacks, haystack{text: s})
	return &r.haystacks[len(r.haystacks)-1]
}

// length returns the number of characters of s.
func (r *run) length(s string) int {
	h := r.known(s)
	if h == nil {
		return utf8.RuneCountInString(s)
	}
	if h.characters == 0 {
		h.characters = utf8.RuneCountInString(s)
	}
	return h.characters
}

// answer reports whether p matches s, and keeps it.
func (r *run) answer(p *pattern, s string, charged bool) bool {
	a := r.answers[p]
	switch {
	case a.text != s || !a.known:
		a = answer{text: s, known: true, matched: r.match(p, s), charged: charged}
	case charged && !a.charged:
		a.charged = true
	default:
		return a.matched
	}
	r.answers[p] = a
	return a.matched
}

// peek is matches for a shortcut, which is not sure when the work is too much.
func (r *run) peek(p *pattern, s string) (matched, sure bool) {
	if r.matched += r.length(s) * p.weight; r.matched > maxMatched {
		return false, false
	}
	if h := r.haystack(s); h != nil {
		if matched, sure = h.ask(p); sure {
			return matched, true
		}
	}
	return r.answer(p, s, false), true
}

// match reports whether p matches s. Most patterns match few texts, and what they
// need is not there.
func (r *run) match(p *pattern, s string) bool {
	if h := r.haystack(s); h != nil {
		if matched, sure := h.ask(p); sure {
			return matched
		}
	}
	return p.engine().MatchString(s)
}

// ask says what is known of p without its engine; sure is false when that is nothing.
func (h *haystack) ask(p *pattern) (matched, sure bool) {
	h.prepare()
	n := p.needles()
	if n.whole != nil {
		return h.askWords(n.whole)
	}
	for _, clause := range n.needs {
		if !h.holdsOne(clause) {
			return false, true
		}
	}
	return false, false
}

func (h *haystack) prepare() {
	if h.prepared {
		return
	}
	h.prepared = true
	h.folding = fold(h.text)
	if len(h.text) <= shortText {
		return
	}
	h.grams = new([1 << gramBits / 64]uint64)
	for i := range len(h.folded) - 2 {
		g := gram(h.folded, i)
		h.grams[g/64] |= 1 << (g % 64)
	}
}

// gram returns the place in the set of the three bytes of s at i.
func gram(s string, i int) uint32 {
	_ = s[i+2]
	return (uint32(s[i]) | uint32(s[i+1])<<8 | uint32(s[i+2])<<16) * 0x9E3779B1 >> (32 - gramBits)
}

// may reports whether the folded text may hold s, by its runs of three bytes.
func (h *haystack) may(s string) bool {
	if h.grams == nil {
		return true
	}
	for i := len(s) - 3; i >= 0; i-- {
		if g := gram(s, i); h.grams[g/64]&(1<<(g%64)) == 0 {
			return false
		}
	}
	return true
}

func (h *haystack) holdsOne(clause []string) bool {
	for _, s := range clause {
		if h.may(s) && strings.Contains(h.folded, s) {
			return true
		}
	}
	return false
}

// askWords is sure unless word boundaries can no longer be told in the folded text.
func (h *haystack) askWords(w *words) (matched, sure bool) {
	text := h.text
	if w.folded {
		text = h.folded
		if h.foreign && (w.before|w.after)&(syntax.EmptyWordBoundary|syntax.EmptyNoWordBoundary) != 0 {
			return false, false
		}
	}
	for _, word := range w.list {
		if h.may(word.folded) && w.stands(word.text, text) {
			return true, true
		}
	}
	return false, true
}

// stands reports whether the text holds s between what w asks for.
func (w *words) stands(s, text string) bool {
	for from := 0; ; from++ {
		i := strings.Index(text[from:], s)
		if i < 0 {
			return false
		}
		from += i
		if holds(w.before, text, from) && holds(w.after, text, from+len(s)) {
			return true
		}
	}
}

// holds reports whether the place at i of a text is as op asks. A byte of a longer
// character stands for it: it is no word character and no line end either.
func holds(op syntax.EmptyOp, text string, i int) bool {
	if op == 0 {
		return true
	}
	before, after := rune(-1), rune(-1)
	if i > 0 {
		before = rune(text[i-1])
	}
	if i < len(text) {
		after = rune(text[i])
	}
	return syntax.EmptyOpContext(before, after)&op == op
}
