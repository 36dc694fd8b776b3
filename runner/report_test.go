package runner_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/org/foreman-action/protocol"
	"github.com/org/foreman-action/rules"
	"github.com/org/foreman-action/runner"
	"github.com/org/foreman-action/triage"
)

// TestReportJSON encodes a report with every field, and decodes it again.
func TestReportJSON(t *testing.T) {
	t.Parallel()
	rep := runner.Report{
		Event: "issues.opened", Repo: "o/r", Issue: 7, IssueURL: "https://x/7", Title: "It <breaks>", TaskID: runTask,
		Decision: protocol.LabelAndRespond, Rationale: "because", By: "rules", Status: runner.StatusPartial, Reason: "why", DryRun: true,
		ReadAgain: "the event is old", Executed: 1, CommentURL: "https://x/7#1",
		Actions:  []triage.ActionResult{{Action: protocol.ActionItem{Type: "close_issue"}, Verdict: triage.Do, State: triage.Done}},
		Rules:    []rules.Summary{{ID: "a", Fired: true, Why: "true: x"}, {ID: "b", Why: "false: y"}},
		Warnings: []string{"w"}, Missing: []string{"issues: write"},
	}
	want := `{"version":1,"event":"issues.opened","repo":"o/r","issue":7,"issue_url":"https://x/7","title":"It <breaks>","task_id":"` + runTask +
		`","decision":"label_and_respond","rationale":"because","by":"rules","status":"partial","reason":"why","dry_run":true,"read_again":"the event is old",` +
		`"actions":[{"index":0,"type":"close_issue","action":{"type":"close_issue"},"source":"agent","verdict":"do","result":"done","reason":"","url":""}],` +
		`"executed":1,"suggested":0,"comment_url":"https://x/7#1","rules":[{"id":"a","fired":true,"why":"true: x"},{"id":"b","fired":false,"why":"false: y"}],` +
		`"warnings":["w"],"missing":["issues: write"]}`
	unstored := rep
	unstored.Closed, unstored.Why = true, []rules.RuleWhy{{}}
	got, err := protocol.Encode(unstored)
	if diff := cmp.Diff(want, string(got)); diff != "" {
		t.Errorf("error %v (-want +got):\n%s", err, diff)
	}
	var back runner.Report
	if err := json.Unmarshal(got, &back); err != nil || cmp.Diff(encoded(t, rep), encoded(t, back)) != "" || back.Closed || back.Why != nil {
		t.Errorf("decoded: got %+v, %v", back, err)
	}
	if got := fmt.Sprint(back.Fired()); got != "[a]" {
		t.Errorf("got the fired rules %s", got)
	}
	empty := `{"version":1,"event":"","repo":"","issue":0,"issue_url":"","task_id":"","decision":"","rationale":"","by":"","status":"","reason":"",` +
		`"dry_run":false,"actions":[],"executed":0,"suggested":0,"comment_url":"","rules":[],"warnings":[]}`
	if diff := cmp.Diff(empty, encoded(t, runner.Report{})); diff != "" {
		t.Errorf("the zero report (-want +got):\n%s", diff)
	}
}

// TestReportNewer checks that a report of a newer version is an error, and that new keys and words
// are not.
func TestReportNewer(t *testing.T) {
	t.Parallel()
	var rep runner.Report
	err := json.Unmarshal([]byte(`{"version":2,"status":"applied"}`), &rep)
	if err == nil || !strings.Contains(err.Error(), "the report has version 2, and this program reads versions up to 1") {
		t.Errorf("got %v", err)
	}
	err = json.Unmarshal([]byte(`{"version":1,"status":"waiting","proposals":[1],"fired":["x"],"actions":[{"type":"lock","verdict":"suggest","result":"suggested"}]}`), &rep)
	if err != nil || rep.Status != "waiting" || rep.Actions[0].State != "suggested" || rep.Actions[0].Action.Type != "lock" || rep.Fired() != nil {
		t.Errorf("got %+v, %v", rep, err)
	}
}

// TestReportEarlier decodes reports from a queue of the version before this form. That version
// wrote the file.
func TestReportEarlier(t *testing.T) {
	t.Parallel()
	data, err := os.ReadFile("testdata/reports/earlier.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	var got strings.Builder
	for line := range bytes.Lines(data) {
		var rep runner.Report
		if err := json.Unmarshal(line, &rep); err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&got, "%s: %s %s by %s, fired %q, %d warnings\n", rep.Title, rep.Status, rep.Decision, rep.By, rep.Fired(), len(rep.Warnings))
		for _, a := range rep.Actions {
			fmt.Fprintf(&got, "  %s: %s %s by %s %s\n", a.Action, a.Verdict, a.State, a.Source, a.Reason)
		}
		for key, value := range object(t, line) { // each key but "fired" has the same meaning now
			now := object(t, []byte(encoded(t, rep)))[key]
			if key != "fired" && key != "actions" && now != value {
				t.Errorf("%s: %s was %s, and is %s", rep.Title, key, value, now)
			}
		}
	}
	want := `Issue 1: applied label_and_respond by rules, http://agent:9001, fired ["broken"], 0 warnings
  {"type":"add_label","label":"bug"}: do done by rule broken 
  {"type":"add_label","label":"docs"}: do done by agent 
  {"type":"comment","body":"hello"}: do done by agent 
  {"type":"add_label","label":"secret plan"}: refuse refused by agent secret plan: policy.labels.deny has secret*
  {"type":"close_issue"}: skip skipped by agent closing is not allowed: policy.allow_close (input allow-close) is false
  {"type":"add_label","label":"bug"}: skip skipped by agent already there
Issue 2: partial label_and_respond by http://agent:9001, fired [], 0 warnings
  {"type":"add_label","label":"docs"}: do done by agent 
  {"type":"launch_rocket"}: refuse failed by agent UnknownActionError: action 2 has the unknown type "launch_rocket"
  {"type":"comment","body":"hello"}: skip skipped by agent it follows an unknown action
Issue 3: applied label_and_respond by rules, http://agent:9001, fired ["broken"], 1 warnings
  {"type":"add_label","label":"bug"}: do done by rule broken 
  {"type":"comment"}: do done by agent 
  {"type":"add_label","label":"no such label"}: skip skipped by agent the repository has no label "no such label"
Issue 4: escalated escalate by http://agent:9001, fired [], 0 warnings
  {"type":"add_label","label":"docs"}: skip skipped by agent the decision escalate writes nothing
Issue 5: skipped skip by http://agent:9001, fired [], 0 warnings
Issue 6: applied label_and_respond by rules, fired ["broken"], 0 warnings
  {"type":"add_label","label":"bug"}: do done by rule broken 
`
	if diff := cmp.Diff(want, got.String()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// FuzzReport checks that decoding keeps everything that is encoded.
func FuzzReport(f *testing.F) {
	data, err := os.ReadFile("testdata/reports/earlier.jsonl")
	if err != nil {
		f.Fatal(err)
	}
	for line := range bytes.Lines(data) {
		f.Add(bytes.TrimSpace(line))
	}
	for _, seed := range []string{
		`{"version":1,"event":"e","actions":[{"action":{"type":"a"}}],"rules":[{"id":"r","fired":true}],"warnings":null,"missing":["x"]}`,
		`{"version":2}`, `{"fired":["a",7]}`, `{"fired":["a"],"rules":[{"id":"b"}]}`, `null`, `[]`, `{"actions":[null]}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		var first, second runner.Report
		if json.Unmarshal(data, &first) != nil {
			return
		}
		for _, a := range first.Actions {
			if a.Action.Type == "" {
				return // no program writes an action without a type
			}
		}
		out := encoded(t, first)
		if err := json.Unmarshal([]byte(out), &second); err != nil {
			t.Fatalf("%s: %v", out, err)
		}
		if again := encoded(t, second); again != out {
			t.Errorf("got %s, want %s", again, out)
		}
	})
}

func encoded(t *testing.T, v any) string {
	t.Helper()
	out, err := protocol.Encode(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}

// object returns the values of a JSON object as text.
func object(t *testing.T, data []byte) map[string]string {
	t.Helper()
	var raw map[string]json.RawMessage
	if err := json.Unmarshal(data, &raw); err != nil {
		t.Fatal(err)
	}
	values := map[string]string{}
	for key, value := range raw {
		values[key] = string(value)
	}
	return values
}
