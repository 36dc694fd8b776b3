package runner_test

import (
	"context"
	"fmt"

	"github.com/org/foreman-action/config"
	"github.com/org/foreman-action/runner"
	"github.com/org/foreman-action/triage"
)

// A dry run decides and plans, and needs no token.
func Example() {
	cfg, err := config.Parse("foreman.yml", []byte(`
version: 1
rules:
  - id: crash
    on: [issues.opened]
    when: issue.text matches "(?i)panic"
    then:
      - add_label: bug
      - close_issue
`), nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	event, err := triage.ParseEvent(triage.EventSource{Name: "issues", Payload: []byte(`{
		"action": "opened",
		"issue": {"number": 7, "title": "Panic at start", "state": "open", "user": {"login": "mona"}},
		"repository": {"full_name": "octo-org/hello"}
	}`)})
	if err != nil {
		fmt.Println(err)
		return
	}
	r, err := runner.New(runner.Options{Config: cfg, DryRun: true, Task: runner.TaskIdentity{ID: "a3f8c2d1-4b5e-4f6a-8c9d-0e1f2a3b4c5d"}})
	if err != nil {
		fmt.Println(err)
		return
	}
	report, err := r.Run(context.Background(), event)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(report.Status, report.Decision, report.Rationale)
	for _, a := range report.Actions {
		fmt.Printf("%s: %s %q\n", a.Action.Type, a.Verdict, a.Reason)
	}
	// Output:
	// dry_run close rules fired: crash
	// add_label: do ""
	// close_issue: skip "closing is not allowed: policy.allow_close (input allow-close) is false"
}
