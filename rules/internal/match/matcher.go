package match

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/org/foreman-action/rules/internal/cost"
)

// A Matcher matches patterns against the texts of one event. It keeps each text without case, and
// the last result of each pattern. It is not safe for concurrent use.
type Matcher struct {
	texts   []foldedText
	answers map[*Pattern]answer
}

const (
	maxTexts = 8       // number of texts that a matcher keeps
	maxText  = 1 << 20 // bytes of a text that is kept
)

// A foldedText is a text that patterns are matched against. Its characters are counted, and its case
// is folded, when that is first needed.
type foldedText struct {
	text       string
	characters int    // number of characters in text; 0 until counted
	folded     string // "" until folded
}

// An answer is the result of matching a pattern against a text.
type answer struct {
	text    string
	matched bool
}

// NewMatcher returns a matcher that keeps these texts.
func NewMatcher(texts ...string) *Matcher {
	m := &Matcher{texts: make([]foldedText, 0, maxTexts), answers: map[*Pattern]answer{}}
	for _, s := range texts {
		m.texts = append(m.texts, foldedText{text: s})
	}
	return m
}

// find returns the entry of s; nil when there is none.
func (m *Matcher) find(s string) *foldedText {
	for i := range m.texts {
		if t := &m.texts[i]; t.text == s {
			return t
		}
	}
	return nil
}

// entry returns the entry of s, and adds one if there is none. It returns nil when there are too
// many entries or s is too long.
func (m *Matcher) entry(s string) *foldedText {
	if t := m.find(s); t != nil {
		return t
	}
	if len(m.texts) >= maxTexts || len(s) > maxText {
		return nil
	}
	m.texts = append(m.texts, foldedText{text: s})
	return &m.texts[len(m.texts)-1]
}

// Length returns the number of characters of s.
func (m *Matcher) Length(s string) int {
	t := m.find(s)
	if t == nil {
		return utf8.RuneCountInString(s)
	}
	if t.characters == 0 {
		t.characters = utf8.RuneCountInString(s)
	}
	return t.characters
}

// Match reports whether p matches s. It charges the work of the pattern's engine even if the
// pattern's clauses make the engine unnecessary. So whether an expression exceeds its budget depends
// on the length of a text, not on its words. Matching again against the same text, as in a loop,
// charges steps only.
func (m *Matcher) Match(p *Pattern, s string, meter *cost.Meter) (bool, error) {
	a, found := m.answers[p]
	if found && len(a.text) == len(s) {
		if err := meter.Steps.Charge(1 + len(s)/cost.BytesPerStep); err != nil {
			return false, err
		}
		if a.text == s {
			return a.matched, nil
		}
	}
	if err := meter.Patterns.Charge(m.Length(s) * p.Cost); err != nil {
		return false, err
	}
	matched := m.run(p, s)
	m.answers[p] = answer{s, matched}
	return matched, nil
}

// run reports whether p matches s. The clauses decide most cases without the engine.
func (m *Matcher) run(p *Pattern, s string) bool {
	if clauses := p.requiredClauses(); len(clauses) > 0 {
		if t := m.entry(s); t != nil && !t.satisfies(clauses) {
			return false
		}
	}
	return p.engine().MatchString(s)
}

// satisfies reports whether the text satisfies all clauses.
func (t *foldedText) satisfies(clauses []clause) bool {
	if t.folded == "" {
		t.folded = fold(t.text)
	}
	for _, c := range clauses {
		if !slices.ContainsFunc(c, func(s string) bool { return strings.Contains(t.folded, s) }) {
			return false
		}
	}
	return true
}
