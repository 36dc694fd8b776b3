package match

import (
	"fmt"
	"math/rand/v2"
	"regexp"
	"regexp/syntax"
	"strings"
	"sync"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/org/foreman-action/rules/internal/cost"
)

func TestRequiredClauses(t *testing.T) {
	t.Parallel()
	tests := []struct {
		Pattern string
		want    []clause
	}{
		{`panic`, []clause{{"PANIC"}}},
		{`(?i)Panic`, []clause{{"PANIC"}}},
		{`(?i)\b(panic|segfault|stack ?trace)\b`, []clause{{"PANIC", "SEGFAULT", "STACK TRACE", "STACKTRACE"}}},
		{`(docker|podman)-compose7`, []clause{{"DOCKER-COMPOSE7", "PODMAN-COMPOSE7"}}},
		{`(?im)^### Expected$`, []clause{{"### EXPECTED"}}},
		{`[Pp]anics?`, []clause{{"PANIC"}}},
		{`(?i)k`, nil},
		{`\bfoo|bar\b`, []clause{{"BAR", "FOO"}}},
		{`\d\.77\s+v?(?im)^### Version`, []clause{{"### VERSION"}, {".77"}}},
		{`panic(foo)?.*`, []clause{{"PANIC"}}},
		{`(foo|ba+r|qu{2,3}x).`, nil},
		{`(foo|b.*arr|qux).`, []clause{{"ARR", "FOO", "QUX"}}},
		{`(foo)+!`, []clause{{"FOO"}}},
		{`(foo){2,}`, []clause{{"FOO"}}},
		{`(foo){0,2}`, nil},
		{`(foo)*`, nil},
		{`a?`, nil},
		{`\d+`, nil},
		{`[^a]bc`, []clause{{"BC"}}},
		{"a\uFFFDbc", nil},
		{"[a\uFFFD]bc", []clause{{"BC"}}},
		{`^$`, nil},
		{`\b\b`, nil},
		{`[^\x00-\x{10FFFF}]`, nil},
		{`x{0}`, nil},
	}
	for _, tt := range tests {
		p, err := NewPattern(tt.Pattern)
		if err != nil {
			t.Errorf("%s: %v", tt.Pattern, err)
			continue
		}
		if diff := cmp.Diff(tt.want, p.requiredClauses()); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.Pattern, diff)
		}
	}
}

// The number and the size of a pattern's literals are bounded, whatever the pattern is.
func TestLiteralsAreBounded(t *testing.T) {
	t.Parallel()
	for _, s := range []string{
		strings.Repeat("[ab]", 900), strings.Repeat("(a|b|cc)", 200), "(" + strings.Repeat("foo|", 900) + "bar)x", strings.Repeat("a", 1900),
		strings.Repeat("[ab]", 7) + strings.Repeat("c(?i:d)", 500), strings.Repeat("a?", 900), strings.Repeat("(ab|cd|", 90) + "x" + strings.Repeat(")", 90),
	} {
		p, err := NewPattern(s)
		if err != nil {
			t.Fatalf("%.20s: %v", s, err)
		}
		for _, c := range p.requiredClauses() {
			if len(c) > maxLiterals || c.size() > max(maxLiteralBytes, len(s)) {
				t.Errorf("%.20s: %d literals in one clause, %d bytes", s, len(c), c.size())
			}
		}
	}
}

// hay returns texts that are hard to fold or to find words in.
func hay() []string {
	return []string{
		"", "a", "xaaa", "Acd", "aCD", "panic", "PANIC!", "a panic", "panics", "_panic_", "pan\u0130c", "pani\u017f", "\u017fegfault", "segfault\u212a", "\u212aernel panic\u212a",
		"kernel \u212a", "panic\xff", "\xc5panic\xbf", "\xe2\x84panic", "pa\xffnic", "foo\nbar\n", "### VER\u017fION\nv77.1", "### version\u00a0v77.1", "x\n### Version  77.12",
		"\u00e9t\u00e9 \u00c9T\u00c9", "\u03a3\u03c3\u03c2", "\u0410\u0411\u0430\u0431", "\u01c4\u01c5\u01c6", "\u00df\u1e9e", "\u4e2d\u6587 panic\u4e2d", "\U00010400\U00010428",
		strings.Repeat("segfaul ", 40) + "segfault", strings.Repeat("pani", 100), strings.Repeat("\u017f", 100) + "segfault7", strings.Repeat("a ", 80) + "panic",
	}
}

// A matcher and the engine agree on every pattern and every text.
func TestMatcherAgrees(t *testing.T) {
	t.Parallel()
	patterns := []string{
		`panic`, `(?i)panic`, `(?i)\bpanic\b`, `\bpanic\b`, `\Bpanic`, `(?i)panic\B`, `^panic`, `panic$`, `(?m)^panic$`, `\Apanic\z`, `(?i)(panic|segfault)`,
		`(?i)\b(panic|segfault)\b`, `\b(panic|segfault)\b`, `(?i)s`, `(?i)k`, `[ks]`, `(?i)[ks]`, `(?i)[k-s]\b`, `(?i)segfault\b`, `(?i)\bkernel`, `(?i)\u00e9`,
		`\x{e9}`, `(?i)\x{e9}t`, `(?i)\x{3c3}\b`, `(?i)\x{df}`, `(?i)\x{1c4}`, `(?i)\x{10400}`, `(?i)\x{410}\x{411}\b`, `\x{fffd}`, `(?i)pa\x{fffd}nic`, `pa.nic`, `[^a]anic`, `(?i)pani[ſc]`, `pani[ſc]`,
		`(?im)^### Version\s+v?77\.\d+`, `(foo|bar)+$`, `foo(?s:.)bar`, `(?i)seg(f(a(u(lt|x)|y)|z)|q)`, `(a|b)?panic`, `panic|`, `(|a)`, `\x{4e2d}`, `(?i)\x{4e2d}\b`, `panic\b\B`, `$^`, `aa\b`, `[ab](?i)cd`, `\xe9?panic`,
	}
	for _, s := range patterns {
		p, err := NewPattern(s)
		if err != nil {
			continue // patterns have no escape \u
		}
		for _, text := range hay() {
			samePattern(t, p, text)
		}
	}
}

func samePattern(t *testing.T, p *Pattern, text string) {
	t.Helper()
	want := regexp.MustCompile(p.src).MatchString(text)
	if got := NewMatcher().run(p, text); got != want {
		t.Errorf("%q on %q: got %v, want %v", p.src, text, got, want)
	}
}

// randomParts are parts of random patterns.
var randomParts = []string{
	`panic`, `Kernel`, `ſegfault`, `v`, `\d`, `\s+`, `.`, `.*`, `[a-f]`, `[^a]`, `[Pp]`, `[ks]`, `[ſt]`, `\b`, `\B`, `^`, `$`, `\A`, `\z`, `(?m)`, `(?i)`, `(?s)`, `(?-i)`,
	`\x{e9}`, `\x{3c3}`, `\x{4e2d}`, `\x{fffd}`, `\x{212a}`, `\x{10400}`, ` `, `a`, `\n`, `\.`, `\pL`, `#`,
}

func randomPattern(random *rand.Rand, depth int) string {
	var b strings.Builder
	for range 1 + random.IntN(4) {
		part := randomParts[random.IntN(len(randomParts))]
		if depth > 0 && random.IntN(3) == 0 {
			part = []string{"(", "(?:", "(?i:"}[random.IntN(3)] + randomPattern(random, depth-1) + ")"
		}
		switch {
		case random.IntN(8) == 0:
			part += "|"
		case random.IntN(4) == 0 && !strings.HasSuffix(part, "*") && !strings.HasSuffix(part, "+"):
			part = "(?:" + part + ")" + []string{"*", "+", "?", "+?", "{2}", "{0,2}", "{1,}"}[random.IntN(7)]
		}
		b.WriteString(part)
	}
	return b.String()
}

// randomText returns a text that re may match: a walk through its syntax tree, with the case of some
// characters changed and some of them replaced.
func randomText(random *rand.Rand, re *syntax.Regexp) string {
	var b strings.Builder
	var walk func(re *syntax.Regexp)
	walk = func(re *syntax.Regexp) {
		switch re.Op {
		case syntax.OpLiteral:
			for _, r := range re.Rune {
				for range random.IntN(3) {
					r = unicode.SimpleFold(r)
				}
				b.WriteRune(r)
			}
		case syntax.OpCharClass:
			if len(re.Rune) > 0 {
				b.WriteRune(re.Rune[random.IntN(len(re.Rune))])
			}
		case syntax.OpAnyChar, syntax.OpAnyCharNotNL:
			b.WriteString([]string{"x", "K", "\xff", "é"}[random.IntN(4)])
		case syntax.OpAlternate:
			walk(re.Sub[random.IntN(len(re.Sub))])
		case syntax.OpStar, syntax.OpPlus, syntax.OpQuest, syntax.OpRepeat:
			for range max(re.Min, random.IntN(3)) {
				walk(re.Sub[0])
			}
		default:
			for _, sub := range re.Sub {
				walk(sub)
			}
		}
	}
	walk(re)
	s := b.String()
	if s != "" && random.IntN(4) == 0 {
		i := random.IntN(len(s))
		s = s[:i] + []string{"", "\xc5", "z"}[random.IntN(3)] + s[i+1:]
	}
	return []string{"", "a ", "panic\n"}[random.IntN(3)] + s + []string{"", "\n", "b"}[random.IntN(3)]
}

// 10,000 random patterns and texts agree with package regexp.
func TestRandomPatternsAgree(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(3, 4))
	matched, ruledOut := 0, 0
	for n := 0; n < 10_000; {
		s := randomPattern(random, 2)
		p, err := NewPattern(s)
		if err != nil {
			continue
		}
		n++
		re, err := syntax.Parse(s, syntax.Perl)
		if err != nil {
			t.Fatal(err)
		}
		text := randomText(random, re)
		samePattern(t, p, text)
		if p.engine().MatchString(text) {
			matched++
		} else if text := (&foldedText{text: text}); !text.satisfies(p.requiredClauses()) {
			ruledOut++
		}
	}
	if matched < 3000 || ruledOut < 500 {
		t.Errorf("%d patterns matched, %d were ruled out by their clauses: too few to tell", matched, ruledOut)
	}
}

// FuzzMatcher checks that a matcher always gives the result of the engine.
func FuzzMatcher(f *testing.F) {
	for i, s := range []string{`(?i)\b(panic|segfault|stack ?trace)\b`, `(?im)^### Version\s+v?77\.\d+`, `[Pp]anic|foo+(?i:bar)`, `(a|bc?|d)(?:e|f\b){2}`, `\B(?i:\x{3c3}k)$`} {
		for _, text := range hay()[i:] {
			f.Add(s, text)
		}
	}
	f.Fuzz(func(t *testing.T, s, text string) {
		p, err := NewPattern(s)
		if err != nil || len(text) > 2000 || p.Cost > 200 {
			return
		}
		samePattern(t, p, text)
	})
}

// fold agrees with (?i) for every character, and never makes a text longer.
func TestFoldIsThatOfPatterns(t *testing.T) {
	t.Parallel()
	for r := rune(0); r <= unicode.MaxRune; r++ {
		if caseless(r) && unicode.SimpleFold(r) != r {
			t.Fatalf("%U has a case", r)
		}
		s := string(r) // U+FFFD for an invalid code point
		first, _ := utf8.DecodeRuneInString(s)
		if got, want := fold(s), string(folded(first)); got != want || len(got) > len(s) {
			t.Fatalf("%U: got %q, want %q", r, got, want)
		}
	}
	if got := fold("a\xffb\u017f"); got != "A\xffBS" {
		t.Errorf("got %q", got)
	}
}

// costOf computes the cost of the whole program, even where it does not build the program.
func TestCostIsThatOfTheProgram(t *testing.T) {
	t.Parallel()
	parts := []string{`a`, `(?i)K`, `[0-9a-f]{9}`, `\b`, `(x?){3}`, `.{0,5}`, `(ab|cd*)+`, `^`, `(((a)))`, `(?:){9}`, `(a{2}){3,}`, `x{0}`, `(((aaaa[ab]{9}))){0}`, `(?i)aaa`, `aaaa`, `[^\x00-\x{10FFFF}]`}
	random := rand.New(rand.NewPCG(1, 2))
	for range 3000 {
		s := ""
		for range 1 + random.IntN(5) {
			s += "(?:" + parts[random.IntN(len(parts))] + ")" + []string{"", "|", "*", "+?", "?", "{2}"}[random.IntN(6)]
		}
		tree, err := syntax.Parse(s, syntax.Perl)
		if err != nil {
			continue
		}
		prog, err := syntax.Compile(tree.Simplify())
		if err != nil {
			t.Fatal(err)
		}
		got, err := costOf(tree)
		if want := baseCost + min(liveStates(tree, nil), 2*len(prog.Inst)); got != want || err != nil {
			t.Errorf("%s: got %d, %v, want %d", s, got, err, want)
		}
	}
}

// A matcher keeps at most maxTexts texts, and none longer than maxText.
func TestTextsAreBounded(t *testing.T) {
	t.Parallel()
	p, err := NewPattern("abc")
	if err != nil {
		t.Fatal(err)
	}
	m, meter, body := NewMatcher(), cost.NewMeter(), strings.Repeat("ab", 500)
	for i := range 900 {
		if got, err := m.Match(p, body[i:], &meter); got || err != nil {
			t.Fatalf("got %v, %v", got, err)
		}
	}
	if got := len(m.texts); got != maxTexts {
		t.Errorf("%d texts are kept, want %d", got, maxTexts)
	}
	if m.entry(strings.Repeat("a", maxText+1)) != nil {
		t.Error("a text of any length is kept")
	}
}

// Engines are built only for patterns whose clauses are satisfied, and at most once.
func TestEnginesAreBuiltLate(t *testing.T) {
	t.Parallel()
	var patterns []*Pattern
	for i := range 100 {
		p, err := NewPattern(fmt.Sprintf(`(?i)panic%d\d`, i))
		if err != nil {
			t.Fatal(err)
		}
		patterns = append(patterns, p)
	}
	var all sync.WaitGroup
	for range 4 { // concurrently, as in a server
		all.Go(func() {
			m, meter := NewMatcher(), cost.NewMeter()
			for i, p := range patterns {
				if got, err := m.Match(p, "panic77, panic7 "+strings.Repeat(".", 200), &meter); got != (i == 7) || err != nil {
					t.Errorf("%s: got %v, %v", p.src, got, err)
				}
			}
		})
	}
	all.Wait()
	built := 0
	for _, p := range patterns {
		if p.regexp != nil {
			built++
		}
	}
	// The text contains panic7 and panic77.
	if built != 2 {
		t.Errorf("%d engines, want 2", built)
	}
}
