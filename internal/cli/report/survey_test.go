package report

import (
	"strings"
	"testing"
	"time"

	"github.com/org/foreman-action/memory"
	"github.com/org/foreman-action/policy"
	"github.com/org/foreman-action/protocol"
	"github.com/org/foreman-action/runner"
	"github.com/org/foreman-action/triage"
)

// TestSurveyTable bounds the table, and neutralizes untrusted text in it.
func TestSurveyTable(t *testing.T) {
	t.Parallel()
	var s runner.Survey
	for i := range maxRows + 5 {
		s.Reports = append(s.Reports, runner.Report{Issue: i + 1, Title: "a | b\n<img src=x> @mona", Status: runner.StatusFailed, Reason: strings.Repeat("x|", 1000)})
	}
	s.Reports = append(s.Reports, runner.Report{Issue: 9999, Status: runner.StatusSkipped})
	s.Judgment.Outcomes = &memory.Outcomes{Pairs: []memory.Pair{{PairKey: memory.PairKey{Source: "rule:00000000000000aa", Action: "add_label", Value: "bug"}, Name: "<crash>", Since: time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC), Tally: memory.Tally{Kept: 3}}}}
	var b strings.Builder
	surveyTable(&b, Result{Survey: &s, Web: "https://github.com", Policy: policy.Policy{Earned: true}})
	got := b.String()
	if want := "| rule &lt;crash&gt; | add\\_label bug | proposed | 3 | 3 | 0.53 | 0.85 of 20 |"; !strings.Contains(got, want) {
		t.Errorf("the table of the outcomes lacks %s", want)
	}
	if lines := strings.Count(got, "\n| #"); lines != maxRows || !strings.Contains(got, "5 more are in the log.") || !strings.Contains(got, "On 1 of the issues") {
		t.Errorf("got %d rows and:\n%s", lines, got[max(0, len(got)-300):])
	}
	if strings.Contains(got, "<img") || len(got) > 1<<19 {
		t.Errorf("got %d bytes, such as %s", len(got), got[:300])
	}
}

// TestChanges checks the outputs with the changes of labels and the closed issues.
func TestChanges(t *testing.T) {
	t.Parallel()
	action := func(typ string, state triage.State, values ...string) triage.ActionResult {
		return triage.ActionResult{Action: protocol.ActionItem{Type: typ}, State: state, Values: values}
	}
	one := runner.Report{Issue: 7, Actions: []triage.ActionResult{
		action(protocol.ActionAddLabels, triage.Done, "a\"\n", "B"), action(protocol.ActionAddLabel, triage.Skipped, "c"),
		action(protocol.ActionRemoveLabel, triage.Done, "d"), action(protocol.ActionCloseIssue, triage.Noted),
	}}
	two := runner.Report{Issue: 8, Actions: []triage.ActionResult{action(protocol.ActionAddLabel, triage.Done, "B"), action(protocol.ActionCloseIssue, triage.Done)}}
	tests := []struct {
		name string
		res  Result
		want string
	}{
		{"one", Result{Report: one}, `labels-added=["a\"\n","B"] labels-removed=["d"] closed=false`},
		{"closed", Result{Report: two}, `labels-added=["B"] labels-removed=[] closed=true`},
		{"scan", Result{Survey: &runner.Survey{Reports: []runner.Report{one, two, two}}}, `labels-added=["a\"\n","B"] labels-removed=["d"] closed-issues=[8]`},
	}
	for _, tt := range tests {
		var got []string
		for _, o := range Outputs(tt.res) {
			if o.Name != "closed" && o.Name != "closed-issues" && !strings.HasPrefix(o.Name, "labels-") {
				continue
			}
			got = append(got, o.Name+"="+o.Value)
		}
		if text := strings.Join(got, " "); text != tt.want {
			t.Errorf("%s: got %s, want %s", tt.name, text, tt.want)
		}
	}
}

// TestSurveyPermissions lists the permissions that were earned and lost, and neutralizes their names.
func TestSurveyPermissions(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 11, 29, 12, 0, 0, 0, time.UTC)
	s := runner.Survey{Judgment: runner.Judgment{Changes: []memory.PermissionChange{
		{PairKey: memory.PairKey{Source: "rule:00ff", Action: "add_label", Value: "bug"}, Name: "crash", Granted: true, At: at, Why: "20 of 20 were right, bound 0.88"},
		{PairKey: memory.PairKey{Source: "agent:triage@1.2", Action: "add_label", Value: "<img src=x> @mona"}, At: at, Why: "people undid or rejected 4 of the last 10"},
	}}}
	var b strings.Builder
	surveyTable(&b, Result{Survey: &s, Web: "https://github.com"})
	got := b.String()
	for _, want := range []string{
		`rule crash, add\_label bug: carried out since 2026-11-29: 20 of 20 were right, bound 0.88`,
		"agent triage", "proposed again since 2026-11-29: people undid or rejected 4 of the last 10",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is missing in:\n%s", want, got)
		}
	}
	if strings.Contains(got, "<img") || strings.Contains(got, "@mona") {
		t.Errorf("got %s", got)
	}
}

// TestSurveyShared lists a proven close as proposed if other programs can write the memory.
func TestSurveyShared(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 11, 29, 12, 0, 0, 0, time.UTC)
	var s runner.Survey
	s.Judgment.Outcomes = &memory.Outcomes{Pairs: []memory.Pair{{PairKey: memory.PairKey{Source: "rule:00000000000000aa", Action: "close_issue"}, Name: "stale", Since: at, Granted: at, Tally: memory.Tally{Accepted: 60}}}}
	for shared, want := range map[bool]string{true: "| rule stale | close\\_issue | proposed |", false: "| rule stale | close\\_issue | applied |"} {
		var b strings.Builder
		surveyTable(&b, Result{Survey: &s, Policy: policy.Policy{Earned: true}, Shared: shared})
		if !strings.Contains(b.String(), want) {
			t.Errorf("shared %v: %q is missing in:\n%s", shared, want, b.String())
		}
	}
}
