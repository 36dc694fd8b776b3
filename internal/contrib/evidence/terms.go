package evidence

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// stopWords do not count as terms of a title. Verbs do.
var stopWords = strings.Fields(`the and for with from into onto this that these those are was were has have had not but
	you your our its when where what which who why how can could should would will shall may might must about after before
	all any some each more most other than then there here via per use using`)

// Terms returns the words of a title that are not stop words: in lower case, each once, in their
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

// words returns the words of a text in lower case: letters and digits in a row.
func words(s string) []string {
	return strings.FieldsFunc(strings.ToLower(s), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !unicode.IsMark(r) })
}

// HasPhrase reports whether a text has the words of a phrase in a row.
func HasPhrase(s, phrase string) bool {
	want := strings.Join(words(phrase), " ")
	return want != "" && strings.Contains(" "+strings.Join(words(clip(s)), " ")+" ", " "+want+" ")
}

// HasLabel reports whether one of an issue's labels has one of these names, also with a group
// before it or something after it: "good first issue" is "Type: good-first-issue". Labels
// that deny something, such as "not a bug", do not count.
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
