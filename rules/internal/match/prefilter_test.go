package match

import (
	"fmt"
	"math/rand/v2"
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"
	"sync"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/org/foreman-action/rules/internal/cost"
)

func TestPrefilter(t *testing.T) {
	t.Parallel()
	tests := []struct {
		Pattern string
		words   []string // want the words of a pattern that consists of literals only
		needs   [][]string
	}{
		{`panic`, []string{"panic"}, nil},
		{`(?i)Panic`, []string{"PANIC"}, nil},
		{`(?i)\b(panic|segfault|stack ?trace)\b`, []string{"PANIC", "SEGFAULT", "STACKTRACE", "STACK TRACE"}, nil},
		{`\b(panic|segfault)\b`, []string{"panic", "segfault"}, nil},
		{`(docker|podman)-compose7`, []string{"docker-compose7", "podman-compose7"}, nil},
		{`(?im)^### Expected$`, []string{"### EXPECTED"}, nil},
		{`[Pp]anic`, []string{"Panic", "panic"}, nil},
		{`(?i)k`, []string{"K", "k", "\u212a"}, nil},
		{`(?i:pa)nic`, nil, [][]string{{"PANIC"}}},
		{`[Pp](?i)anic`, []string{"PANIC"}, nil},
		{`\bfoo|bar\b`, nil, [][]string{{"FOO", "BAR"}}},
		{`(?im)^### Version\s+v?77\.\d+`, nil, [][]string{{"### VERSION"}, {"77."}}},
		{`panic(foo)?.*`, nil, [][]string{{"PANIC"}}},
		{`(foo|ba+r|qu{2,3}x).`, nil, nil},
		{`(foo|b.*arr|qux).`, nil, [][]string{{"FOO", "ARR", "QUX"}}},
		{`(foo)+!`, nil, [][]string{{"FOO"}}},
		{`(foo){2,}`, nil, [][]string{{"FOO"}}},
		{`(foo){0,2}`, nil, nil},
		{`(foo)*`, nil, nil},
		{`a?`, nil, nil},
		{`\d+`, nil, nil},
		{`[^a]bc`, nil, [][]string{{"BC"}}},
		{"a\uFFFDbc", nil, nil},
		{"[a\uFFFD]bc", nil, [][]string{{"BC"}}},
		{`^$`, nil, nil},
		{`\b\b`, nil, nil},
		{`[^\x00-\x{10FFFF}]`, nil, nil},
		{`x{0}`, nil, nil},
	}
	for _, tt := range tests {
		p, err := NewPattern(tt.Pattern)
		if err != nil {
			t.Errorf("%s: %v", tt.Pattern, err)
			continue
		}
		var got []string
		if w := p.prefilter().whole; w != nil {
			for _, word := range w.list {
				got = append(got, word.text)
			}
		}
		slices.Sort(got)
		slices.Sort(tt.words)
		if diff := cmp.Diff(tt.words, got); diff != "" {
			t.Errorf("%s: words (-want +got):\n%s", tt.Pattern, diff)
		}
		if diff := cmp.Diff(tt.needs, p.prefilter().needs); diff != "" {
			t.Errorf("%s: needs (-want +got):\n%s", tt.Pattern, diff)
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
		n, texts, bytes := p.prefilter(), 0, 0
		if n.whole != nil {
			for _, w := range n.whole.list {
				texts, bytes = max(texts, len(n.whole.list)), bytes+len(w.text)
			}
		}
		for _, clause := range n.needs {
			texts, bytes = max(texts, len(clause)), max(bytes, size(clause))
		}
		if texts > maxLiterals || bytes > max(maxLiteralBytes, len(s)) {
			t.Errorf("%.20s: %d texts in one clause, %d bytes", s, texts, bytes)
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

// The prefilter and the engine agree on every pattern and every text.
func TestPrefilterAgrees(t *testing.T) {
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

// FuzzPrefilter checks that matching with a prefilter always gives the result of the engine.
func FuzzPrefilter(f *testing.F) {
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
		samePattern(t, p, text+strings.Repeat(" ", shortText)+text)
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
		got := fold(s)
		if want := string(folded(first)); got.folded != want || len(got.folded) > len(s) {
			t.Fatalf("%U: got %q, want %q", r, got.folded, want)
		}
		if want := r >= 0x80 && got.folded[0] < 0x80; got.foreign != want {
			t.Fatalf("%U: foreign is %v", r, got.foreign)
		}
	}
	if got := fold("a\xffb\u017f"); got.folded != "A\xffBS" || !got.foreign {
		t.Errorf("got %+v", got)
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

// A matcher indexes at most maxTexts texts, and none longer than maxText.
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
		t.Error("a text of any length is indexed")
	}
}

// Engines are built only for patterns whose prefilter passes, and at most once.
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
	// panic7\d and panic77\d pass the prefilter.
	if built != 2 {
		t.Errorf("%d engines, want 2", built)
	}
}
