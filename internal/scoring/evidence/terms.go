package evidence

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// stopWords are not terms of a title. Verbs are not in the list.
var stopWords = strings.Fields(`the and for with from into onto this that these those are was were has have had not but
	you your our its when where what which who why how can could should would will shall may might must about after before
	all any some each more most other than then there here via per use using`)

// Terms returns the words of a title in lower case, without stop words and repetitions, in their
// order.
func Terms(title string) []string {
	const shortest = 3
	var terms []string
	for _, w := range words(title) {
		if utf8.RuneCountInString(w) >= shortest && !slices.Contains(stopWords, w) && !slices.Contains(terms, w) {
			terms = append(terms, w)
		}
	}
	return terms
}

// words returns the words of a text in lower case. A word consists of letters and digits.
func words(s string) []string {
	return strings.FieldsFunc(strings.ToLower(s), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !unicode.IsMark(r) })
}

// HasPhrase reports whether a text has the words of a phrase in a row.
func HasPhrase(s, phrase string) bool {
	want := strings.Join(words(phrase), " ")
	return want != "" && strings.Contains(" "+strings.Join(words(clip(s)), " ")+" ", " "+want+" ")
}

// HasLabel reports whether one of the labels matches one of the names. A label may have a prefix
// or suffix: "Type: good-first-issue" matches "good first issue". Negated labels do not match, such
// as "not a bug".
func HasLabel(labels []string, names ...string) bool {
	for _, l := range labels {
		w := words(l)
		if len(w) == 0 || slices.Contains(w, "not") || slices.Contains(w, "no") {
			continue
		}
		spaced := " " + strings.Join(w, " ") + " "
		for _, name := range names {
			if strings.Contains(spaced, " "+strings.Join(words(name), " ")+" ") {
				return true
			}
		}
	}
	return false
}
