package text

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Shorten returns s with at most n characters. If it drops characters, the last one is "…". In
// invalid UTF-8, each bad byte counts as a character. n must be at least 1.
func Shorten(s string, n int) string {
	if len(s) <= n {
		return s
	}
	count, end := 0, 0 // end is where the first n-1 characters end
	for i := range s {
		switch count {
		case n - 1:
			end = i
		case n:
			return s[:end] + "…"
		}
		count++
	}
	return s
}

// Plain returns s without control characters, formatting characters and invalid UTF-8, truncated to
// at most n characters.
func Plain(s string, n int) string {
	var b strings.Builder
	count := 0
	for _, r := range s {
		if count == n {
			break
		}
		if unicode.IsControl(r) || unicode.Is(unicode.Cf, r) || r == utf8.RuneError {
			continue
		}
		b.WriteRune(r)
		count++
	}
	return b.String()
}

// Position returns the line and the column in characters of a byte offset of s, both
// from 1.
func Position(s string, offset int) (line, col int) {
	before := s[:offset]
	start := strings.LastIndexByte(before, '\n') + 1
	return 1 + strings.Count(before, "\n"), 1 + utf8.RuneCountInString(before[start:])
}
