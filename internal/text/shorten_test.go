package text

import (
	"testing"
)

func TestShorten(t *testing.T) {
	t.Parallel()
	tests := []struct {
		s    string
		n    int
		want string
	}{
		{"", 3, ""},
		{"abc", 3, "abc"},
		{"abcd", 3, "ab…"},
		{"ééé", 3, "ééé"},
		{"éééé", 3, "éé…"},
		{"a", 1, "a"},
		{"ab", 1, "…"},
		{"\xff\xffa", 3, "\xff\xffa"},
		{"\xff\xffabc", 3, "\xff\xff…"},
	}
	for _, tt := range tests {
		if got := Shorten(tt.s, tt.n); got != tt.want {
			t.Errorf("Shorten(%q, %d): got %q, want %q", tt.s, tt.n, got, tt.want)
		}
	}
}

func TestPlain(t *testing.T) {
	t.Parallel()
	tests := []struct{ in, want string }{
		{"abc", "abc"},
		{"a\nb\r\tc\x00\x1b[0m", "abc[0m"},
		{"a\u202eb\u200bc\u2028d\xff", "abc\u2028d"},
		{"0123456789x", "0123456789"},
		{"éééééééééééé", "éééééééééé"},
	}
	for _, tt := range tests {
		if got := Plain(tt.in, 10); got != tt.want {
			t.Errorf("Plain(%q): got %q, want %q", tt.in, got, tt.want)
		}
	}
}

func TestPosition(t *testing.T) {
	t.Parallel()
	const s = "äb\ncdé\n"
	for offset, want := range map[int][2]int{0: {1, 1}, 2: {1, 2}, 3: {1, 3}, 4: {2, 1}, 8: {2, 4}, 9: {3, 1}} {
		line, col := Position(s, offset)
		if got := [2]int{line, col}; got != want {
			t.Errorf("position %d: got %v, want %v", offset, got, want)
		}
	}
}
