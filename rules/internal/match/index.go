package match

import (
	"regexp/syntax"
	"strings"
	"unicode/utf8"
)

// An indexedText is a text that patterns are matched against. It counts its characters once. It is
// folded and indexed by trigrams when the first pattern needs that. It is not safe for concurrent
// use.
type indexedText struct {
	text       string
	characters int // number of characters in text; 0 until counted
	folding
	trigrams *[1 << trigramBits / 64]uint64 // a set of hashes; nil for short texts
	indexed  bool
}

const (
	trigramBits = 17  // of the set: 16 KiB
	shortText   = 128 // bytes; searching a shorter text is faster than indexing it
)

// length returns the number of characters.
func (t *indexedText) length() int {
	if t.characters == 0 {
		t.characters = utf8.RuneCountInString(t.text)
	}
	return t.characters
}

// filter matches p without the engine. sure is false if that is not possible.
func (t *indexedText) filter(p *Pattern) (matched, sure bool) {
	t.index()
	f := p.prefilter()
	if f.whole != nil {
		return t.matchWords(f.whole)
	}
	for _, clause := range f.needs {
		if !t.containsOne(clause) {
			return false, true
		}
	}
	return false, false
}

// index folds the text and collects its trigrams, once.
func (t *indexedText) index() {
	if t.indexed {
		return
	}
	t.indexed = true
	t.folding = fold(t.text)
	if len(t.text) <= shortText {
		return
	}
	t.trigrams = new([1 << trigramBits / 64]uint64)
	for i := range len(t.folded) - 2 {
		g := trigram(t.folded, i)
		t.trigrams[g/64] |= 1 << (g % 64)
	}
}

// trigram returns the hash of the three bytes of s at i, an index into the set.
func trigram(s string, i int) uint32 {
	_ = s[i+2]
	return (uint32(s[i]) | uint32(s[i+1])<<8 | uint32(s[i+2])<<16) * 0x9E3779B1 >> (32 - trigramBits)
}

// mayContain reports whether the folded text may contain s. It is false if the text lacks a trigram
// of s.
func (t *indexedText) mayContain(s string) bool {
	if t.trigrams == nil {
		return true
	}
	for i := len(s) - 3; i >= 0; i-- {
		if g := trigram(s, i); t.trigrams[g/64]&(1<<(g%64)) == 0 {
			return false
		}
	}
	return true
}

// containsOne reports whether the folded text contains one of the literals.
func (t *indexedText) containsOne(clause []string) bool {
	for _, s := range clause {
		if t.mayContain(s) && strings.Contains(t.folded, s) {
			return true
		}
	}
	return false
}

// matchWords reports whether the text contains one of the words. sure is false if folding hides the
// word boundaries that w requires.
func (t *indexedText) matchWords(w *words) (matched, sure bool) {
	text := t.text
	if w.folded {
		text = t.folded
		if t.foreign && (w.before|w.after)&(syntax.EmptyWordBoundary|syntax.EmptyNoWordBoundary) != 0 {
			return false, false
		}
	}
	for _, word := range w.list {
		if t.mayContain(word.folded) && w.occurs(word.text, text) {
			return true, true
		}
	}
	return false, true
}

// occurs reports whether the text contains s with the boundaries of w around it.
func (w *words) occurs(s, text string) bool {
	for from := 0; ; from++ {
		i := strings.Index(text[from:], s)
		if i < 0 {
			return false
		}
		from += i
		if satisfied(w.before, text, from) && satisfied(w.after, text, from+len(s)) {
			return true
		}
	}
}

// satisfied reports whether position i of a text satisfies op. It looks at single bytes: a byte of
// a character outside of ASCII is neither a word character nor a line end, like the character
// itself.
func satisfied(op syntax.EmptyOp, text string, i int) bool {
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
