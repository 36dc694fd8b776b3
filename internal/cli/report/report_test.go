package report

import (
	"encoding/json"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/org/foreman-action/internal/cli/format"
	"github.com/org/foreman-action/internal/command"
	"github.com/org/foreman-action/internal/yamlfile"
	"github.com/org/foreman-action/protocol"
	"github.com/org/foreman-action/rules"
	"github.com/org/foreman-action/runner"
	"github.com/org/foreman-action/triage"
)

var update = flag.Bool("update", false, "rewrite the golden files in testdata")

// golden compares got with a file of testdata.
func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.MkdirAll("testdata", 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", path, diff)
	}
}

func action(t *testing.T, text string) protocol.ActionItem {
	t.Helper()
	var a protocol.ActionItem
	if err := json.Unmarshal([]byte(text), &a); err != nil {
		t.Fatal(err)
	}
	return a
}

// fullReport returns a report with a value in every field, and hostile text where possible.
func fullReport(t *testing.T) Result {
	t.Helper()
	return Result{
		Needs: []string{"contents: read", "issues: write"},
		Report: runner.Report{
			Event: "issues.opened", Repo: "octo-org/hello", Issue: 42, IssueURL: "https://github.com/octo-org/hello/issues/42",
			Title:  "Crash | <img src=x> [x](http://evil.example) `a` @octocat #1 \x1b[31m",
			TaskID: "a3f8c2d1-4b5e-4f6a-8c9d-0e1f2a3b4c5d", Decision: protocol.LabelAndRespond,
			Rationale: "it crashes\n::error::forged\n# heading\n> quote | bar", By: "rules, http://agent/task",
			Status: runner.StatusPartial, Reason: "add labels: 403 <b>",
			Actions: []triage.ActionResult{
				{Index: 0, Action: action(t, `{"type":"add_label","label":"bug"}`), Source: triage.Source{Rule: "crash"}, Verdict: triage.Do, State: triage.Done, URL: "https://github.com/octo-org/hello/issues/42"},
				{Index: 1, Action: action(t, `{"type":"comment","body":"Hello @octocat\n\n| a | b |\n"}`), Verdict: triage.Refuse, State: triage.Refused, Reason: "policy.limits.comment is 0 per event"},
				{Index: 2, Action: action(t, `{"type":"mark_duplicate","of":7}`), Verdict: triage.Skip, State: triage.Skipped, Reason: "closing is not allowed"},
				{Index: 3, Action: action(t, `{"type":"launch|rocket","to":["moon"]}`), Verdict: triage.Refuse, State: triage.Failed, Reason: "UnknownActionError"},
			},
			Executed: 1, CommentURL: "https://github.com/octo-org/hello/issues/42#issuecomment-1",
			Rules: []rules.Summary{
				{ID: "crash", Fired: true, Why: "true: issue.text matches `(?i)crash` and true"},
				{ID: "always", Fired: true, Why: "it has no condition"},
				{ID: "closed", Why: "it does not listen to issues.opened"},
				{ID: "other", Why: `false: label("x | y")`},
				{ID: "last", Why: "an earlier rule stopped the evaluation"},
			},
			Why: []rules.RuleWhy{
				{RuleTrace: rules.RuleTrace{ID: "crash", Outcome: rules.Matched, File: ".github/foreman.yml", Line: 3}, Why: &rules.Why{
					Text: "issue.text matches `(?i)crash`\n  and true", Value: "true",
					Parts: []rules.Why{{Text: "issue.text", Value: "\"\x1b[31m ``` @octocat\""}, {Text: "true", Value: "true", Idle: true}},
				}},
				{RuleTrace: rules.RuleTrace{ID: "other", Outcome: rules.False, File: ".github/foreman.yml", Line: 9}, Why: &rules.Why{
					Text: `actor.permission == "write"`, Error: "it was not looked up", Idle: true,
				}},
				{RuleTrace: rules.RuleTrace{ID: "always", Outcome: rules.Matched}},
			},
			Warnings: []string{"memory: <b>off</b>"}, Missing: []string{"issues: write"},
		},
	}
}

// proposals returns the reports of a run that proposed and carried out actions, and of a dry run, with
// hostile text where possible.
func proposals(t *testing.T) (done, dry Result) {
	t.Helper()
	why := "see | @octocat <img src=x>\n::error::forged #1 \x1b[31m"
	rep := runner.Report{
		Event: "issues.opened", Repo: "octo-org/hello", Issue: 42, Title: "Crash", Decision: protocol.LabelAndRespond,
		By: "rules, http://agent/task", Rationale: "it crashes", Status: runner.StatusSuggested, Suggested: 4,
		Actions: []triage.ActionResult{
			{Index: 0, Action: action(t, `{"type":"add_label","label":"bug"}`), Source: triage.Source{Rule: "crash"}, Verdict: triage.Suggest, State: triage.Suggested, Confidence: protocol.ConfidenceHigh, Rationale: "rule crash: always", Proposal: 2, Carrier: triage.CarrierComment},
			{Index: 1, Action: action(t, `{"type":"close_issue","reason":"not_planned"}`), Verdict: triage.Suggest, State: triage.Suggested, Confidence: protocol.ConfidenceLow, Rationale: why, Proposal: 3, Carrier: triage.CarrierComment},
			{Index: 2, Action: action(t, `{"type":"set_type","issue_type":"Bug"}`), Verdict: triage.Suggest, State: triage.Suggested, Confidence: protocol.ConfidenceMedium, Proposal: 4, Carrier: triage.CarrierGitHub},
			{Index: 3, Action: action(t, `{"type":"add_label","label":"held"}`), Source: triage.Source{Rule: "crash"}, Verdict: triage.Do, State: triage.Suggested, Carrier: triage.CarrierGitHub},
			{Index: 4, Action: action(t, `{"type":"add_label","label":"docs"}`), Source: triage.Source{Rule: "docs"}, Verdict: triage.Skip, State: triage.Skipped, Reason: "it is proposed already (1)", Confidence: protocol.ConfidenceHigh},
			{Index: 5, Action: action(t, `{"type":"lock"}`), Verdict: triage.Do, State: triage.Done, Proposal: 1, AcceptedBy: "mona"},
		},
	}
	plan := rep
	plan.Status, plan.DryRun, plan.Suggested = runner.StatusDryRun, true, 0
	plan.Actions = slices.Clone(rep.Actions[:2])
	for i := range plan.Actions {
		a := &plan.Actions[i]
		a.State, a.Proposal, a.Carrier = triage.Planned, 0, ""
	}
	return Result{Report: rep}, Result{Report: plan, Shadow: true}
}

func TestProposals(t *testing.T) {
	t.Parallel()
	done, dry := proposals(t)
	golden(t, "proposals.md", Summary(done, command.Version(""), nil))
	golden(t, "proposals-dry.md", Summary(dry, command.Version(""), nil))
	golden(t, "proposals.txt", Text(done, format.Painter{})+"\n"+Text(dry, format.Painter{}))
	golden(t, "proposals-colour.txt", Text(done, format.Painter{On: true}))
	golden(t, "proposals.json", JSON(done.Report)+"\n")
	scan := Result{Report: runner.Report{Event: "schedule", Status: runner.StatusSuggested}, Survey: &runner.Survey{Suggested: 4, Reports: []runner.Report{done.Report, dry.Report}}}
	golden(t, "proposals-scan.md", Summary(scan, command.Version(""), nil))
}

func TestSummary(t *testing.T) {
	t.Parallel()
	golden(t, "summary-full.md", Summary(fullReport(t), command.Version(""), errors.New("x")))
	golden(t, "summary-none.md", Summary(Result{NoConfig: true, Starter: "version: 1\nmode: shadow\n", Others: []string{"actions/stale"}, Report: runner.Report{
		Event: "issues.opened", Issue: 1, Status: runner.StatusSkipped, Decision: protocol.Skip, Rationale: "there are no rules", By: "rules",
	}}, command.Version(""), nil))
	golden(t, "summary-problems.md", Summary(Result{Report: runner.Report{Status: runner.StatusFailed}}, command.Version(""), yamlfile.Problems{
		{File: ".github/foreman.yml", Line: 2, Column: 1, Message: "unknown key \"polcy\"", Source: "polcy: ```"},
	}))
}

func TestText(t *testing.T) {
	t.Parallel()
	plain, colour := Text(fullReport(t), format.Painter{}), Text(fullReport(t), format.Painter{On: true})
	golden(t, "report.txt", plain)
	golden(t, "report-colour.txt", colour)
	if strings.Contains(plain, "\x1b") {
		t.Error("a stranger's escape sequence reached the terminal")
	}
}

// TestReportJSON checks that the JSON, which programs read, does not change.
func TestReportJSON(t *testing.T) {
	t.Parallel()
	golden(t, "report.json", JSON(fullReport(t).Report)+"\n")
	golden(t, "report-empty.json", JSON(runner.Report{})+"\n")
}

// The parameters of an action are shown without why it is requested and how sure its source is.
func TestWhatOf(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ action, want string }{
		{`{"type":"add_label","label":"bug","confidence":"low","suggest":true,"rationale":"it crashes"}`, "bug"},
		{`{"type":"unlock","confidence":0.3}`, ""},
		{`{"type":"assign","assignees":["a","b"],"suggest":false}`, "a, b"},
	} {
		if got := whatOf(action(t, tt.action)); got != tt.want {
			t.Errorf("%s: got %q, want %q", tt.action, got, tt.want)
		}
	}
}
