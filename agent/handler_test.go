package agent_test

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/org/foreman-action/agent"
	"github.com/org/foreman-action/protocol"
)

func taskJSON(tb testing.TB) string {
	tb.Helper()
	data, err := json.Marshal(theTask())
	if err != nil {
		tb.Fatal(err)
	}
	return string(data)
}

// TestHandler checks status and body for every kind of request. They are those of the published
// agent.
func TestHandler(t *testing.T) {
	t.Parallel()
	const typ = "application/json"
	whole := taskJSON(t)
	unnamed := `{"type":"issue.triage","repo":"o/r","payload":{},"context":{"llm_backend":{"provider":"p","model":"m"}}}`
	tests := []struct {
		name, method, path, typ, body string
		v0                            bool
		status                        int
		want                          string
		nudges                        int
	}{
		{"health", "GET", "/health", "", "", false, 200, `{"status":"ok"}`, 0},
		{"health with slash", "GET", "/health/", "", "", false, 200, `{"status":"ok"}`, 0},
		{"nudge", "POST", "/task", typ, `{"task_id":"t1"}`, false, 202, `{"status":"accepted"}`, 1},
		{"nudge with charset", "POST", "/task", typ + "; charset=utf-8", `{"task_id":"t1","new":1}`, false, 202, `{"status":"accepted"}`, 1},
		{"nudge of an agent of both kinds", "POST", "/task", typ, `{"task_id":"t1"}`, true, 202, `{"status":"accepted"}`, 1},
		{"task for an agent of the queue", "POST", "/task", typ, whole, false, 202, `{"status":"accepted"}`, 1},
		{"task", "POST", "/task", typ, whole, true, 200, `{"task_id":"` + theTask().TaskID + `","decision":"skip","rationale":"r","actions":[]}`, 0},
		{"task without repo", "POST", "/task", typ, `{"task_id":"t1","type":"x","payload":{},"context":{"llm_backend":{"provider":"p","model":"m"}}}`, true, 422, `"loc":["body","repo"]`, 0},
		{"task without id", "POST", "/task", typ, unnamed, true, 200, `{"task_id":"` + protocol.DeriveTaskID(unnamed) + `","decision":"skip"`, 0},
		{"task without id for an agent of the queue", "POST", "/task", typ, unnamed, false, 202, `{"status":"accepted"}`, 1},
		{"task whose id is null", "POST", "/task", typ, `{"task_id":null,` + unnamed[1:], true, 422, `"string_type"`, 0},
		{"no id", "POST", "/task", typ, `{}`, false, 422, `{"detail":[{"type":"missing","loc":["body","task_id"],"msg":"Field required"}]}`, 0},
		{"number", "POST", "/task", typ, `{"task_id":7}`, false, 422, `"string_type"`, 0},
		{"list", "POST", "/task", typ, `[]`, false, 422, `"dict_type"`, 0},
		{"null", "POST", "/task", typ, `null`, false, 422, `"dict_type"`, 0},
		{"no JSON", "POST", "/task", typ, `{`, false, 422, `"json_invalid"`, 0},
		{"no body", "POST", "/task", typ, ``, false, 422, `"json_invalid"`, 0},
		{"no type", "POST", "/task", "", `{"task_id":"t1"}`, false, 422, `"loc":["body"]`, 0},
		{"form", "POST", "/task", "text/plain", `{"task_id":"t1"}`, false, 422, `"loc":["body"]`, 0},
		{"large", "POST", "/task", typ, `{"task_id":"` + strings.Repeat("x", 5000) + `"}`, false, 413, `"detail"`, 0},
		{"method", "GET", "/task", "", "", false, 405, `{"detail":"Method Not Allowed"}`, 0},
		{"path", "POST", "/", typ, `{}`, false, 404, `{"detail":"Not Found"}`, 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			nudges := 0
			o := agent.HandlerOptions{Nudge: func() { nudges++ }, MaxBytes: 4096}
			if tt.v0 {
				o.Decide = func(context.Context, protocol.TaskMessage) (protocol.DecisionMessage, error) {
					return protocol.DecisionMessage{Decision: protocol.Skip, Rationale: "r"}, nil
				}
			}
			req := httptest.NewRequest(tt.method, tt.path, strings.NewReader(tt.body))
			if tt.typ != "" {
				req.Header.Set("Content-Type", tt.typ)
			}
			w := httptest.NewRecorder()
			agent.NewHandler(o).ServeHTTP(w, req)
			if w.Code != tt.status || !strings.Contains(w.Body.String(), tt.want) || nudges != tt.nudges {
				t.Errorf("got %d %s, %d nudges; want %d %s, %d", w.Code, w.Body, nudges, tt.status, tt.want, tt.nudges)
			}
			if !json.Valid(w.Body.Bytes()) || w.Header().Get("Content-Type") != typ {
				t.Errorf("got %q of type %s", w.Body, w.Header().Get("Content-Type"))
			}
		})
	}
}

// TestHandlerFaults checks that an agent's internal errors are logged with the task, and not sent to
// callers.
func TestHandlerFaults(t *testing.T) {
	t.Parallel()
	for name, decide := range map[string]agent.DecideFunc{
		"error": func(context.Context, protocol.TaskMessage) (protocol.DecisionMessage, error) {
			return protocol.DecisionMessage{}, errors.New("key hunter2")
		},
		"panic": func(context.Context, protocol.TaskMessage) (protocol.DecisionMessage, error) { panic("hunter2") },
		"wrong": func(context.Context, protocol.TaskMessage) (protocol.DecisionMessage, error) {
			return protocol.DecisionMessage{TaskID: "hunter2", Decision: protocol.Skip}, nil
		},
	} {
		req := httptest.NewRequest(http.MethodPost, "/task", strings.NewReader(taskJSON(t)))
		req.Header.Set("Content-Type", "application/json")
		w := httptest.NewRecorder()
		var log strings.Builder
		agent.NewHandler(agent.HandlerOptions{Decide: decide, Log: slog.New(slog.NewTextHandler(&log, nil))}).ServeHTTP(w, req)
		if w.Code != http.StatusInternalServerError || strings.Contains(w.Body.String(), "hunter2") {
			t.Errorf("%s: got %d %s", name, w.Code, w.Body)
		}
		for _, want := range []string{"level=ERROR", "task_id=" + theTask().TaskID, map[string]string{"wrong": "another task"}[name]} {
			if !strings.Contains(log.String(), want) {
				t.Errorf("%s: the log has no %q:\n%s", name, want, log.String())
			}
		}
		if name == "panic" && !strings.Contains(log.String(), "handler_test.go") {
			t.Errorf("the log has no stack:\n%s", log.String())
		}
	}
}

// TestNudgeNotClaiming checks that an agent that only answers whole tasks refuses nudges, and names
// the mend.
func TestNudgeNotClaiming(t *testing.T) {
	t.Parallel()
	req := httptest.NewRequest(http.MethodPost, "/task", strings.NewReader(`{"task_id":"t1"}`))
	req.Header.Set("Content-Type", "application/json")
	w := httptest.NewRecorder()
	agent.NewHandler(agent.HandlerOptions{Decide: skipAfter(0)}).ServeHTTP(w, req)
	if w.Code != http.StatusUnprocessableEntity || !strings.Contains(w.Body.String(), "`protocol: sync`") {
		t.Errorf("got %d %s", w.Code, w.Body)
	}
}

// TestReady checks that GET /health has status 503 while an agent is not ready, and 200
// afterwards.
func TestReady(t *testing.T) {
	t.Parallel()
	ready := false
	h := agent.NewHandler(agent.HandlerOptions{Ready: func() bool { return ready }})
	for _, want := range []int{503, 200} {
		w := httptest.NewRecorder()
		h.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/health", nil))
		if w.Code != want {
			t.Errorf("got %d, want %d", w.Code, want)
		}
		ready = true
	}
}

// proposal is an action with the parameters that every action may have.
const proposal = `{"type":"add_label","confidence":0.95,"label":"bug","rationale":"it <crashes>","suggest":true}`

// proposing decides with the action proposal.
func proposing(context.Context, protocol.TaskMessage) (protocol.DecisionMessage, error) {
	var a protocol.ActionItem
	err := json.Unmarshal([]byte(proposal), &a)
	return protocol.DecisionMessage{Decision: protocol.LabelAndRespond, Actions: []protocol.ActionItem{a}}, err
}

// TestRemoteAndHandler connects a Remote and a Handler, which exchange whole tasks.
func TestRemoteAndHandler(t *testing.T) {
	t.Parallel()
	srv := httptest.NewServer(agent.NewHandler(agent.HandlerOptions{Decide: proposing}))
	t.Cleanup(srv.Close)
	d, err := newRemote(t, agent.RemoteOptions{URL: srv.URL}).Decide(t.Context(), theTask())
	if err != nil || len(d.Actions) != 1 || d.Actions[0].String() != proposal {
		t.Errorf("got %v, %v, want %s", d, err, proposal)
	}
}

// FuzzHandler sends any body to a handler. The handler answers with JSON, and calls Decide only
// for a whole task.
func FuzzHandler(f *testing.F) {
	f.Add([]byte(`{"task_id":"t1"}`))
	f.Add([]byte(taskJSON(f)))
	f.Add([]byte(`{"task_id":"t","payload":null}`))
	f.Add([]byte("{\"task_id\":\"\xff\"}"))
	f.Fuzz(func(t *testing.T, body []byte) {
		asked := false
		h := agent.NewHandler(agent.HandlerOptions{Decide: func(_ context.Context, task protocol.TaskMessage) (protocol.DecisionMessage, error) {
			asked = true
			return protocol.DecisionMessage{TaskID: task.TaskID, Decision: protocol.Skip}, nil
		}})
		req := httptest.NewRequest(http.MethodPost, "/task", strings.NewReader(string(body)))
		req.Header.Set("Content-Type", "application/json")
		w := httptest.NewRecorder()
		h.ServeHTTP(w, req)
		if ok := w.Code == 200 || w.Code == 202 || w.Code == 422; !ok || asked != (w.Code == 200) || !json.Valid(w.Body.Bytes()) {
			t.Errorf("got %d %s for %q", w.Code, w.Body, body)
		}
	})
}
