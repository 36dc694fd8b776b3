// Package text contains small text operations that several packages share: shortening for messages,
// and comparing names without regard to case.
package text

import "strings"

// Quoted is how many characters of untrusted text a message quotes.
const Quoted = 40

// Quote returns s, shortened to at most [Quoted] characters.
func Quote(s string) string { return Shorten(s, Quoted) }

// Fold returns s with its case removed: names that differ only in case have the same result. That
// includes letters such as the long s, whose upper case is S.
func Fold(s string) string { return strings.ToLower(strings.ToUpper(s)) }

// HeadingKey returns a heading for comparison: in lower case, with single spaces.
func HeadingKey(s string) string { return strings.ToLower(strings.Join(strings.Fields(s), " ")) }

// LowerASCII returns s with the letters A to Z in lower case, like the function lower of the databases.
func LowerASCII(s string) string {
	return strings.Map(func(r rune) rune {
		if 'A' <= r && r <= 'Z' {
			return r + 'a' - 'A'
		}
		return r
	}, s)
}
