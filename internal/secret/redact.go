package secret

import (
	"slices"
	"strings"
)

// MinLength is the length in bytes from which a text counts as a secret. Tokens and signatures
// are far longer; the short ones are those that people choose, and a password of four letters
// had better not be shown, even though it makes a text that happens to contain it harder to
// read. Texts of up to three letters are in almost every sentence.
const MinLength = 4

// mask replaces a secret.
const mask = "***"

// Redact replaces every secret in a text that others wrote, and ignores those that are shorter
// than [MinLength]. A secret may contain another one.
func Redact(text string, secrets ...string) string {
	longestFirst := slices.SortedStableFunc(slices.Values(secrets), func(a, b string) int { return len(b) - len(a) })
	for _, s := range longestFirst {
		if len(s) >= MinLength {
			text = strings.ReplaceAll(text, s, mask)
		}
	}
	return text
}
