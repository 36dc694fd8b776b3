package text

import (
	"strings"
	"testing"
	"testing/quick"
)

func TestMatchLabel(t *testing.T) {
	t.Parallel()
	tests := []struct {
		pattern, name string
		want          bool
	}{
		{"", "", true},
		{"", "a", false},
		{"*", "", true},
		{"*", "a/b", true},
		{"area/*", "AREA/net/tcp", true},
		{"area/*", "area", false},
		{"area/*", "area/", true},
		{"*bug", "kind/Bug", true},
		{"*bug", "bugs", false},
		{"a*b*c", "aXbYc", true},
		{"a*b*c", "abc", true},
		{"a*b*c", "acb", false},
		{"a*a", "a", false},
		{"ab*ba", "aba", false},
		{"a**b", "ab", true},
		{"*a*", "bab", true},
		{"kind", "kind/bug", false},
		{"a?", "ab", false},
		{"a?", "A?", true},
		{"[a]", "a", false},
		{"[Type] Bug", "[type] bug", true},
		{"[Type] *", "[Type] Feature", true},
		{"[Type] *", "T Feature", false},
		{`a\*`, "a*", false},
		{`a\*`, `a\b`, true},
		{"[unclosed", "[Unclosed", true},
		{"É*", "éa", true},
		{"caf\u00e9", "Cafe\u0301", true},
		{"cafe\u0301*", "caf\u00e9 noir", true},
		{"café*", "cafe noir", false},
		{"ﬁx", "fix", false}, // compatible letters are different names
		{strings.Repeat("🔥", 50), strings.Repeat("🔥", 50), true},
		{strings.Repeat("*🔥", 50), strings.Repeat("🔥", 49), false},
		{strings.Repeat("a*", 20_000) + "b", strings.Repeat("a", 65_536), false},
	}
	for _, tt := range tests {
		if got := MatchLabel(tt.pattern, tt.name); got != tt.want {
			t.Errorf("MatchLabel(%.20q, %.20q): got %v, want %v", tt.pattern, tt.name, got, tt.want)
		}
	}
}

// slowMatch is a slow reference implementation of [MatchLabel] for letters in lower case.
func slowMatch(pattern, s string) bool {
	switch {
	case pattern == "":
		return s == ""
	case pattern[0] == '*':
		return slowMatch(pattern[1:], s) || s != "" && slowMatch(pattern, s[1:])
	}
	return s != "" && s[0] == pattern[0] && slowMatch(pattern[1:], s[1:])
}

func TestMatchLabelAgreesWithItsDefinition(t *testing.T) {
	t.Parallel()
	letters := func(n uint32, alphabet string) string {
		var b strings.Builder
		for ; n > 0 && b.Len() < 8; n /= uint32(len(alphabet)) {
			b.WriteByte(alphabet[n%uint32(len(alphabet))])
		}
		return b.String()
	}
	same := func(a, b uint32) bool {
		pattern, s := letters(a, "ab*"), letters(b, "ab")
		return MatchLabel(pattern, s) == slowMatch(pattern, s)
	}
	if err := quick.Check(same, &quick.Config{MaxCount: 20_000}); err != nil {
		t.Error(err)
	}
}

// FuzzMatchLabel checks that a name always matches itself, as a pattern and beside "*".
func FuzzMatchLabel(f *testing.F) {
	for _, name := range []string{"", "*", "[Type] Bug", `\`, "a?", "e\u0301", "\u0345\u0301", "İ", "ß", "\xff", "K"} {
		f.Add(name)
	}
	f.Fuzz(func(t *testing.T, name string) {
		if !MatchLabel(name, name) || !MatchLabel("*", name) || !SameLabel(name, name) {
			t.Errorf("%q does not match itself", name)
		}
		if once := LabelKey(name); LabelKey(once) != once {
			t.Errorf("the key of %q is not stable", name)
		}
	})
}
