package runner

import (
	"flag"
	"fmt"
	"strings"
	"testing"

	"github.com/org/foreman-action/config"
	"github.com/org/foreman-action/internal/golden"
	"github.com/org/foreman-action/policy"
	"github.com/org/foreman-action/protocol"
	"github.com/org/foreman-action/triage"
)

var update = flag.Bool("update", false, "rewrite the expected parts of the files in testdata")

// TestPlan judges the decision of every file in testdata/plan by its policy.
func TestPlan(t *testing.T) {
	t.Parallel()
	golden.Each(t, "testdata/plan", *update, func(t *testing.T, a *golden.Case) {
		d := Decision{answers: a.Get("answers") != nil}
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
		a.Want(t, "want", showPlan(MakePlan(d, issue.Issue, policy, a.Get("quiet") == nil)))
	})
}

// showPlan prints a plan: a line for each step, and what it would write.
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
		for _, l := range s.labels {
			fmt.Fprintf(&b, "   label %q\n", l)
		}
		for _, l := range s.logins {
			fmt.Fprintf(&b, "   login %q\n", l)
		}
		if s.text != "" {
			fmt.Fprintf(&b, "   text %+q\n", s.text)
		}
		if s.key != "" {
			fmt.Fprintf(&b, "   key %q\n", s.key)
		}
	}
	return b.String()
}
