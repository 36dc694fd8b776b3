package executor

import (
	"slices"
	"strings"

	"github.com/org/foreman-action/internal/text"
	"github.com/org/foreman-action/protocol"
	"github.com/org/foreman-action/runner"
)

// The bounds of a stored report.
const (
	maxText    = 4000      // characters of a text
	maxWhy     = 300       // characters of the reason of a rule
	maxActions = 400       // more than a decision may have
	maxList    = 100       // entries of the other lists
	maxReport  = 512 << 10 // bytes of all
)

// encode returns the report on an attempt to execute a decision in the form that the queue stores:
// its JSON with the rules that fired, and with shortened texts, which may be hostile. If it is too
// large, encode first leaves out the parameters of the actions, and then the lists.
func encode(rep runner.Report) ([]byte, error) {
	for _, s := range []*string{&rep.Reason, &rep.IssueURL, &rep.Title, &rep.Rationale, &rep.By, &rep.ReadAgain, &rep.CommentURL} {
		*s = text.Shorten(*s, maxText)
	}
	rep.Actions = slices.Clone(rep.Actions[:min(len(rep.Actions), maxActions)])
	for i := range rep.Actions {
		rep.Actions[i].URL = text.Shorten(rep.Actions[i].URL, maxText)
	}
	all := rep.Rules
	rep.Rules = nil
	for _, r := range all {
		if r.Fired && len(rep.Rules) < maxList {
			r.Why = text.Shorten(r.Why, maxWhy)
			rep.Rules = append(rep.Rules, r)
		}
	}
	rep.Warnings, rep.Missing = shortened(rep.Warnings), shortened(rep.Missing)
	for _, shorten := range []func(){
		func() {},
		func() {
			for i, a := range rep.Actions {
				rep.Actions[i].Action = protocol.ActionItem{Type: a.Action.Type}
			}
		},
		func() { rep.Actions, rep.Warnings, rep.Rules, rep.Missing = nil, nil, nil, nil },
	} {
		shorten()
		out, err := protocol.Encode(rep)
		if err != nil || len(out) <= maxReport {
			return out, err
		}
	}
	return protocol.Encode(runner.Report{Status: rep.Status, Decision: rep.Decision, Executed: rep.Executed, Suggested: rep.Suggested})
}

// shortened returns the first texts of a list, shortened. An ellipsis stands for the others.
func shortened(list []string) []string {
	var out []string
	for i, s := range list {
		if i == maxList {
			return append(out, "…")
		}
		out = append(out, text.Shorten(s, maxText))
	}
	return out
}

func firstLine(s string) string {
	line, _, _ := strings.Cut(s, "\n")
	return text.Shorten(line, maxText)
}
