package proposal

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/org/foreman-action/internal/order"
	"github.com/org/foreman-action/internal/sanitize"
	"github.com/org/foreman-action/internal/text"
	"github.com/org/foreman-action/memory"
	"github.com/org/foreman-action/policy"
	"github.com/org/foreman-action/runner/internal/history"
	"github.com/org/foreman-action/triage"
)

// Key is the key of the sticky comment with the proposals of an issue.
const Key = triage.SuggestionsKey

// MaxComment is the maximum number of characters of the comment. It is below GitHub's limit, so that
// the answers fit, too.
const MaxComment = policy.MaxCommentLength - 4000

// The bounds of the answers in the comment: their number, and the characters that describe an action.
const (
	maxAnswered = 20
	maxWords    = 300
)

// A View is how the comment is rendered.
type View struct {
	// Boxes means that people can tick boxes. Without them, they can only write commands.
	Boxes bool
	// Text is the [TextDigest] of the issue; empty: not known. Proposals for another text are marked.
	Text string
	// Note is a line about an answer that was not carried out; empty: none.
	Note string
}

// Lost is the text of the comment if the record of its proposals is lost. Nothing proves then what the
// comment proposed.
const Lost = "**The record of these proposals is lost**, so they cannot be answered any more. Write `/foreman triage` to have the issue decided on again."

// TickAgain and AnswerAgain are the notes about an answer in or below a comment which had been changed.
const (
	TickAgain   = "Tick again: the comment had been changed."
	AnswerAgain = "Answer again: the comment had been changed."
)

// Comment returns the text of the comment, without its marker; empty: the record has no proposal for a
// comment.
func Comment(r memory.Record, v View) string {
	var waiting, answered []memory.Proposal
	for _, p := range r.Proposals {
		switch {
		case p.Carrier != triage.CarrierComment:
		case p.State == memory.Pending:
			waiting = append(waiting, p)
		default:
			answered = append(answered, p)
		}
	}
	if len(waiting)+len(answered) == 0 {
		return ""
	}
	var b strings.Builder
	if len(waiting) > 0 {
		b.WriteString("**Foreman proposes** (nothing of this has been done):\n\n")
	} else {
		b.WriteString("**Foreman proposes nothing now.**\n")
	}
	for i, p := range waiting {
		item := line(p, v)
		if i > 0 && strings.HasSuffix(b.String(), "</details>\n") { // an HTML block ends with an empty line
			b.WriteString("\n")
		}
		b.WriteString(item)
	}
	if v.Note != "" {
		b.WriteString("\n" + v.Note + "\n")
	}
	if len(waiting) > 0 {
		start := "Write"
		if v.Boxes {
			start = "Tick a box (write access), or write"
		}
		fmt.Fprintf(&b, "\n%s `/foreman accept %[2]d`, `/foreman accept all` or `/foreman reject %[2]d` in a comment.\n", start, waiting[0].Number)
	}
	if len(answered) > 0 {
		order.Stable(answered, func(a, b memory.Proposal) int { return a.Ended.Compare(b.Ended) })
		b.WriteString("\nAnswered:\n")
		for _, p := range answered[max(0, len(answered)-maxAnswered):] {
			fmt.Fprintf(&b, "- **%d** %s: %s\n", p.Number, text.Shorten(Words(p), maxWords), answer(p))
		}
	}
	return strings.TrimRight(b.String(), "\n")
}

// line returns the list item of one proposal.
func line(p memory.Proposal, v View) string {
	var b strings.Builder
	b.WriteString("- ")
	if v.Boxes {
		b.WriteString("[ ] ")
	}
	fmt.Fprintf(&b, "**%d** %s", p.Number, Words(p))
	if p.Confidence != "" {
		b.WriteString(" · " + string(p.Confidence))
	}
	if Edited(p, v.Text) {
		b.WriteString(" · the issue was edited since")
	}
	fmt.Fprintf(&b, " <!-- foreman:p %d %s -->\n", p.Number, Digest(p))
	if why := sanitize.Rationale(p.Rationale); why != "" { // records of artifacts can be forged
		b.WriteString("  " + why + "\n")
	}
	for _, a := range p.Actions() {
		if body, ok, err := a.Text("body"); ok && err == nil {
			b.WriteString("\n  <details><summary>The comment</summary>\n\n")
			for l := range strings.SplitSeq(sanitize.Fence(body, ""), "\n") {
				b.WriteString("  " + l + "\n")
			}
			b.WriteString("\n  </details>\n")
		}
	}
	return b.String()
}

// answer describes how a proposal ended, for the comment.
func answer(p memory.Proposal) string {
	s := string(p.State)
	if p.By != "" {
		s += " by " + code(p.By)
	}
	s += " on " + date(p.Ended)
	if p.Reason != "" {
		s += ": " + sanitize.Rationale(p.Reason)
	}
	return s
}

// Edited reports whether the title or the body of the issue changed since the proposal was made.
func Edited(p memory.Proposal, text string) bool { return text != "" && p.Text != "" && p.Text != text }

// Fits reports whether the comment has room for the proposals of a record.
func Fits(r memory.Record) bool {
	return utf8.RuneCountInString(Comment(r, View{Boxes: true, Text: "edited", Note: TickAgain})) <= MaxComment
}

// box matches the first line of a proposal in the comment.
var box = regexp.MustCompile(`^- \[([ xX])\] (\*\*([1-9][0-9]{0,8})\*\* .* <!-- foreman:p ([1-9][0-9]{0,8}) ([0-9a-f]{16}) -->)$`)

// A Tick is a box that a person ticked: the number and the [Digest] of its line.
type Tick struct {
	Number int
	Digest string
}

// Ticked returns the boxes that are ticked in the text after an edit and not in the text before it.
// Their lines are otherwise equal. Only the lines that we write are boxes, and each number counts once.
func Ticked(before, after string) []Tick {
	open := map[string]bool{}
	for _, m := range boxes(before) {
		open[m[2]] = m[1] == " "
	}
	var list []Tick
	for _, m := range boxes(after) {
		number, err := strconv.Atoi(m[3])
		seen := slices.ContainsFunc(list, func(t Tick) bool { return t.Number == number })
		if m[1] != " " && open[m[2]] && m[3] == m[4] && err == nil && !seen {
			list = append(list, Tick{number, m[5]})
		}
	}
	return list
}

// boxes returns the matches of box in a text.
func boxes(s string) [][]string {
	var list [][]string
	for l := range strings.SplitSeq(s, "\n") {
		if m := box.FindStringSubmatch(strings.TrimRight(l, "\r")); m != nil {
			list = append(list, m)
		}
	}
	return list
}

// Sum returns the SHA-256 sum of the text of a comment in hexadecimal digits, whatever its marker and
// its boxes are.
func Sum(body string) string {
	var lines []string
	for l := range strings.SplitSeq(history.WithoutMarker(body), "\n") {
		l = strings.TrimRight(l, "\r")
		if m := box.FindStringSubmatch(l); m != nil {
			l = "- [ ] " + m[2]
		}
		lines = append(lines, l)
	}
	sum := sha256.Sum256([]byte(strings.TrimSpace(strings.Join(lines, "\n"))))
	return hex.EncodeToString(sum[:])
}
