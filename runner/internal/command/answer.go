package command

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/org/foreman-action/internal/text"
	"github.com/org/foreman-action/memory"
	"github.com/org/foreman-action/runner/internal/proposal"
	"github.com/org/foreman-action/triage"
)

// Selected returns the pending proposals in a comment that the text after an answering command names:
// numbers, or "all". at is the time of the command: people cannot mean what was proposed later. digest is
// the [proposal.TextDigest] of the issue; all leaves out the proposals for another text, unless digest is
// empty. ignored lists what is not answered, with the reasons. done are the proposals that by, the author of
// the command, has answered since: this may have been an earlier attempt at the same command.
func Selected(r memory.Record, rest, by string, at time.Time, digest string) (list, done []memory.Proposal, ignored []string) {
	const most = 50
	words := strings.FieldsFunc(rest, func(c rune) bool { return c == ' ' || c == '\t' || c == ',' })
	if len(words) == 0 {
		return nil, nil, []string{"it names no number"}
	}
	add := func(p memory.Proposal) {
		if !slices.ContainsFunc(list, func(o memory.Proposal) bool { return o.Number == p.Number }) {
			list = append(list, p)
		}
	}
	later := func(p memory.Proposal) bool { return p.At.Truncate(time.Second).After(at) }
	answered := func(p memory.Proposal) bool {
		return (p.State == memory.Accepted || p.State == memory.Rejected) && text.SameLogin(p.By, by) && !p.Ended.Before(at)
	}
	for _, word := range words[:min(most, len(words))] {
		if strings.EqualFold(word, "all") {
			for _, p := range r.Proposals {
				switch {
				case answered(p):
					done = append(done, p)
				case p.State != memory.Pending:
				case p.Carrier != triage.CarrierComment || later(p):
				case proposal.Edited(p, digest):
					ignored = append(ignored, fmt.Sprintf("%d: the issue was edited since; name the number to accept it", p.Number))
				default:
					add(p)
				}
			}
			continue
		}
		n, err := strconv.Atoi(word)
		if err != nil {
			ignored = append(ignored, fmt.Sprintf("%s: want a number or all", text.Quote(word)))
			continue
		}
		p, ok := r.Proposal(n)
		switch {
		case !ok || p.Carrier != triage.CarrierComment:
			ignored = append(ignored, fmt.Sprintf("%d: there is no such proposal", n))
		case answered(p):
			done = append(done, p)
		case later(p):
			ignored = append(ignored, fmt.Sprintf("%d: it was proposed after the comment", n))
		case p.State != memory.Pending:
			ignored = append(ignored, fmt.Sprintf("%d: it is %s", n, p.State))
		default:
			add(p)
		}
	}
	return list, done, ignored
}
