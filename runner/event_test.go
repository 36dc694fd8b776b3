package runner

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/org/foreman-action/protocol"
)

// TestParseEvent reads the payload of every file in testdata/event. The part
// "source" holds name=, repo= and issue= of the event's source, and bot=.
func TestParseEvent(t *testing.T) {
	t.Parallel()
	eachArchive(t, "testdata/event", func(t *testing.T, a *archive) {
		src := EventSource{File: "event.json", Payload: a.get("event.json")}
		bot := DefaultBot
		for field := range strings.FieldsSeq(string(a.get("source"))) {
			name, value, _ := strings.Cut(field, "=")
			switch name {
			case "name":
				src.Name = value
			case "repo":
				src.Repo = value
			case "issue":
				src.Issue, _ = ParseNumber(value)
			case "bot":
				bot = value
			}
		}
		e, err := ParseEvent(src)
		if err != nil {
			a.want(t, "want", "error: "+err.Error())
			return
		}
		a.want(t, "want", showEvent(e)+"skip: "+e.SkipReason(bot)+"\n")
	})
}

func showEvent(e Event) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s on %s by %s (%s)\n", e.Key(), e.Ref(), e.Sender.Login, e.Sender.Type)
	fmt.Fprintf(&b, "label %q assignee %q milestone %q\n", e.Label, e.Assignee, e.Milestone)
	if e.Comment != nil {
		fmt.Fprintf(&b, "comment %+v\n", *e.Comment)
	}
	if e.Issue != nil {
		i := *e.Issue
		i.Raw = nil
		if e.Pull != nil {
			fmt.Fprintf(&b, "pull request %+v\n", *e.Pull)
		}
		fmt.Fprintf(&b, "issue %+v\n", i)
	}
	return b.String()
}

// TestTask compares the task of a real event with what agents are promised.
func TestTask(t *testing.T) {
	t.Parallel()
	e := realEvent(t, "issues/opened")
	summary := "Issue #1: labelled."
	task, err := Task(e, TaskSpec{
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
	task, err := Task(e, TaskSpec{ID: "x"})
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
	if _, err := Task(Event{}, TaskSpec{}); err == nil {
		t.Error("a task was made of an event without its issue")
	}
}

// TestWithIssue puts a fetched issue into the event and its payload, and leaves the
// event that it came from alone.
func TestWithIssue(t *testing.T) {
	t.Parallel()
	bare, err := ParseEvent(EventSource{Name: EventWorkflowDispatch, Issue: 7, Repo: "o/r", Payload: []byte(`{"inputs":null}`)})
	if err != nil {
		t.Fatal(err)
	}
	issue, err := ParseIssue([]byte(`{"number":7,"title":"T","user":null,"labels":["bare",{"name":"object"}],"type":{"name":"Bug"}}`))
	if err != nil {
		t.Fatal(err)
	}
	full := bare.WithIssue(issue)
	task, err := Task(full, TaskSpec{ID: "x"})
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
	if bare.Issue != nil || bare.payload["issue"] != nil {
		t.Error("WithIssue changed the event that it was called on")
	}
	if diff := cmp.Diff([]string{"bare", "object"}, full.Issue.Labels); diff != "" {
		t.Error(diff)
	}
}

func TestParseNumber(t *testing.T) {
	t.Parallel()
	tests := []struct {
		in   string
		want int // 0: an error
	}{
		{"7", 7}, {" #7 ", 7}, {"", 0}, {"0", 0}, {"-1", 0}, {"7.0", 0}, {"seven", 0},
		{"99999999999999999999", 0}, {"o/r#7", 0}, {"##7", 0},
	}
	for _, tt := range tests {
		got, err := ParseNumber(tt.in)
		if got != tt.want || (err == nil) != (tt.want > 0) {
			t.Errorf("ParseNumber(%q): got %d, %v, want %d", tt.in, got, err, tt.want)
		}
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

func realEvent(t testing.TB, name string) Event {
	t.Helper()
	e, err := ParseEvent(EventSource{Name: filepath.Dir(name), Payload: realPayload(t, name)})
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// FuzzParseEvent looks for payloads that panic, or that pass and cannot become a task.
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
		e, err := ParseEvent(EventSource{Name: name, Payload: payload})
		if err != nil {
			return
		}
		if e.Number <= 0 || e.Owner == "" || e.Repo == "" {
			t.Fatalf("an event without its issue passed: %+v", e)
		}
		e.SkipReason(DefaultBot)
		if e.Issue == nil {
			return
		}
		task, err := Task(e, TaskSpec{ID: "x"})
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
