package runner

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/org/foreman-action/internal/sanitize"
	"github.com/org/foreman-action/protocol"
	"github.com/org/foreman-action/rules"
	"github.com/org/foreman-action/rules/facts"
)

// answer adds the one comment that answers an order.
func (d *Decision) answer(to order, text string) error {
	return d.add(protocol.ActionComment, map[string]any{"body": strings.TrimSpace(text)}, to.source())
}

// answers reports whether the step is what its command is answered with: it does not
// use up what other steps may write.
func (s *Step) answers() bool {
	return s.Source.Command != "" && (s.Action.Type == protocol.ActionComment || s.Action.Type == protocol.ActionReact)
}

// answerWhy adds the explanation of every rule to a decision.
func (w *work) answerWhy(d *Decision, facts facts.Facts) error {
	facts = w.factsAsOpened(facts)
	return d.answer(commandWhy, whyText(w.c.Rules.Explain(facts), w.c.Policy.MaxLength()))
}

// maxWhy bounds an answer, in bytes, whatever the policy allows: people read it.
const maxWhy = 30_000

// whyText tells of each rule why it fires or not, as far as there is room: rules that
// do not listen are only counted.
func whyText(list []rules.RuleWhy, room int) string {
	if len(list) == 0 {
		return "There are no rules."
	}
	room = min(room/2, maxWhy) // making it harmless takes room too
	var head, b strings.Builder
	fires, deaf, cut := 0, 0, 0
	for _, r := range list {
		switch r.Outcome {
		case rules.Matched:
			fires++
		case rules.NotListed:
			deaf++
			continue
		case rules.False, rules.Cut, rules.Unreached:
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
	if deaf > 0 {
		fmt.Fprintf(&head, "\nNot listening to newly opened issues: %d.\n", deaf)
	}
	if cut > 0 {
		fmt.Fprintf(&head, "\nThere was no room for %d more; `foreman rules explain` shows them.\n", cut)
	}
	return head.String()
}

// ruleText explains one rule.
func ruleText(r rules.RuleWhy) string {
	var b strings.Builder
	sign, why := "-", "does not fire"
	switch {
	case r.Error != "":
		sign, why = "!", "fails, so no rule acts: "+line(r.Error)
	case r.Outcome == rules.Matched:
		sign, why = "+", "fires"
	case r.Outcome == rules.Cut:
		why = "does not fire: an earlier rule stops"
	case r.Outcome == rules.Unreached:
		why = "was not reached: an earlier rule fails"
	}
	fmt.Fprintf(&b, "%s %s  %s\n", sign, r.ID, why)
	if r.Why != nil {
		writeWhy(&b, *r.Why, 1)
	}
	return b.String()
}

// maxWhyDepth bounds how deep a condition is shown, maxWhyLine the characters of a line.
const (
	maxWhyDepth = 6
	maxWhyLine  = 200
)

// writeWhy writes a part of a condition and its parts; what was not reached stands in
// brackets.
func writeWhy(b *strings.Builder, w rules.Why, depth int) {
	value := w.Value
	if w.Error != "" {
		value = "! " + w.Error
	}
	if w.Idle {
		value = "(" + value + ")"
	}
	fmt.Fprintf(b, "%s%s  %s\n", strings.Repeat("  ", depth), line(value), line(w.Text))
	if depth == maxWhyDepth {
		return
	}
	for _, part := range w.Parts {
		writeWhy(b, part, depth+1)
	}
}

// line is a text on one line that is not too long.
func line(s string) string {
	s = strings.Join(strings.Fields(s), " ")
	if utf8.RuneCountInString(s) <= maxWhyLine {
		return s
	}
	return string([]rune(s)[:maxWhyLine]) + "…"
}
