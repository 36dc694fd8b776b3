package runner_test

import (
	"context"
	"fmt"

	"github.com/org/foreman-action/config"
	"github.com/org/foreman-action/policy"
	"github.com/org/foreman-action/protocol"
	"github.com/org/foreman-action/runner"
	"github.com/org/foreman-action/runner/effect"
	"github.com/org/foreman-action/triage"
)

// A plan shows what a run would do, and why. It needs no host.
func ExamplePlan() {
	cfg, err := config.Parse("foreman.yml", []byte(`
version: 1
rules:
  - {id: crash, when: issue.title contains "panic" and not label("question"), then: [{add_label: bug}]}
`), nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	event := triage.Delivery{
		Event: triage.Event{Name: "issues", Action: "opened"}, Repo: triage.Repo{Owner: "octo-org", Name: "hello"},
		Number: 7, Issue: &triage.Issue{Number: 7, Title: "panic at start", State: "open"},
	}
	report, err := runner.Plan(context.Background(), cfg, event)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(report.Decision, report.Actions[0].Verdict, report.Actions[0].Action)
	fmt.Print(report.Why[0].Why)
	// Output:
	// label_and_respond do {"type":"add_label","label":"bug"}
	// true  issue.title contains "panic" and not label("question")
	//   true  issue.title contains "panic"
	//     "panic at start"  issue.title
	//   true  not label("question")
	//     false  label("question")
}

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
	r, err := runner.New(runner.Options{Config: cfg, DryRun: true})
	if err != nil {
		fmt.Println(err)
		return
	}
	report, err := r.Run(context.Background(), runner.TaskIdentity{}, event)
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

// An action of one's own needs a specification, a function, and an entry in the policy.
func ExampleAction() {
	page := runner.Action{
		Spec: protocol.ActionSpec{
			Name: "page", Doc: "pages a team", Main: "team", Limit: 1,
			Params: []protocol.Param{{Name: "team", Required: true, Enum: []string{"db", "web"}}},
		},
		Do: func(ctx context.Context, ref triage.Ref, item protocol.ActionItem, key string) (effect.Written, error) {
			team, _, _ := item.Text("team")
			// A service that gets the same key twice pages only once.
			fmt.Println("page", team, "for", ref)
			return effect.Written{}, nil
		},
	}
	agent := agentFunc(func(_ context.Context, task protocol.TaskMessage) (protocol.DecisionMessage, error) {
		item, err := protocol.NewAction("page", map[string]any{"team": "db"})
		return protocol.DecisionMessage{TaskID: task.TaskID, Decision: protocol.LabelAndRespond, Actions: []protocol.ActionItem{item}}, err
	})
	event := triage.Delivery{
		Event: triage.Event{Name: "issues", Action: "opened"}, Repo: triage.Repo{Owner: "octo-org", Name: "hello"},
		Number: 7, Issue: &triage.Issue{Number: 7, Title: "The database is down", State: "open"},
	}
	for _, allowed := range [][]string{nil, {"page"}} {
		r, err := runner.New(runner.Options{
			Config: &config.Config{Policy: policy.Policy{Actions: allowed}}, Actions: []runner.Action{page},
			Agent: runner.AgentOptions{Agent: agent}, DryRun: true, // and with a Host, the team is paged
		})
		if err != nil {
			fmt.Println(err)
			return
		}
		report, err := r.Run(context.Background(), runner.TaskIdentity{}, event)
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(report.Actions[0].Verdict, report.Actions[0].Action, report.Actions[0].Reason)
	}
	// Output:
	// refuse {"type":"page","team":"db"} policy.actions does not list page
	// do {"type":"page","team":"db"}
}
