package resultstest_test

import (
	"errors"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/org/foreman-action/internal/actions/results/resultstest"
)

// A client sends exactly the requests of a test.
type client struct {
	t *testing.T
	s *resultstest.Server
	h http.Header
}

func start(t *testing.T, c resultstest.Config) *client {
	t.Helper()
	s, err := resultstest.Start(c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	token := s.RuntimeToken(resultstest.Job{Run: 1})
	return &client{t, s, http.Header{
		"Authorization": {"Bearer " + token}, "Content-Type": {"application/json"}, "Accept": {"application/json;api-version=6.0-preview.1"},
	}}
}

func (c *client) do(method, path, body string) (int, string, error) {
	c.t.Helper()
	req, err := http.NewRequestWithContext(c.t.Context(), method, c.s.URL+path, strings.NewReader(body))
	if err != nil {
		c.t.Fatal(err)
	}
	req.Header = c.h.Clone()
	resp, err := http.DefaultTransport.RoundTrip(req)
	if err != nil {
		return 0, "", err
	}
	defer resp.Body.Close()
	data, err := io.ReadAll(resp.Body)
	return resp.StatusCode, string(data), err
}

const (
	caches    = "/twirp/github.actions.results.api.v1.CacheService/"
	artifacts = "/twirp/github.actions.results.api.v1.ArtifactService/"
	ids       = `"workflow_run_backend_id":"00000001-61c7-4aae-887f-30da475f5f1a","workflow_job_run_backend_id":"00000001-040a-526b-2ce8-bdc85f692774"`
)

// TestStrict checks that a request which GitHub's own clients do not send is a problem.
func TestStrict(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, method, path, body, header string }{
		{"no route", "GET", "/", "", ""},
		{"no method", "POST", caches + "Create", "{}", ""},
		{"GET to Twirp", "GET", caches + "CreateCacheEntry", "{}", ""},
		{"another type", "POST", caches + "CreateCacheEntry", "{}", "Content-Type: text/plain"},
		{"an unknown field", "POST", caches + "CreateCacheEntry", `{"key":"k","version":"v","size":1}`, ""},
		{"no version", "POST", caches + "CreateCacheEntry", `{"key":"k"}`, ""},
		{"a comma in a key", "POST", caches + "CreateCacheEntry", `{"key":"a,b","version":"v"}`, ""},
		{"a long key", "POST", caches + "CreateCacheEntry", `{"key":"` + strings.Repeat("k", 513) + `","version":"v"}`, ""},
		{"too many keys", "POST", caches + "GetCacheEntryDownloadURL", `{"key":"k","version":"v","restore_keys":["` + strings.Repeat(`k","`, 10) + `k"]}`, ""},
		{"a foreign run", "POST", artifacts + "CreateArtifact", `{"workflow_run_backend_id":"x","workflow_job_run_backend_id":"y","name":"n","version":4}`, ""},
		{"a slash in a name", "POST", artifacts + "CreateArtifact", `{` + ids + `,"name":"a/b","version":4}`, ""},
		{"another version", "POST", artifacts + "CreateArtifact", `{` + ids + `,"name":"n","version":3}`, ""},
		{"v1 without its Accept", "GET", "/_apis/artifactcache/cache?keys=k&version=v", "", "Accept: */*"},
		{"v1 without a version", "GET", "/_apis/artifactcache/cache?keys=k", "", ""},
		{"v1 without a cache", "PATCH", "/_apis/artifactcache/caches/9", "x", ""},
		{"v1 without a route", "GET", "/_apis/artifactcache/clean", "", ""},
		{"REST without headers", "GET", "/repos/org/repo/actions/artifacts?name=n&per_page=1&page=1", "", "Accept: */*"},
		{"REST of another repository", "GET", "/repos/org/other/actions/artifacts?name=n&per_page=1&page=1", "", ""},
		{"REST, not GET", "DELETE", "/repos/org/repo/actions/artifacts/1", "", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			c := start(t, resultstest.Config{})
			if k, v, ok := strings.Cut(tt.header, ": "); ok {
				c.h.Set(k, v)
			}
			status, _, err := c.do(tt.method, tt.path, tt.body)
			if err != nil || status != http.StatusBadRequest {
				t.Errorf("got status %d and %v, want 400", status, err)
			}
			if n := len(c.s.Problems()); n != 1 {
				t.Errorf("got %d problems, want 1: %q", n, c.s.Problems())
			}
		})
	}
}

// TestRefusals checks that a refusal which also correct clients can get is not a problem.
func TestRefusals(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, method, path, body string
		status                   int
	}{
		{"no such blob", "GET", "/blob/99?sp=r&sig=x", "", http.StatusNotFound},
		{"finish what was not begun", "POST", caches + "FinalizeCacheEntryUpload", `{"key":"k","version":"v","size_bytes":1}`, http.StatusNotFound},
		{"a size in quotes", "POST", caches + "FinalizeCacheEntryUpload", `{"key":"k","version":"v","size_bytes":"1"}`, http.StatusNotFound},
		{"a key that is taken", "POST", caches + "CreateCacheEntry", `{"key":"taken","version":"v"}`, http.StatusConflict},
		{"the same key of another version", "POST", caches + "CreateCacheEntry", `{"key":"taken","version":"w"}`, http.StatusOK},
		{"finish another's artifact", "POST", artifacts + "FinalizeArtifact", `{` + ids + `,"name":"n","size":"1","hash":"h"}`, http.StatusNotFound},
		{"delete what is not there", "POST", artifacts + "DeleteArtifact", `{` + ids + `,"name":"n"}`, http.StatusNotFound},
		{"a prefix of nothing", "GET", "/_apis/artifactcache/cache?keys=none&version=v", "", http.StatusNoContent},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			c := start(t, resultstest.Config{})
			c.s.AddCache(resultstest.Cache{Key: "taken", Version: "v"})
			if status, body, err := c.do(tt.method, tt.path, tt.body); err != nil || status != tt.status {
				t.Errorf("got status %d, %s and %v, want %d", status, body, err, tt.status)
			}
			if p := c.s.Problems(); len(p) > 0 {
				t.Errorf("got problems %q", p)
			}
		})
	}
	c := start(t, resultstest.Config{})
	c.h.Set("Authorization", "Bearer of nobody")
	if status, _, err := c.do("POST", caches+"CreateCacheEntry", "{}"); err != nil || status != http.StatusUnauthorized {
		t.Errorf("a foreign token: got status %d and %v, want 401", status, err)
	}
}

// TestErrorFields checks that the error message is in the field that the protocol prescribes, and
// in no other field.
func TestErrorFields(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, method, path, body string
		auth                     string // replaces the job's token
		want                     string
	}{
		{"Twirp", "POST", caches + "CreateCacheEntry", `{"key":"taken","version":"v"}`, "",
			`{"code":"already_exists","msg":"cache entry with the same key, version, and scope already exists"}`},
		{"cache v1", "POST", "/_apis/artifactcache/caches", `{"key":"taken","version":"v"}`, "", `{"message":"Cache already exists"}`},
		{"REST", "GET", "/repos/org/repo/actions/artifacts/9/zip", "", "Bearer ", `{"message":"Bad credentials"}`},
		{"storage", "GET", "/blob/99", "", "",
			`<?xml version="1.0" encoding="utf-8"?><Error><Code>BlobNotFound</Code><Message>there is no such blob</Message></Error>`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			c := start(t, resultstest.Config{})
			c.s.AddCache(resultstest.Cache{Key: "taken", Version: "v"})
			if tt.auth != "" {
				c.h.Set("Authorization", tt.auth)
				c.h.Set("Accept", "application/vnd.github+json")
				c.h.Set("X-Github-Api-Version", "2022-11-28")
				c.h.Set("User-Agent", "test")
			}
			if _, body, err := c.do(tt.method, tt.path, tt.body); err != nil || body != tt.want {
				t.Errorf("got %s and %v, want %s", body, err, tt.want)
			}
		})
	}
}

// TestMatching pins the order in which restore keys are matched.
func TestMatching(t *testing.T) {
	t.Parallel()
	c := start(t, resultstest.Config{})
	for _, key := range []string{"a/1", "a/2", "b/1", "a/10", "ab"} {
		c.s.AddCache(resultstest.Cache{Key: key, Version: "v", Data: []byte("x")})
	}
	c.s.AddCache(resultstest.Cache{Key: "a/3", Version: "v"})
	c.s.AddCache(resultstest.Cache{Key: "a/4", Version: "w", Data: []byte("x")})
	tests := []struct{ keys, want string }{
		{`"a/1"`, "a/1"},         // the first key equals a whole key
		{`"a/"`, "a/10"},         // the newest finished entry of the version with the prefix
		{`"a"`, "ab"},            // a prefix may end inside a part of the key
		{`"c","b","a"`, "b/1"},   // the first key that matches any entry
		{`"c"`, ""},              // no match
		{`"b/1x","a/2"`, "a/2"},  // a key that is longer than the entry's does not match
		{`"a/1","a/2"`, "a/1"},   // a whole key wins over a newer entry
		{`"none","a/1"`, "a/10"}, // only the first key can match a whole key
	}
	for _, tt := range tests {
		_, body, err := c.do("POST", caches+"GetCacheEntryDownloadURL", `{"key":"other","version":"v","restore_keys":[`+tt.keys+`]}`)
		if err != nil || !strings.Contains(body, `"matched_key":"`+tt.want+`"`) {
			t.Errorf("%s: got %s and %v, want %q", tt.keys, body, err, tt.want)
		}
	}
	if _, body, _ := c.do("POST", caches+"GetCacheEntryDownloadURL", `{"key":"a/1","version":"v"}`); !strings.Contains(body, `"ok":false`) {
		t.Errorf("without restore keys: got %s, want nothing found", body)
	}
}

func TestFaults(t *testing.T) {
	t.Parallel()
	type outcome struct {
		Status int
		Cut    bool
	}
	tests := []struct {
		name  string
		fault resultstest.Fault
		want  [3]outcome
		made  int // number of keys that are taken in the end
	}{
		{"the first one", resultstest.Fault{Status: 503}, [3]outcome{{503, false}, {200, false}, {200, false}}, 2},
		{"the second one", resultstest.Fault{Status: 503, Nth: 2}, [3]outcome{{200, false}, {503, false}, {200, false}}, 2},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			c := start(t, resultstest.Config{})
			c.s.Fault(tt.fault)
			var got [3]outcome
			keys := []string{"a", "b", "c"}
			for i, key := range keys {
				status, _, err := c.do("POST", caches+"CreateCacheEntry", `{"key":"`+key+`","version":"v"}`)
				got[i] = outcome{status, err != nil}
			}
			c.s.ClearFaults()
			made := 0
			for _, key := range keys {
				if status, _, _ := c.do("POST", caches+"CreateCacheEntry", `{"key":"`+key+`","version":"v"}`); status == http.StatusConflict {
					made++
				}
			}
			if diff := cmp.Diff(tt.want, got); diff != "" || made != tt.made {
				t.Errorf("%d keys taken, want %d (-want +got):\n%s", made, tt.made, diff)
			}
		})
	}
}

// TestBlobs: a signed address works without a token, and only for its own operation.
func TestBlobs(t *testing.T) {
	t.Parallel()
	c := start(t, resultstest.Config{})
	_, body, err := c.do("POST", caches+"CreateCacheEntry", `{"key":"k","version":"v"}`)
	if err != nil {
		t.Fatal(err)
	}
	_, address, _ := strings.Cut(body, `"signed_upload_url":"`+c.s.URL)
	address, _, _ = strings.Cut(address, `"`)
	address = strings.ReplaceAll(address, `\u0026`, "&")
	if status, _, _ := c.do("PUT", address, "x"); status != http.StatusBadRequest {
		t.Errorf("with a token: got %d, want 400", status)
	}
	c.h = http.Header{}
	tests := []struct {
		method, query, body string
		status              int
	}{
		{"GET", "", "", 400},
		{"PUT", "&comp=lease", "", 400},
		{"PUT", "&comp=block&blockid=YQ==", "", 400},
		{"PUT", "&comp=block&blockid=YQ==", "hello ", 201},
		{"PUT", "&comp=block&blockid=Yg==", "world", 201},
		{"PUT", "&comp=blocklist", "<nonsense", 400},
		{"PUT", "&comp=blocklist", "<BlockList><Latest>Yw==</Latest></BlockList>", 400},
		{"PUT", "&comp=blocklist", "<BlockList><Latest>YQ==</Latest><Latest>Yg==</Latest></BlockList>", 201},
		{"PUT", "", "x", 400}, // no x-ms-blob-type
	}
	for _, tt := range tests {
		if status, _, err := c.do(tt.method, address+tt.query, tt.body); err != nil || status != tt.status {
			t.Errorf("%s %s: got %d and %v, want %d", tt.method, tt.query, status, err, tt.status)
		}
	}
	if status, _, _ := c.do("PUT", strings.Replace(address, "sig=s", "sig=t", 1), "x"); status != http.StatusForbidden {
		t.Errorf("a wrong signature: got %d, want 403", status)
	}
}

// TestRequestIDs checks that every response of the storage has a different id, also for an error.
func TestRequestIDs(t *testing.T) {
	t.Parallel()
	s := resultstest.New(t, resultstest.Config{})
	s.AddCache(resultstest.Cache{Key: "k", Version: "v", Data: []byte("x")}) // gets the blob with id 2
	seen := map[string]bool{"": true}
	for path, want := range map[string]int{"/blob/2?sp=r&sig=" + url.QueryEscape("s/ecret+r+2=="): 200, "/blob/2": 403, "/blob/99": 404} {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.URL+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		resp, err := http.DefaultTransport.RoundTrip(req)
		if err != nil {
			t.Fatal(err)
		}
		if err := resp.Body.Close(); err != nil {
			t.Error(err)
		}
		id := resp.Header.Get("X-Ms-Request-Id")
		if resp.StatusCode != want || seen[id] {
			t.Errorf("%s: got status %d with id %q, want %d and a new id", path, resp.StatusCode, id, want)
		}
		seen[id] = true
	}
}

func TestStartErrors(t *testing.T) {
	t.Parallel()
	if s, err := resultstest.Start(resultstest.Config{Addr: "256.0.0.1:0"}); err == nil {
		s.Close()
		t.Error("got no error for a bad address")
	} else if errors.Unwrap(err) == nil {
		t.Errorf("got %v, want the cause in it", err)
	}
}
