package dashboard

import (
	"strconv"
	"strings"
	"time"

	"github.com/org/foreman-action/internal/server/proposals"
	"github.com/org/foreman-action/protocol"
	"github.com/org/foreman-action/runner"
	"github.com/org/foreman-action/triage"
)

// maxWaiting limits the proposals that are shown.
const maxWaiting = 50

// A waitingSection lists the proposals that wait for people.
type waitingSection struct {
	Text    string // in a sentence; empty: none waits
	Problem bool   // they cannot be read
	Rows    []waitingRow
	More    int // proposals that are not shown
}

// A waitingRow is a proposal.
type waitingRow struct {
	Issue, IssueURL string
	Number          string
	Words           []phrase
	Confidence      string
	Source          string
	Rationale       string
	Carrier         string // where people answer
	At, Expires     time.Time
}

// A phrase is a part of a text, which may be code.
type phrase struct {
	Text string
	Code bool
}

// newWaitingSection makes the section of a list that begins with the oldest proposal.
func newWaitingSection(list []proposals.Waiting, l links) waitingSection {
	if len(list) == 0 {
		return waitingSection{}
	}
	s := waitingSection{Text: plural(len(list), "proposal waits", "proposals wait") + " for people, the oldest first."}
	for _, w := range list[:min(len(list), maxWaiting)] {
		s.Rows = append(s.Rows, waitingRow{
			Issue: issueName(w.Repo, w.Issue), IssueURL: l.issue(w.Repo, w.Issue), Number: strconv.Itoa(w.Number),
			Words: phrases(runner.ProposalWords(w.Proposal)), Confidence: confidence(w.Confidence), Source: sourceOf(w.Source),
			Rationale: line(w.Rationale, maxLine), Carrier: carrier(w.Carrier), At: w.At, Expires: w.Expires,
		})
	}
	s.More = len(list) - len(s.Rows)
	return s
}

// phrases splits Markdown that has no other syntax than code.
func phrases(s string) []phrase {
	var list []phrase
	for i, part := range strings.Split(s, "`") {
		if part == "" {
			continue
		}
		if text := clip(part, maxTitle); i%2 == 1 {
			list = append(list, phrase{line(text, maxTitle), true})
		} else {
			list = append(list, phrase{text, false})
		}
	}
	return list
}

func confidence(c protocol.Confidence) string {
	if c == "" {
		return "–"
	}
	return word(string(c))
}

// sourceOf names the source of a proposal.
func sourceOf(id string) string {
	if id == "" {
		return "an agent"
	}
	return "rule " + word(id)
}

// carrier describes where people answer.
func carrier(c triage.Carrier) string {
	if c == triage.CarrierGitHub {
		return "in GitHub's panel"
	}
	return "in the comment"
}
