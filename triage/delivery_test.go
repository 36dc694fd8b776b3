package triage_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/org/foreman-action/triage"
)

func parse(t *testing.T, name, payload string) triage.Delivery {
	t.Helper()
	d, err := triage.ParseEvent(triage.EventSource{Name: name, Repo: "octo/hello", Issue: 7, Payload: []byte(payload)})
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// payloadOf returns the decoded payload of a delivery.
func payloadOf(t *testing.T, d triage.Delivery) map[string]any {
	t.Helper()
	raw, err := json.Marshal(d.Payload())
	if err != nil {
		t.Fatal(err)
	}
	var out map[string]any
	if err := json.Unmarshal(raw, &out); err != nil {
		t.Fatal(err)
	}
	return out
}

// plain returns a delivery without its payload, because cmp cannot compare the unexported field.
func plain(d triage.Delivery) any {
	return struct {
		Event  triage.Event
		Repo   triage.Repo
		Branch string
		Number int
		Issue  *triage.Issue
		Pull   *triage.PullRequest
		Sender triage.Actor
		Scans  []string
	}{d.Event, d.Repo, d.Branch, d.Number, d.Issue, d.Pull, d.Sender, d.Scans}
}

const issueJSON = `{"number": 7, "title": "Crash", "body": "It <b>crashes</b>", "state": "open", "user": {"login": "mona", "type": "User"},
	"author_association": "NONE", "labels": [{"name": "bug"}, "docs"], "assignees": [{"login": "hubot"}], "milestone": {"title": "v1"},
	"type": {"name": "Bug"}, "comments": 3, "locked": true, "created_at": "2026-04-10T08:00:00Z", "updated_at": "2026-04-10T09:00:00Z",
	"html_url": "https://github.com/octo/hello/issues/7", "reactions": {"total_count": 2, "+1": 1, "-1": 1}, "node_id": "I_7"}`

// TestNewIssueEvent compares an event that was found by polling with the same event from a webhook.
func TestNewIssueEvent(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, sender string
		actor        triage.Actor
	}{
		{"user", `{"login": "mona", "type": "User"}`, triage.Actor{Login: "mona", Type: "User"}},
		{"type not reported", `{"login": "mona"}`, triage.Actor{Login: "mona"}},
		{"login to be escaped", `{"login": "mo\"na", "type": "Bot"}`, triage.Actor{Login: `mo"na`, Type: "Bot"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			want := parse(t, "issues", `{"action": "closed", "repository": {"full_name": "octo/hello"}, "sender": `+tt.sender+`, "issue": `+issueJSON+`}`)
			snapshot, err := triage.ParseIssue([]byte(issueJSON))
			if err != nil {
				t.Fatal(err)
			}
			got, err := triage.NewIssueEvent("closed", triage.Repo{Owner: "octo", Name: "hello"}, snapshot, tt.actor)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(plain(want), plain(got)); diff != "" {
				t.Errorf("event (-webhook +poll):\n%s", diff)
			}
			if diff := cmp.Diff(payloadOf(t, want), payloadOf(t, got)); diff != "" {
				t.Errorf("payload (-webhook +poll):\n%s", diff)
			}
			if diff := cmp.Diff(want.Snapshot().Issue, got.Snapshot().Issue); diff != "" {
				t.Errorf("snapshot (-webhook +poll):\n%s", diff)
			}
		})
	}
}

// TestSnapshot checks that the JSON of a snapshot parses to the same issue.
func TestSnapshot(t *testing.T) {
	t.Parallel()
	fetched, err := triage.ParseIssue([]byte(`{"number": 7, "title": "fetched", "labels": ["a"]}`))
	if err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		name  string
		d     triage.Delivery
		title string
	}{
		{"of a webhook", parse(t, "issues", `{"action": "opened", "issue": `+issueJSON+`}`), "Crash"},
		{"fetched", parse(t, "workflow_dispatch", `{}`).WithIssue(fetched), "fetched"},
		{"fetched anew", parse(t, "issues", `{"action": "opened", "issue": `+issueJSON+`}`).WithIssue(fetched), "fetched"},
		{"as newly opened", parse(t, "issues", `{"action": "edited", "issue": `+issueJSON+`}`).AsOpened(), "Crash"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s := tt.d.Snapshot()
			again, err := triage.ParseIssue(s.Raw)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(s.Issue, again.Issue); diff != "" || s.Title != tt.title {
				t.Errorf("title %q, want %q; (-snapshot +its JSON):\n%s", s.Title, tt.title, diff)
			}
		})
	}
}

// TestAsOpened applies AsOpened to every recorded event with an issue.
func TestAsOpened(t *testing.T) {
	t.Parallel()
	gone := []string{"comment", "label", "assignee", "milestone", "changes", "inputs", "client_payload", "workflow", "ref", "schedule"}
	n := 0
	for _, kind := range []string{"issues", "issue_comment"} {
		paths, err := filepath.Glob("../testdata/events/" + kind + "/*.json")
		if err != nil {
			t.Fatal(err)
		}
		for _, path := range paths {
			n++
			t.Run(kind+" "+filepath.Base(path), func(t *testing.T) {
				t.Parallel()
				data, err := os.ReadFile(path)
				if err != nil {
					t.Fatal(err)
				}
				d := parse(t, kind, string(data))
				before, payload := plain(d), payloadOf(t, d)
				opened, name := d.AsOpened(), "issues"
				if d.OnPull() {
					name = "pull_request_target"
				}
				if opened.Key() != name+".opened" || opened.Ref() != d.Ref() || opened.Sender != d.Sender || opened.Issue != d.Issue {
					t.Errorf("got %s on %s by %v", opened.Key(), opened.Ref(), opened.Sender)
				}
				if got := opened.Event; got != (triage.Event{Name: name, Action: "opened"}) {
					t.Errorf("got %+v, want nothing of the event itself", got)
				}
				want := payloadOf(t, d)
				for _, key := range gone {
					delete(want, key)
				}
				want["action"] = "opened"
				if diff := cmp.Diff(want, payloadOf(t, opened)); diff != "" {
					t.Errorf("payload (-want +got):\n%s", diff)
				}
				if diff := cmp.Diff(before, plain(d)) + cmp.Diff(payload, payloadOf(t, d)); diff != "" {
					t.Errorf("it changed the event that it was called on:\n%s", diff)
				}
				again := opened.AsOpened()
				if diff := cmp.Diff(plain(opened), plain(again)) + cmp.Diff(payloadOf(t, opened), payloadOf(t, again)); diff != "" {
					t.Errorf("the second time (-first +second):\n%s", diff)
				}
			})
		}
	}
	if n < 20 {
		t.Errorf("found %d recorded events", n)
	}
}

// TestAsOpenedPull checks that the event of a pull request stays one, under the same name.
func TestAsOpenedPull(t *testing.T) {
	t.Parallel()
	pull := `{"action": "synchronize", "number": 7, "pull_request": {"number": 7, "title": "x", "head": {"ref": "h"}, "base": {"ref": "b"}}}`
	for _, name := range []string{"pull_request", "pull_request_target"} {
		d := parse(t, name, pull).AsOpened()
		if d.Key() != name+".opened" || d.RuleName() != "pull_request" || d.Pull == nil || d.Pull.Head != "h" || !d.Issue.PullRequest {
			t.Errorf("%s: got %s with %+v", name, d.Key(), d.Pull)
		}
	}
}

// TestPayloadIsACopy checks that a caller cannot change a delivery.
func TestPayloadIsACopy(t *testing.T) {
	t.Parallel()
	for name, d := range map[string]triage.Delivery{"zero": {}, "parsed": parse(t, "issues", `{"action": "opened", "issue": `+issueJSON+`}`)} {
		n := len(d.Payload())
		d.Payload()["more"] = json.RawMessage("1")
		if got := len(d.Payload()); got != n {
			t.Errorf("%s: got %d keys, want %d", name, got, n)
		}
	}
}

// TestSkipReason checks that events that we caused ourselves are skipped.
func TestSkipReason(t *testing.T) {
	t.Parallel()
	comment := func(body string) string {
		return `{"action": "created", "sender": {"login": "hubot[bot]"}, "issue": {"number": 7}, "comment": {"id": 1, "body": "` + body + `", "user": {"login": "hubot[bot]"}}}`
	}
	marked := comment(`x\n\n<!-- foreman:v1 task=t comment=0 -->`)
	forged := strings.ReplaceAll(marked, "hubot[bot]", "mona")
	tests := []struct {
		name, event, payload, bot, want string
	}{
		{"person", "issues", `{"action": "opened", "sender": {"login": "mona"}, "issue": {"number": 7}}`, "hubot[bot]", ""},
		{"our bot", "issues", `{"action": "opened", "sender": {"login": "HuBot[bot]"}, "issue": {"number": 7}}`, "hubot[bot]", "caused by our own bot"},
		{"no bot known", "issues", `{"action": "opened", "sender": {"login": ""}, "issue": {"number": 7}}`, "", ""},
		{"our comment under another login", "issue_comment", marked, "github-actions[bot]", "our marker"},
		{"our marker in a person's comment", "issue_comment", forged, "github-actions[bot]", ""},
		{"our marker in our comment, edited by a person", "issue_comment", strings.Replace(marked, "hubot[bot]", "mona", 1), "hubot[bot]", "our marker"},
		{"our marker under our own account", "issue_comment", strings.Replace(forged, "mona", "octo", 1), "mona", "our marker"},
		{"comment of another program", "issue_comment", comment("hello"), "github-actions[bot]", ""},
		{"comment on a pull request", "issue_comment", `{"action": "created", "issue": {"number": 7, "pull_request": {}}, "comment": {"body": "x"}}`, "", ""},
		{"milestone of a pull request", "issues", `{"action": "milestoned", "issue": {"number": 7, "pull_request": {}}}`, "", "pull_request_target"},
		{"schedule on a pull request", "schedule", `{"issue": {"number": 7, "pull_request": {}}}`, "", ""},
		{"pull request", "pull_request", `{"action": "opened", "pull_request": {"number": 7}}`, "", ""},
		{"dispatch by our bot", "workflow_dispatch", `{"sender": {"login": "hubot[bot]"}}`, "hubot[bot]", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got := parse(t, tt.event, tt.payload).SkipReason(tt.bot)
			if (got == "") != (tt.want == "") || !strings.Contains(got, tt.want) {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}
