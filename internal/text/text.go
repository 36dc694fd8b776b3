// Package text contains small text operations that several packages share: shortening for messages,
// and comparing names without regard to case.
package text

import "strings"

// Quoted is how many characters of untrusted text a message quotes.
const Quoted = 40

// Clip returns the first n characters of s, followed by "…" if it drops any. In invalid UTF-8, each
// bad byte counts as a character.
func Clip(s string, n int) string {
	if len(s) <= n {
		return s
	}
	count := 0
	for i := range s {
		if count == n {
			return s[:i] + "…"
		}
		count++
	}
	return s
}

// Quote returns s cut to [Quoted] characters.
func Quote(s string) string { return Clip(s, Quoted) }

// Fold returns s with its case removed: names that differ only in case have the same result. That
// includes letters such as the long s, whose upper case is S.
func Fold(s string) string { return strings.ToLower(strings.ToUpper(s)) }
