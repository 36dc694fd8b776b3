package facts_test

import (
	"context"
	"fmt"
	"time"

	"github.com/org/foreman-action/rules/facts"
	"github.com/org/foreman-action/triage"
)

func Example() {
	f := facts.Facts{
		Issue: triage.Issue{Number: 7, Title: "Panic at boot", Author: "octocat"},
		Event: triage.Event{Name: "issues", Action: "opened"},
		Actor: triage.Actor{Login: "octocat"},
		Lookup: facts.Known{
			Permissions: map[string]string{"octocat": "triage"},
			History:     facts.Timeline{Changes: []facts.Change{{Kind: "labeled", Label: "bug"}, {Kind: "commented"}}},
		},
	}
	may, err := f.Lookup.Permission(context.Background(), f.Actor.Login)
	timeline, _ := f.Lookup.Timeline(context.Background())
	labeled, found := timeline.Last(func(c facts.Change) bool { return c.Kind == "labeled" })
	fmt.Println(may, err, labeled.Label, found)
	// Output: triage <nil> bug true
}

func ExampleOf() {
	event, err := triage.ParseEvent(triage.EventSource{Name: "issues", Payload: []byte(`{
		"action": "opened",
		"issue": {"number": 7, "title": "Panic at start", "author_association": "MEMBER", "user": {"login": "mona"}},
		"repository": {"full_name": "octo-org/hello"},
		"sender": {"login": "mona"}
	}`)})
	if err != nil {
		fmt.Println(err)
		return
	}
	f := facts.Of(event, time.Now())
	fmt.Println(f.Event.Name, f.Event.Action, f.Issue.Title, f.Actor.Login, f.Actor.Association)
	// Output: issues opened Panic at start mona MEMBER
}
