package results_test

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/org/foreman-action/internal/actions/results"
	"github.com/org/foreman-action/internal/actions/results/resultstest"
	"github.com/org/foreman-action/memory"
)

// TestDeadline uses a service that does not respond: a call ends with its context, and a request
// ends after RequestTimeout.
func TestDeadline(t *testing.T) {
	t.Parallel()
	for _, path := range []string{"/twirp/*/*", "/blob/*", "/repos/*/*/actions/artifacts"} {
		for _, kind := range []string{"artifact", "cache"} {
			if kind == "cache" && path[1] == 'r' {
				continue
			}
			t.Run(kind+path, func(t *testing.T) {
				t.Parallel()
				s := resultstest.New(t, resultstest.Config{})
				reached := make(chan struct{})
				s.Fault(resultstest.Fault{Path: path, Times: -1, Reached: reached, Hold: make(chan struct{})})
				ctx, cancel := context.WithCancel(t.Context())
				var store memory.Store = cache(t, options(s))
				if kind == "artifact" {
					store = artifact(t, options(s))
				}
				done := make(chan error, 1)
				go func() { done <- store.Save(ctx, record(0)) }()
				<-reached
				cancel()
				if err := <-done; !errors.Is(err, context.Canceled) {
					t.Errorf("got %v, want context.Canceled", err)
				}
			})
		}
	}
	t.Run("time-out", func(t *testing.T) {
		t.Parallel()
		s := resultstest.New(t, resultstest.Config{})
		s.Fault(resultstest.Fault{Times: -1, Hold: make(chan struct{})})
		o := options(s)
		o.RequestTimeout = time.Millisecond
		_, err := artifact(t, o).Load(t.Context(), "org/repo", 7)
		if err == nil || errors.Is(err, context.DeadlineExceeded) || len(s.Calls()) > 1 {
			t.Errorf("got %v after %d calls, want an error of its own after one", err, len(s.Calls()))
		}
	})
}

// TestSleepsInRealTime checks that without a Sleep option the waits are real and end with the
// context.
func TestSleepsInRealTime(t *testing.T) {
	t.Parallel()
	s := resultstest.New(t, resultstest.Config{})
	s.Fault(resultstest.Fault{Status: http.StatusBadGateway, Times: -1})
	o := options(s)
	o.Sleep = nil
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	if _, err := cache(t, o).Load(ctx, "org/repo", 7); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v, want DeadlineExceeded", err)
	}
}

// The times that a caller allows for a whole load and for a whole update.
const (
	loadTime   = 45 * time.Second
	updateTime = 60 * time.Second
)

// TestBounds checks that a load and an update end with their context, whatever the service does. In
// a synctest bubble the clock advances at once, so the test does not really wait.
func TestBounds(t *testing.T) {
	t.Parallel()
	services := map[string]trip{
		"never answers":         silent,
		"answers 503 late":      late,
		"hangs up":              func(*http.Request) (*http.Response, error) { return nil, errPipe },
		"sends no body":         func(r *http.Request) (*http.Response, error) { return with(200, &drip{r.Context(), 0}), nil },
		"sends a byte a second": func(r *http.Request) (*http.Response, error) { return with(200, &drip{r.Context(), time.Second}), nil },
		"sends 503 byte by byte": func(r *http.Request) (*http.Response, error) {
			return with(503, &drip{r.Context(), time.Millisecond}), nil
		},
		"has taken keys":   taken,
		"finishes nothing": unfinished,
	}
	for name, service := range services {
		for kind, open := range stores() {
			t.Run(name+", "+kind, func(t *testing.T) {
				t.Parallel()
				synctest.Test(t, func(t *testing.T) {
					store := open(t, service)
					load := took(t, loadTime, func(ctx context.Context) error {
						_, err := store.Load(ctx, "org/repo", 7)
						return err
					})
					save := took(t, updateTime, func(ctx context.Context) error { return add(ctx, store) })
					if load > loadTime || save > updateTime {
						t.Errorf("got %s and %s, want at most %s and %s", load, save, loadTime, updateTime)
					}
				})
			})
		}
	}
}

// TestTakenKeys checks that an update waits for taken keys once. The error is no conflict, so the
// update is not repeated.
func TestTakenKeys(t *testing.T) {
	t.Parallel()
	for kind, open := range stores() {
		if kind == "artifact" {
			continue
		}
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				var err error
				store, want := open(t, taken), 15*time.Second
				if got := took(t, time.Hour, func(ctx context.Context) error {
					err = add(ctx, store)
					return err
				}); got != want {
					t.Errorf("got %s, want %s", got, want)
				}
				if errors.Is(err, memory.ErrConflict) || !strings.Contains(err.Error(), "are reserved, but no entry is visible") {
					t.Errorf("got %v, want no visible entry, and no conflict", err)
				}
			})
		})
	}
}

// TestGateBound checks that a save ends with its own context while it waits for another save of the
// same store.
func TestGateBound(t *testing.T) {
	t.Parallel()
	for kind, open := range stores() {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				store := open(t, silent)
				ctx, cancel := context.WithCancel(t.Context())
				done := make(chan error)
				go func() { done <- store.Save(ctx, record(0)) }()
				synctest.Wait() // the first save now holds the semaphore, and its request lasts 30 seconds
				const limit = 10 * time.Second
				if got := took(t, limit, func(ctx context.Context) error { return store.Save(ctx, record(0)) }); got != limit {
					t.Errorf("got %s, want %s", got, limit)
				}
				cancel()
				<-done
			})
		})
	}
}

// TestHandshake checks that a server which accepts connections and never speaks TLS gets a single
// request. The time limit is that of net/http, not RequestTimeout.
func TestHandshake(t *testing.T) {
	t.Parallel()
	l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	var dials atomic.Int32
	o := optionsAt("https://"+l.Addr().String(), &http.Transport{
		TLSHandshakeTimeout: 10 * time.Millisecond,
		DialContext: func(ctx context.Context, network, address string) (net.Conn, error) {
			dials.Add(1)
			return new(net.Dialer).DialContext(ctx, network, address)
		},
	})
	for kind, store := range map[string]memory.Store{"artifact": artifact(t, o), "cache v2": cache(t, o), "cache v1": cache(t, v1(o))} {
		before := dials.Load()
		_, err := store.Load(t.Context(), "org/repo", 7)
		if err == nil || !strings.Contains(err.Error(), "TLS handshake timeout") {
			t.Errorf("%s: got %v, want the time-out of the handshake", kind, err)
		}
		if n := dials.Load() - before; n != 1 {
			t.Errorf("%s: got %d connections, want 1", kind, n)
		}
	}
}

// took runs call with a context that ends after limit, and returns how long it takes. The call must
// fail.
func took(t *testing.T, limit time.Duration, call func(context.Context) error) time.Duration {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), limit)
	defer cancel()
	start := time.Now()
	if err := call(ctx); err == nil {
		t.Error("got no error")
	}
	return time.Since(start)
}

func add(ctx context.Context, store memory.Store) error {
	_, err := memory.Update(ctx, store, "org/repo", 7, func(r *memory.Record) error {
		r.Put(memory.Task{ID: "x", By: "rules"})
		return nil
	})
	return err
}

// stores returns a function for each kind of store that opens it over a service. The waits of these
// stores are real.
func stores() map[string]func(*testing.T, trip) memory.Store {
	return map[string]func(*testing.T, trip) memory.Store{
		"artifact": func(t *testing.T, s trip) memory.Store { return artifact(t, optionsAt("https://x.example", s)) },
		"cache v2": func(t *testing.T, s trip) memory.Store { return cache(t, optionsAt("https://x.example", s)) },
		"cache v1": func(t *testing.T, s trip) memory.Store { return cache(t, v1(optionsAt("https://x.example", s))) },
	}
}

func optionsAt(address string, via http.RoundTripper) results.Options {
	return results.Options{
		ResultsURL: address, APIURL: address, ServerURL: "https://github.com", RuntimeToken: claim, Token: "token",
		Repo: "org/repo", RepositoryID: 1001, DefaultBranch: "main", Transport: via,
	}
}

// claim is a runtime token with the scope Actions.Results:1:2.
const claim = "e30.eyJzY3AiOiJBY3Rpb25zLlJlc3VsdHM6MToyIn0.c2ln"

func silent(r *http.Request) (*http.Response, error) {
	<-r.Context().Done()
	return nil, r.Context().Err()
}

func late(r *http.Request) (*http.Response, error) {
	select {
	case <-r.Context().Done():
		return nil, r.Context().Err()
	case <-time.After(29 * time.Second):
		return with(503, nil), nil
	}
}

// taken is a service in which every name and key is in use, but no artifact or entry is listed.
func taken(r *http.Request) (*http.Response, error) {
	switch path := r.URL.Path; {
	case strings.HasSuffix(path, "/actions/artifacts"), strings.HasSuffix(path, "/ListArtifacts"):
		return with(200, io.NopCloser(strings.NewReader(`{"artifacts":[]}`))), nil
	case strings.HasSuffix(path, "/GetCacheEntryDownloadURL"):
		return with(200, io.NopCloser(strings.NewReader(`{"ok":false}`))), nil
	case r.Method == http.MethodGet:
		return with(204, nil), nil
	}
	return with(409, nil), nil
}

// unfinished is a service that accepts every upload but never finishes one.
func unfinished(r *http.Request) (*http.Response, error) {
	switch path := r.URL.Path; {
	case strings.Contains(path, "/Finalize"), strings.HasSuffix(path, "/caches/9"):
		return with(404, nil), nil
	case strings.Contains(path, "/Create"):
		return with(200, io.NopCloser(strings.NewReader(`{"ok":true,"signed_upload_url":"https://x.example/put"}`))), nil
	case strings.HasSuffix(path, "/caches"):
		return with(201, io.NopCloser(strings.NewReader(`{"cacheId":9}`))), nil
	case r.Method == http.MethodPut:
		return with(201, nil), nil
	}
	return taken(r)
}

func with(status int, body io.ReadCloser) *http.Response {
	if body == nil {
		body = http.NoBody
	}
	return &http.Response{StatusCode: status, Body: body, Header: http.Header{}}
}

// A drip is a body that returns one byte after each interval, for as long as the request lasts. 0
// means that it returns no byte at all.
type drip struct {
	ctx  context.Context
	each time.Duration
}

func (d *drip) Read(p []byte) (int, error) {
	var next <-chan time.Time
	if d.each > 0 {
		next = time.After(d.each)
	}
	select {
	case <-d.ctx.Done():
		return 0, d.ctx.Err()
	case <-next:
		p[0] = 'x'
		return 1, nil
	}
}

func (*drip) Close() error { return nil }
