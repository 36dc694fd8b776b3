package match

import (
	"math/rand/v2"
	"regexp/syntax"
	"strings"
	"testing"

	"github.com/org/foreman-action/rules/internal/cost"
)

func TestPatternCost(t *testing.T) {
	t.Parallel()
	tests := []struct {
		Pattern  string
		min, max int
	}{
		{`docker-compose`, 3, 4},
		{`(?i)\b(panic|segfault|stack ?trace)\b`, 15, 25},
		{`(?im)^### Version\s+v?77\.\d+`, 12, 23},
		{`[0-9a-f]{40}`, 42, 44},
		{`\b[0-9a-f]{40}\b`, 5, 8},
		{`\b([0-9a-f]{40})\b`, 7, 10},
		{`_[0-9a-f]{40}`, 4, 6},
		{`f[0-9a-f]{40}`, 43, 46},
		{`\b[0-9 ]{40}`, 43, 46},
		{`\B[0-9]{40}`, 43, 46},
		{`(?i)K[^k]{40}`, 4, 6},
		{`^.{0,200}z`, 5, 8},
		{`(?m)^abc.{0,50}z`, 6, 10},
		{`(?m)^abc\n?.{0,50}z`, 40, 120},
		{`(?m)^(a|abc)[^x]{50}z`, 50, 80},
		{`abc.{0,60}z`, 44, 48},
		{`aaa.{0,60}z`, 120, 140},
		{`(a?){500}`, 1500, 2010},
		{`((((a?)?)?)?){60}z`, 700, 900},
		{`(?i)` + strings.Repeat("a", 1600), 3200, 3205},
		{`(?i)` + strings.Repeat("Ab", 50), 100, 105},
	}
	for _, tt := range tests {
		p, err := NewPattern(tt.Pattern)
		if err != nil {
			t.Errorf("%s: %v", tt.Pattern, err)
			continue
		}
		if p.Cost < tt.min || p.Cost > tt.max {
			t.Errorf("%.60s: got cost %d, want %d to %d", tt.Pattern, p.Cost, tt.min, tt.max)
		}
	}
}

func TestPeriod(t *testing.T) {
	t.Parallel()
	tests := []struct {
		literal          string
		period, overlaps int
	}{
		{"a", 1, 0},
		{"ab", 2, 1},
		{"aa", 1, 1},
		{"aaa", 1, 2},
		{"abab", 2, 2},
		{"abcab", 3, 2},
		{"(?i)aBAb", 2, 2},
		{"(?i)k\u212a", 1, 1},
	}
	for _, tt := range tests {
		re, err := syntax.Parse(tt.literal, syntax.Perl)
		if err != nil {
			t.Fatal(err)
		}
		if p, o := period(re), overlaps(re); p != tt.period || o != tt.overlaps {
			t.Errorf("%s: got period %d and %d overlaps, want %d and %d", tt.literal, p, o, tt.period, tt.overlaps)
		}
	}
}

// BenchmarkSlowPatterns measures patterns of the highest allowed cost on their slowest texts. None
// may take more than 50 ms.
func BenchmarkSlowPatterns(b *testing.B) {
	for _, bb := range []struct{ Pattern, text string }{
		{`[0-9a-f]{100}`, strings.Repeat("a", 99) + " "},
		{`(?i)` + strings.Repeat("a", 57) + "0", "a"},
		{`a.{0,50}0`, "a"},
		{`((((a?)?)?)?){8}z`, "a"},
		{`(.?.?.?.?.?){9}0`, "a"},
		{`\b[0-9a-f]{40}\b`, strings.Repeat("a", 39) + " "},
	} {
		p, err := NewPattern(bb.Pattern)
		if err != nil {
			b.Fatal(err)
		}
		if p.Cost > cost.MaxStates {
			b.Fatalf("%s has cost %d", bb.Pattern, p.Cost)
		}
		text := strings.Repeat(bb.text, cost.LongestText/len(bb.text))
		b.Run(bb.Pattern, func(b *testing.B) {
			for b.Loop() {
				p.engine().MatchString(text)
			}
		})
	}
}

// visited simulates a compiled pattern on a text, with a new match starting at each character. It
// returns the largest number of states visited for one character.
func visited(prog *syntax.Prog, text []rune) int {
	most, at := 0, map[uint32]bool{}
	for i := 0; i <= len(text); i++ {
		before, after := rune(-1), rune(-1)
		if i > 0 {
			before = text[i-1]
		}
		if i < len(text) {
			after = text[i]
		}
		next, now, seen := map[uint32]bool{}, syntax.EmptyOpContext(before, after), map[uint32]bool{}
		var add func(pc uint32)
		add = func(pc uint32) {
			if seen[pc] {
				return
			}
			seen[pc] = true
			switch in := prog.Inst[pc]; in.Op {
			case syntax.InstAlt, syntax.InstAltMatch:
				add(in.Out)
				add(in.Arg)
			case syntax.InstCapture, syntax.InstNop:
				add(in.Out)
			case syntax.InstEmptyWidth:
				if syntax.EmptyOp(in.Arg)&^now == 0 {
					add(in.Out)
				}
			case syntax.InstRune, syntax.InstRune1, syntax.InstRuneAny, syntax.InstRuneAnyNotNL:
				if after >= 0 && in.MatchRune(after) {
					next[in.Out] = true
				}
			case syntax.InstMatch, syntax.InstFail:
			}
		}
		for pc := range at {
			add(pc)
		}
		add(uint32(prog.Start))
		most, at = max(most, len(seen)), next
	}
	return most
}

// The cost is an upper bound of the states that an engine visits, on slow texts and on random ones.
func TestCostBoundsTheWork(t *testing.T) {
	t.Parallel()
	patterns := []string{
		`a`, `ab`, `aab`, `aaaa`, `(?i)aBab`, `abab.{0,9}b`, `aab.{5}b`, `aa.{0,8}b`, `a.{8}b`, `\ba{9}b`, `\b[ab]{2,9}\b`, `\b[ab ]{9}`,
		`(?m)^a?b.{0,9}b`, `(?m)^(a|ab|abab).{0,12}z`, `(?m)^a\nb.{9}z`, `(?m)^a[ab\n]{9}z`, `^(a|ab).{9}z`, `\n[ab]{9}z`, ` [ab]{9}`, ` [ab ]{9}`,
		`(a|b|ab|ba)*z`, `((((a?)?)?)?){6}z`, `(a?b?){9}z`, `(ab|aa){7}`, `(?:^a[ab]{9})+`, `(?:\b(a{6}))*`, `a+b+a+b+`, `(?:aab|bba.{4}){3}`,
		`(b[a]{9})`, `(a){9}`, `((a)){1,9}b`, `(?:b|a)[a]{9}`, `b?[a]{9}`, `(b)a{9}`, `(?s)b.{0,9}`, `\B[ab]{9}`, `$[ab]{9}`, `(?m)$\n[ab]{9}`, `(?m)^^ab?a?.{7}z`,
	}
	texts := []string{"a", "ab", "aab", "ba", "a ", "ab ", " a", "a\n", "ab\n", "abab\n", "aaaaaaaaa ", "abababababababa\n", "baaaaaaaaa", "A"}
	random := rand.New(rand.NewPCG(1, 2))
	for range 60 {
		var b strings.Builder
		for range 60 {
			b.WriteByte("aaaabbbb \n"[random.IntN(10)])
		}
		texts = append(texts, b.String())
	}
	for _, s := range patterns {
		p, err := NewPattern(s)
		if err != nil {
			t.Fatal(err)
		}
		re, err := syntax.Parse(s, syntax.Perl)
		if err != nil {
			t.Fatal(err)
		}
		prog, err := syntax.Compile(re.Simplify())
		if err != nil {
			t.Fatal(err)
		}
		most := 0
		for _, text := range texts {
			most = max(most, visited(prog, []rune(strings.Repeat(text, 1+60/len(text)))))
		}
		if most > p.Cost {
			t.Errorf("%q goes through %d states, its cost is %d", s, most, p.Cost)
		}
	}
}
