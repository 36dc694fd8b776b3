package memory

import (
	"cmp"
	"fmt"
	"strings"
	"unicode"

	"github.com/org/foreman-action/internal/text"
	"github.com/org/foreman-action/protocol"
)

// past returns the verb of a type of action without the names that it wrote. No other place writes
// "commented".
func past(typ string) string {
	if typ == fadedType {
		return "replied"
	}
	spec, _ := protocol.SpecOf(typ)
	return cmp.Or(spec.Past, "did something else")
}

// phrase returns the text of an action: its verb, with the names that it wrote.
func phrase(a Action) string {
	spec, _ := protocol.SpecOf(a.Type)
	switch {
	case len(a.Values) == 0 || a.Type == fadedType:
	case spec.With != "":
		return spec.With + " " + quoteAll(a.Values)
	case spec.Past == "":
		return "did " + name(a.Type)
	}
	return past(a.Type)
}

// maxNames is the most names of one action that are shown. maxName is the most characters of a
// name.
const (
	maxNames = 10
	maxName  = 60
)

func quoteAll(names []string) string {
	var b strings.Builder
	for i, s := range names[:min(len(names), maxNames)] {
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(quote(s))
	}
	if more := len(names) - maxNames; more > 0 {
		fmt.Fprintf(&b, " and %d more", more)
	}
	return b.String()
}

// name returns s unchanged if it is a plain word, and otherwise quoted.
func name(s string) string {
	plain := s != "" && len(s) <= maxName && !latch().MatchString(s) && strings.IndexFunc(s, func(r rune) bool {
		return r > unicode.MaxASCII || !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("-_./", r)
	}) < 0
	if plain {
		return s
	}
	return quote(s)
}

// latch finds the words of the phrases that make published agents skip an issue.
var latch = text.Regexp(`(?i)comment|respond`)

// quote returns s in single quotes on one line, cut to maxName characters. It escapes unprintable
// characters, quotes and backslashes, and one letter of each word that agents look for.
func quote(s string) string {
	var b strings.Builder
	n := 0
	for _, r := range s {
		if n++; n > maxName {
			b.WriteString("…")
			break
		}
		if r == '\'' || r == '\\' || !unicode.IsPrint(r) {
			fmt.Fprintf(&b, `\u%04x`, r)
		} else {
			b.WriteRune(r)
		}
	}
	// Such a word may begin with the last digit of an escape, as in \u005comment.
	safe := latch().ReplaceAllStringFunc(b.String(), func(word string) string {
		e := strings.IndexAny(word, "eE")
		return fmt.Sprintf(`%s\u%04x%s`, word[:e], word[e], word[e+1:])
	})
	return "'" + safe + "'"
}
