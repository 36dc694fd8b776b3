package rules_test

import (
	"context"
	"fmt"

	"github.com/org/foreman-action/rules"
	"github.com/org/foreman-action/rules/facts"
	"github.com/org/foreman-action/triage"
)

func Example() {
	file, err := rules.Parse("rules.yml", []byte(`
version: 1
rules:
  - id: crash
    when: issue.text matches "(?i)panic|segfault" and not label("kind/question")
    then:
      - add_label: kind/crash
      - comment: "Thanks {{ issue.author }}, we look into it."
`))
	if err != nil {
		fmt.Println(err)
		return
	}
	set, err := rules.Compile(file)
	if err != nil {
		fmt.Println(err)
		return
	}
	result, err := set.Decide(context.Background(), facts.Facts{
		Issue: triage.Issue{Number: 7, Title: "Panic at boot", Author: "octocat"},
		Event: triage.Event{Name: "issues", Action: "opened"},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(result.Message.Decision, "-", result.Message.Rationale)
	for _, a := range result.Message.Actions {
		fmt.Println(a)
	}
	// Output:
	// label_and_respond - rules fired: crash
	// {"type":"add_label","label":"kind/crash"}
	// {"type":"comment","body":"Thanks octocat, we look into it."}
}

func ExampleWhy_String() {
	file, err := rules.Parse("rules.yml", []byte(`version: 1
rules:
  - {id: old, when: issue.comments == 0 and issue.locked, then: [close_issue]}
`))
	if err != nil {
		fmt.Println(err)
		return
	}
	set, err := rules.Compile(file)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, rule := range set.Explain(context.Background(), facts.Facts{Issue: triage.Issue{Comments: 2}, Event: triage.Event{Name: "issues", Action: "opened"}}) {
		fmt.Println(rule.ID, rule.Outcome)
		fmt.Print(rule.Why)
	}
	// Output:
	// old condition
	// false  issue.comments == 0 and issue.locked
	//   false  issue.comments == 0
	//     2  issue.comments
	//   (false)  issue.locked
}

func ExampleCompile_mistakes() {
	file, err := rules.Parse("rules.yml", []byte(`version: 1
rules:
  - id: crash
    when: issue.titel contains "panic"
    then: [add_lable: bug]
`))
	if err != nil {
		fmt.Println(err)
		return
	}
	_, err = rules.Compile(file)
	fmt.Println(err)
	// Output:
	// rules.yml:4:17: issue has no field titel; did you mean title?
	//         when: issue.titel contains "panic"
	//                     ^
	// rules.yml:5:12: unknown action "add_lable"; did you mean add_label?
	//         then: [add_lable: bug]
	//                ^
}

// A function of one's own declares its kinds and its cost, and is called like a built-in one.
func ExampleCompileWith() {
	file, err := rules.Parse("rules.yml", []byte(`
version: 1
rules:
  - {id: gold, when: tier(issue.author) == "gold", then: [{add_label: urgent}]}
`))
	if err != nil {
		fmt.Println(err)
		return
	}
	set, err := rules.CompileWith(rules.CompileOptions{Funcs: []rules.Func{{
		Name: "tier", Doc: "the tier of a customer", Params: []rules.Kind{rules.KindText}, Result: rules.KindText, MaxCost: 100,
		Call: func(_ context.Context, args []any) (any, error) {
			return map[string]string{"octocat": "gold"}[args[0].(string)], nil
		},
	}}}, file)
	if err != nil {
		fmt.Println(err)
		return
	}
	result, err := set.Decide(context.Background(), facts.Facts{
		Issue: triage.Issue{Number: 7, Author: "octocat"},
		Event: triage.Event{Name: "issues", Action: "opened"},
	})
	fmt.Println(result.Message.Actions, err)
	// Output:
	// [{"type":"add_label","label":"urgent"}] <nil>
}
