package runner_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/org/foreman-action/protocol"
	"github.com/org/foreman-action/runner"
	"github.com/org/foreman-action/triage"
)

// TestTask compares the task for a recorded event with the documented format.
func TestTask(t *testing.T) {
	t.Parallel()
	e := realEvent(t, "issues/opened")
	summary := "Issue #1: labelled."
	task, err := runner.Task(e, runner.TaskSpec{
		ID: "a3f8c2d1-4b5e-4f6a-8c9d-0e1f2a3b4c5d", AllowClose: true, Memory: &summary,
		LLM: protocol.LLMBackendRef{Provider: "anthropic", Model: "claude-sonnet-4-6"},
	})
	if err != nil {
		t.Fatal(err)
	}
	var payload map[string]any
	if err := json.Unmarshal(task.Payload, &payload); err != nil {
		t.Fatal(err)
	}
	var raw map[string]any
	if err := json.Unmarshal(realPayload(t, "issues/opened"), &raw); err != nil {
		t.Fatal(err)
	}
	for key, want := range raw {
		if diff := cmp.Diff(want, payload[key]); diff != "" {
			t.Errorf("the event's %s changed (-event +payload):\n%s", key, diff)
		}
		delete(payload, key)
	}
	want := map[string]any{
		"number": 1.0, "issue_number": 1.0, "title": "Spelling error in the README file",
		"body": "It looks like you accidently spelled 'commit' with two 't's.", "state": "open",
		"user": map[string]any{"login": "Codertocat"}, "author": "Codertocat",
		"labels": []any{map[string]any{"name": "bug"}}, "allow_close": true,
	}
	if diff := cmp.Diff(want, payload); diff != "" {
		t.Errorf("added keys (-want +got):\n%s", diff)
	}
	if task.Type != "issue.triage" || task.Repo != "Codertocat/Hello-World" || *task.Context.MemorySummary != summary {
		t.Errorf("got %+v", task)
	}
}

func TestTaskDefaults(t *testing.T) {
	t.Parallel()
	e := realEvent(t, "issues/opened.with-empty-body")
	task, err := runner.Task(e, runner.TaskSpec{ID: "x"})
	if err != nil {
		t.Fatal(err)
	}
	if got, want := task.Context.LLMBackend, (protocol.LLMBackendRef{Provider: "none", Model: "none"}); got != want {
		t.Errorf("got %v, want %v", got, want)
	}
	if task.Context.MemorySummary != nil {
		t.Errorf("got summary %q, want none", *task.Context.MemorySummary)
	}
	var p struct {
		Body *string `json:"body"`
	}
	if err := json.Unmarshal(task.Payload, &p); err != nil || p.Body != nil {
		t.Errorf("got body %v, error %v; want null", p.Body, err)
	}
	if _, err := runner.Task(triage.Delivery{}, runner.TaskSpec{}); err == nil {
		t.Error("a task was made of an event without its issue")
	}
}

// TestWithIssue checks that a fetched issue is put into the event and its payload, and that the
// original event is not changed.
func TestWithIssue(t *testing.T) {
	t.Parallel()
	bare, err := triage.ParseEvent(triage.EventSource{Name: triage.EventWorkflowDispatch, Issue: 7, Repo: "o/r", Payload: []byte(`{"inputs":null}`)})
	if err != nil {
		t.Fatal(err)
	}
	issue, err := triage.ParseIssue([]byte(`{"number":7,"title":"T","user":null,"labels":["bare",{"name":"object"}],"type":{"name":"Bug"}}`))
	if err != nil {
		t.Fatal(err)
	}
	full := bare.WithIssue(issue)
	task, err := runner.Task(full, runner.TaskSpec{ID: "x"})
	if err != nil {
		t.Fatal(err)
	}
	var p struct {
		Issue struct{ Number int }
		User  struct{ Login *string }
	}
	if err := json.Unmarshal(task.Payload, &p); err != nil || p.Issue.Number != 7 || p.User.Login == nil {
		t.Errorf("got %s, error %v", task.Payload, err)
	}
	if bare.Issue != nil || bare.Payload()["issue"] != nil {
		t.Error("WithIssue changed the event that it was called on")
	}
	if diff := cmp.Diff([]string{"bare", "object"}, full.Issue.Labels); diff != "" {
		t.Error(diff)
	}
}

// TestTaskOfPoll checks that a polled event leads to the same task as the webhook's event.
func TestTaskOfPoll(t *testing.T) {
	t.Parallel()
	const issue = `{"number": 7, "title": "T", "body": null, "state": "open", "user": {"login": "mona", "type": "User"}, "labels": ["bug"], "node_id": "I_7"}`
	webhook, err := triage.ParseEvent(triage.EventSource{Name: "issues", Payload: []byte(
		`{"action": "opened", "repository": {"full_name": "octo/hello"}, "sender": {"login": "mona", "type": "User"}, "issue": ` + issue + `}`)})
	if err != nil {
		t.Fatal(err)
	}
	snapshot, err := triage.ParseIssue([]byte(issue))
	if err != nil {
		t.Fatal(err)
	}
	poll, err := triage.NewIssueEvent("opened", triage.Repo{Owner: "octo", Name: "hello"}, snapshot, triage.Actor{Login: "mona", Type: "User"})
	if err != nil {
		t.Fatal(err)
	}
	var list [2]string
	for i, d := range []triage.Delivery{webhook, poll} {
		task, err := runner.Task(d, runner.TaskSpec{ID: runTask, AllowClose: true})
		if err != nil {
			t.Fatal(err)
		}
		list[i] = task.Repo + " " + string(task.Payload)
	}
	if list[0] != list[1] {
		t.Errorf("webhook:\n%s\npoll:\n%s", list[0], list[1])
	}
}

func realPayload(t testing.TB, name string) []byte {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("../testdata/events", name+".payload.json"))
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func realEvent(t testing.TB, name string) triage.Delivery {
	t.Helper()
	e, err := triage.ParseEvent(triage.EventSource{Name: filepath.Dir(name), Payload: realPayload(t, name)})
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// FuzzParseEvent looks for payloads that cause a panic, or that are accepted but cannot become a
// task.
func FuzzParseEvent(f *testing.F) {
	paths, err := filepath.Glob("../testdata/events/*/*.json")
	if err != nil || len(paths) == 0 {
		f.Fatal("no seeds", err)
	}
	for _, path := range paths {
		data, err := os.ReadFile(path)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(filepath.Base(filepath.Dir(path)), data)
	}
	f.Add("", []byte(`{"issue":{"number":1},"repository":{"full_name":"o/r"}}`))
	f.Add("repository_dispatch", []byte(`{"client_payload":{"issue":{"number":"#3"}},"repository":{"full_name":"o/r"}}`))
	f.Fuzz(func(t *testing.T, name string, payload []byte) {
		e, err := triage.ParseEvent(triage.EventSource{Name: name, Payload: payload})
		if err != nil {
			return
		}
		if e.Number <= 0 || e.Repo.Owner == "" || e.Repo.Name == "" {
			t.Fatalf("an event without its issue passed: %+v", e)
		}
		e.SkipReason(runner.DefaultBot)
		if e.Issue == nil {
			return
		}
		task, err := runner.Task(e, runner.TaskSpec{ID: "x"})
		if err != nil {
			t.Fatal(err)
		}
		data, err := json.Marshal(task)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := protocol.ParseTask(data); err != nil {
			t.Fatalf("the task is not one: %v", err)
		}
	})
}
