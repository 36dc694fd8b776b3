package githubtest_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/org/foreman-action/internal/github/githubtest"
)

// ask makes a GET call and returns its answer; the body is read and closed.
func ask(t *testing.T, s *githubtest.Server, path, etag string) (*http.Response, string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.URL+path, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	if etag != "" {
		req.Header.Set("If-None-Match", etag)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	var b strings.Builder
	var raw json.RawMessage
	if resp.StatusCode != http.StatusNotModified {
		if err := json.NewDecoder(resp.Body).Decode(&raw); err != nil {
			t.Fatal(err)
		}
		b.Write(raw)
	}
	return resp, b.String()
}

func TestConditionalReads(t *testing.T) {
	t.Parallel()
	s := furnished(t)
	resp, body := ask(t, s, issuePath, "")
	tag := resp.Header.Get("ETag")
	if tag == "" || body == "" {
		t.Fatalf("got tag %q and body %q", tag, body)
	}
	for _, known := range []string{tag, `"other", ` + tag, strings.TrimPrefix(tag, "W/")} {
		if resp, _ := ask(t, s, issuePath, known); resp.StatusCode != http.StatusNotModified || resp.Header.Get("ETag") != tag {
			t.Errorf("If-None-Match: %s: got %d", known, resp.StatusCode)
		}
	}
	s.Repo("octo/hello").LabelAs("max", 7, "new")
	if resp, _ := ask(t, s, issuePath, tag); resp.StatusCode != http.StatusOK || resp.Header.Get("ETag") == tag {
		t.Errorf("after a change: got %d with tag %s", resp.StatusCode, resp.Header.Get("ETag"))
	}
	if resp, _ := ask(t, s, "/repos/octo/hello/issues/999", ""); resp.StatusCode != http.StatusNotFound || resp.Header.Get("ETag") != "" {
		t.Errorf("what is not there: got %d with tag %s", resp.StatusCode, resp.Header.Get("ETag"))
	}
}

func TestLimitCalls(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	s := githubtest.New(t, githubtest.Config{Now: func() time.Time { return now }})
	s.Repo("octo/hello").AddIssue(githubtest.Issue{Number: 7})
	s.LimitCalls(2, time.Hour)
	steps := []struct {
		etag bool
		want int
		left string
	}{{false, 200, "1"}, {true, 304, "1"}, {false, 200, "0"}, {false, 403, "0"}}
	tag := ""
	for k, step := range steps {
		known := ""
		if step.etag {
			known = tag
		}
		resp, _ := ask(t, s, issuePath, known)
		tag = resp.Header.Get("ETag")
		got := []string{resp.Header.Get("X-Ratelimit-Remaining"), resp.Header.Get("X-Ratelimit-Reset")}
		if diff := cmp.Diff([]string{step.left, "1795179600"}, got); diff != "" || resp.StatusCode != step.want {
			t.Errorf("call %d: got %d, want %d, headers (-want +got):\n%s", k, resp.StatusCode, step.want, diff)
		}
	}
	s.Advance(time.Hour)
	if resp, _ := ask(t, s, issuePath, ""); resp.StatusCode != 200 || resp.Header.Get("X-Ratelimit-Remaining") != "4999" {
		t.Errorf("an hour later: got %d, %s left", resp.StatusCode, resp.Header.Get("X-Ratelimit-Remaining"))
	}
}

func TestListOrders(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	s := githubtest.New(t, githubtest.Config{Now: func() time.Time { return now }})
	r := s.Repo("octo/hello")
	for n, hours := range []int{3, 1, 2, 2} {
		r.AddIssue(githubtest.Issue{Number: n + 1, CreatedAt: now.Add(time.Duration(-hours) * time.Hour)})
	}
	r.RenameAs("max", 1, "Another title")
	tests := []struct {
		query string
		want  []int
	}{
		{"state=all", []int{2, 4, 3, 1}},
		{"state=all&sort=created&direction=asc", []int{1, 3, 4, 2}},
		{"state=all&sort=updated", []int{1, 2, 4, 3}},
		{"state=all&sort=updated&direction=asc&per_page=2", []int{3, 4}},
		{"state=all&sort=created&per_page=3&page=2", []int{1}},
		{"state=all&since=2026-11-20T11:00:00Z", []int{2, 1}},
		{"state=closed", nil},
	}
	for _, tt := range tests {
		_, body := ask(t, s, "/repos/octo/hello/issues?"+tt.query, "")
		var list []struct{ Number int }
		if err := json.Unmarshal([]byte(body), &list); err != nil {
			t.Fatal(err)
		}
		var got []int
		for _, i := range list {
			got = append(got, i.Number)
		}
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.query, diff)
		}
	}
}

func TestFilesAtRefs(t *testing.T) {
	t.Parallel()
	s := githubtest.New(t, githubtest.Config{})
	s.Repo("octo/hello").AddFile("a.yml", "now").AddFileAt("v1", "a.yml", "then").AddFileAt("v1", "b/c.yml", "c")
	for path, want := range map[string]int{
		"a.yml?ref=v1": 200, "a.yml": 200, "b?ref=v1": 200, "b": 404, "a.yml?ref=v2": 404,
	} {
		if got := send(t, s, "GET /repos/octo/hello/contents/"+path, ""); got != want {
			t.Errorf("%s: got %d, want %d", path, got, want)
		}
	}
}
