package triage_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/org/foreman-action/triage"
)

// TestEncode checks that events and issues without JSON of a service get a payload that is parsed to the
// same fields.
func TestEncode(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	full := triage.Issue{
		Number: 7, Title: "A \xffpanic", Body: "text", State: "closed", StateReason: "completed", Author: "mona", AuthorType: "User", AuthorID: 5,
		Association: "NONE", Labels: []string{"bug", "docs"}, Assignees: []string{"hubot"}, Milestone: "1.0", Type: "Bug", Comments: 3, Locked: true,
		CreatedAt: at, UpdatedAt: at.Add(time.Hour), ClosedAt: at.Add(time.Hour), URL: "https://github.com/o/r/issues/7", Reactions: triage.Reactions{Total: 1, Heart: 1},
		NodeID: "I_1", LabelIDs: []triage.LabelID{{Name: "bug", ID: "L_1"}},
	}
	pull := triage.Issue{Number: 8, Title: "A fix", NullBody: true, State: "closed", ClosedAt: at, PullRequest: true, Merged: true, Draft: true}
	for _, i := range []triage.Issue{full, pull, {Number: 9}} {
		want := i
		want.Title = string([]rune(i.Title)) // invalid UTF-8 is replaced
		events := map[string]triage.Delivery{
			"by hand": {Event: triage.Event{Name: "issue_comment", Action: "created", At: at.Add(2 * time.Hour), Comment: triage.Comment{ID: 4, Body: "hello", Author: "mona", Association: "NONE"}}, Repo: triage.Repo{Owner: "o", Name: "r"}, Branch: "main", Number: i.Number, Issue: &i, Sender: triage.Actor{Login: "mona", Type: "User"}},
			"label":   {Event: triage.Event{Name: "issues", Action: "labeled", Label: "bug", At: i.UpdatedAt}, Repo: triage.Repo{Owner: "o", Name: "r"}, Number: i.Number, Issue: &i},
		}
		made, err := triage.NewIssueEvent("opened", triage.Repo{Owner: "o", Name: "r"}, triage.Snapshot{Issue: i}, triage.Actor{Login: "mona"})
		if err != nil {
			t.Fatal(err)
		}
		events["made"] = made
		events["fetched"] = triage.Delivery{Event: made.Event, Repo: made.Repo, Number: i.Number}.WithIssue(triage.Snapshot{Issue: i})
		for name, d := range events {
			payload, err := json.Marshal(d.Payload())
			if err != nil {
				t.Fatal(err)
			}
			got, err := triage.ParseEvent(triage.EventSource{Name: d.Name, Repo: "o/r", Payload: payload})
			if err != nil {
				t.Errorf("issue %d, %s: %v\n%s", i.Number, name, err, payload)
				continue
			}
			if diff := cmp.Diff(want, *got.Issue); diff != "" {
				t.Errorf("issue %d, %s (-want +got):\n%s", i.Number, name, diff)
			}
			if name == "fetched" { // it has no payload but the issue
				continue
			}
			if diff := cmp.Diff([]any{d.Event, d.Repo, d.Branch, d.Sender}, []any{got.Event, got.Repo, got.Branch, got.Sender}); diff != "" {
				t.Errorf("issue %d, %s (-want +got):\n%s", i.Number, name, diff)
			}
		}
	}
}
