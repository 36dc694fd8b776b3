package results_test

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/org/foreman-action/internal/actions/results"
	"github.com/org/foreman-action/internal/actions/results/resultstest"
	"github.com/org/foreman-action/memory"
)

func TestNew(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name            string
		change          func(*results.Options)
		artifact, cache string // parts of the expected errors; empty: no error
		unavailable     bool
	}{
		{"all there", func(*results.Options) {}, "", "", false},
		{"no results service", func(o *results.Options) { o.ResultsURL = "" }, "ACTIONS_RESULTS_URL is not set", "ACTIONS_CACHE_URL is not set", true},
		{"no token", func(o *results.Options) { o.RuntimeToken = "" }, "ACTIONS_RUNTIME_TOKEN is not set", "ACTIONS_RUNTIME_TOKEN is not set", true},
		{"a token of two lines", func(o *results.Options) { o.RuntimeToken = "a\r\nb" }, "contains an invalid character", "contains an invalid character", false},
		{"no repository", func(o *results.Options) { o.Repo = "" }, "want owner/name", "want owner/name", false},
		{"a password in the address", func(o *results.Options) { o.ResultsURL = "https://u:hunter2@x.example" }, "ACTIONS_RESULTS_URL: want http(s)://host/path", "ACTIONS_RESULTS_URL: want", false},
		{"no address", func(o *results.Options) { o.ResultsURL = "hunter2" }, "want http(s)://host/path", "want http(s)://host/path", false},
		{"no id", func(o *results.Options) { o.RepositoryID = 0 }, "the id of the repository is not known", "", false},
		{"no branch", func(o *results.Options) { o.DefaultBranch = "" }, "the default branch is not known", "", false},
		{"no API", func(o *results.Options) { o.APIURL = "" }, "GITHUB_API_URL is not set", "", false},
		{"a Reader instead of it", func(o *results.Options) { o.APIURL, o.Reader = "", &reader{} }, "", "", false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			o := results.Options{
				ResultsURL: "https://results.example", ServerURL: "https://github.com", RuntimeToken: "token", Repo: "org/repo",
				RepositoryID: 1, DefaultBranch: "main", APIURL: "https://api.example/v3/",
			}
			tt.change(&o)
			_, errA := results.NewArtifact(o)
			_, errC := results.NewCache(o)
			for _, c := range []struct {
				err  error
				want string
			}{{errA, tt.artifact}, {errC, tt.cache}} {
				if (c.err == nil) != (c.want == "") || c.err != nil && !strings.Contains(c.err.Error(), c.want) {
					t.Errorf("got %v, want %q", c.err, c.want)
				}
				if c.err != nil && (errors.Is(c.err, results.ErrUnavailable) != tt.unavailable || strings.Contains(c.err.Error(), "hunter2")) {
					t.Errorf("got %v, want ErrUnavailable %v, and no secret", c.err, tt.unavailable)
				}
			}
		})
	}
}

// TestCacheVersion checks to which version of the service a store sends its requests.
func TestCacheVersion(t *testing.T) {
	t.Parallel()
	tests := []struct {
		server, results, cache string
		want                   string // the host that gets the request; empty: no request
	}{
		{"https://github.com", "https://results.example", "", "results.example"},
		{"https://github.com", "https://results.example", "https://cache.example", "results.example"},
		{"https://GitHub.com/", "https://results.example", "", "results.example"},
		{"https://acme.ghe.com", "https://results.example", "https://cache.example", "results.example"},
		{"https://github.com", "", "https://cache.example", "cache.example"},
		{"https://github.com", "http://results.example", "http://cache.example", "cache.example"},
		{"https://github.com", "HTTP://results.example", "https://cache.example", "cache.example"},
		{"https://github.com", "http://results.example", "", "results.example"},
		{"https://github.example.com", "https://results.example", "https://cache.example", "cache.example"},
		{"https://github.example.com", "https://results.example", "", ""},
		{"https://notgithub.com", "https://results.example", "https://cache.example", "cache.example"},
		{"https://ghe.com.example", "https://results.example", "", ""},
		{"", "https://results.example", "https://cache.example", "cache.example"},
		{":", "https://results.example", "", ""},
	}
	for _, tt := range tests {
		var asked string
		o := results.Options{
			ServerURL: tt.server, ResultsURL: tt.results, CacheURL: tt.cache, RuntimeToken: "token", Repo: "org/repo",
			Transport: trip(func(r *http.Request) (*http.Response, error) {
				asked = r.URL.Host
				return nil, context.Canceled
			}),
		}
		if c, err := results.NewCache(o); err == nil {
			_, _ = c.Load(t.Context(), "org/repo", 7)
		}
		if asked != tt.want {
			t.Errorf("server %q, results %q, cache %q: asked %q, want %q", tt.server, tt.results, tt.cache, asked, tt.want)
		}
	}
}

// A trip is a function that is used as an http.RoundTripper.
type trip func(*http.Request) (*http.Response, error)

func (f trip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// TestSecrets uses a transport whose errors contain the whole request. The errors of the stores
// must contain none of its secrets.
func TestSecrets(t *testing.T) {
	t.Parallel()
	s := resultstest.New(t, resultstest.Config{})
	s.AddCache(resultstest.Cache{Key: results.Key(7, 1), Version: results.Version(), Data: encode(t, record(1))})
	s.Add(resultstest.Artifact{Name: "foreman-memory-i7", Zip: zipOf(t, record(1))})
	var log strings.Builder
	masked := &journal{}
	o := options(s)
	o.Mask = masked.add
	o.Log = slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	o.Transport = trip(func(r *http.Request) (*http.Response, error) {
		if strings.HasPrefix(r.URL.Path, "/blob/") {
			if sig := r.URL.Query().Get("sig"); !slices.Contains(masked.all(), sig) {
				t.Errorf("%s is used before it is masked", sig)
			}
			return nil, fmt.Errorf("%s with %s: %w", r.URL, r.URL.Query().Get("sig"), errPipe)
		}
		return http.DefaultTransport.RoundTrip(r)
	})
	_, errA := artifact(t, o).Load(t.Context(), "org/repo", 7)
	_, errC := cache(t, o).Load(t.Context(), "org/repo", 7)
	o.Transport = trip(func(r *http.Request) (*http.Response, error) {
		return nil, fmt.Errorf("sent %s to %s: %w", r.Header.Get("Authorization"), r.URL.Path, errPipe)
	})
	_, errT := artifact(t, o).Load(t.Context(), "org/repo", 7)
	_, errV := cache(t, o).Load(t.Context(), "org/repo", 7)
	for _, err := range []error{errA, errC, errT, errV} {
		if !errors.Is(err, errPipe) || !strings.Contains(fmt.Sprintf("%+v %#v", err, err.Error()), "***") {
			t.Errorf("got %v, want the cause with stars in it", err)
		}
		checkSecrets(t, err.Error(), o)
		for e := err; e != nil; e = errors.Unwrap(e) {
			checkSecrets(t, e.Error(), o)
		}
	}
	checkSecrets(t, log.String(), o)
}

var errPipe = errors.New("the pipe broke")

func checkSecrets(t *testing.T, text string, o results.Options) {
	t.Helper()
	for _, secret := range []string{o.RuntimeToken, o.Token, "s/ecret", "s%2Fecret"} {
		if strings.Contains(text, secret) {
			t.Errorf("%q is shown: %s", secret, text)
		}
	}
}

func TestClaims(t *testing.T) {
	t.Parallel()
	token := func(payload string) string {
		return "e30." + base64.RawURLEncoding.EncodeToString([]byte(payload)) + ".c2ln"
	}
	tests := []struct{ token, run, job string }{
		{token(`{"scp":"Actions.ExampleScope Actions.Results:ce7f54c7-61c7:ca395085-040a"}`), "ce7f54c7-61c7", "ca395085-040a"},
		{token(`{"scp":"Actions.Results:1:2"}`), "1", "2"},
		{token(`{"scp":"Actions.Results:1:2 Actions.Results:3:4"}`), "1", "2"},
		{token(`{"scp":"Actions.Results:1:2"}`) + "=", "1", "2"},
		{token(`{"scp":"Actions.Results:1"}`), "", ""},
		{token(`{"scp":"Actions.Results:1:2:3"}`), "", ""},
		{token(`{"scp":"Actions.Results::2"}`), "", ""},
		{token(`{"scp":"Actions.Results:../1:2"}`), "", ""},
		{token(`{"scp":"Actions.Results:` + strings.Repeat("1", 200) + `:2"}`), "", ""},
		{token(`{"scp":"Actions.ResultsX:1:2"}`), "", ""},
		{token(`{"scp":""}`), "", ""},
		{token(`{"scp":["Actions.Results:1:2"]}`), "", ""},
		{token(`{}`), "", ""},
		{token(`null`), "", ""},
		{token(`{"scp":"Actions.Results:1:2"`), "", ""},
		{"a.b", "", ""},
		{"a.!.c", "", ""},
		{"", "", ""},
		{"ghs_secret", "", ""},
	}
	for _, tt := range tests {
		got, err := results.Claims(tt.token)
		if (err == nil) != (tt.run != "") || got.Run() != tt.run || got.Job() != tt.job {
			t.Errorf("%s: got %q, %q and %v, want %q and %q", tt.token, got.Run(), got.Job(), err, tt.run, tt.job)
		}
		if err != nil && tt.token != "" && strings.Contains(err.Error(), tt.token) {
			t.Errorf("the token is shown: %v", err)
		}
	}
	o := options(resultstest.New(t, resultstest.Config{}))
	o.RuntimeToken = "not-a-jwt"
	if err := artifact(t, o).Save(t.Context(), record(0)); err == nil || !strings.Contains(err.Error(), "Actions.Results") {
		t.Errorf("Save: got %v, want an error about the claims", err)
	}
}

func TestParseKey(t *testing.T) {
	t.Parallel()
	tests := map[string]int{
		"foreman/v1/i7/0000000012": 12, "foreman/v1/i7/0000000000": 0, "foreman/v1/i7/12": 0, "foreman/v1/i7/-000000001": 0,
		"foreman/v1/i71/0000000012": 0, "foreman/v1/i7/": 0, "": 0, "foreman/v1/i7/00000000012": 0, "foreman/v1/i7/+000000012": 0,
	}
	for key, want := range tests {
		if got, err := results.ParseKey(key, 7); got != want || (err == nil) != (want > 0) {
			t.Errorf("%s: got %d and %v, want %d", key, got, err, want)
		}
	}
}

// TestPages checks that all pages of a list are read, but at most ten.
func TestPages(t *testing.T) {
	t.Parallel()
	s := resultstest.New(t, resultstest.Config{})
	// The trusted artifact is the oldest. All later ones come from forks.
	s.Add(resultstest.Artifact{Name: "foreman-memory-i7", Zip: zipOf(t, record(3))})
	for range 150 {
		s.Add(resultstest.Artifact{Name: "foreman-memory-i7", HeadRepositoryID: 666})
	}
	if r := load(t, artifact(t, options(s))); r.Revision != 3 {
		t.Errorf("got revision %d, want 3", r.Revision)
	}
	for range 1000 {
		s.Add(resultstest.Artifact{Name: "foreman-memory-i7", HeadRepositoryID: 666})
	}
	before := len(s.Calls())
	if _, err := artifact(t, options(s)).Load(t.Context(), "org/repo", 7); !errors.Is(err, memory.ErrNotFound) {
		t.Errorf("got %v, want ErrNotFound", err)
	}
	if n := len(s.Calls()) - before; n != 10 {
		t.Errorf("got %d calls, want 10", n)
	}
}

// TestNewestCounts checks that the artifact with the highest id is the record, and not the first in
// the list. If that artifact is broken, no older one replaces it.
func TestNewestCounts(t *testing.T) {
	t.Parallel()
	s := resultstest.New(t, resultstest.Config{})
	run := func(id int64) results.Info {
		return results.Info{
			ID: id, Name: "foreman-memory-i7", Digest: results.Digest(zipOf(t, record(int(id)))),
			WorkflowRun: results.Run{RepositoryID: s.RepositoryID(), HeadRepositoryID: s.RepositoryID(), HeadBranch: "main"},
		}
	}
	in := &reader{list: []results.Info{run(2), run(9), run(5)}, zips: map[int64][]byte{}}
	for _, id := range []int64{2, 9, 5} {
		in.zips[id] = zipOf(t, record(int(id)))
	}
	o := options(s)
	o.Reader = in
	if r := load(t, artifact(t, o)); r.Revision != 9 {
		t.Errorf("got revision %d, want 9", r.Revision)
	}
	in.zips[9] = in.zips[5]
	if _, err := artifact(t, o).Load(t.Context(), "org/repo", 7); !errors.Is(err, memory.ErrBroken) {
		t.Errorf("got %v, want ErrBroken", err)
	}
	in.list[1].Name, in.list[2].ID = "foreman-memory-i71", -5
	if r := load(t, artifact(t, o)); r.Revision != 2 {
		t.Errorf("got revision %d, want 2", r.Revision)
	}
	in.list[0].Expired = true
	if _, err := artifact(t, o).Load(t.Context(), "org/repo", 7); !errors.Is(err, memory.ErrNotFound) {
		t.Errorf("got %v, want ErrNotFound", err)
	}
	in.err = fmt.Errorf("%w: nobody may", results.ErrDenied)
	if err := artifact(t, o).Save(t.Context(), record(2)); !errors.Is(err, results.ErrDenied) {
		t.Errorf("Save: got %v, want the reader's error", err)
	}
}

// A reader is a results.Reader that returns its fields.
type reader struct {
	list []results.Info
	zips map[int64][]byte
	err  error
}

func (r *reader) List(context.Context, string) ([]results.Info, error) {
	return r.list, r.err
}

func (r *reader) Download(_ context.Context, id int64, _ int) ([]byte, error) {
	return r.zips[id], r.err
}

func (r *reader) Recent(context.Context, int64) ([]results.Info, bool, error) {
	return r.list, true, r.err
}

// TestLongAnswers checks that responses are read only up to a limit.
func TestLongAnswers(t *testing.T) {
	t.Parallel()
	s := resultstest.New(t, resultstest.Config{})
	long := strings.Repeat("x", 5<<20)
	s.Fault(resultstest.Fault{Status: http.StatusOK, Body: long, Times: -1})
	for _, store := range []memory.Store{artifact(t, options(s)), cache(t, options(s)), cache(t, v1(options(s)))} {
		if _, err := store.Load(t.Context(), "org/repo", 7); err == nil || !strings.Contains(err.Error(), "the answer is too large") {
			t.Errorf("got %.200v, want an error about the size", err)
		}
	}
	s.ClearFaults()
	s.Fault(resultstest.Fault{Status: http.StatusBadRequest, Body: `{"msg":"` + long[:1000] + `\u001b[31m\n::error::x"}`})
	_, err := cache(t, options(s)).Load(t.Context(), "org/repo", 7)
	if err == nil || len(err.Error()) > 400 || strings.ContainsAny(err.Error(), "\n\x1b") {
		t.Errorf("got %v, want one short line", err)
	}
}

// TestCacheVersionOption checks that two values of CacheVersion have separate caches.
func TestCacheVersionOption(t *testing.T) {
	t.Parallel()
	s := resultstest.New(t, resultstest.Config{})
	o := options(s)
	save(t, cache(t, o), record(0))
	o.CacheVersion = "another"
	if _, err := cache(t, o).Load(t.Context(), "org/repo", 7); !errors.Is(err, memory.ErrNotFound) {
		t.Errorf("got %v, want ErrNotFound", err)
	}
}
