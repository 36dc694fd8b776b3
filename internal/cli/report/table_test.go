package report

import (
	"strings"
	"testing"

	"github.com/org/foreman-action/memory"
	"github.com/org/foreman-action/protocol"
	"github.com/org/foreman-action/rules"
	"github.com/org/foreman-action/runner"
	"github.com/org/foreman-action/triage"
)

// TestTables puts line breaks and bars into every value of the job summary that a person, an agent
// or GitHub determines. Each row of a table must stay one row, with all of its cells.
func TestTables(t *testing.T) {
	t.Parallel()
	for _, ending := range []string{"\n", "\r", "\r\n", "\v", "\f", "\u0085", "\u2028", "\u2029", "\\", "`", "|"} {
		odd := "a" + ending + "b | c `" + ending + "`"
		action := func(name string, params map[string]any) protocol.ActionItem {
			item, err := protocol.NewAction(name, params)
			if err != nil {
				t.Fatal(err)
			}
			return item
		}
		rep := runner.Report{
			Event: odd, Issue: 7, IssueURL: "https://github.com/o/r/issues/7" + ending, Title: odd, TaskID: odd, Rationale: odd, By: odd, Reason: odd,
			Decision: protocol.DecisionType(odd), Status: runner.StatusApplied, Warnings: []string{odd},
			Actions: []triage.ActionResult{
				{Action: action("add_label", map[string]any{"label": odd}), Source: triage.Source{Rule: odd}, Verdict: triage.Skip, Reason: odd, URL: "https://x/" + ending, Values: []string{odd}},
				{Index: 1, Action: action("add_labels", map[string]any{"labels": []string{odd, odd}}), Source: triage.Source{Command: odd}, Verdict: triage.Do, State: triage.Done, Reason: odd},
				{Index: 2, Action: action("lock", nil), Verdict: triage.Suggest, State: triage.Suggested, Rationale: odd, Proposal: 2, AcceptedBy: odd},
				{Index: 3, Action: action(odd, map[string]any{odd: odd}), Verdict: triage.Refuse, Reason: odd},
			},
			Rules: []rules.Summary{{ID: odd, Fired: true, Why: odd}, {ID: odd, Why: odd}},
		}
		survey := Result{Report: rep, Survey: &runner.Survey{
			Reports: []runner.Report{rep, rep}, Judgment: runner.Judgment{Scores: &memory.Scores{Rules: map[string]memory.Score{odd: {}}}},
		}}
		tables := 0
		columns := 0
		for line := range strings.Lines(Summary(survey, odd, nil)) {
			line = strings.TrimSuffix(line, "\n")
			if !strings.HasPrefix(line, "|") {
				columns = 0
				continue
			}
			cells := strings.Count(line, "|") - 1
			if columns == 0 {
				columns = cells
				tables++
			}
			if cells != columns || !strings.HasSuffix(line, "|") || strings.ContainsAny(line, "\r\v\f\u0085\u2028\u2029") {
				t.Errorf("%q: the row has %d cells, and not %d: %q", ending, cells, columns, line)
			}
		}
		if tables != 4 {
			t.Errorf("%q: got %d tables, want 4", ending, tables)
		}
	}
}
