package text

import (
	"strings"
	"testing"
	"unicode/utf8"
)

// TestQuote checks that a quote has at most Quoted characters, including the "…".
func TestQuote(t *testing.T) {
	t.Parallel()
	for n, want := range map[int]int{1: 1, Quoted: Quoted, Quoted + 1: Quoted, 100: Quoted} {
		if got := utf8.RuneCountInString(Quote(strings.Repeat("ä", n))); got != want {
			t.Errorf("quote %d characters: got %d, want %d", n, got, want)
		}
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
