package text

import "testing"

func TestUTF8(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, in, want string }{
		{"empty", "", ""},
		{"plain", "{\"a\": \"é\"}", "{\"a\": \"é\"}"},
		{"a byte order mark", "\uFEFF{}", "{}"},
		{"two marks", "\uFEFF\uFEFF{}", "\uFEFF{}"},
		{"UTF-16, little endian", "\xFF\xFE{\x00\xE9\x00}\x00", "{é}"},
		{"UTF-16, big endian", "\xFE\xFF\x00{\x00\xE9\x00}", "{é}"},
		{"UTF-16 without a mark", "{\x00=\xD8\xA5\xDC}\x00", "{💥}"},
		{"UTF-16, big endian, without a mark", "\x00{\xD8=\xDC\xA5\x00}", "{💥}"},
		{"half a surrogate pair", "\xFF\xFE{\x00=\xD8}\x00", "{\uFFFD}"},
		{"half a unit", "\xFF\xFE{\x00}", "{\uFFFD"},
		{"only a mark", "\xFF\xFE", ""},
		{"one byte", "{", "{"},
		{"zeros", "\x00\x00{", "\x00\x00{"},
		{"invalid UTF-8", "\xFF{", "\xFF{"},
	}
	for _, tt := range tests {
		if got := string(UTF8([]byte(tt.in))); got != tt.want {
			t.Errorf("%s: got %q, want %q", tt.name, got, tt.want)
		}
	}
}
