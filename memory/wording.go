package memory

import (
	"fmt"
	"regexp"
	"strings"
	"unicode"

	"github.com/org/foreman-action/protocol"
)

// A verb is the text of one type of action in a summary.
type verb struct {
	past string                               // the verb without values, as in "commented"
	with func(past string, v []string) string // with the action's values; nil: past alone
}

// phrase returns the text of an action: the verb with the action's values.
func (v verb) phrase(a Action) string {
	if v.with == nil || len(a.Values) == 0 {
		return v.past
	}
	return v.with(v.past, a.Values)
}

// verbOf returns the verb of a type of action. No other place writes "commented".
func verbOf(typ string) verb {
	as := func(past string, v []string) string { return past + " as " + quoteAll(v) }
	object := func(past string, v []string) string { return past + " " + quoteAll(v) }
	switch typ {
	case protocol.ActionAddLabel, protocol.ActionAddLabels:
		return verb{"labelled", object}
	case protocol.ActionRemoveLabel:
		return verb{"took off a label", func(_ string, v []string) string { return "took off the label " + quoteAll(v) }}
	case protocol.ActionComment, protocol.ActionUpdateComment:
		return verb{"commented", nil}
	case fadedType:
		return verb{"replied", nil}
	case protocol.ActionCloseIssue:
		return verb{"closed", as}
	case protocol.ActionReopenIssue:
		return verb{"reopened", nil}
	case protocol.ActionAssign:
		return verb{"assigned", object}
	case protocol.ActionUnassign:
		return verb{"unassigned", object}
	case protocol.ActionSetMilestone:
		return verb{"set the milestone", object}
	case protocol.ActionRemoveMilestone:
		return verb{"removed the milestone", object}
	case protocol.ActionSetType:
		return verb{"set the type", object}
	case protocol.ActionLock:
		return verb{"locked", as}
	case protocol.ActionUnlock:
		return verb{"unlocked", nil}
	case protocol.ActionReact:
		return verb{"reacted", object}
	case protocol.ActionMarkDuplicate:
		return verb{"closed as a duplicate", func(past string, v []string) string { return past + " of issue " + quoteAll(v) }}
	default:
		return verb{"did something else", func(string, []string) string { return "did " + name(typ) }}
	}
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
	plain := s != "" && len(s) <= maxName && !latch.MatchString(s) && strings.IndexFunc(s, func(r rune) bool {
		return r > unicode.MaxASCII || !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("-_./", r)
	}) < 0
	if plain {
		return s
	}
	return quote(s)
}

// latch finds the words of the phrases that make published agents skip an issue.
var latch = regexp.MustCompile(`(?i)comment|respond`)

// quote returns s in single quotes on one line, cut to maxName characters. It escapes unprintable
// characters, quotes and backslashes, and one letter of each word that agents look for.
func quote(s string) string {
	var b strings.Builder
	b.WriteByte('\'')
	hot := map[int]bool{} // offsets of letters to escape
	for _, m := range latch.FindAllStringIndex(s, -1) {
		hot[m[0]+strings.IndexAny(s[m[0]:m[1]], "eE")] = true
	}
	n := 0
	for i, r := range s {
		if n++; n > maxName {
			b.WriteString("…")
			break
		}
		switch {
		case r == '\'' || r == '\\' || hot[i] || !unicode.IsPrint(r):
			fmt.Fprintf(&b, `\u%04x`, r)
		default:
			b.WriteRune(r)
		}
	}
	b.WriteByte('\'')
	return b.String()
}
