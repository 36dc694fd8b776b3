// Package similarity compares texts by their words, or by pairs of characters in scripts without
// spaces between words.
package similarity

import (
	"iter"
	"strings"
	"unicode"
	"unicode/utf8"
)

const (
	maxWords  = 2000 // words and pairs of a text that are compared
	leastWord = 3    // characters; shorter words are ignored
)

// Of returns the Jaccard similarity of the texts' words: the number of words in both texts, divided
// by the number of words in either. It is from 0 to 1. In scripts that are written without spaces,
// each pair of neighbouring characters counts as a word.
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

// wordSet returns the words and pairs of a text in lower case.
func wordSet(s string) map[string]bool {
	set := map[string]bool{}
	for run := range runs(strings.ToLower(s)) {
		first, size := utf8.DecodeRuneInString(run)
		switch {
		case !unspaced(first):
			if utf8.RuneCountInString(run) >= leastWord {
				set[run] = true
			}
		case size == len(run):
			set[run] = true
		default:
			for start, end := 0, size; end < len(run) && len(set) < maxWords; {
				_, n := utf8.DecodeRuneInString(run[end:])
				set[run[start:end+n]] = true
				start, end = end, end+n
			}
		}
		if len(set) >= maxWords {
			break
		}
	}
	return set
}

// runs returns the words of a text, and the runs of characters of unspaced scripts.
func runs(s string) iter.Seq[string] {
	return func(yield func(string) bool) {
		start, kind := 0, 0
		for i, c := range s {
			next := kindOf(c)
			if next == kind {
				continue
			}
			if kind != 0 && !yield(s[start:i]) {
				return
			}
			start, kind = i, next
		}
		if kind != 0 {
			yield(s[start:])
		}
	}
}

// kindOf returns 2 for a character of an unspaced script, 1 for another character of a word, and 0
// for any other character.
func kindOf(c rune) int {
	switch {
	case unspaced(c):
		return 2
	case unicode.IsLetter(c), unicode.IsDigit(c):
		return 1
	}
	return 0
}

// unspaced reports whether a character belongs to a script that is written without spaces between
// words. Unicode assigns the sign for long vowels to no script.
func unspaced(c rune) bool {
	return c >= 0x0e00 && (c == 'ー' || c == 'ｰ' ||
		unicode.In(c, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar))
}
