package agent_test

import (
	"bufio"
	"bytes"
	"errors"
	"flag"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"testing"

	"github.com/org/foreman-action/agent"
	"github.com/org/foreman-action/protocol"
)

var update = flag.Bool("update", false, "rewrite the expected parts of testdata")

// theTask returns a task whose payload contains characters that JSON encoders often change.
func theTask() protocol.TaskMessage {
	return protocol.TaskMessage{
		TaskID:  "7d0c1f0a-4f0e-4e9c-9a55-0f6f0f6d2c11",
		Type:    protocol.TypeIssueTriage,
		Repo:    "octo-org/hello",
		Payload: []byte("{\n  \"title\": \"<b> & \u2028 é\",\n  \"number\": 7,\n  \"id\": 12345678901234567890,\n  \"body\": null\n}"),
		Context: protocol.TaskContext{LLMBackend: protocol.LLMBackendRef{Provider: "none", Model: "none"}},
	}
}

// newRemote returns a Remote or ends the test.
func newRemote(tb testing.TB, o agent.RemoteOptions) *agent.Remote {
	tb.Helper()
	r, err := agent.NewRemote(o)
	if err != nil {
		tb.Fatalf("NewRemote: %v", err)
	}
	return r
}

// wantError returns err as an *agent.Error with the reason, or ends the test.
func wantError(tb testing.TB, err error, reason agent.Reason) *agent.Error {
	tb.Helper()
	e, ok := errors.AsType[*agent.Error](err)
	if !ok {
		tb.Fatalf("got error %v, want an *agent.Error", err)
	}
	if e.Reason != reason {
		tb.Fatalf("got reason %q (%v), want %q", e.Reason, err, reason)
	}
	return e
}

// wantNone reports every secret that text contains.
func wantNone(tb testing.TB, text string, secrets ...string) {
	tb.Helper()
	for _, s := range secrets {
		if strings.Contains(text, s) {
			tb.Errorf("%q holds the secret %q", text, s)
		}
	}
}

// A rawServer answers each connection with the same bytes and records the requests.
type rawServer struct {
	host string
	got  chan []byte // the requests, byte for byte
}

func newRawServer(tb testing.TB, answer []byte) *rawServer {
	tb.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		tb.Fatal(err)
	}
	s := &rawServer{host: l.Addr().String(), got: make(chan []byte, 8)}
	tb.Cleanup(func() { _ = l.Close() })
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			s.serve(conn, answer)
		}
	}()
	return s
}

func (s *rawServer) serve(conn net.Conn, answer []byte) {
	defer func() { _ = conn.Close() }()
	var seen bytes.Buffer
	req, err := http.ReadRequest(bufio.NewReader(io.TeeReader(conn, &seen)))
	if err != nil {
		return
	}
	if _, err := io.Copy(io.Discard, req.Body); err != nil {
		return
	}
	s.got <- seen.Bytes()
	_, _ = conn.Write(answer)
}

// A roundTrip is a function that implements http.RoundTripper.
type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(req *http.Request) (*http.Response, error) { return f(req) }

// respond returns an answer with a body.
func respond(status int, body io.Reader) *http.Response {
	return &http.Response{StatusCode: status, Header: http.Header{}, Body: io.NopCloser(body), ContentLength: -1}
}

// decisionJSON returns a decision on the task, with a rationale of n bytes.
func decisionJSON(taskID string, n int) string {
	return `{"task_id":` + strconv.Quote(taskID) + `,"decision":"skip","rationale":"` + strings.Repeat("x", n) + `","actions":[]}`
}
