package protocol_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/org/foreman-action/protocol"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// parse decodes a message. The file's name starts with the kind of the message.
func parse(t testing.TB, file string, data []byte) (any, error) {
	t.Helper()
	kind, _, _ := strings.Cut(filepath.Base(file), "-")
	switch kind {
	case "task":
		return protocol.ParseTask(data)
	case "decision":
		return protocol.ParseDecision(data)
	case "action":
		var a protocol.ActionItem
		// json.Unmarshal is not used, because it would check the syntax before the decoder.
		err := a.UnmarshalJSON(data)
		return a, err
	}
	t.Fatalf("%s: the name starts with no kind of message", file)
	return nil, nil
}

// files returns the JSON files of a folder of testdata.
func files(t testing.TB, folder string) []string {
	t.Helper()
	list, err := filepath.Glob(filepath.Join("testdata", folder, "*.json"))
	if err != nil || len(list) == 0 {
		t.Fatalf("no files in testdata/%s: %v", folder, err)
	}
	return list
}

func read(t testing.TB, file string) []byte {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func golden(t *testing.T, file, got string) {
	t.Helper()
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if diff := cmp.Diff(string(read(t, file)), got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", file, diff)
	}
}

// TestValid pins the encoding of each valid message after it is decoded.
func TestValid(t *testing.T) {
	t.Parallel()
	for _, file := range files(t, "valid") {
		t.Run(filepath.Base(file), func(t *testing.T) {
			t.Parallel()
			m, err := parse(t, file, read(t, file))
			if err != nil {
				t.Fatalf("parse: %v", err)
			}
			wire := encode(t, m)
			golden(t, strings.TrimSuffix(file, ".json")+".wire", wire+"\n")
			again, err := parse(t, file, []byte(wire))
			if err != nil {
				t.Fatalf("parse what was encoded: %v", err)
			}
			if got := encode(t, again); got != wire {
				t.Errorf("second round: got %s, want %s", got, wire)
			}
			if err := validate(t, schemaOf(file), []byte(wire)); err != nil {
				t.Errorf("the schema refuses what was encoded: %v", err)
			}
		})
	}
}

// TestInvalid pins the problems of each invalid message.
func TestInvalid(t *testing.T) {
	t.Parallel()
	for _, file := range files(t, "invalid") {
		t.Run(filepath.Base(file), func(t *testing.T) {
			t.Parallel()
			_, err := parse(t, file, read(t, file))
			var invalid *protocol.ValidationError
			if !errors.As(err, &invalid) {
				t.Fatalf("got %v, want a ValidationError", err)
			}
			var b strings.Builder
			for _, p := range invalid.Problems {
				fmt.Fprintf(&b, "%s %s %s\n", strings.Join(append([]string{invalid.Message}, p.Path...), "."), p.Code, p.Msg)
			}
			golden(t, strings.TrimSuffix(file, ".json")+".problems", b.String())
			if text := err.Error(); len(text) > 2000 || strings.ContainsAny(text, "\n\x1b") {
				t.Errorf("the error is long or has control characters: %q", text)
			}
		})
	}
}

func encode(t testing.TB, v any) string {
	t.Helper()
	b, err := protocol.Encode(v)
	if err != nil {
		t.Fatalf("encode: %v", err)
	}
	return string(b)
}

func TestErrorText(t *testing.T) {
	t.Parallel()
	_, err := protocol.ParseDecision([]byte(`{"task_id":7,"decision":"maybe","rationale":"r","actions":[{}]}`))
	want := "decode decision: task_id: want a string, got a number; " +
		`decision: want 'label_and_respond', 'close', 'escalate' or 'skip', got "maybe"; ` +
		"actions.0.type: required, but missing"
	if err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
	_, err = protocol.ParseDecision(read(t, "testdata/invalid/decision-many-problems.json"))
	if want := "; and 90 more"; err == nil || !strings.HasSuffix(err.Error(), want) {
		t.Errorf("got %v, want it to end in %q", err, want)
	}
}

// TestRawParts checks that unknown parts of a message keep their bytes.
func TestRawParts(t *testing.T) {
	t.Parallel()
	payload := `{"z":1.50,"a":1e400,"html":"<b>&\u003c","dup":1,"dup":2}`
	task, err := protocol.ParseTask([]byte(`{"task_id":"t","type":"x","repo":"o/r","payload": ` + payload +
		` ,"context":{"llm_backend":{"provider":"p","model":"m"}}}`))
	if err != nil {
		t.Fatal(err)
	}
	if string(task.Payload) != payload {
		t.Errorf("payload: got %s, want %s", task.Payload, payload)
	}
	if got := encode(t, task); !strings.Contains(got, `"payload":`+payload+`,`) {
		t.Errorf("encoded task lacks the payload as it came: %s", got)
	}
	item := `{"x":1.50,"type":"later","dup":1,"dup":"<&>"}`
	var a protocol.ActionItem
	if err := json.Unmarshal([]byte(item), &a); err != nil {
		t.Fatal(err)
	}
	d := protocol.DecisionMessage{TaskID: "t", Decision: protocol.Skip, Actions: []protocol.ActionItem{a}}
	want := `{"task_id":"t","decision":"skip","rationale":"","actions":[` + item + `]}`
	if got := encode(t, d); got != want {
		t.Errorf("decision: got %s, want %s", got, want)
	}
	if got := encode(t, &d); got != want {
		t.Errorf("pointer to decision: got %s, want %s", got, want)
	}
}

// TestHTML shows why Encode is needed: json.Marshal escapes the HTML characters that MarshalJSON
// keeps.
func TestHTML(t *testing.T) {
	t.Parallel()
	a, err := protocol.NewAction("comment", map[string]any{"body": "a < b & c > d"})
	if err != nil {
		t.Fatal(err)
	}
	d := protocol.DecisionMessage{TaskID: "t", Decision: protocol.Skip, Rationale: "<r>", Actions: []protocol.ActionItem{a}}
	plain := encode(t, d)
	if strings.Contains(plain, `\u003c`) || !strings.Contains(plain, "a < b & c > d") {
		t.Errorf("Encode escapes HTML: %s", plain)
	}
	escaped, err := json.Marshal(d)
	if err != nil {
		t.Fatal(err)
	}
	if bytes.ContainsAny(escaped, "<>&") {
		t.Errorf("json.Marshal no longer escapes, so the comment on Encode is wrong: %s", escaped)
	}
	got, err := protocol.ParseDecision(escaped)
	if err != nil {
		t.Fatal(err)
	}
	if body, _, _ := got.Actions[0].Text("body"); body != "a < b & c > d" || got.Rationale != "<r>" {
		t.Errorf("the escaped form is another message: %q, %q", body, got.Rationale)
	}
}

func TestZeroValues(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name string
		v    any
		want string
	}{
		{"task", protocol.TaskMessage{}, `{"task_id":"","type":"","repo":"","payload":{},"context":{"llm_backend":{"provider":"","model":""},"memory_summary":null}}`},
		{"decision", protocol.DecisionMessage{}, `{"task_id":"","decision":"","rationale":"","actions":[]}`},
		{"action", protocol.ActionItem{}, `{"type":""}`},
	}
	for _, tt := range tests {
		if got := encode(t, tt.v); got != tt.want {
			t.Errorf("%s: got %s, want %s", tt.name, got, tt.want)
		}
	}
	if _, err := protocol.Encode(protocol.TaskMessage{Payload: json.RawMessage("{")}); err == nil {
		t.Error("Encode of a broken payload: got no error")
	}
}

// TestUnmarshal checks that json.Unmarshal rejects the same messages as the parsers.
func TestUnmarshal(t *testing.T) {
	t.Parallel()
	var d protocol.DecisionMessage
	for _, in := range []string{`null`, `{"TASK_ID":"t","decision":"skip","rationale":""}`, `{"task_id":"t","decision":"no","rationale":""}`} {
		if err := json.Unmarshal([]byte(in), &d); err == nil {
			t.Errorf("decision %s: got no error", in)
		}
	}
	if err := json.Unmarshal(read(t, "testdata/valid/decision-published-example.json"), &d); err != nil || len(d.Actions) != 2 {
		t.Errorf("decision: got %d actions and %v", len(d.Actions), err)
	}
	var m protocol.TaskMessage
	if err := json.Unmarshal([]byte(`null`), &m); err == nil {
		t.Error("task null: got no error")
	}
	if err := json.Unmarshal(read(t, "testdata/valid/task-published-example.json"), &m); err != nil || m.Context.MemorySummary == nil {
		t.Errorf("task: got %+v and %v", m.Context, err)
	}
	var items []protocol.ActionItem
	if err := json.Unmarshal([]byte(`[{"type":"x"},null]`), &items); err == nil {
		t.Error("list with null: got no error")
	}
}

func TestSplitRepo(t *testing.T) {
	t.Parallel()
	tests := []struct {
		in          string
		owner, name string
		ok          bool
	}{
		{"org/repo", "org", "repo", true},
		{"o/.github", "o", ".github", true},
		{"a-b/c_d.e", "a-b", "c_d.e", true},
		{"o/a..b", "o", "a..b", true},
		{in: ""}, {in: "/"}, {in: "org"}, {in: "org/"}, {in: "/repo"}, {in: "a/b/c"}, {in: "a//b"}, {in: "a/b/"},
		{in: "../b"}, {in: "a/.."}, {in: "./b"}, {in: "a/."}, {in: "a b/c"}, {in: "a/b c"}, {in: "a/b\n"}, {in: "a/b\x00"},
		{in: `a/b\c`}, {in: "a/b%2f"}, {in: "a/b?c"}, {in: "a/b#1"}, {in: "ä/b"}, {in: "a/b\xff"},
	}
	for _, tt := range tests {
		owner, name, ok := protocol.SplitRepo(tt.in)
		if owner != tt.owner || name != tt.name || ok != tt.ok {
			t.Errorf("SplitRepo(%q): got %q, %q, %v, want %q, %q, %v", tt.in, owner, name, ok, tt.owner, tt.name, tt.ok)
		}
	}
}

func TestWrites(t *testing.T) {
	t.Parallel()
	want := map[protocol.DecisionType]bool{protocol.LabelAndRespond: true, protocol.Close: true, protocol.Escalate: false, protocol.Skip: false}
	got := map[protocol.DecisionType]bool{}
	for _, d := range protocol.DecisionTypes() {
		got[d] = d.Writes()
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("Writes (-want +got):\n%s", diff)
	}
	if protocol.DecisionType("maybe").Writes() {
		t.Error("an unknown decision writes")
	}
}
