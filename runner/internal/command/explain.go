package command

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/org/foreman-action/internal/sanitize"
	"github.com/org/foreman-action/rules"
)

// maxWhy is the maximum length of an answer in bytes. It is below the policy's limit, because
// people read the answer.
const maxWhy = 30_000

// Explain renders why each rule fires or not. The text has at most about half of room characters.
// Rules that do not listen to the event are only counted.
func Explain(list []rules.RuleWhy, room int) string {
	if len(list) == 0 {
		return "There are no rules."
	}
	room = min(room/2, maxWhy) // neutralizing the text makes it longer
	var head, b strings.Builder
	fires, unlistening, cut := 0, 0, 0
	for _, r := range list {
		switch r.Outcome {
		case rules.Matched:
			fires++
		case rules.NotListed:
			unlistening++
			continue
		case rules.False, rules.Later, rules.Cut, rules.Failed, rules.Unknown, rules.Undecided:
		}
		text := ruleText(r)
		if cut > 0 || b.Len()+len(text) > room {
			cut++
			continue
		}
		b.WriteString(text)
	}
	fmt.Fprintf(&head, "If this issue were opened now, %d of %d rules would fire.\n", fires, len(list))
	if b.Len() > 0 {
		fmt.Fprintf(&head, "\n<details><summary>Why</summary>\n\n%s\n\n</details>\n", sanitize.Fence(b.String(), ""))
	}
	if unlistening > 0 {
		fmt.Fprintf(&head, "\nNot listening to newly opened issues: %d.\n", unlistening)
	}
	if cut > 0 {
		fmt.Fprintf(&head, "\nRules not listed here: %d; `foreman rules explain` shows them.\n", cut)
	}
	return head.String()
}

// ruleText explains one rule.
func ruleText(r rules.RuleWhy) string {
	var b strings.Builder
	sign, why := "-", "does not fire"
	switch r.Outcome {
	case rules.Failed:
		sign, why = "!", "fails, so it does nothing: "+line(r.Error)
	case rules.Unknown:
		sign, why = "?", "is unknown, so it does nothing: "+line(r.Error)
	case rules.Undecided:
		sign, why = "?", "is undecided: "+line(r.Error)
	case rules.Matched:
		sign, why = "+", "fires"
	case rules.Cut:
		why = "does not fire: an earlier rule stops"
	case rules.NotListed, rules.False, rules.Later:
	}
	fmt.Fprintf(&b, "%s %s  %s\n", sign, r.ID, why)
	if r.Why != nil {
		for depth, part := range r.Why.All() {
			if depth < maxWhyDepth {
				fmt.Fprintf(&b, "%s%s  %s\n", strings.Repeat("  ", depth+1), line(part.Shown()), line(part.Text))
			}
		}
	}
	return b.String()
}

// maxWhyDepth is the maximum depth of a condition that is shown, and maxWhyLine the maximum number
// of characters in a line.
const (
	maxWhyDepth = 6
	maxWhyLine  = 200
)

// line returns a text as one line, shortened if it is too long.
func line(s string) string {
	s = strings.Join(strings.Fields(s), " ")
	if utf8.RuneCountInString(s) <= maxWhyLine {
		return s
	}
	return string([]rune(s)[:maxWhyLine]) + "…"
}
