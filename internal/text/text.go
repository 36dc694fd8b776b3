// Package text has the small operations on text that the packages above share: cutting
// for messages and comparing names without regard to case.
package text

import "strings"

// Quoted is how many characters of untrusted text a message quotes.
const Quoted = 40

// Clip returns s cut to at most n characters, with "…" in place of the rest. Text that is
// not UTF-8 counts a character for each bad byte.
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

// Fold returns s in folded case: names that differ only in case have the same result, also with
// letters such as the long s, whose upper case is S.
func Fold(s string) string { return strings.ToLower(strings.ToUpper(s)) }
