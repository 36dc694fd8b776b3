package executor_test

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/org/foreman-action/internal/server/executor"
	"github.com/org/foreman-action/protocol"
	"github.com/org/foreman-action/queue"
	"github.com/org/foreman-action/rules"
	"github.com/org/foreman-action/runner"
	"github.com/org/foreman-action/triage"
)

// TestReportBounds checks that a report stays within its bounds for every decision.
func TestReportBounds(t *testing.T) {
	t.Parallel()
	huge := strings.Repeat("ä", 1<<20)
	action := func(text string) triage.ActionResult {
		a, err := protocol.NewAction("comment", map[string]any{"body": text})
		if err != nil {
			t.Fatal(err)
		}
		return triage.ActionResult{Action: a, State: triage.Done, Reason: text}
	}
	many := func(n int, text string) (list []triage.ActionResult) {
		for range n {
			list = append(list, action(text))
		}
		return list
	}
	summaries := func(n int, why string) (list []rules.Summary) {
		for range n {
			list = append(list, rules.Summary{ID: "quiet", Why: why}, rules.Summary{ID: "loud", Fired: true, Why: why})
		}
		return list
	}
	const whole, shortened, dropped = "whole", "shortened", "" // parameters of the first action
	tests := []struct {
		name    string
		rep     runner.Report
		actions int // number of remaining actions
		params  string
		fired   int
	}{
		{"small", runner.Report{Status: runner.StatusApplied, Actions: many(2, "hello"), Rules: summaries(2, "true: x")}, 2, whole, 2},
		{"large texts", runner.Report{Rationale: huge, Title: huge, Reason: huge, By: huge, Actions: many(1, huge), Rules: summaries(1, huge)}, 1, shortened, 1},
		{"many actions", runner.Report{Actions: many(1000, "hello")}, 400, whole, 0},
		{"many large actions", runner.Report{Actions: many(200, strings.Repeat("x", 3000))}, 200, dropped, 0},
		{"too many large actions", runner.Report{Actions: many(400, strings.Repeat("x", 3000)), Rules: summaries(1, "true: x")}, 0, dropped, 0},
		{"many rules", runner.Report{Actions: many(1, "hello"), Rules: summaries(1000, huge)}, 1, whole, 100},
		{"many warnings", runner.Report{Warnings: make([]string, 1000)}, 0, dropped, 0},
		{"many large warnings", runner.Report{Warnings: []string{huge, huge}, Missing: []string{huge}}, 0, dropped, 0},
		{"no text", runner.Report{Rationale: "a\xffb"}, 0, dropped, 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			out, err := executor.Encode(tt.rep)
			if err != nil || len(out) > 512<<10 || !utf8.Valid(out) || !strings.HasPrefix(string(out), `{"version":1,`) {
				t.Fatalf("got %v, %d bytes: %.40s", err, len(out), out)
			}
			var got runner.Report
			if err := json.Unmarshal(out, &got); err != nil {
				t.Fatal(err)
			}
			params := dropped
			if len(got.Actions) > 0 {
				switch text, ok, _ := got.Actions[0].Action.Text("body"); {
				case ok && strings.HasSuffix(text, "…"):
					params = shortened
				case ok:
					params = whole
				}
			}
			if len(got.Actions) != tt.actions || params != tt.params || len(got.Rules) != tt.fired || len(got.Fired()) != tt.fired {
				t.Errorf("got %d actions, the first %q, %d rules: %.100s", len(got.Actions), params, len(got.Rules), out)
			}
		})
	}
}

// FuzzParse parses arbitrary content of a row in the queue. The result is an error, or a decision
// on the issue in the row.
func FuzzParse(f *testing.F) {
	f.Add([]byte(`{"task_id":"x","type":"issue.triage","repo":"o/r","payload":{"number":7},"context":{}}`), []byte(`{"event":"issues"}`), []byte(`{"task_id":"x","decision":"skip","rationale":""}`))
	f.Add([]byte(`{"payload":{"issue":{"number":7}}}`), []byte(nil), []byte(nil))
	f.Add([]byte(`{"task_id":"x","payload":{"issue":{"number":8},"comment":{}}}`), []byte(`{"event":"issue_comment","trace":"00-"}`), []byte(`{}`))
	f.Add([]byte(`[]`), []byte(`0`), []byte(`"`))
	f.Fuzz(func(_ *testing.T, message, origin, result []byte) {
		_ = executor.Parse(queue.Decision{Repo: "o/r", Issue: 7, Message: message, Origin: origin, Result: result})
	})
}
