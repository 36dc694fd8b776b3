package report

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/org/foreman-action/internal/cli/format"
	"github.com/org/foreman-action/runner"
	"github.com/org/foreman-action/triage"
)

// proposal describes the proposal of an action; empty: the action is not proposed.
func proposal(a triage.ActionResult) string {
	name := "proposed"
	if a.Proposal > 0 {
		name = fmt.Sprintf("proposal %d", a.Proposal)
	}
	switch {
	case wouldPropose(a):
		return "would be proposed"
	case a.AcceptedBy != "":
		return name + ", accepted by " + a.AcceptedBy
	case a.State == triage.Suggested && a.Carrier == triage.CarrierGitHub:
		return name + " in GitHub's panel"
	case a.State == triage.Suggested:
		return name + " in the comment on the issue"
	case a.Proposal > 0:
		return name
	}
	return ""
}

// wouldPropose reports whether the run only planned to propose an action, as a dry run does.
func wouldPropose(a triage.ActionResult) bool {
	return a.Verdict == triage.Suggest && a.State == triage.Planned
}

// notes returns what a report adds to an action and its parameters: the reason, the proposal, how sure the
// source is, and the source. The texts are untrusted.
func notes(a triage.ActionResult) []string {
	sure := ""
	if a.Confidence != "" {
		sure = "confidence " + string(a.Confidence)
	}
	return format.NonEmpty(a.Reason, proposal(a), sure, "by "+a.Source.String())
}

// why returns the rationale of an action as a list of at most one text, which is untrusted.
func why(a triage.ActionResult) []string {
	if a.Rationale == "" {
		return nil
	}
	return []string{"why: " + a.Rationale}
}

// answers explains how people answer the proposals in reports, in Markdown; empty: there are none.
func answers(reports ...runner.Report) string {
	planned, comment, panel, first := 0, 0, 0, ""
	for _, rep := range reports {
		for _, a := range rep.Actions {
			switch {
			case wouldPropose(a):
				planned++
			case a.State == triage.Suggested && a.Carrier == triage.CarrierGitHub:
				panel++
			case a.State == triage.Suggested:
				comment++
				if len(reports) == 1 && a.Proposal > 0 {
					first = cmp.Or(first, fmt.Sprint(a.Proposal))
				}
			}
		}
	}
	var parts []string
	if planned > 0 {
		parts = append(parts, format.Count(planned, "action")+" would be proposed to people, and carried out only after a person accepts.")
	}
	if comment > 0 {
		first = cmp.Or(first, "NUMBER")
		parts = append(parts, fmt.Sprintf("People answer %s in the comment on the issue: tick a box (write access), or write `/foreman accept %[2]s`, `/foreman accept all` or `/foreman reject %[2]s`.",
			format.Count(comment, "proposed action"), first))
	}
	if panel > 0 {
		parts = append(parts, fmt.Sprintf("People answer %s in GitHub's panel on the issue page.", format.Count(panel, "proposed action")))
	}
	return strings.Join(parts, " ")
}
