package playground_test

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/org/foreman-action/internal/cli/document"
	"github.com/org/foreman-action/runner"
	"github.com/org/foreman-action/site/internal/playground"
)

func engine() playground.Engine {
	return playground.Engine{Now: func() time.Time { return time.Date(2025, 3, 1, 12, 0, 0, 0, time.UTC) }}
}

const rules = `version: 1
rules:
  - id: crash
    on: [issues.opened]
    when: issue.title contains "panic"
    then: [{add_label: bug}, {close_issue: {}}]
tests:
  - name: a crash
    issue: {title: panic}
    expect: {fired: [crash]}
`

// TestAnswer checks the explanation, the plan and the tests for a described issue.
func TestAnswer(t *testing.T) {
	t.Parallel()
	got := engine().Answer(t.Context(), playground.Request{Rules: rules, Values: map[string]any{"issue.title": "panic at boot"}})
	if got.Error != "" || len(got.Problems.Problems) > 0 || got.Report == nil || got.Explanation == nil || got.Tests == nil {
		t.Fatalf("got %+v", got)
	}
	var plan []string
	for _, a := range got.Report.Actions {
		plan = append(plan, fmt.Sprint(a.Verdict, " ", a.Action.Type))
	}
	if diff := cmp.Diff([]string{"do add_label", "skip close_issue"}, plan); diff != "" {
		t.Errorf("plan (-want +got):\n%s", diff)
	}
	if r := got.Explanation.Rules; len(r) != 1 || r[0].Outcome != "matched" || r[0].Why == nil {
		t.Errorf("explanation %+v", r)
	}
	if got.Tests.Failed != 0 || len(got.Tests.Tests) != 1 {
		t.Errorf("tests %+v", got.Tests)
	}
}

// TestAnswerProposals checks that the plan shows what would be proposed, and why.
func TestAnswerProposals(t *testing.T) {
	t.Parallel()
	src, err := os.ReadFile("../../playground/examples/proposals.yml")
	if err != nil {
		t.Fatal(err)
	}
	got := engine().Answer(t.Context(), playground.Request{Rules: string(src), Values: map[string]any{"issue.title": "panic at boot", "issue.author": "mona"}})
	if got.Error != "" || len(got.Problems.Problems) > 0 || got.Report == nil || got.Tests == nil || got.Tests.Failed > 0 {
		t.Fatalf("got %+v", got)
	}
	var plan []string
	for _, a := range got.Report.Actions {
		plan = append(plan, strings.Join([]string{string(a.Verdict), a.State.Result(), a.Action.Type, string(a.Confidence), a.Rationale}, "|"))
	}
	want := []string{
		"do|planned|add_label|high|",
		`suggest|planned|add_label|low|rule crash: issue.text matches '(?i)\b(panic|segfault)\b'`,
		"suggest|planned|comment|high|rule empty: len(issue.body) < 20",
		"suggest|planned|close_issue|high|The issue has no description.",
	}
	if diff := cmp.Diff(want, plan); diff != "" {
		t.Errorf("plan (-want +got):\n%s", diff)
	}
}

// TestAnswerMistakes checks that a mistake in one part of a request is reported, and that the other
// parts are answered.
func TestAnswerMistakes(t *testing.T) {
	t.Parallel()
	opened, err := os.ReadFile("../../../testdata/events/issues/opened.payload.json")
	if err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		name    string
		request playground.Request
		error   string // want in the response
		problem string // want as the first problem
		tests   bool   // want the tests to run
	}{
		{"rules too long", playground.Request{Rules: strings.Repeat("#", playground.MaxRules+1)}, "the rules have 262145 bytes; the playground takes 262144", "", false},
		{"payload too long", playground.Request{Rules: rules, Payload: strings.Repeat(" ", playground.MaxEvent+1)}, "the event has 1048577 bytes", "", false},
		{"issue too long", playground.Request{Rules: rules, Values: map[string]any{"issue.body": strings.Repeat("a", playground.MaxEvent), "issue.labels": []any{"b"}}}, "the event has 1048577 bytes", "", false},
		{"case too long", playground.Request{Rules: rules, Case: strings.Repeat("#", playground.MaxEvent+1)}, "the event has 1048577 bytes", "", false},
		{"unknown event", playground.Request{Rules: rules, Event: "issues.opend"}, `event-name: unknown event "issues.opend"; did you mean issues.opened?`, "", true},
		{"unknown association", playground.Request{Rules: rules, Values: map[string]any{"issue.association": "BOSS"}}, "issue.association: want COLLABORATOR", "", true},
		{"half an issue", playground.Request{Rules: rules, Values: map[string]any{"author.issues": 0.5}}, "author.issues: want a whole number, got 0.5", "", true},
		{"an object", playground.Request{Rules: rules, Values: map[string]any{"issue.title": map[string]any{}}}, "issue.title: want a text, a number or a list", "", true},
		{"a text for a number", playground.Request{Rules: rules, Values: map[string]any{"author.issues": "no"}}, "author.issues: want a whole number", "", true},
		{"mistakes in a case", playground.Request{Rules: rules, Case: "issue:\n  titel: x\npast: 3\n"}, "case:2:3: unknown key", "", true},
		{"a title beside a payload", playground.Request{Rules: rules, Payload: string(opened), Values: map[string]any{"issue.title": "x"}}, "issue.title: issue: the event's payload has it", "", true},
		{"no JSON", playground.Request{Rules: rules, Payload: "{\n oops"}, "event:2:2: ", "", true},
		{"no issue", playground.Request{Rules: rules, Event: "workflow_dispatch", Payload: `{"inputs": {"issue": "1"}, "repository": {"full_name": "octo-org/hello"}}`}, "the payload holds no issue", "", true},
		{"scheduled payload", playground.Request{Rules: rules, Payload: `{"schedule": "0 3 * * *", "repository": {"full_name": "octo-org/hello"}}`}, "a scheduled run looks for its issues", "", true},
		{"mistake in the rules", playground.Request{Rules: "version: 1\nrulez: []\n", Payload: string(opened)}, "", `unknown key "rulez"`, false},
		{"mistakes in both", playground.Request{Rules: "version: 1\nrulez: []\n", Payload: "x"}, "event:1:1: ", `unknown key "rulez"`, false},
		{"another file", playground.Request{Rules: "version: 1\ninclude: [more.yml]\n", Payload: string(opened)}, "", "include: there is no file more.yml", false},
		{"file of another repository", playground.Request{Rules: "version: 1\nextends: octo-org/.github:foreman.yml@v1\n", Payload: string(opened)}, "", "extends: read octo-org/.github:foreman.yml@v1: the playground has no access to GitHub", false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got := engine().Answer(t.Context(), tt.request)
			if !strings.Contains(got.Error, tt.error) || (got.Error == "") != (tt.error == "") {
				t.Errorf("got the error %q, want %q", got.Error, tt.error)
			}
			problem := ""
			if len(got.Problems.Problems) > 0 {
				problem = got.Problems.Problems[0].Message
			}
			if !strings.HasPrefix(problem, tt.problem) || (problem == "") != (tt.problem == "") {
				t.Errorf("got the problem %q, want %q", problem, tt.problem)
			}
			if got.Report != nil || (got.Tests != nil) != tt.tests {
				t.Errorf("got the report %+v, the tests %+v", got.Report, got.Tests)
			}
		})
	}
}

// TestAnswerSupplied checks that a rule with a look-up is unknown until its value is supplied, by a field
// or by a case, beside a description and a payload.
func TestAnswerSupplied(t *testing.T) {
	t.Parallel()
	opened, err := os.ReadFile("../../../testdata/events/issues/opened.payload.json")
	if err != nil {
		t.Fatal(err)
	}
	const rules = "version: 1\nrules:\n  - {id: first, on: issues.opened, when: author.pulls == 0, then: [{add_label: docs}]}\n  - {id: all, on: issues.opened, then: [{add_label: all}]}\n"
	for _, payload := range []string{"", string(opened)} {
		for _, in := range []playground.Request{
			{}, {Values: map[string]any{"author.pulls": float64(0)}}, {Case: "author:\n  pulls: 0\n"},
		} {
			in.Rules, in.Payload = rules, payload
			got := engine().Answer(t.Context(), in)
			if got.Report == nil || got.Error != "" {
				t.Fatalf("got %+v", got)
			}
			fired, status := "first all", runner.StatusDryRun
			if in.Values == nil && in.Case == "" {
				fired, status = "all", runner.StatusIncomplete
			}
			if f := strings.Join(got.Report.Fired(), " "); f != fired || got.Report.Status != status {
				t.Errorf("%+v: got %s, %s", in, f, got.Report.Status)
			}
		}
	}
}

// TestAnswerFails checks that a failing rule leaves the report and the explanation in the response.
func TestAnswerFails(t *testing.T) {
	t.Parallel()
	got := engine().Answer(t.Context(), playground.Request{
		Rules:  "version: 1\nrules:\n  - {id: first, on: issues.opened, when: 'int(issue.title) == 0', then: [{add_label: docs}]}\n",
		Values: map[string]any{"issue.title": "x"},
	})
	if got.Report == nil || got.Report.Status != "failed" || len(got.Report.Actions) != 0 {
		t.Errorf("got the report %+v", got.Report)
	}
	if got.Explanation == nil || !strings.Contains(got.Explanation.Rules[0].Error, "int") {
		t.Errorf("got the explanation %+v", got.Explanation)
	}
}

// FuzzAnswerJSON checks that every request gets a response in JSON.
func FuzzAnswerJSON(f *testing.F) {
	f.Add(`{"rules": "version: 1\nrules: []\n", "values": {"issue.title": "x", "author.issues": 1e300}, "case": "past: []"}`)
	f.Add(`{"rules": "version: 1\nrules: [{id: a, then: [{add_label: x}]}]", "payload": "{\"action\": \"opened\"}"}`)
	f.Add(`{"rules": 1}`)
	f.Add("[")
	f.Fuzz(func(t *testing.T, request string) {
		var got playground.Response
		if err := json.Unmarshal([]byte(engine().AnswerJSON(t.Context(), request)), &got); err != nil || got.Version != 1 || got.Problems.Problems == nil {
			t.Errorf("%q: %v, %+v", request, err, got)
		}
	})
}

// TestAnswerHostile checks that the engine keeps its limits. A hostile condition is rejected when
// it is compiled, or when it exceeds its budget.
func TestAnswerHostile(t *testing.T) {
	t.Parallel()
	body := strings.Repeat("a", playground.MaxEvent-1)
	for condition, want := range map[string]string{
		"issue.body matches `([a-y]|[b-z])*[0-9]{3}x`": "too much work",
		"issue.body matches `(a?){500}[0-9]`":          "the pattern is too large",
		"all(1..10000, all(1..10000, # > 0))":          "a range has at most 1000 elements",
	} {
		rules := "version: 1\nrules:\n  - {id: a, on: issues.opened, when: '" + condition + "', then: [{add_label: x}]}\n"
		got := engine().Answer(t.Context(), playground.Request{Rules: rules, Values: map[string]any{"issue.body": body}})
		reason := ""
		if got.Report != nil {
			reason = got.Report.Reason
		}
		for _, p := range got.Problems.Problems {
			reason += p.Message
		}
		if !strings.Contains(reason, want) {
			t.Errorf("%s: got %q, want %q", condition, reason, want)
		}
	}
}

// TestUnwritten checks that the response for encoding failures has the form of a
// [playground.Response].
func TestUnwritten(t *testing.T) {
	t.Parallel()
	d := json.NewDecoder(strings.NewReader(playground.Unwritten))
	d.DisallowUnknownFields()
	var got playground.Response
	if err := d.Decode(&got); err != nil {
		t.Fatal(err)
	}
	want := playground.Response{Version: 1, Error: "the response cannot be written", Problems: document.ProblemsOf(nil)}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("response (-want +got):\n%s", diff)
	}
}
