package plan

import (
	"regexp"
	"strings"

	"github.com/org/foreman-action/internal/text"
)

// A policy contains the rules for contributions that a repository's guidance states.
type policy struct {
	ProhibitsAI string // the sentence that prohibits AI; empty: none
	Disclosure  string // the sentence that requires disclosing AI assistance; empty: none
	SignOff     bool   // commits need a sign-off
}

var (
	aboutAI     = regexp.MustCompile(`(?i)\b(AI|LLMs?|A\.I\.|ChatGPT|Copilot|GPT|Claude|generative|language models?|artificial intelligence)\b`)
	submissions = regexp.MustCompile(`(?i)\b(contributions?|contribute|pull requests?|PRs?|patch(es)?|code|content|commits?|changes|submissions?|issues|generated|assisted)\b`)
	refuses     = regexp.MustCompile(`(?i)\b(not (be )?(currently )?(accept(ed|ing)?|allowed|permitted|welcome)|(don't|don’t|doesn't|cannot|can't|won't|no longer) (accept|allow|permit)|prohibit(s|ed)?|forbid(s|den)?|banned|bans?|reject(s|ed)?|will be closed|disallow(s|ed)?|do not submit|don't submit|no (AI|LLMs?))\b`)
	discloses   = regexp.MustCompile(`(?i)\b(un)?disclos(e|es|ed|ing|ure)\b|\b(declare|mention|indicate|label|state|acknowledge)\b[^.]{0,60}\b(AI|LLMs?|assist)`)
	denied      = regexp.MustCompile(`(?i)\bnot (prohibited|forbidden|banned|rejected|disallowed)\b`)
	signOff     = regexp.MustCompile(`(?i)signed-off-by|developer certificate of origin|git commit (-s\b|--signoff)|\bDCO\b`)
	sentenceEnd = regexp.MustCompile(`[.!?](\s|$)|\n\s*\n|\n\s*[-*+#>] |\n\s*\d+[.)] `)
)

// maxSentence is the most characters of a quoted sentence.
const maxSentence = 200

// read adds the rules in a file of guidance.
func (p *policy) read(content string) {
	p.SignOff = p.SignOff || signOff.MatchString(content)
	for _, s := range sentenceEnd.Split(content, -1) {
		s = strings.Join(strings.Fields(s), " ")
		switch {
		case !aboutAI.MatchString(s):
		case discloses.MatchString(s):
			if p.Disclosure == "" {
				p.Disclosure = text.Plain(s, maxSentence)
			}
		case refuses.MatchString(s) && !denied.MatchString(s) && submissions.MatchString(s):
			if p.ProhibitsAI == "" {
				p.ProhibitsAI = text.Plain(s, maxSentence)
			}
		}
	}
}
