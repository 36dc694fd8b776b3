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

// proposals contains the words of each type of action in a proposal: alone, and before the names that
// the action would write. The words must not make an agent take the proposal for an answer.
var proposals = map[string]struct{ alone, with string }{
	protocol.ActionAddLabel:        {"a label", "label"},
	protocol.ActionAddLabels:       {"a label", "label"},
	protocol.ActionRemoveLabel:     {"to take off a label", "to take off the label"},
	protocol.ActionComment:         {alone: "a reply"},
	protocol.ActionUpdateComment:   {alone: "a reply"},
	protocol.ActionHideComment:     {alone: "to hide an earlier post"},
	protocol.ActionCloseIssue:      {"to close it", "to close it as"},
	protocol.ActionMarkDuplicate:   {"to close it as a duplicate", "to close it as a duplicate of issue"},
	protocol.ActionReopenIssue:     {alone: "to reopen it"},
	protocol.ActionAssign:          {"to assign people", "to assign"},
	protocol.ActionUnassign:        {"to unassign people", "to unassign"},
	protocol.ActionSetMilestone:    {"a milestone", "the milestone"},
	protocol.ActionRemoveMilestone: {alone: "to remove the milestone"},
	protocol.ActionSetType:         {"a type", "the type"},
	protocol.ActionLock:            {"to lock it", "to lock it as"},
	protocol.ActionUnlock:          {alone: "to unlock it"},
	protocol.ActionReact:           {"a reaction", "the reaction"},
	protocol.ActionNeverAgain:      {"never to set a label", "never to set the label"},
	protocol.ActionRequestReview:   {"to request a review", "to request a review by"},
}

// proposed returns the text of a proposed action. A comment is only "a reply": its key is left out, as
// in [phrase].
func proposed(a Action) string {
	words, known := proposals[a.Type]
	switch {
	case !known:
		return "the action " + name(a.Type)
	case words.with == "" || len(a.Values) == 0:
		return words.alone
	}
	if spec, _ := protocol.SpecOf(a.Type); spec.AddsLabels() && len(a.Values) > 1 {
		words.with = "labels"
	}
	return words.with + " " + quoteAll(a.Values)
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
