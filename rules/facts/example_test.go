package facts_test

import (
	"fmt"

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
	may, err := f.Lookup.Permission(f.Actor.Login)
	timeline, _ := f.Lookup.Timeline()
	labeled, found := timeline.Last(func(c facts.Change) bool { return c.Kind == "labeled" })
	fmt.Println(may, err, labeled.Label, found)
	// Output: triage <nil> bug true
}
