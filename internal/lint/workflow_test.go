package lint_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/org/foreman-action/internal/lint"
)

// workflow returns a workflow on issues.labeled with one job that has the condition.
func workflow(t *testing.T, condition string) lint.Workflow {
	t.Helper()
	src := fmt.Sprintf("on: {issues: {types: [labeled]}}\njobs:\n  a:\n    if: %q\n    runs-on: x\n", condition)
	w, err := lint.ParseWorkflow("w.yml", []byte(src))
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// TestConditions checks whether a condition tests for the label deploy, and whether any label
// starts the job.
func TestConditions(t *testing.T) {
	t.Parallel()
	const event, list = "github.event.label.name", "github.event.issue.labels.*.name"
	tests := []struct {
		condition  string
		names, any bool
	}{
		{"", false, true},
		{"true", false, true},
		{"false", false, false},
		{event + " == 'deploy'", true, false},
		{"${{ 'Deploy' == " + event + " }}", true, false},
		{event + " != 'deploy'", false, true},
		{event + " != 'wip' && " + event + " == 'deploy'", true, false},
		{"!(" + event + " == 'deploy')", false, true},
		{"contains(" + list + ", 'deploy')", true, false},
		{"!contains(" + list + ", 'deploy')", false, true},
		{"contains(" + event + ", 'ploy') && github.actor == 'octocat'", true, false},
		{"contains(fromJSON('[\"a\", \"deploy\"]'), " + event + ")", true, false},
		{"contains('a,deploy', " + event + ")", true, false},
		{"contains(join(" + list + ", ','), 'deploy')", true, false},
		{"startsWith(" + event + ", 'dep') || github.event.action == 'opened'", true, false},
		{"endsWith(" + event + ", 'loy')", true, false},
		{"contains(toJSON(" + list + "), 'deploy')", true, false},
		{"contains(toJSON(" + event + "), 'deploy')", true, false},
		{"github.event.action == 'opened'", false, false},
		{"github.event.action == 'labeled'", false, true},
		{"github.event_name == 'issue_comment' || github.event.issue.pull_request", false, false},
		{"always() && github.event.action != 'labeled'", false, false},
		{"github.event.issue.number > 3", false, true},
		{"github.event.issue.number >= 3 && " + event + " == 'deploy'", true, false},
		{"github.event['label'].name == 'deploy'", true, false},
		{"fromJSON('[\"deploy\"]')[0] == " + event, false, true},
		{event + " == vars.LABEL", false, true},
		{event + " == 'it''s' || " + event + " == 'deploy'", true, false},
		{event, false, true},
		{"'' || 'x' == 'y'", false, false},
		{list, false, true},
		{"success() && contains(github.event, 'deploy')", false, true},
		{"matrix(a, b)", false, true},
		{"startsWith(vars.X, 'a')", false, true},
		// A text that is not a valid expression may be true.
		{event + " == 'deploy", false, true},
		{event + " == ", false, true},
		{"(" + event + " == 'deploy'", false, true},
		{"a b", false, true},
		{"contains(a b)", false, true},
		{"&& x", false, true},
		{"x[1", false, true},
		{strings.Repeat("(", 60) + "false" + strings.Repeat(")", 60), false, true},
		{strings.Repeat("!", 60) + "true", false, true},
		{event + " == 'deploy' || 'x' == '" + strings.Repeat("y", 5000) + "'", false, true},
	}
	for _, tt := range tests {
		w := workflow(t, tt.condition)
		if names, anyLabel := w.Names("deploy"), w.Any(); names != tt.names || anyLabel != tt.any {
			t.Errorf("%.80s: names deploy %t, any %t, want %t, %t", tt.condition, names, anyLabel, tt.names, tt.any)
		}
		if w.Names("other label") {
			t.Errorf("%.80s: it names another label", tt.condition)
		}
	}
}

// TestTriggers checks for which forms of "on" a label starts the workflow.
func TestTriggers(t *testing.T) {
	t.Parallel()
	for on, want := range map[string]bool{
		"issues": true, "[push, issues]": true, "{issues: }": true, "{issues: {types: labeled}}": true,
		"{issues: {types: [opened, labeled]}}": true, "{issues: {types: [opened]}}": false,
		"pull_request": false, "[pull_request_target]": false, "{pull_request: {branches: [main]}}": false,
		"{pull_request: {types: [labeled]}}": true, "{pull_request_target: {types: [synchronize, labeled]}}": true,
		"push": false, "{schedule: [{cron: x}]}": false, "{label: }": false,
	} {
		w, err := lint.ParseWorkflow("w.yml", []byte("on: "+on+"\njobs: {a: {runs-on: x}}\n"))
		if err != nil {
			t.Fatal(err)
		}
		if got := w.Any(); got != want {
			t.Errorf("on: %s: got %t, want %t", on, got, want)
		}
	}
}
