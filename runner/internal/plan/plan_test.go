package plan

import (
	"flag"
	"fmt"
	"strings"
	"testing"

	"github.com/org/foreman-action/config"
	"github.com/org/foreman-action/internal/testkit/golden"
	"github.com/org/foreman-action/policy"
	"github.com/org/foreman-action/protocol"
	"github.com/org/foreman-action/runner/effect"
	"github.com/org/foreman-action/triage"
)

var update = flag.Bool("update", false, "rewrite the expected parts of the files in testdata")

// TestPlan judges the decision of every file in testdata/plan with the file's policy.
func TestPlan(t *testing.T) {
	t.Parallel()
	golden.Each(t, "testdata/plan", *update, func(t *testing.T, a *golden.Case) {
		var d Decision
		m, err := protocol.ParseDecision(a.Get("decision.json"))
		if err != nil {
			t.Fatal(err)
		}
		d.Message = m
		for _, id := range strings.Fields(string(a.Get("rules"))) {
			d.Sources = append(d.Sources, triage.Source{Rule: id})
		}
		issue, err := triage.ParseIssue(a.Get("issue.json"))
		if err != nil {
			t.Fatal(err)
		}
		var policy policy.Policy
		if src := a.Get("foreman.yml"); src != nil {
			c, err := config.Parse("foreman.yml", src, nil)
			if err != nil {
				t.Fatal(err)
			}
			policy = c.Policy
		}
		a.Want(t, "want", showPlan(Make(Input{
			Decision: d, Issue: issue.Issue, Policy: policy, MayComment: a.Get("quiet") == nil, AgentMayComment: a.Get("answers") != nil,
			NoNotes: strings.TrimSpace(string(a.Get("no notes"))), NoSchedule: strings.TrimSpace(string(a.Get("no schedule"))),
		})))
	})
}

// showPlan formats a plan: one line per step, and what the step would write.
func showPlan(p Plan) string {
	var b strings.Builder
	for _, s := range p.Steps {
		fmt.Fprintf(&b, "%d. %s by %s: %s", s.Index+1, s.Action.Type, s.Source, s.Verdict)
		if s.Reason != "" {
			fmt.Fprintf(&b, ": %s", s.Reason)
		}
		b.WriteString("\n")
		if s.Verdict != triage.Do {
			continue
		}
		switch e := s.Effect.(type) {
		case effect.Comment:
			fmt.Fprintf(&b, "   text %+q\n", e.Body)
			if e.Key != "" {
				fmt.Fprintf(&b, "   key %q\n", e.Key)
			}
		case effect.AddLabels, effect.RemoveLabels, effect.NeverAgain:
			for _, l := range effect.Values(e) {
				fmt.Fprintf(&b, "   label %q\n", l)
			}
		case effect.Assign, effect.Unassign:
			for _, l := range effect.Values(e) {
				fmt.Fprintf(&b, "   login %q\n", l)
			}
		case effect.MarkDuplicate:
		default:
			for _, text := range effect.Values(e) {
				fmt.Fprintf(&b, "   text %+q\n", text)
			}
		}
	}
	return b.String()
}
