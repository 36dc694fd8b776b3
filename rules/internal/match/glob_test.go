package match

import (
	"strings"
	"testing"
	"testing/quick"
)

func TestGlobMatch(t *testing.T) {
	t.Parallel()
	tests := []struct {
		glob, s string
		want    bool
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
		{"[a]", "a", false},
		{"É*", "éa", true},
	}
	for _, tt := range tests {
		if got := Glob(tt.glob, tt.s); got != tt.want {
			t.Errorf("globMatch(%q, %q): got %v, want %v", tt.glob, tt.s, got, tt.want)
		}
	}
}

// slowGlob is a slow reference implementation of [Glob].
func slowGlob(glob, s string) bool {
	switch {
	case glob == "":
		return s == ""
	case glob[0] == '*':
		return slowGlob(glob[1:], s) || s != "" && slowGlob(glob, s[1:])
	}
	return s != "" && s[0] == glob[0] && slowGlob(glob[1:], s[1:])
}

func TestGlobMatchAgreesWithItsDefinition(t *testing.T) {
	t.Parallel()
	letters := func(n uint32, alphabet string) string {
		var b strings.Builder
		for ; n > 0 && b.Len() < 8; n /= uint32(len(alphabet)) {
			b.WriteByte(alphabet[n%uint32(len(alphabet))])
		}
		return b.String()
	}
	same := func(a, b uint32) bool {
		glob, s := letters(a, "ab*"), letters(b, "ab")
		return Glob(glob, s) == slowGlob(glob, s)
	}
	if err := quick.Check(same, &quick.Config{MaxCount: 20_000}); err != nil {
		t.Error(err)
	}
}
