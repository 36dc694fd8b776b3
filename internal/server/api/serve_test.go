package api_test

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/org/foreman-action/harness/observe"
	"github.com/org/foreman-action/internal/secret"
	"github.com/org/foreman-action/internal/server/api"
	"github.com/org/foreman-action/internal/server/intake"
	"github.com/org/foreman-action/internal/testkit/brokenqueue"
	"github.com/org/foreman-action/queue"
)

// slow is a queue whose Complete signals began, and then waits for word.
type slow struct {
	queue.Queue

	began, word chan struct{}
}

func (s slow) Complete(ctx context.Context, ref queue.Ref, decision []byte) (queue.Receipt, error) {
	s.began <- struct{}{}
	<-s.word
	return s.Queue.Complete(ctx, ref, decision)
}

// waits is a queue that reports when the first client begins to wait.
type waits struct {
	queue.Queue

	began chan struct{}
}

func (w waits) Watch() (<-chan queue.Change, func()) {
	w.began <- struct{}{}
	return w.Queue.Watch()
}

func listen(t *testing.T) net.Listener {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// request sends a request and returns the status, or 0 if there was no answer.
func request(t *testing.T, method, url, body string) <-chan int {
	t.Helper()
	status := make(chan int, 1)
	r, err := http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	go func() {
		res, err := http.DefaultClient.Do(r)
		if err != nil {
			status <- 0
			return
		}
		_, _ = io.Copy(io.Discard, res.Body)
		_ = res.Body.Close()
		status <- res.StatusCode
	}()
	return status
}

// TestServeStops stops a server while one agent waits, another one sends a decision, and a
// stream of the dashboard is open.
func TestServeStops(t *testing.T) {
	t.Parallel()
	memory := queue.New(queue.Options{})
	enqueue(t, memory, 1, 0)
	q := slow{waits{memory, make(chan struct{}, 1)}, make(chan struct{}), make(chan struct{})}
	watching := make(chan struct{})
	s, err := api.New(api.Options{Queue: q, Dashboard: http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		close(watching)
		<-r.Context().Done()
	})})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	one, other := listen(t), listen(t)
	served := make(chan error, 1)
	go func() { served <- s.Serve(ctx, one, other) }()

	polled := request(t, http.MethodPost, "http://"+one.Addr().String()+"/queue/next?wait=60s", `{"agent_url":"http://b"}`)
	<-q.Queue.(waits).began
	watched := request(t, http.MethodGet, "http://"+one.Addr().String()+"/events", "")
	<-watching
	completed := request(t, http.MethodPost, "http://"+other.Addr().String()+"/queue/complete", `{"task_id":"`+taskID(1)+`","decision":"skip","rationale":""}`)
	<-q.began
	cancel()
	if got := <-polled; got != http.StatusNoContent {
		t.Errorf("the one who waits: got %d, want 204", got)
	}
	if got := <-watched; got != http.StatusOK {
		t.Errorf("the one who looks on: got %d, want 200", got)
	}
	select {
	case err := <-served:
		t.Fatalf("Serve returned %v before the decision was kept", err)
	default:
	}
	close(q.word)
	if got := <-completed; got != http.StatusAccepted {
		t.Errorf("the one who decides: got %d, want 202", got)
	}
	if err := <-served; err != nil {
		t.Errorf("Serve: %v", err)
	}
	if d, err := memory.Inspect(t.Context(), taskID(1)); err != nil || d.State != queue.Completed {
		t.Errorf("got %v, %v, want the decision kept", d.State, err)
	}
}

// TestServeBreaks takes one of two listeners away.
func TestServeBreaks(t *testing.T) {
	t.Parallel()
	s, err := api.New(api.Options{Queue: queue.New(queue.Options{})})
	if err != nil {
		t.Fatal(err)
	}
	one, other := listen(t), listen(t)
	if err := one.Close(); err != nil {
		t.Fatal(err)
	}
	if err := s.Serve(t.Context(), one, other); err == nil || !strings.HasPrefix(err.Error(), "listen: ") {
		t.Errorf("Serve: got %v, want the error of the listener", err)
	}
	if _, err := net.DialTimeout("tcp", other.Addr().String(), time.Second); err == nil {
		t.Error("the other listener is open still")
	}
}

func TestNew(t *testing.T) {
	t.Parallel()
	q := queue.New(queue.Options{})
	in, err := intake.New(intake.Options{Queue: q})
	if err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		name string
		o    api.Options
		want string
	}{
		{"no queue", api.Options{}, "api: Queue is not set"},
		{"lease", api.Options{Queue: q, Lease: -1}, "api: want a claim duration of 0 or more, got -1ns"},
		{"no taker", api.Options{Queue: q, WebhookSecrets: []secret.Text{"hush"}}, "api: the webhook has secrets, but Take is not set"},
		{"empty secret", api.Options{Queue: q, Take: in.Take, WebhookSecrets: []secret.Text{"hush", ""}}, "api: a secret of the webhook is empty"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if _, err := api.New(tt.o); err == nil || err.Error() != tt.want {
				t.Errorf("got %v, want %s", err, tt.want)
			}
		})
	}
}

// TestOtherMachines refuses a request to an address that other machines can reach.
func TestOtherMachines(t *testing.T) {
	t.Parallel()
	s, err := api.New(api.Options{Queue: queue.New(queue.Options{})})
	if err != nil {
		t.Fatal(err)
	}
	for addr, want := range map[string]int{"192.168.0.1": 403, "127.0.0.1": 204, "::1": 204} {
		r := post("/queue/next", `{"agent_url":"http://a"}`)
		r = r.WithContext(context.WithValue(r.Context(), http.LocalAddrContextKey, &net.TCPAddr{IP: net.ParseIP(addr)}))
		w := httptest.NewRecorder()
		if s.ServeHTTP(w, r); w.Code != want {
			t.Errorf("%s: got %d, want %d: %s", addr, w.Code, want, w.Body)
		}
	}
}

// TestWake checks that a result calls Wake.
func TestWake(t *testing.T) {
	t.Parallel()
	woken := 0
	s, err := api.New(api.Options{Queue: queue.New(queue.Options{}), Wake: func() { woken++ }})
	if err != nil {
		t.Fatal(err)
	}
	w := httptest.NewRecorder()
	if s.ServeHTTP(w, post("/harness/result", `{"task_id":"any"}`)); w.Code != http.StatusAccepted || woken != 1 {
		t.Errorf("got %d and %d, want 202 and 1", w.Code, woken)
	}
}

// TestLogIsOneLine checks that untrusted ids, paths and delivery names cannot add lines to the log.
func TestLogIsOneLine(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	q := brokenqueue.New(queue.New(queue.Options{}))
	q.Break(errors.New("odd"))
	s, err := api.New(api.Options{Queue: q, Log: slog.New(slog.NewTextHandler(&log, nil))})
	if err != nil {
		t.Fatal(err)
	}
	s.ServeHTTP(httptest.NewRecorder(), post("/queue/tasks/a%0Alevel=ERROR%1b%5b2J/retry", ""))
	q.Break(nil)
	s.ServeHTTP(httptest.NewRecorder(), post("/queue/complete", `{"task_id":"a\nlevel=ERROR\u001b[2J\u2028","decision":"skip","rationale":""}`))
	if got := log.String(); strings.Count(got, "\n") != 2 || strings.ContainsAny(got, "\x1b\u2028") {
		t.Errorf("got %q, want two lines", got)
	}
}

// TestClientGone checks clients that disconnected: a received decision is stored, and claims are
// released.
func TestClientGone(t *testing.T) {
	t.Parallel()
	q := queue.New(queue.Options{})
	enqueue(t, q, 1, 0)
	enqueue(t, q, 2, 0)
	s, err := api.New(api.Options{Queue: q})
	if err != nil {
		t.Fatal(err)
	}
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	s.ServeHTTP(httptest.NewRecorder(), post("/queue/complete", `{"task_id":"`+taskID(1)+`","decision":"skip","rationale":""}`).WithContext(gone))
	s.ServeHTTP(httptest.NewRecorder(), post("/queue/next?wait=1m", `{"agent_url":"http://a:9001"}`).WithContext(gone))
	for id, want := range map[string]queue.State{taskID(1): queue.Completed, taskID(2): queue.Pending} {
		if d, err := q.Inspect(t.Context(), id); err != nil || d.State != want {
			t.Errorf("%s: got %s, %v, want %s", id, d.State, err, want)
		}
	}
}

// TestServeTLS waits for a task over TLS, with HTTP/1.1 and HTTP/2.
func TestServeTLS(t *testing.T) {
	t.Parallel()
	given := httptest.NewTLSServer(http.NotFoundHandler()) // for its certificate, and a client that trusts it
	t.Cleanup(given.Close)
	for _, proto := range []string{"http/1.1", "h2"} {
		t.Run(proto, func(t *testing.T) {
			t.Parallel()
			q := queue.New(queue.Options{})
			began := make(chan struct{}, 1)
			s, err := api.New(api.Options{Queue: waits{q, began}})
			if err != nil {
				t.Fatal(err)
			}
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			l := tls.NewListener(listen(t), &tls.Config{Certificates: given.TLS.Certificates, NextProtos: []string{proto}, MinVersion: tls.VersionTLS12})
			served := make(chan error, 1)
			go func() { served <- s.Serve(ctx, l) }()

			roots := given.Client().Transport.(*http.Transport).TLSClientConfig.RootCAs
			c := &http.Client{Transport: &http.Transport{ForceAttemptHTTP2: proto == "h2", TLSClientConfig: &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12}}}
			got := make(chan string, 1)
			go func() {
				res, err := c.Post("https://"+l.Addr().String()+"/queue/next?wait=60s", "application/json", strings.NewReader(`{"agent_url":"http://a:9001"}`))
				if err != nil {
					got <- err.Error()
					return
				}
				_ = res.Body.Close()
				got <- fmt.Sprint(res.Proto, " ", res.StatusCode)
			}()
			<-began
			enqueue(t, q, 1, 0)
			want := map[string]string{"http/1.1": "HTTP/1.1 200", "h2": "HTTP/2.0 200"}[proto]
			if answer := <-got; answer != want {
				t.Errorf("got %s, want %s", answer, want)
			}
			c.CloseIdleConnections()
			cancel()
			if err := <-served; err != nil {
				t.Errorf("Serve: %v", err)
			}
		})
	}
}

// TestBody sends bodies of unknown or wrong length.
func TestBody(t *testing.T) {
	t.Parallel()
	s, err := api.New(api.Options{Queue: queue.New(queue.Options{})})
	if err != nil {
		t.Fatal(err)
	}
	for name, tt := range map[string]struct {
		body io.Reader
		want int
	}{
		"chunked":           {io.MultiReader(strings.NewReader(`{"agent_url":`), strings.NewReader(`"http://a"}`)), http.StatusNoContent},
		"not UTF-8":         {strings.NewReader("{\"agent_url\":\"http://a\",\"x\":\"\xff\"}"), http.StatusUnprocessableEntity},
		"chunked too large": {io.MultiReader(strings.NewReader(`{"agent_url":"`), strings.NewReader(strings.Repeat("x", 1<<17))), http.StatusRequestEntityTooLarge},
		"cut off":           {io.MultiReader(strings.NewReader(`{"agent_url":`), iotest.ErrReader(io.ErrUnexpectedEOF)), http.StatusBadRequest},
	} {
		r := httptest.NewRequest(http.MethodPost, "http://localhost/queue/next?other=1", tt.body)
		r.Header.Set("Content-Type", "application/json")
		w := httptest.NewRecorder()
		if s.ServeHTTP(w, r); w.Code != tt.want {
			t.Errorf("%s: got %d, want %d: %s", name, w.Code, tt.want, w.Body)
		}
	}
}

// TestMiddleware checks that a middleware sees all answers, each with the pattern of its route.
func TestMiddleware(t *testing.T) {
	t.Parallel()
	var seen []string
	s, err := api.New(api.Options{
		Queue:     queue.New(queue.Options{}),
		Dashboard: http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}),
		Middleware: func(next http.Handler) http.Handler {
			return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				answer := httptest.NewRecorder()
				next.ServeHTTP(answer, r)
				seen = append(seen, fmt.Sprintf("%s %s: %q %d", r.Method, r.URL.Path, r.Pattern, answer.Code))
			})
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, ask := range []string{
		"GET /queue/status", "HEAD /queue/status/", "POST /queue/status", "GET /queue/next", "POST /queue/tasks/a/retry/",
		"GET /queue//status", "GET /queue/other", "GET /queue/status//", "GET /tasks/a", "GET /", "OPTIONS *",
	} {
		method, path, _ := strings.Cut(ask, " ")
		r := httptest.NewRequest(method, path, nil)
		r.RemoteAddr, r.Host = "127.0.0.1:1", "127.0.0.1"
		s.ServeHTTP(httptest.NewRecorder(), r)
	}
	want := []string{
		`GET /queue/status: "GET /queue/status" 200`,
		`HEAD /queue/status: "GET /queue/status" 200`,
		`POST /queue/status: "unmatched" 405`,
		`GET /queue/next: "unmatched" 405`,
		`POST /queue/tasks/a/retry: "POST /queue/tasks/{id}/retry" 404`,
		`GET /queue//status: "unmatched" 404`,
		`GET /queue/other: "unmatched" 404`,
		`GET /queue/status//: "unmatched" 404`,
		`GET /tasks/a: "" 200`,
		`GET /: "" 200`,
		`OPTIONS *: "" 200`,
	}
	if diff := cmp.Diff(want, seen); diff != "" {
		t.Errorf("answers (-want +got):\n%s", diff)
	}
}

// TestOperatorChanged checks that the verbs of operators are observed, with their errors.
func TestOperatorChanged(t *testing.T) {
	t.Parallel()
	var seen []observe.Observation
	s, err := api.New(api.Options{Queue: queue.New(queue.Options{}), Observe: func(o observe.Observation) { seen = append(seen, o) }})
	if err != nil {
		t.Fatal(err)
	}
	for _, verb := range []string{"retry", "ask-again", "cancel"} {
		seen = nil
		r := httptest.NewRequest(http.MethodPost, "/queue/tasks/none/"+verb, nil)
		r.RemoteAddr, r.Host = "127.0.0.1:1", "127.0.0.1"
		s.ServeHTTP(httptest.NewRecorder(), r)
		if len(seen) != 1 || seen[0].Event != observe.OperatorChanged || seen[0].Status != verb || !errors.Is(seen[0].Err, queue.ErrNotFound) {
			t.Errorf("%s: observed %+v", verb, seen)
		}
	}
}

// TestPanic checks that a panic in a handler is logged, and that the next request is answered.
func TestPanic(t *testing.T) {
	t.Parallel()
	var log strings.Builder
	s, err := api.New(api.Options{
		Queue: queue.New(queue.Options{}), Log: slog.New(slog.NewTextHandler(&log, nil)),
		Dashboard: http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/gone" {
				panic(http.ErrAbortHandler)
			}
			panic("a nil map")
		}),
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{"/gone", "/page\n"} {
		func() {
			defer func() {
				if v := recover(); v != http.ErrAbortHandler {
					t.Errorf("got panic %v, want the connection to be cut off", v)
				}
			}()
			r := httptest.NewRequest(http.MethodGet, "http://localhost/", nil)
			r.URL.Path = path
			s.ServeHTTP(httptest.NewRecorder(), r)
		}()
	}
	if got := log.String(); strings.Count(got, "level=ERROR") != 1 || !strings.Contains(got, "a nil map") || !strings.Contains(got, "path=/page") {
		t.Errorf("log: %s", got)
	}
}
