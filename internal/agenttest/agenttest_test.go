package agenttest_test

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/org/foreman-action/internal/agenttest"
	"github.com/org/foreman-action/protocol"
)

const task = `{"task_id":"t1","type":"issue.triage","repo":"o/r","payload":{"number":7},"context":{"llm_backend":{"provider":"none","model":"none"},"memory_summary":null}}`

// client returns a client that follows no redirects.
func client() *http.Client {
	return &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
}

// post sends a body. It returns the answer and the part of its body that could be read.
func post(t *testing.T, url, body string) (*http.Response, string, error) {
	t.Helper()
	resp, err := client().Post(url, "application/json", strings.NewReader(body))
	if err != nil {
		return nil, "", err
	}
	defer func() { _ = resp.Body.Close() }()
	data, err := io.ReadAll(resp.Body)
	return resp, string(data), err
}

func TestAnswers(t *testing.T) {
	t.Parallel()
	open := make(chan struct{})
	close(open)
	bug, err := protocol.NewAction(protocol.ActionAddLabel, map[string]any{"label": "bug"})
	if err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		name   string
		answer agenttest.Answer
		status int    // 0 for no answer at all
		body   string // the part that can be read
		broken bool
	}{
		{"decision", agenttest.Decide(protocol.LabelAndRespond, "why", bug), 200,
			`{"task_id":"t1","decision":"label_and_respond","rationale":"why","actions":[{"type":"add_label","label":"bug"}]}`, false},
		{"skip", agenttest.Skip("why"), 200, `{"task_id":"t1","decision":"skip","rationale":"why","actions":[]}`, false},
		{"wrong task", agenttest.WrongTask("t2"), 200, `{"task_id":"t2","decision":"skip","rationale":"meant for another task","actions":[]}`, false},
		{"zero", agenttest.Answer{}, 200, "", false},
		{"status", agenttest.Status(503, "later"), 503, "later", false},
		{"no content", agenttest.Status(204, ""), 204, "", false},
		{"raw", agenttest.Raw("\x00{"), 200, "\x00{", false},
		{"body before decision", agenttest.Answer{Body: []byte("x"), Decision: agenttest.Skip("").Decision}, 200, "x", false},
		{"redirect", agenttest.Redirect(307, "http://elsewhere.example/"), 307, "", false},
		{"gates that are open", agenttest.Answer{Body: []byte("12345"), HoldHeaders: open, HoldBody: open}, 200, "12345", false},
		{"cut", agenttest.Answer{Body: []byte("1234"), Cut: agenttest.CutBeforeHeaders}, 0, "", true},
		{"cut inside", agenttest.Answer{Body: []byte("1234"), Cut: agenttest.CutInBody}, 200, "12", true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			srv := agenttest.New(t, func(protocol.TaskMessage) agenttest.Answer { return tt.answer })
			resp, body, err := post(t, srv.URL+"/task", task)
			status := 0
			if resp != nil {
				status = resp.StatusCode
			}
			if status != tt.status || body != tt.body || (err != nil) != tt.broken {
				t.Errorf("got status %d, body %q, error %v; want %d, %q, broken %v", status, body, err, tt.status, tt.body, tt.broken)
			}
		})
	}
}

func TestHeaders(t *testing.T) {
	t.Parallel()
	tests := []struct {
		answer    agenttest.Answer
		key, want string
	}{
		{agenttest.Skip(""), "Content-Type", "application/json"},
		{agenttest.Answer{Header: http.Header{"Content-Type": {"text/html"}}}, "Content-Type", "text/html"},
		{agenttest.Redirect(302, "/x"), "Location", "/x"},
	}
	for _, tt := range tests {
		srv := agenttest.New(t, func(protocol.TaskMessage) agenttest.Answer { return tt.answer })
		resp, _, err := post(t, srv.URL, task)
		if err != nil {
			t.Fatal(err)
		}
		if got := resp.Header.Get(tt.key); got != tt.want {
			t.Errorf("%s: got %q, want %q", tt.key, got, tt.want)
		}
	}
}

// TestHoldBody reads the first half of a body while the second half is delayed.
func TestHoldBody(t *testing.T) {
	t.Parallel()
	gate := make(chan struct{})
	srv := agenttest.New(t, func(protocol.TaskMessage) agenttest.Answer {
		return agenttest.Answer{Body: []byte("first-second"), HoldBody: gate}
	})
	resp, err := client().Post(srv.URL, "application/json", strings.NewReader(task))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	half := make([]byte, 6)
	if _, err := io.ReadFull(resp.Body, half); err != nil || string(half) != "first-" {
		t.Fatalf("got %q, %v, want the first half", half, err)
	}
	close(gate)
	if rest, err := io.ReadAll(resp.Body); err != nil || string(rest) != "second" {
		t.Errorf("got %q, %v, want the second half", rest, err)
	}
}

// TestStop ends a test while an answer is delayed and the client still waits.
func TestStop(t *testing.T) {
	t.Parallel()
	reached := make(chan struct{})
	done := make(chan error, 1)
	t.Run("test of a user", func(t *testing.T) {
		srv := agenttest.New(t, func(protocol.TaskMessage) agenttest.Answer {
			close(reached)
			return agenttest.Held()
		})
		go func() {
			resp, err := client().Post(srv.URL, "application/json", strings.NewReader(task))
			if err == nil {
				err = resp.Body.Close()
			}
			done <- err
		}()
		<-reached
	})
	if err := <-done; err != nil {
		t.Logf("the client saw: %v", err)
	}
}

func TestRequests(t *testing.T) {
	t.Parallel()
	srv := agenttest.New(t, nil)
	if got := srv.Requests(); len(got) != 0 {
		t.Fatalf("got %d requests before the first", len(got))
	}
	if _, body, err := post(t, srv.URL+"/a/task?v=1", task); err != nil || !strings.Contains(body, `"decision":"skip"`) {
		t.Errorf("got %q, %v, want the default decision", body, err)
	}
	resp, body, err := post(t, srv.URL+"/task", `{"task_id":"t1"}`)
	if err != nil || resp.StatusCode != http.StatusUnprocessableEntity || !json.Valid([]byte(body)) {
		t.Errorf("got %v, %q, %v, want 422 with JSON", resp, body, err)
	}
	resp, err = client().Get(srv.URL)
	if err != nil {
		t.Fatal(err)
	}
	_ = resp.Body.Close()
	if resp.StatusCode != http.StatusMethodNotAllowed || resp.Header.Get("Allow") != http.MethodPost {
		t.Errorf("got status %d, Allow %q for a GET", resp.StatusCode, resp.Header.Get("Allow"))
	}

	type seen struct {
		Method, URI, Type, TaskID string
		Broken                    bool
	}
	var got []seen
	for _, r := range srv.Requests() {
		got = append(got, seen{r.Method, r.URI, r.Header.Get("Content-Type"), r.Task.TaskID, r.Err != nil})
	}
	want := []seen{
		{"POST", "/a/task?v=1", "application/json", "t1", false},
		{"POST", "/task", "application/json", "", true},
		{"GET", "/", "", "", true},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("requests -want +got:\n%s", diff)
	}
	if first := srv.Requests()[0]; !bytes.Equal(first.Body, []byte(task)) {
		t.Errorf("got body %s, want %s", first.Body, task)
	}
	if tasks := srv.Tasks(); len(tasks) != 1 || tasks[0].Repo != "o/r" {
		t.Errorf("got tasks %v, want the one that was sent", tasks)
	}
}

func TestHuge(t *testing.T) {
	t.Parallel()
	srv := agenttest.New(t, func(protocol.TaskMessage) agenttest.Answer { return agenttest.Huge(5000) })
	_, body, err := post(t, srv.URL, task)
	if err != nil || len(body) <= 5000 || !json.Valid([]byte(body)) {
		t.Errorf("got %d bytes, %v, want JSON of more than 5000", len(body), err)
	}
}
