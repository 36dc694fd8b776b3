package text

import (
	"strings"
	"testing"
	"unicode/utf8"
)

func TestClip(t *testing.T) {
	t.Parallel()
	tests := []struct {
		in   string
		n    int
		want string
	}{
		{"", 0, ""},
		{"abc", 3, "abc"},
		{"abcd", 3, "abc…"},
		{"äöü", 3, "äöü"},
		{"äöüß", 3, "äöü…"},
		{"a", 0, "…"},
		{"\xff\xffabc", 3, "\xff\xffa…"},
	}
	for _, tt := range tests {
		if got := Clip(tt.in, tt.n); got != tt.want {
			t.Errorf("Clip(%q, %d): got %q, want %q", tt.in, tt.n, got, tt.want)
		}
	}
	if n := utf8.RuneCountInString(Quote(strings.Repeat("ä", 100))); n != Quoted+1 {
		t.Errorf("Quote returns %d characters, want %d", n, Quoted+1)
	}
}

func TestFold(t *testing.T) {
	t.Parallel()
	for _, pair := range [][2]string{{"Bug", "bUG"}, {"ſ", "s"}, {"Ärger", "äRGER"}, {"K", "k"}} {
		if Fold(pair[0]) != Fold(pair[1]) {
			t.Errorf("%q and %q differ: %q, %q", pair[0], pair[1], Fold(pair[0]), Fold(pair[1]))
		}
	}
	if Fold("a") == Fold("b") {
		t.Error("a and b are equal")
	}
}
