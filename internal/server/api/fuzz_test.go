package api_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/org/foreman-action/internal/secret"
	"github.com/org/foreman-action/internal/server/api"
	"github.com/org/foreman-action/internal/server/intake"
	"github.com/org/foreman-action/protocol"
	"github.com/org/foreman-action/queue"
)

// FuzzRequest sends arbitrary bodies to each verb of agents. The status must be one of the wire's,
// and a 422 must contain the problem. The queue must store an accepted decision as package protocol
// parses it. A decision without a list of actions gets an empty one.
func FuzzRequest(f *testing.F) {
	for _, body := range []string{
		"", "{", "[]", "null", `{"agent_url":"http://a:9001"}`, `{"agent_url":7}`, `{"task_id":"` + taskID(1) + `"}`, `{"task_id":null,"attempt":-1}`, "\xef\xbb\xbf{}", "{\"task_id\":\"\xff\"}",
		`{"task_id":"` + taskID(1) + `","decision":"skip","rationale":"","actions":[{"type":"comment","body":"\u2028<"}],"attempt":1}`,
		`{"task_id":"` + taskID(1) + `","decision":"maybe","actions":[[],{"type":{}},{"0":1}]}`,
	} {
		f.Add(body)
	}
	f.Fuzz(func(t *testing.T, body string) {
		for _, path := range []string{"/queue/next", "/queue/complete", "/queue/heartbeat", "/harness/result"} {
			q := queue.New(queue.Options{})
			enqueue(t, q, 1, 0)
			s, err := api.New(api.Options{Queue: q})
			if err != nil {
				t.Fatal(err)
			}
			w := httptest.NewRecorder()
			s.ServeHTTP(w, post(path, body))
			switch w.Code {
			case http.StatusOK, http.StatusNoContent, http.StatusAccepted, http.StatusConflict, http.StatusRequestEntityTooLarge:
			case http.StatusUnprocessableEntity:
				checkProblems(t, w.Body.Bytes())
			default:
				t.Errorf("%s: got %d: %s", path, w.Code, w.Body)
			}
			if path == "/queue/complete" && w.Code == http.StatusAccepted {
				checkKept(t, q, body)
			}
		}
	})
}

func checkProblems(t *testing.T, answer []byte) {
	t.Helper()
	var got struct {
		Detail []struct {
			Type, Msg string
			Loc       []any
		}
	}
	if err := json.Unmarshal(answer, &got); err != nil || len(got.Detail) == 0 {
		t.Fatalf("got %s, %v, want problems", answer, err)
	}
	for _, d := range got.Detail {
		if d.Type == "" || d.Msg == "" || len(d.Loc) == 0 {
			t.Errorf("got %s, want a type, a place and a message in each", answer)
		}
	}
}

func checkKept(t *testing.T, q queue.Queue, body string) {
	t.Helper()
	want, err := protocol.ParseDecision([]byte(strings.TrimPrefix(body, "\xef\xbb\xbf")))
	if err != nil {
		t.Fatalf("accepted, and the protocol says %v", err)
	}
	if want.TaskID != taskID(1) {
		return
	}
	d, err := q.Inspect(t.Context(), taskID(1))
	if err != nil {
		t.Fatal(err)
	}
	kept, err := protocol.ParseDecision(d.Result)
	if err != nil {
		t.Fatalf("kept %s: %v", d.Result, err)
	}
	if diff := cmp.Diff(want.Actions, kept.Actions, cmpopts.EquateEmpty(), cmp.Comparer(func(a, b protocol.ActionItem) bool { return a.String() == b.String() })); diff != "" || kept.Decision != want.Decision || kept.Rationale != want.Rationale {
		t.Errorf("kept %s of %s: %s", d.Result, body, diff)
	}
}

// FuzzWebhook sends any delivery, signed and unsigned. An unsigned one must be refused, and a
// signed one must not cause a server error.
func FuzzWebhook(f *testing.F) {
	f.Add("issues", "1", "", `{"action":"opened","issue":{"number":7,"title":"T","state":"open","user":{"login":"u"}},"repository":{"full_name":"o/r"}}`)
	f.Add("issue_comment", "2", "application/x-www-form-urlencoded", `payload=%7B%22action%22%3A%22created%22%7D`)
	f.Add("ping", "3", "application/json", `{"zen":"x"}`)
	f.Add("issues", "sha256=", "sha256=00", `{"issue":[],"repository":{"full_name":"../.."}}`)
	f.Fuzz(func(t *testing.T, event, delivery, kind, body string) {
		q := queue.New(queue.Options{})
		in, err := intake.New(intake.Options{Queue: q, Routes: []intake.Route{{Repo: "o/r", Type: "issue-triage", URL: "http://a"}}})
		if err != nil {
			t.Fatal(err)
		}
		s, err := api.New(api.Options{Queue: q, Take: in.Take, WebhookSecrets: []secret.Text{"hush"}})
		if err != nil {
			t.Fatal(err)
		}
		for signature, signed := range map[string]bool{sign("hush", body): true, sign("other", body): false, delivery: false, "": false} {
			r := httptest.NewRequest(http.MethodPost, "/github/webhook", strings.NewReader(body))
			r.Header = http.Header{"X-Github-Event": {event}, "X-Github-Delivery": {delivery}, "Content-Type": {kind}, "X-Hub-Signature-256": {signature}}
			w := httptest.NewRecorder()
			s.ServeHTTP(w, r)
			// Headers are checked first, so an unsigned delivery can also get 422.
			if refused := w.Code == http.StatusUnauthorized || !signed && w.Code == http.StatusUnprocessableEntity; refused == signed || w.Code >= 500 {
				t.Errorf("signed %v: got %d: %s", signed, w.Code, w.Body)
			}
		}
		list, err := queue.List(t.Context(), q, queue.Filter{})
		if err != nil || len(list) > 1 {
			t.Fatalf("got %d tasks, %v", len(list), err)
		}
		for _, i := range list {
			d, err := q.Inspect(t.Context(), i.ID)
			if m, parsed := protocol.ParseTask(d.Message); err != nil || parsed != nil || m.TaskID != i.ID || i.Repo != "o/r" || i.Issue < 1 {
				t.Errorf("got %+v, %v, %v", m, err, parsed)
			}
		}
	})
}
