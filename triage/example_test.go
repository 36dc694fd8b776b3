package triage_test

import (
	"fmt"
	"os"

	"github.com/org/foreman-action/triage"
)

// The body of a webhook becomes a delivery.
func ExampleParseEvent() {
	payload, err := os.ReadFile("../testdata/events/issues/opened.payload.json")
	if err != nil {
		fmt.Println(err)
		return
	}
	d, err := triage.ParseEvent(triage.EventSource{Name: "issues", Payload: payload})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(d.Key(), d.Ref())
	fmt.Printf("%q by %s\n", d.Issue.Title, d.Issue.Author)
	// Output:
	// issues.opened Codertocat/Hello-World#1
	// "Spelling error in the README file" by Codertocat
}

// An issue that was found without a webhook becomes a delivery, too.
func ExampleNewIssueEvent() {
	repo := triage.Repo{Owner: "octo-org", Name: "hello"}
	issue := triage.Snapshot{Issue: triage.Issue{Number: 7, Title: "It crashes", Author: "mona"}}
	d, err := triage.NewIssueEvent("opened", repo, issue, triage.Actor{Login: "mona"})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(d.Key(), d.Ref())
	// Output: issues.opened octo-org/hello#7
}
