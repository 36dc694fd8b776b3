package agent_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/org/foreman-action/agent"
	"github.com/org/foreman-action/protocol"
)

// TestClientRequests checks every byte of a client's requests.
func TestClientRequests(t *testing.T) {
	t.Parallel()
	type request struct{ URI, Auth, Type, Body string }
	var (
		mu  sync.Mutex
		got []request
	)
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		mu.Lock()
		defer mu.Unlock()
		got = append(got, request{r.Method + " " + r.URL.RequestURI(), r.Header.Get("Authorization"), r.Header.Get("Content-Type"), string(body)})
		w.WriteHeader(http.StatusAccepted)
		if strings.HasPrefix(r.URL.Path, "/base/queue/next") {
			_, _ = w.Write([]byte(`{"task_id":"t1","type":"issue.triage","repo":"o/r","payload":{},"context":{"llm_backend":{"provider":"none","model":"none"},"memory_summary":null},"claim":{"attempt":3,"lease_seconds":60},"new":1}`))
		}
	}))
	t.Cleanup(srv.Close)
	c := newClient(t, agent.ClientOptions{
		URL:      strings.Replace(srv.URL, "://", "://bot:hunter2@", 1) + "/base/",
		AgentURL: "http://me:hunter3@agent:9001/", Wait: 30 * time.Second,
	})
	task, err := c.NextTask(t.Context())
	if err != nil || task.Claim.Attempt != 3 {
		t.Fatalf("got %v, %v", task, err)
	}
	item, err := protocol.NewAction("comment", map[string]any{"body": "<b>"})
	if err != nil {
		t.Fatal(err)
	}
	err = errors.Join(
		c.Heartbeat(t.Context(), task),
		c.CompleteTask(t.Context(), task, protocol.DecisionMessage{Decision: protocol.Close, Rationale: "r", Actions: []protocol.ActionItem{item}}),
	)
	task.Claim = nil // as from a harness without claims
	err = errors.Join(err, c.Heartbeat(t.Context(), task), c.CompleteTask(t.Context(), task, protocol.DecisionMessage{TaskID: "t1", Decision: protocol.Skip}))
	if err != nil {
		t.Fatal(err)
	}
	const auth, typ = "Basic Ym90Omh1bnRlcjI=", "application/json"
	want := []request{
		{"POST /base/queue/next?wait=30s", auth, typ, `{"agent_url":"http://agent:9001/"}`},
		{"POST /base/queue/heartbeat", auth, typ, `{"attempt":3,"task_id":"t1"}`},
		{"POST /base/queue/complete", auth, typ, `{"actions":[{"type":"comment","body":"<b>"}],"attempt":3,"decision":"close","rationale":"r","task_id":"t1"}`},
		{"POST /base/harness/result", auth, typ, `{"task_id":"t1"}`},
		{"POST /base/queue/heartbeat", auth, typ, `{"task_id":"t1"}`},
		{"POST /base/queue/complete", auth, typ, `{"actions":[],"decision":"skip","rationale":"","task_id":"t1"}`},
		{"POST /base/harness/result", auth, typ, `{"task_id":"t1"}`},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

// answering returns a client of a harness that gives the same answer to every request.
func answering(tb testing.TB, status int, header http.Header, body string) *agent.Client {
	tb.Helper()
	return newClient(tb, agent.ClientOptions{
		URL: "http://bot:secret-of-ours@harness", MaxBytes: 8 << 10,
		Transport: roundTrip(func(*http.Request) (*http.Response, error) {
			r := respond(status, strings.NewReader(body))
			if header != nil {
				r.Header = header
			}
			return r, nil
		}),
	})
}

func TestClientErrors(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name   string
		status int
		header http.Header
		body   string
		reason agent.Reason
		retry  bool
		text   string
	}{
		{"redirect", 307, http.Header{"Location": {"http://x:hunter2@elsewhere/queue/next?k=hunter2"}}, "", agent.ReasonStatus, false, "redirects are not followed (to"},
		{"unauthorized", 401, nil, `{"detail":"bot:secret-of-ours"}`, agent.ReasonStatus, false, "status 401"},
		{"lost", 409, nil, `{"detail":"claimed by another"}`, agent.ReasonLost, false, "no longer has the claim"},
		{"invalid", 422, nil, `{"detail":[]}`, agent.ReasonStatus, false, "status 422"},
		{"down", 503, nil, "later\x1b[0m\r\n::error::", agent.ReasonStatus, true, `"later [0m ::error::"`},
		{"proxy", 404, nil, "", agent.ReasonStatus, true, "status 404"},
		{"limited", 429, nil, "", agent.ReasonStatus, true, "status 429"},
		{"accepted", 202, nil, "", agent.ReasonNotJSON, false, "is empty"},
		{"html", 200, nil, "<html>", agent.ReasonInvalid, false, "task"},
		{"no repo", 200, nil, `{"task_id":"t1","type":"x","payload":{},"context":{}}`, agent.ReasonInvalid, false, "repo"},
		{"no id", 200, nil, `{"type":"x","repo":"o/r","payload":{},"context":{"llm_backend":{"provider":"p","model":"m"}}}`, agent.ReasonInvalid, false, "no task_id"},
		{"large", 200, nil, strings.Repeat(" ", 9000), agent.ReasonTooLarge, false, "larger than 8192 bytes"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			task, err := answering(t, tt.status, tt.header, tt.body).NextTask(t.Context())
			e, ok := errors.AsType[*agent.ClientError](err)
			if !ok || task != nil {
				t.Fatalf("got %v, %v, want a *ClientError", task, err)
			}
			if e.Reason != tt.reason || e.Status != tt.status || e.Retryable() != tt.retry || !strings.Contains(err.Error(), tt.text) {
				t.Errorf("got %s, status %d, retryable %v: %v", e.Reason, e.Status, e.Retryable(), err)
			}
			if errors.Is(err, agent.ErrLost) != (tt.reason == agent.ReasonLost) {
				t.Errorf("ErrLost: %v", err)
			}
			wantNone(t, chain(err), "secret-of-ours", "hunter2", "\x1b", "\r", "\n:")
		})
	}
}

// TestWrongTaskID checks that a decision on another task is not sent.
func TestWrongTaskID(t *testing.T) {
	t.Parallel()
	c := newClient(t, agent.ClientOptions{Transport: roundTrip(func(*http.Request) (*http.Response, error) {
		t.Error("something was sent")
		return nil, io.EOF
	})})
	task := theTask()
	err := c.CompleteTask(t.Context(), &task, protocol.DecisionMessage{TaskID: "other", Decision: protocol.Skip})
	if e, ok := errors.AsType[*agent.ClientError](err); !ok || e.Reason != agent.ReasonWrongTask || e.Retryable() {
		t.Errorf("got %v", err)
	}
}

// TestResultMayFail checks that CompleteTask succeeds if the decision was stored but the
// following report of the result fails.
func TestResultMayFail(t *testing.T) {
	t.Parallel()
	h := newHarness("a")
	h.fault = func(path string) int { return map[string]int{"/harness/result": 500}[path] }
	c := newClient(t, agent.ClientOptions{Transport: h})
	task, err := c.NextTask(t.Context())
	if err == nil {
		err = c.CompleteTask(t.Context(), task, protocol.DecisionMessage{Decision: protocol.Skip})
	}
	if err != nil {
		t.Error(err)
	}
	wantDecided(t, h, "a")
}

func TestClientTransport(t *testing.T) {
	t.Parallel()
	t.Run("none", func(t *testing.T) {
		t.Parallel()
		c := newClient(t, agent.ClientOptions{URL: "http://bot:secret-of-ours@harness", Transport: roundTrip(func(req *http.Request) (*http.Response, error) {
			return nil, errors.New("dial " + req.Header.Get("Authorization"))
		})})
		_, err := c.NextTask(t.Context())
		e, ok := errors.AsType[*agent.ClientError](err)
		if !ok || e.Reason != agent.ReasonUnreachable || !e.Retryable() {
			t.Errorf("got %v", err)
		}
		wantNone(t, chain(err), "secret-of-ours", "Ym90OnNlY3JldC1vZi1vdXJz")
	})
	t.Run("canceled", func(t *testing.T) {
		t.Parallel()
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		_, err := newClient(t, agent.ClientOptions{Transport: newHarness()}).NextTask(ctx)
		e, ok := errors.AsType[*agent.ClientError](err)
		if !ok || e.Reason != agent.ReasonCanceled || e.Retryable() || !errors.Is(err, context.Canceled) {
			t.Errorf("got %v", err)
		}
	})
	t.Run("slow", func(t *testing.T) {
		t.Parallel()
		h := newHarness()
		h.hold = func(ctx context.Context, _ string) error { <-ctx.Done(); return ctx.Err() }
		_, err := newClient(t, agent.ClientOptions{Transport: h, Timeout: time.Millisecond}).NextTask(t.Context())
		e, ok := errors.AsType[*agent.ClientError](err)
		if !ok || e.Reason != agent.ReasonTimeout || !e.Retryable() || !errors.Is(err, context.DeadlineExceeded) || !strings.Contains(err.Error(), "within 1ms") {
			t.Errorf("got %v", err)
		}
	})
	t.Run("deadline", func(t *testing.T) {
		t.Parallel()
		h := newHarness()
		h.hold = func(ctx context.Context, _ string) error { <-ctx.Done(); return ctx.Err() }
		ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
		defer cancel()
		_, err := newClient(t, agent.ClientOptions{Transport: h}).NextTask(ctx)
		e, ok := errors.AsType[*agent.ClientError](err)
		if !ok || e.Reason != agent.ReasonTimeout || !e.Retryable() || !strings.Contains(err.Error(), "before the caller's deadline") {
			t.Errorf("got %v", err)
		}
	})
}

// TestClientGzip checks that a compressed task is read, and that the limit applies to the
// decompressed size.
func TestClientGzip(t *testing.T) {
	t.Parallel()
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		task := theTask()
		task.Payload = json.RawMessage(`{"body":"` + strings.Repeat("x", 5000) + `"}`)
		data, _ := protocol.Encode(task)
		if r.Header.Get("Accept-Encoding") != "gzip" {
			t.Errorf("got Accept-Encoding %q", r.Header.Get("Accept-Encoding"))
		}
		var b bytes.Buffer
		z := gzip.NewWriter(&b)
		_, _ = z.Write(data)
		_ = z.Close()
		w.Header().Set("Content-Encoding", "gzip")
		_, _ = w.Write(b.Bytes())
	}))
	t.Cleanup(srv.Close)
	task, err := newClient(t, agent.ClientOptions{URL: srv.URL}).NextTask(t.Context())
	if err != nil || len(task.Payload) < 5000 {
		t.Errorf("got %v, %v", task, err)
	}
	if task, err = newClient(t, agent.ClientOptions{URL: srv.URL, MaxBytes: 100}).NextTask(t.Context()); err == nil {
		t.Errorf("got %v, want an error", task)
	}
}

func TestNewClientErrors(t *testing.T) {
	t.Parallel()
	tests := []struct{ url, self, text string }{
		{"", "http://a", "harness address: ClientOptions.URL is empty; agents read it from the variable FOREMAN_HARNESS_URL"},
		{"ftp://h", "http://a", "harness address: want one that starts"},
		{"http://h?hunter2", "http://a", "harness address: it has a query"},
		{"http://h?", "http://a", "harness address: it has a query"},
		{"http://h", "", "agent address: ClientOptions.AgentURL is empty; agents read it from the variable AGENT_URL"},
		{"http://h", "a:9001", "agent address: want one that starts"},
		{"http://bot:hunter2@example.org", "http://a", "a secret would go over plain http"},
		{"http://bot:hunter2 @h", "http://a", "cannot be read"},
		{"http://h/%zz", "http://a", "cannot be read"},
	}
	for _, tt := range tests {
		_, err := agent.NewClient(agent.ClientOptions{URL: tt.url, AgentURL: tt.self})
		if err == nil || !strings.Contains(err.Error(), tt.text) || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("NewClient(%q, %q): got %v, want %q", tt.url, tt.self, err, tt.text)
		}
	}
	for _, o := range []agent.ClientOptions{
		{Wait: -1}, {Timeout: -1}, {MaxBytes: -1}, {Token: "a\nb"}, {UserAgent: "a\r"}, {URL: "http://example.org", Token: "t"},
	} {
		if o.URL == "" {
			o.URL = "http://h"
		}
		o.AgentURL = "http://a"
		if _, err := agent.NewClient(o); err == nil {
			t.Errorf("got no error for %+v", o)
		}
	}
}

// TestOwnAddress checks that a client sends its own address as it was given, because a harness may
// compare it byte for byte.
func TestOwnAddress(t *testing.T) {
	t.Parallel()
	const own = "HTTP://Agent:9001/task/%7e?"
	got := make(chan string, 1)
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		got <- r.URL.RawQuery + string(body)
		w.WriteHeader(http.StatusNoContent)
	}))
	defer srv.Close()
	c, err := agent.NewClient(agent.ClientOptions{URL: srv.URL, AgentURL: own})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.NextTask(t.Context()); err != nil {
		t.Fatal(err)
	}
	if sent := <-got; !strings.Contains(sent, own) {
		t.Errorf("got %s, want %s", sent, own)
	}
}

// TestRetryable checks that a status decides only if it is the reason.
func TestRetryable(t *testing.T) {
	t.Parallel()
	for reason, want := range map[agent.Reason]bool{
		agent.ReasonStatus: true, agent.ReasonTimeout: true, agent.ReasonTooLarge: false, agent.ReasonWrongTask: false, agent.ReasonCanceled: false,
	} {
		if e := (&agent.ClientError{Reason: reason, Status: http.StatusServiceUnavailable}); e.Retryable() != want {
			t.Errorf("%s: got %v", reason, e.Retryable())
		}
	}
}

// TestToken checks that a token takes precedence over userinfo.
func TestToken(t *testing.T) {
	t.Parallel()
	h := newHarness()
	c := newClient(t, agent.ClientOptions{URL: "https://bot:x@example.org", Token: "secret", Transport: h})
	if task, err := c.NextTask(t.Context()); task != nil || err != nil {
		t.Errorf("got %v, %v, want nothing", task, err)
	}
	if got := h.header.Get("Authorization"); got != "Bearer secret" || c.Address() != "https://example.org" {
		t.Errorf("got %q at %s", got, c.Address())
	}
}

// FuzzClient gives any status and body to a Client: the result is a whole task or an error that
// is short and free of the sent data.
func FuzzClient(f *testing.F) {
	f.Add(200, []byte(`{"task_id":"t","type":"x","repo":"o/r","payload":{},"context":{"llm_backend":{"provider":"p","model":"m"},"memory_summary":null},"claim":{"attempt":1,"lease_seconds":-1}}`))
	f.Add(204, []byte(nil))
	f.Add(409, []byte("secret-of-ours"))
	f.Add(302, []byte("\x1b\n"))
	f.Fuzz(func(t *testing.T, status int, body []byte) {
		c := answering(t, status, nil, string(body))
		task, err := c.NextTask(t.Context())
		if err == nil {
			if status < 200 || status > 299 || task == nil != (status == 204) || task != nil && task.Repo == "" {
				t.Errorf("got %v from status %d", task, status)
			}
			return
		}
		text := chain(err)
		wantNone(t, text, "secret-of-ours", "\x1b", "\r")
		if e, ok := errors.AsType[*agent.ClientError](err); !ok || e.Status != status || len(text) > 20000 {
			t.Errorf("got %v", err)
		}
	})
}
