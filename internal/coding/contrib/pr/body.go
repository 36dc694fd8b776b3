package pr

import (
	"fmt"
	"strings"

	"github.com/org/foreman-action/internal/coding/contrib/contract"
	"github.com/org/foreman-action/internal/coding/contrib/ecosystem"
	"github.com/org/foreman-action/internal/sanitize"
	"github.com/org/foreman-action/internal/secret"
	"github.com/org/foreman-action/internal/text"
)

// The texts of which every pull request holds one. The second is for a change of which only the
// whitespace was checked.
const (
	disclosure          = "This change was prepared with AI assistance through ContribFlow, validated in an isolated sandbox, and approved by a person before it was published."
	disclosureUnchecked = "This change was prepared with AI assistance through ContribFlow and approved by a person before it was published. It was not built or tested: nothing but its whitespace was checked."
)

const disclosureHeading = "## AI assistance"

// disclosed reports whether a body contains the disclosure where GitHub shows it.
func disclosed(body string) bool {
	shown, _, _ := strings.Cut(body, "<!--") // GitHub hides comments, even without an end
	return strings.Contains(shown, disclosureHeading+"\n"+disclosure) || strings.Contains(shown, disclosureHeading+"\n"+disclosureUnchecked)
}

// maxBody is the most characters that GitHub accepts in a body.
const maxBody = 65_536

// A draft is the data of the body.
type draft struct {
	number     int
	files      []contract.ChangedFile
	validation *contract.Validation // nil: no validation
	accepted   []string
	disclose   bool
	extra      string // text of the contributor
	template   string // of the repository
}

// write returns the body: first the generated part, then the contributor's text, then the
// repository's template.
func (d draft) write() string {
	var b strings.Builder
	fmt.Fprintf(&b, "## Summary\n- Addresses #%d.\n", d.number)
	const most = 20
	for _, f := range d.files[:min(most, len(d.files))] {
		fmt.Fprintf(&b, "- %s `%s` (+%d −%d)\n", verbs[f.Status], code(f.Path), f.Additions, f.Deletions)
	}
	if len(d.files) > most {
		fmt.Fprintf(&b, "- and %d more files\n", len(d.files)-most)
	}
	b.WriteString("\n## Validation\n")
	switch {
	case d.validation == nil || len(d.validation.Commands) == 0:
		b.WriteString("- No validation has run.\n")
	default:
		for _, c := range d.validation.Commands {
			where := ""
			if c.WorkingDirectory != "" {
				where = " in `" + code(c.WorkingDirectory) + "`"
			}
			image := ""
			if c.SandboxImage != "" {
				image = " (Docker, `" + code(c.SandboxImage) + "`)"
			}
			fmt.Fprintf(&b, "- `%s`%s: %s%s\n", code(c.Command), where, c.Status, image)
		}
	}
	if len(d.accepted) > 0 {
		fmt.Fprintf(&b, "\nA person accepted these warnings: %s.\n", strings.Join(d.accepted, ", "))
	}
	if d.disclose {
		sentence := disclosure
		if d.validation != nil && ecosystem.OnlyBuiltIn(d.validation.Commands) {
			sentence = disclosureUnchecked
		}
		fmt.Fprintf(&b, "\n%s\n%s\n", disclosureHeading, sentence)
	}
	for _, part := range []string{d.extra, d.template} {
		if part = strings.TrimSpace(part); part != "" {
			b.WriteString("\n" + part + "\n")
		}
	}
	return text.Shorten(secret.RedactForms(b.String()), maxBody)
}

// verbs maps git's status letters to words.
var verbs = map[string]string{"A": "Add", "M": "Change", "D": "Remove", "R": "Rename", "C": "Copy", "T": "Change the type of"}

// code returns a text that can stand in a Markdown code span.
func code(s string) string {
	const most = 200
	return text.Shorten(strings.ReplaceAll(sanitize.Line(s), "`", "'"), most)
}
