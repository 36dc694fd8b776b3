package triage_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/org/foreman-action/internal/eventkind"
	"github.com/org/foreman-action/triage"
)

// TestEventKinds parses each event of the list with each of its activities.
func TestEventKinds(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for _, k := range eventkind.Kinds() {
		if k.Name == "" || k.Subject == eventkind.Unknown || seen[k.Name] || eventkind.SubjectOf(k.Name) != k.Subject {
			t.Errorf("%q: no name, no subject, or listed twice", k.Name)
		}
		seen[k.Name] = true
		carries := k.Subject == eventkind.Issue || k.Subject == eventkind.Pull
		if carries != (k.Activities != nil) {
			t.Errorf("%s: got the activities %v", k.Name, k.Activities)
		}
		for _, activity := range k.Routed {
			if k.Subject != eventkind.Issue || !slices.Contains(k.Activities, activity) {
				t.Errorf("%s: %s cannot be routed to agents", k.Name, activity)
			}
		}
		keys := k.Keys()
		if !carries {
			keys = []string{k.Name}
		}
		for i, key := range keys {
			action := ""
			if carries {
				action = fmt.Sprintf(`"action": %q, `, k.Activities[i])
			}
			payload := `{` + action + `"repository": {"full_name": "o/r"}, "issue": {"number": 7}, "pull_request": {"number": 7}}`
			d, err := triage.ParseEvent(triage.EventSource{Name: k.Name, Issue: 7, Payload: []byte(payload)})
			if err != nil || d.Key() != key || d.Happened() != carries {
				t.Errorf("%s: got %s, %t, %v", key, d.Key(), d.Happened(), err)
			}
		}
	}
	if got := eventkind.Names(eventkind.Issue); !slices.Equal(got, []string{"issues", "issue_comment"}) {
		t.Errorf("with an issue: got %v", got)
	}
}
