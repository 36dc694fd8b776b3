package secret

import (
	"slices"
	"strings"
)

// MinLength is the minimum length of a secret, in bytes. Tokens and signatures are far longer; only
// secrets that people choose are short. A password of four letters should be hidden, even though
// this makes a text with these letters harder to read. Texts of up to three letters occur in almost
// every sentence.
const MinLength = 4

// mask replaces a secret.
const mask = "***"

// Redact replaces every secret in a text. It ignores secrets shorter than [MinLength]. A secret may
// contain another one.
func Redact(text string, secrets ...string) string {
	longestFirst := slices.SortedStableFunc(slices.Values(secrets), func(a, b string) int { return len(b) - len(a) })
	for _, s := range longestFirst {
		if len(s) >= MinLength {
			text = strings.ReplaceAll(text, s, mask)
		}
	}
	return text
}
