package app_test

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/org/foreman-action/internal/github"
	"github.com/org/foreman-action/internal/github/app"
	"github.com/org/foreman-action/internal/github/githubtest"
	"github.com/org/foreman-action/internal/github/rest"
	"github.com/org/foreman-action/runner/effect"
	"github.com/org/foreman-action/triage"
)

const (
	repo  = "octo/hello"
	find  = "GET /repos/octo/hello/installation 200"
	mint  = "POST /app/installations/1/access_tokens 201"
	read  = "GET /repos/octo/hello/issues/7 200"
	stale = "GET /repos/octo/hello/issues/7 401"
)

var ref = triage.Ref{Owner: "octo", Repo: "hello", Number: 7}

// newKey generates one key for all tests, because generating a key is slow.
var newKey = sync.OnceValues(func() (*rsa.PrivateKey, error) { return rsa.GenerateKey(rand.Reader, 2048) })

type world struct {
	*githubtest.Server
	o    app.Options
	log  bytes.Buffer
	mu   sync.Mutex
	skew time.Duration // how far the App's clock is ahead of GitHub's
	now  time.Time
}

func (w *world) time() time.Time {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.now.Add(w.skew)
}

// pass advances the App's clock and GitHub's clock.
func (w *world) pass(d time.Duration) {
	w.mu.Lock()
	w.now = w.now.Add(d)
	w.mu.Unlock()
	w.Advance(d)
}

func newWorld(t *testing.T) *world {
	t.Helper()
	key, err := newKey()
	if err != nil {
		t.Fatal(err)
	}
	w := &world{now: time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)}
	start := w.now
	w.Server = githubtest.New(t, githubtest.Config{
		Now: func() time.Time { return start },
		App: &githubtest.App{ID: 42, Slug: "foreman", Key: &key.PublicKey, Owners: []string{"octo"}},
	})
	w.Repo(repo).AddIssue(githubtest.Issue{Number: 7}).AddLabel("bug")
	w.Repo("octo/other").AddIssue(githubtest.Issue{Number: 7})
	w.Repo("else/where")
	w.o = app.Options{ID: "42", Key: encode(key), GitHub: github.Options{
		BaseURL: w.URL, Now: w.time, Sleep: func(ctx context.Context, _ time.Duration) error { return ctx.Err() },
		Log: slog.New(slog.NewTextHandler(&w.log, &slog.HandlerOptions{Level: slog.LevelDebug})),
	}}
	return w
}

func encode(key *rsa.PrivateKey) []byte {
	return pem.EncodeToMemory(&pem.Block{Type: "RSA PRIVATE KEY", Bytes: x509.MarshalPKCS1PrivateKey(key)})
}

func (w *world) client(t *testing.T, name string) *github.Client {
	t.Helper()
	a, err := app.New(w.o)
	if err != nil {
		t.Fatal(err)
	}
	c, err := a.Client(name)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func (w *world) calls(t *testing.T, want ...string) {
	t.Helper()
	if diff := cmp.Diff(want, w.Log()); diff != "" {
		t.Errorf("calls (-want +got):\n%s", diff)
	}
	w.ResetCalls()
}

func get(t *testing.T, c *github.Client) {
	t.Helper()
	if _, err := c.Issue(t.Context(), ref); err != nil {
		t.Fatal(err)
	}
}

func TestTokenIsKeptUntilItRunsOut(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	c := w.client(t, repo)
	get(t, c)
	get(t, c)
	w.calls(t, find, mint, read, read)
	w.pass(54 * time.Minute)
	get(t, c)
	w.calls(t, read)
	w.pass(time.Minute)
	get(t, c)
	w.calls(t, mint, read)
}

func TestTokenIsNarrow(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	c := w.client(t, repo)
	get(t, c)
	var body struct {
		Repositories []string
		Permissions  map[string]string
	}
	if err := json.Unmarshal([]byte(w.Calls()[1].Body), &body); err != nil {
		t.Fatal(err)
	}
	want := map[string]string{"issues": "write", "contents": "read", "metadata": "read"}
	if diff := cmp.Diff(want, body.Permissions); diff != "" || !slices.Equal(body.Repositories, []string{"hello"}) {
		t.Errorf("asked for %v, %v", body.Repositories, body.Permissions)
	}
	if err := put(t.Context(), c, ref, effect.AddLabels{Names: []string{"bug"}}); err != nil {
		t.Error(err)
	}
	if _, err := c.Issue(t.Context(), triage.Ref{Owner: "octo", Repo: "other", Number: 7}); rest.StatusOf(err) != http.StatusNotFound {
		t.Errorf("another repository: got %v, want 404", err)
	}
}

func TestRefusedTokenIsReplacedOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	c := w.client(t, repo)
	get(t, c)
	w.RevokeTokens()
	w.ResetCalls()
	get(t, c)
	w.calls(t, stale, mint, read)
	w.RevokeTokens()
	if err := put(t.Context(), c, ref, effect.AddLabels{Names: []string{"bug"}}); err != nil { // a write is not lost either
		t.Error(err)
	}
	w.calls(t, "POST /repos/octo/hello/issues/7/labels 401", mint, "POST /repos/octo/hello/issues/7/labels 200")
	w.Fault(githubtest.Fault{Method: "GET", Path: "/repos/octo/hello/issues/7", Status: http.StatusUnauthorized})
	if _, err := c.Issue(t.Context(), ref); rest.StatusOf(err) != http.StatusUnauthorized {
		t.Errorf("got %v, want 401", err)
	}
	w.calls(t, stale, mint, stale)
}

func TestMany(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	c := w.client(t, repo)
	var group sync.WaitGroup
	for range 20 {
		group.Go(func() {
			if _, err := c.Issue(t.Context(), ref); err != nil {
				t.Error(err)
			}
		})
	}
	group.Wait()
	if n := strings.Count(strings.Join(w.Log(), "\n"), "POST"); n != 1 {
		t.Errorf("%d tokens were made for 20 calls at once, want 1", n)
	}
}

func TestInstallation(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.o.Installation = 1
	get(t, w.client(t, repo))
	w.calls(t, mint, read)

	w.o.Installation = 0
	c := w.client(t, repo)
	get(t, c)
	w.MoveInstallation("octo")
	w.RevokeTokens()
	w.ResetCalls()
	get(t, c)
	w.calls(t, stale, "POST /app/installations/1/access_tokens 404", find, "POST /app/installations/2/access_tokens 201", read)

	c = w.client(t, "else/where")
	_, err := c.Issue(t.Context(), triage.Ref{Owner: "else", Repo: "where", Number: 1})
	if err == nil || !strings.Contains(err.Error(), "install the App for the repository") {
		t.Errorf("got %v, want advice", err)
	}
}

func TestClocks(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name string
		skew time.Duration
		ok   bool
	}{
		{"as GitHub's", 0, true},
		{"half a minute ahead", 30 * time.Second, true},
		{"a minute behind", -time.Minute, true},
		{"two minutes ahead", 2 * time.Minute, false},
		{"a quarter behind", -15 * time.Minute, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.skew = tt.skew
			_, err := w.client(t, repo).Issue(t.Context(), ref)
			if (err == nil) != tt.ok {
				t.Errorf("got %v, want ok %v", err, tt.ok)
			}
			if err != nil && !strings.Contains(err.Error(), "this machine's clock") {
				t.Errorf("%v does not tell what to check", err)
			}
		})
	}
}

func TestLogin(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	a, err := app.New(w.o)
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if got, err := a.Login(t.Context()); got != "foreman[bot]" || err != nil {
			t.Errorf("got %q, %v", got, err)
		}
	}
	w.calls(t, "GET /app 200")
}

func TestPassingFailure(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.Fault(githubtest.Fault{Method: "POST", Path: "/app/*/*/*", Status: http.StatusBadGateway, Nth: 1})
	get(t, w.client(t, repo))
	w.calls(t, find, "POST /app/installations/1/access_tokens 502", mint, read)
}

func TestSecrets(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.Fault(githubtest.Fault{Method: "POST", Path: "/app/*/*/*", Status: http.StatusForbidden, Nth: 2, Body: `{"message":"no"}`})
	c := w.client(t, repo)
	get(t, c)
	w.RevokeTokens()
	_, err := c.Issue(t.Context(), ref)
	if err == nil {
		t.Fatal("got no error")
	}
	text := err.Error() + w.log.String()
	for _, call := range w.Calls() {
		secret := strings.TrimPrefix(call.Header.Get("Authorization"), "Bearer ")
		if len(secret) < 20 || strings.Contains(text, secret[:20]) {
			t.Errorf("%s: the token %q shows in the error or the log", call, secret)
		}
	}
	inside := base64.StdEncoding.EncodeToString([]byte("a key that somebody mistyped"))
	bad := app.Options{ID: "42", Key: []byte("-----BEGIN RSA PRIVATE KEY-----\n" + inside + "\n-----END RSA PRIVATE KEY-----\n")}
	if _, err := app.New(bad); err == nil || strings.Contains(err.Error(), inside[:8]) || strings.Contains(err.Error(), "mistyped") {
		t.Errorf("got %v, want an error without the key", err)
	}
}

func TestOptions(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	if _, err := app.New(app.Options{Key: w.o.Key}); err == nil {
		t.Error("an App without an id is accepted")
	}
	if _, err := app.New(app.Options{ID: "1", Key: w.o.Key, GitHub: github.Options{BaseURL: "ftp://x"}}); err == nil {
		t.Error("a base URL that is none is accepted")
	}
	a, err := app.New(w.o)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := a.Client("hello"); err == nil {
		t.Error("a repository without an owner is accepted")
	}
}

// TestTokenNeedsNoLeave checks that the gate is called before a write, and not before the request
// for a token.
func TestTokenNeedsNoLeave(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	c := w.client(t, repo)
	asked := 0
	ctx := effect.WithGate(t.Context(), func(context.Context) error {
		asked++
		return nil
	})
	if _, err := c.Issue(ctx, ref); err != nil || asked != 0 {
		t.Errorf("a read: got %v, asked %d times", err, asked)
	}
	w.pass(2 * time.Hour)
	if err := put(ctx, c, ref, effect.AddLabels{Names: []string{"bug"}}); err != nil || asked != 1 {
		t.Errorf("a write: got %v, asked %d times", err, asked)
	}
	w.calls(t, find, mint, read, mint, "POST /repos/octo/hello/issues/7/labels 200")
}

// put performs an effect and returns only the error.
func put(ctx context.Context, c *github.Client, ref triage.Ref, e effect.Effect) error {
	_, err := c.Write(ctx, ref, e)
	return err
}

// TestDeliveries checks that the App reads and repeats the deliveries of its webhook with its own
// token.
func TestDeliveries(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	repeated := make(chan string, 1)
	w.Deliver("lost", http.StatusBadGateway, func(guid string) { repeated <- guid })
	a, err := app.New(w.o)
	if err != nil {
		t.Fatal(err)
	}
	ids, err := a.Deliveries().Failed(t.Context(), w.time().Add(-time.Hour))
	if err != nil || len(ids) != 1 {
		t.Fatalf("got %v, %v; want 1 delivery", ids, err)
	}
	if err := a.Deliveries().Redeliver(t.Context(), ids[0]); err != nil || <-repeated != "lost" {
		t.Error(err)
	}
}
