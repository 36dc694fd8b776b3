package githubtest_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/org/foreman-action/internal/github/githubtest"
)

const issuePath = "/repos/octo/hello/issues/7"

// send makes one call, such as "GET /user", on a new connection. Status 0 means that the connection
// was cut.
func send(t *testing.T, s *githubtest.Server, what, body string, header ...string) int {
	t.Helper()
	method, path, _ := strings.Cut(what, " ")
	req, err := http.NewRequestWithContext(t.Context(), method, s.URL+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Close = true
	if body != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	for i := 0; i+1 < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
	}
	client := http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	resp, err := client.Do(req)
	if err != nil {
		return 0
	}
	resp.Body.Close()
	return resp.StatusCode
}

func TestToken(t *testing.T) {
	t.Parallel()
	s := githubtest.New(t, githubtest.Config{Token: "secret"})
	s.Repo("octo/hello").AddIssue(githubtest.Issue{Number: 7})
	if got := send(t, s, "GET "+issuePath, ""); got != 401 {
		t.Errorf("without a token: got %d, want 401", got)
	}
	if got := send(t, s, "GET "+issuePath, "", "Authorization", "Bearer other"); got != 401 {
		t.Errorf("another token: got %d, want 401", got)
	}
	if got := send(t, s, "GET "+issuePath, "", "Authorization", "Bearer secret"); got != 200 {
		t.Errorf("the token: got %d, want 200", got)
	}
}

func TestCallsAreRecorded(t *testing.T) {
	t.Parallel()
	s := furnished(t)
	send(t, s, "POST "+issuePath+"/comments?x=1", `{"body":"hi"}`, "User-Agent", "me", "X-Other", "no")
	want := []githubtest.Call{{
		Method: "POST", Path: issuePath + "/comments", Query: map[string][]string{"x": {"1"}}, Body: `{"body":"hi"}`, Status: 201,
		Header: http.Header{"Content-Type": {"application/json"}, "User-Agent": {"me"}},
	}}
	if diff := cmp.Diff(want, s.Calls()); diff != "" {
		t.Errorf("calls (-want +got):\n%s", diff)
	}
	s.ResetCalls()
	if len(s.Calls()) != 0 {
		t.Errorf("after ResetCalls: got %v, want none", s.Calls())
	}
}

func TestProblems(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name               string
		method, path, body string
		status             int
		want               string
	}{
		{"a bare list of labels", "POST", issuePath + "/labels", `["bug"]`, 200, "POST " + issuePath + "/labels: request: /: "},
		{"an unknown reaction", "POST", issuePath + "/reactions", `{"content":"shrug"}`, 422, "request: /content: "},
		{"an unknown state", "PATCH", issuePath, `{"state":"shut"}`, 422, "request: /state: "},
		{"a comment without body", "POST", issuePath + "/comments", `{}`, 422, "request: /body: "},
		{"broken JSON", "PATCH", issuePath, `{`, 400, "request: "},
		{"a time that is none", "GET", issuePath + "/comments?since=yesterday", "", 200, `request: `},
		{"an unknown method", "DELETE", issuePath, "", 501, "no such route"},
		{"an unknown route", "GET", "/repos/octo/hello/branches/main", "", 501, "no such route"},
		{"a route of nobody", "GET", "/zen", "", 501, "no such route"},
		{"a path that is not clean", "GET", "/repos/octo/hello/../hello/issues/7", "", 501, "no such route"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s, err := githubtest.Start(githubtest.Config{})
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close()
			s.Repo("octo/hello").AddIssue(githubtest.Issue{Number: 7})
			if got := send(t, s, tt.method+" "+tt.path, tt.body); got != tt.status {
				t.Errorf("got status %d, want %d", got, tt.status)
			}
			if got := s.Problems(); len(got) != 1 || !strings.Contains(got[0], tt.want) {
				t.Errorf("got problems %q, want one with %q", got, tt.want)
			}
		})
	}
}

func TestSkipValidation(t *testing.T) {
	t.Parallel()
	s := githubtest.New(t, githubtest.Config{SkipValidation: true})
	s.Repo("octo/hello").AddIssue(githubtest.Issue{Number: 7})
	if got := send(t, s, "POST "+issuePath+"/labels", `["bug"]`); got != 200 || len(s.Problems()) != 0 {
		t.Errorf("got %d and %v, want 200 and no problem", got, s.Problems())
	}
}

// A recorder is a testing.TB that keeps a server's messages.
type recorder struct {
	testing.TB
	cleanup []func()
	errors  []string
}

func (w *recorder) Helper()          {}
func (w *recorder) Cleanup(f func()) { w.cleanup = append(w.cleanup, f) }
func (w *recorder) Errorf(format string, args ...any) {
	w.errors = append(w.errors, fmt.Sprintf(format, args...))
}

func TestNewFailsTheTestForProblems(t *testing.T) {
	t.Parallel()
	w := &recorder{TB: t}
	s := githubtest.New(w, githubtest.Config{})
	send(t, s, "GET /zen", "")
	for _, f := range w.cleanup {
		f()
	}
	if len(w.errors) != 1 || !strings.Contains(w.errors[0], "/zen") {
		t.Errorf("got errors %q, want one about /zen", w.errors)
	}
	if got := send(t, s, "GET /zen", ""); got != 0 {
		t.Errorf("after the test: got %d, want the server closed", got)
	}
}

func TestStartSaysWhyItCannot(t *testing.T) {
	t.Parallel()
	s := furnished(t)
	_, err := githubtest.Start(githubtest.Config{Addr: strings.TrimPrefix(s.URL, "http://")})
	want := "address already in use"
	if runtime.GOOS == "windows" {
		want = "bind: "
	}
	if err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("got %v, want an error", err)
	}
}

func TestOthersAct(t *testing.T) {
	t.Parallel()
	s := furnished(t)
	r := s.Repo("octo/hello")
	r.LabelAs("alice", 7, "urgent").UnlabelAs("bob", 7, "bug").CloseAs("alice", 7, "not_planned").ReopenAs("bob", 7)
	r.AssignAs("bob", 7, "ALICE", "nobody").UnassignAs("alice", 7, "alice", "bob").SetMilestoneAs("dave[bot]", 7, "v2").SetMilestoneAs("bob", 7, "")
	send(t, s, "PUT "+issuePath+"/lock", "")
	r.UnlockAs("alice", 7).UnlockAs("bob", 7)
	s.Advance(time.Hour)
	deleted, id := r.AddComment(7, "carol", "oh"), r.AddComment(7, "carol", "hm")
	s.Advance(time.Minute)
	r.DeleteComment(deleted)

	var got []string
	for _, e := range timeline(t, s) {
		got = append(got, fmt.Sprintf("%s %s %s %s", e.CreatedAt, e.Actor.Login, e.Actor.Type, e.Event))
	}
	want := []string{
		"2026-11-20T12:00:00Z octocat User labeled",
		"2026-11-20T12:00:00Z alice User labeled", "2026-11-20T12:00:00Z bob User unlabeled",
		"2026-11-20T12:00:00Z alice User closed", "2026-11-20T12:00:00Z bob User reopened",
		"2026-11-20T12:00:00Z bob User assigned", "2026-11-20T12:00:00Z alice User unassigned",
		"2026-11-20T12:00:00Z dave[bot] Bot milestoned", "2026-11-20T12:00:00Z bob User demilestoned",
		"2026-11-20T12:00:00Z github-actions[bot] Bot locked", "2026-11-20T12:00:00Z alice User unlocked",
		"2026-11-20T13:00:00Z carol User commented", "2026-11-20T13:01:00Z octo User comment_deleted",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("timeline (-want +got):\n%s", diff)
	}
	if c := s.Issue("octo/hello", 7).Comments; len(c) != 1 || c[0].ID != id {
		t.Errorf("got comments %v, want only %d", c, id)
	}
}

type timelineEvent struct {
	Event     string
	CreatedAt string `json:"created_at"`
	Actor     struct{ Login, Type string }
}

func timeline(t *testing.T, s *githubtest.Server) []timelineEvent {
	t.Helper()
	_, _, raw := call(t, s, "GET", issuePath+"/timeline", "")
	var list []timelineEvent
	if err := json.Unmarshal(raw, &list); err != nil {
		t.Fatal(err)
	}
	return list
}

// TestLabelsOfTheOpening checks that a timeline begins with the labels that the author chose, and
// that the number of these labels does not change the ids of comments.
func TestLabelsOfTheOpening(t *testing.T) {
	t.Parallel()
	s := furnished(t)
	opened := time.Date(2026, 11, 1, 8, 0, 0, 0, time.FixedZone("", 3600))
	r := s.Repo("octo/hello").AddLabel("x", "y")
	r.AddIssue(githubtest.Issue{Number: 7, Author: "carol", CreatedAt: opened, Labels: []string{"X", "y"}})
	with := r.AddComment(7, "bob", "hi")
	var got []string
	for _, e := range timeline(t, s) {
		got = append(got, fmt.Sprintf("%s %s %s", e.CreatedAt, e.Actor.Login, e.Event))
	}
	want := []string{"2026-11-01T07:00:00Z carol labeled", "2026-11-01T07:00:00Z carol labeled", "2026-11-20T12:00:00Z bob commented"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("timeline (-want +got):\n%s", diff)
	}
	other := furnished(t)
	other.Repo("octo/hello").AddLabel("x", "y").AddIssue(githubtest.Issue{Number: 7})
	if without := other.Repo("octo/hello").AddComment(7, "bob", "hi"); with != without {
		t.Errorf("with labels the comment has id %d, without them %d", with, without)
	}
}

func TestSnapshotsAreCopies(t *testing.T) {
	t.Parallel()
	s := furnished(t)
	labels := []string{"bug", "x"}
	s.Repo("octo/hello").AddIssue(githubtest.Issue{Number: 12, Labels: labels})
	labels[0] = "changed"
	got := s.Issue("octo/hello", 12)
	got.Labels[1] = "changed"
	if diff := cmp.Diff([]string{"bug", "x"}, s.Issue("octo/hello", 12).Labels); diff != "" {
		t.Errorf("labels (-want +got):\n%s", diff)
	}
	if got := s.Issue("octo/hello", 99); got.Number != 0 {
		t.Errorf("an issue that is not there: got %+v, want the zero value", got)
	}
}

func TestRawFile(t *testing.T) {
	t.Parallel()
	s := furnished(t)
	s.Repo("octo/hello").AddFile("large", strings.Repeat("x", 1<<20+1))
	req, err := http.NewRequestWithContext(t.Context(), "GET", s.URL+"/repos/octo/hello/contents/README.md", nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Accept", "application/vnd.github.raw+json")
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	b := make([]byte, 100)
	n, _ := resp.Body.Read(b)
	if string(b[:n]) != "hello\n" {
		t.Errorf("got %q, want the file itself", b[:n])
	}
	if got := play(t, s, "GET /repos/octo/hello/contents/large\n"); !strings.Contains(got, `"content":"","encoding":"none"`) {
		t.Errorf("got %s, want no content", got)
	}
}

func TestManyAtOnce(t *testing.T) {
	t.Parallel()
	s := furnished(t)
	var wg sync.WaitGroup
	for n := range 20 {
		wg.Go(func() {
			send(t, s, "POST "+issuePath+"/labels", fmt.Sprintf(`{"labels":["l%d"]}`, n%5))
			_, _, _ = s.Log(), s.Issue("octo/hello", 7), s.Problems()
		})
	}
	wg.Wait()
	if got := s.Issue("octo/hello", 7); len(got.Labels) != 6 || len(s.Log()) != 20 {
		t.Errorf("got labels %v after %d calls, want 6 after 20", got.Labels, len(s.Log()))
	}
}

func TestTenAssigneesAtMost(t *testing.T) {
	t.Parallel()
	s := furnished(t)
	var names []string
	for n := range 12 {
		names = append(names, fmt.Sprintf("user%d", n))
	}
	s.Repo("octo/hello").AddUser(names...)
	send(t, s, "POST "+issuePath+"/assignees", `{"assignees":["`+strings.Join(names, `","`)+`"]}`)
	if diff := cmp.Diff(names[:10], s.Issue("octo/hello", 7).Assignees); diff != "" {
		t.Errorf("assignees (-want +got):\n%s", diff)
	}
}

func TestAFaultDoesNotHideABadRequest(t *testing.T) {
	t.Parallel()
	s, err := githubtest.Start(githubtest.Config{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	s.Fault(githubtest.Fault{Status: 500})
	send(t, s, "POST "+issuePath+"/comments", `{}`)
	if got := s.Problems(); len(got) != 1 {
		t.Errorf("got problems %q, want one", got)
	}
}
