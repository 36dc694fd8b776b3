package api_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/org/foreman-action/internal/secret"
	"github.com/org/foreman-action/internal/server/access"
	"github.com/org/foreman-action/internal/server/api"
	"github.com/org/foreman-action/internal/server/intake"
	"github.com/org/foreman-action/protocol"
	"github.com/org/foreman-action/queue"
)

// pipes is a listener with connections in memory, so that their deadlines use a test's clock.
type pipes struct {
	made  chan net.Conn
	ended chan struct{}
	once  sync.Once
}

func newPipes() *pipes { return &pipes{made: make(chan net.Conn), ended: make(chan struct{})} }

func (p *pipes) Accept() (net.Conn, error) {
	select {
	case c := <-p.made:
		return c, nil
	case <-p.ended:
		return nil, net.ErrClosed
	}
}

func (p *pipes) Close() error {
	p.once.Do(func() { close(p.ended) })
	return nil
}

func (p *pipes) Addr() net.Addr { return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1)} }

// A client sends one request.
type client struct {
	conn   net.Conn
	answer chan string // status and duration
}

// send sends a text, and reads the answer at the same time.
func (p *pipes) send(t *testing.T, text string) client {
	t.Helper()
	here, there := net.Pipe()
	s := client{here, make(chan string, 1)}
	p.made <- there
	began := time.Now()
	go func() {
		defer close(s.answer)
		res, err := http.ReadResponse(bufio.NewReader(here), nil)
		if err != nil {
			s.answer <- "nothing after " + time.Since(began).String()
			return
		}
		s.answer <- fmt.Sprint(res.StatusCode, " after ", time.Since(began))
		_, _ = io.Copy(io.Discard, here) // until the server closes
	}()
	go func() { _, _ = io.WriteString(here, text) }() // ends with the connection
	synctest.Wait()
	return s
}

// TestBodyInTime has clients that do not send the whole body, each on a connection of its
// own.
func TestBodyInTime(t *testing.T) {
	t.Parallel()
	const (
		agent   = "POST /queue/next HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 60\r\n\r\n{"
		webhook = "POST /github/webhook HTTP/1.1\r\nHost: x.example\r\nX-GitHub-Event: issues\r\nX-GitHub-Delivery: 1\r\n"
		signed  = webhook + "X-Hub-Signature-256: sha256=0000000000000000000000000000000000000000000000000000000000000000\r\n"
		large   = signed + "Content-Length: 20000000\r\n\r\n{"
		slow    = signed + "Content-Length: 20\r\n\r\n{"
		whole   = signed + "Content-Length: 2\r\n\r\n{}"
		wait    = `{"agent_url":"http://a:9001"}`
	)
	tests := []struct {
		name   string
		before []string // unfinished requests that are sent before
		text   string
		want   string
	}{
		{"an agent's", nil, agent, "408 after 30s"},
		{"a decision's", nil, strings.Replace(agent, "next", "complete", 1), "408 after 30s"},
		{"a webhook's", nil, large, "408 after 30s"},
		{"one without a signature", nil, webhook + "Content-Length: 20000000\r\n\r\n{", "401 after 0s"},
		{"one with half a signature", nil, webhook + "X-Hub-Signature-256: sha256=00\r\nContent-Length: 20\r\n\r\n{", "401 after 0s"},
		{"one without an event", nil, strings.Replace(large, "issues", "", 1), "422 after 0s"},
		{"one without an id", nil, strings.Replace(large, "Delivery: 1", "Delivery: ", 1), "422 after 0s"},
		{"one that is too large", nil, strings.Replace(large, "20000000", "40000000", 1), "413 after 0s"},
		{"a decision that is too large", nil, strings.NewReplacer("next", "complete", "60", "9000000").Replace(agent), "413 after 0s"},
		{"no such path", nil, "POST /queue/nothing HTTP/1.1\r\nHost: localhost\r\nContent-Length: 20\r\n\r\n{", "404 after 0s"},
		{"one with too many large ones before", slices.Repeat([]string{large}, 16), large, "503 after 3s"},
		{"a small one with many large ones before", slices.Repeat([]string{large}, 17), whole, "401 after 0s"},
		{"one that is there, with nothing but slow ones before", slices.Repeat([]string{slow}, 64), whole, "401 after 2s"},
		{"a slow one, with nothing but slow ones before", slices.Repeat([]string{slow}, 64), slow, "408 after 30s"},
		{"one of no known length", slices.Repeat([]string{large}, 16), signed + "Transfer-Encoding: chunked\r\n\r\n", "503 after 3s"},
		{"a long poll is not cut off", nil, fmt.Sprintf("POST /queue/next?wait=60s HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", len(wait), wait), "204 after 50s"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				p, stop := servePipes(t)
				for _, text := range tt.before {
					p.send(t, text)
				}
				if got := <-p.send(t, tt.text).answer; got != tt.want {
					t.Errorf("got %s, want %s", got, tt.want)
				}
				time.Sleep(time.Minute) // the requests in before time out
				stop()
			})
		})
	}
}

// servePipes serves until stop is called. stop waits until the server has ended.
func servePipes(t *testing.T) (p *pipes, stop func()) {
	t.Helper()
	q := queue.New(queue.Options{})
	in, err := intake.New(intake.Options{Queue: q})
	if err != nil {
		t.Fatal(err)
	}
	s, err := api.New(api.Options{Queue: q, Take: in.Take, WebhookSecrets: []secret.Text{"hush"}, Dashboard: http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
	})})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	p = newPipes()
	served := make(chan error, 1)
	go func() { served <- s.Serve(ctx, p) }()
	return p, func() {
		cancel()
		if err := <-served; err != nil {
			t.Errorf("Serve: %v", err)
		}
	}
}

// TestBodyAtStop stops a server before bodies have arrived.
func TestBodyAtStop(t *testing.T) {
	t.Parallel()
	for _, path := range []string{"/queue/next", "/queue/complete", "/login", "/queue/nothing"} {
		t.Run(path, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				p, stop := servePipes(t)
				s := p.send(t, "POST "+path+" HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 60\r\n\r\n{")
				began := time.Now()
				stop()
				<-s.answer
				if took := time.Since(began); took > 3*time.Second {
					t.Errorf("the server stopped after %v", took)
				}
			})
		})
	}
}

// TestLargeBodyRefused checks a client that reads the answer only after it has sent the whole body.
func TestLargeBodyRefused(t *testing.T) {
	t.Parallel()
	s, err := api.New(api.Options{Queue: queue.New(queue.Options{})})
	if err != nil {
		t.Fatal(err)
	}
	h := httptest.NewServer(s)
	t.Cleanup(h.Close)
	for path, want := range map[string]int{"/queue/complete": 413, "/queue/next": 413, "/queue/nothing": 404, "/github/webhook": 404} {
		conn, err := net.Dial("tcp", h.Listener.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		const size = 40 << 20
		_, err = fmt.Fprintf(conn, "POST %s HTTP/1.1\r\nHost: localhost\r\nContent-Length: %d\r\n\r\n", path, size)
		chunk := make([]byte, 1<<20)
		for i := 0; i < size>>20 && err == nil; i++ {
			_, err = conn.Write(chunk)
		}
		if err != nil {
			t.Errorf("%s: %v", path, err)
		}
		res, err := http.ReadResponse(bufio.NewReader(conn), nil)
		if err != nil || res.StatusCode != want || !res.Close {
			t.Errorf("%s: got %+v, %v, want %d", path, res, err, want)
		}
		_ = conn.Close()
	}
}

// TestManyValues refuses a small body that would use much memory when decoded.
func TestManyValues(t *testing.T) {
	t.Parallel()
	s, err := api.New(api.Options{Queue: queue.New(queue.Options{})})
	if err != nil {
		t.Fatal(err)
	}
	for _, rest := range []string{`"actions":[` + strings.Repeat("0,", protocol.MaxDecisionValues) + `0]`, strings.Repeat(`"a":0,`, protocol.MaxDecisionValues) + `"actions":[]`} {
		w := httptest.NewRecorder()
		s.ServeHTTP(w, post("/queue/complete", `{"task_id":"`+taskID(1)+`","decision":"skip","rationale":"r",`+rest+`}`))
		const want = `{"detail":[{"type":"too_long","loc":["body"],"msg":"Input should have at most 20000 values","input":null}]}`
		if w.Code != http.StatusUnprocessableEntity || w.Body.String() != want {
			t.Errorf("got %d: %.300s, want 422: %s", w.Code, w.Body, want)
		}
	}
}

// TestHalfClosed checks a client that waits for a task after it closed its sending side.
func TestHalfClosed(t *testing.T) {
	t.Parallel()
	began := make(chan struct{}, 1)
	s, err := api.New(api.Options{Queue: waits{queue.New(queue.Options{}), began}})
	if err != nil {
		t.Fatal(err)
	}
	h := httptest.NewServer(s)
	t.Cleanup(h.Close)
	conn, err := net.Dial("tcp", h.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	const body = `{"agent_url":"http://a:9001"}`
	if _, err := fmt.Fprintf(conn, "POST /queue/next?wait=60s HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", len(body), body); err != nil {
		t.Fatal(err)
	}
	<-began
	if err := conn.(*net.TCPConn).CloseWrite(); err != nil {
		t.Fatal(err)
	}
	res, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil || res.StatusCode != http.StatusServiceUnavailable {
		t.Errorf("got %+v, %v, want 503", res, err)
	}
}

// TestWrongCredentials has people, agents and a guesser behind one address. A right secret is
// accepted despite wrong ones by others. Further wrong secrets are slowed down.
func TestWrongCredentials(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const long = "0123456789abcdef0123456789abcdef"
		c, err := access.NewCredentials([]access.Credential{{Name: "ann", Secret: "s1", Operator: true}, {Name: "bob", Secret: "s2", Operator: true}, {Name: "ci", Secret: "s3"}, {Name: "cd", Secret: long}})
		if err != nil {
			t.Fatal(err)
		}
		proxies, err := access.ParseProxies([]string{"10.0.0.0/8"})
		if err != nil {
			t.Fatal(err)
		}
		var log strings.Builder
		s, err := api.New(api.Options{
			Queue: queue.New(queue.Options{}), Credentials: c, Proxies: proxies,
			Log: slog.New(slog.NewTextHandler(&log, nil)),
		})
		if err != nil {
			t.Fatal(err)
		}
		ask := func(ctx context.Context, path, remote, name, secret string) (status int, took time.Duration) {
			r := post(path, `{"agent_url":"http://a"}`)
			if path == "/queue/status" {
				r = httptest.NewRequest(http.MethodGet, path, nil)
			}
			proxy, client, proxied := strings.Cut(remote, " for ")
			if r.RemoteAddr = proxy + ":1234"; proxied {
				r.Header.Set("X-Forwarded-For", client)
			}
			if r.SetBasicAuth(name, secret); name == "" {
				r.Header.Set("Authorization", "Bearer "+secret)
			}
			w := httptest.NewRecorder()
			begin := time.Now()
			s.ServeHTTP(w, r.WithContext(ctx))
			if limited := w.Code == http.StatusTooManyRequests; limited != (w.Header().Get("Retry-After") != "") {
				t.Errorf("%d with Retry-After %q", w.Code, w.Header().Get("Retry-After"))
			}
			return w.Code, time.Since(begin)
		}
		gone, cancel := context.WithCancel(t.Context())
		cancel() // who would have to wait is refused at once
		remotes := []string{"192.0.2.1", "10.0.0.1 for 203.0.113.1"}
		for n := range access.MaxFailures {
			for _, remote := range remotes {
				if got, took := ask(t.Context(), "/queue/status", remote, []string{"ann", "ci", ""}[n%3], "wrong"); got != http.StatusUnauthorized || took != 0 {
					t.Fatalf("a wrong secret: got %d after %s", got, took)
				}
			}
		}
		tests := []struct {
			path, remote, name, secret string
			want                       int
			turn                       bool // the secret is a guess, so it waits
		}{
			{"/queue/status", "192.0.2.1", "ann", "s1", 200, true},
			{"/queue/status", "192.0.2.1", "ann", "s1", 200, false},
			{"/queue/status", "192.0.2.1", "", "s1", 200, false},
			{"/queue/status", "192.0.2.1", "bob", "s2", 200, true},
			{"/queue/status", "192.0.2.1", "bob", "wrong", 429, true},
			{"/queue/status", "192.0.2.2", "ann", "s1", 200, false},
			{"/queue/status", "192.0.2.2", "ann", "wrong", 401, false},
			{"/queue/next", "192.0.2.1", "ci", "wrong", 429, true},
			{"/queue/next", "192.0.2.1", "", long, 204, false}, // long secrets are never delayed
			{"/queue/next", "192.0.2.1", "cd", long, 204, false},
			{"/queue/next", "192.0.2.1", "cd", long[1:], 429, true},
			{"/queue/next", "192.0.2.1", "ci", "s3", 204, true},
			{"/queue/next", "192.0.2.1", "ci", "s3", 204, false},
			{"/queue/next", "192.0.2.1", "", "s3", 204, false},
			{"/queue/status", "10.0.0.1 for 203.0.113.1", "ann", "wrong", 429, true},
			{"/queue/status", "10.0.0.1 for 203.0.113.1", "ann", "s1", 200, true},
			{"/queue/status", "10.0.0.1 for 203.0.113.1", "ann", "s1", 200, false},
			{"/queue/status", "10.0.0.1 for 203.0.113.2", "ann", "wrong", 401, false},  // another client of the proxy
			{"/queue/status", "192.0.2.9 for 203.0.113.1", "ann", "wrong", 401, false}, // not a trusted proxy
		}
		for _, tt := range tests {
			for _, remote := range remotes {
				for status := 0; status != http.StatusTooManyRequests; {
					status, _ = ask(gone, "/queue/status", remote, "ann", "wrong")
				}
			}
			if got, took := ask(t.Context(), tt.path, tt.remote, tt.name, tt.secret); got != tt.want || (took != 0) != tt.turn || took > time.Second {
				t.Errorf("%+v: got %d after %s", tt, got, took)
			}
		}
		if n := strings.Count(log.String(), "level=WARN"); n != 5 { // one per address
			t.Errorf("got %d warnings:\n%s", n, log.String())
		}
		time.Sleep(time.Minute)
		if got, took := ask(t.Context(), "/queue/status", "192.0.2.1", "ann", "wrong"); got != 401 || took != 0 {
			t.Errorf("a minute later: got %d after %s", got, took)
		}
	})
}

// TestProxied sends requests through a proxy to a server without credentials: all of them
// arrive over loopback.
func TestProxied(t *testing.T) {
	t.Parallel()
	s, err := api.New(api.Options{Queue: queue.New(queue.Options{})})
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{"/queue/next", "/queue/complete", "/queue/heartbeat", "/harness/result", "/queue/tasks/x/cancel"} {
		r := post(path, `{"agent_url":"http://a"}`)
		r.Header.Set("X-Forwarded-For", "203.0.113.9")
		w := httptest.NewRecorder()
		if s.ServeHTTP(w, r); w.Code != http.StatusForbidden || !strings.Contains(w.Body.String(), "proxy") {
			t.Errorf("%s: got %d: %s", path, w.Code, w.Body)
		}
	}
}
