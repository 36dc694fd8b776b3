// Package similarity compares texts by their words.
package similarity

import (
	"strings"
	"unicode"
)

const (
	maxWords  = 2000 // words of a text that are compared
	leastWord = 3    // characters; shorter words are ignored
)

// Of returns the Jaccard similarity of the texts' words: the number of words in both texts, divided
// by the number of words in either. It is from 0 to 1.
func Of(a, b string) float64 {
	one, other := wordSet(a), wordSet(b)
	both := 0
	for w := range one {
		if other[w] {
			both++
		}
	}
	all := len(one) + len(other) - both
	if all == 0 {
		return 0
	}
	return float64(both) / float64(all)
}

// wordSet returns the words of a text in lower case.
func wordSet(s string) map[string]bool {
	set := map[string]bool{}
	for w := range strings.FieldsFuncSeq(strings.ToLower(s), func(c rune) bool { return !unicode.IsLetter(c) && !unicode.IsDigit(c) }) {
		if len(set) == maxWords {
			break
		}
		if len([]rune(w)) >= leastWord {
			set[w] = true
		}
	}
	return set
}
