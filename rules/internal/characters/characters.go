// Package characters cuts and searches texts whose offsets count characters. In invalid UTF-8, each
// bad byte counts as a character.
package characters

import (
	"unicode/utf8"
)

// Slice returns the characters of s from one offset up to another, not included. A negative offset
// counts from the end. Offsets outside of the text mean its start or its end. n is the number of
// characters of s.
func Slice(s string, from, to, n int) string {
	from, to = within(from, n), within(to, n)
	if from >= to {
		return ""
	}
	start := offset(s, from)
	return s[start : start+offset(s[start:], to-from)]
}

// At returns the character of s at an index. A negative index counts from the end. ok is false if
// there is none. n is the number of characters of s.
func At(s string, i, n int) (c string, ok bool) {
	if i < 0 {
		i += n
	}
	if i < 0 || i >= n {
		return "", false
	}
	return Slice(s, i, i+1, n), true
}

// Index returns the index that a function of package strings returns, in characters.
func Index(find func(s, part string) int, s, part string) int {
	i := find(s, part)
	if i < 0 {
		return i
	}
	return utf8.RuneCountInString(s[:i])
}

func within(i, n int) int {
	if i < 0 {
		i += n
	}
	return min(max(i, 0), n)
}

// offset returns the number of bytes of the first n characters.
func offset(s string, n int) int {
	for i := range s {
		if n == 0 {
			return i
		}
		n--
	}
	return len(s)
}
