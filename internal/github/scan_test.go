package github_test

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/org/foreman-action/internal/github/githubtest"
	"github.com/org/foreman-action/triage"
)

// TestSearch finds issues of one repository, up to a limit.
func TestSearch(t *testing.T) {
	t.Parallel()
	gh := githubtest.New(t, githubtest.Config{Token: token})
	repo := gh.Repo("octo/hello")
	for i := range 230 {
		repo.AddIssue(githubtest.Issue{Number: i + 1, Labels: []string{"bug"}})
	}
	repo.AddIssue(githubtest.Issue{Number: 900, Labels: []string{"bug"}, PullRequest: true})
	gh.Repo("octo/other").AddIssue(githubtest.Issue{Number: 1, Labels: []string{"bug"}})
	c, _ := client(t, gh.URL)
	ref := triage.Ref{Owner: "octo", Repo: "hello"}
	tests := []struct {
		query        string
		most         int
		found, total int
		calls        int
	}{
		{"is:open label:bug", 100, 100, 230, 1},
		{"is:open label:bug", 150, 150, 230, 2},
		{"is:open label:bug", 1000, 230, 230, 3},
		{"label:nobody", 100, 0, 0, 1},
		{"label:bug is:pr", 100, 1, 1, 1},
		{"label:bug type:PR", 3, 1, 1, 1},
		{"label:bug", 7, 7, 230, 1},
	}
	for _, tt := range tests {
		gh.ResetCalls()
		f, err := c.Find(t.Context(), ref, tt.query, tt.most)
		if tt.query == "label:bug type:PR" {
			// The fake is stricter about case than GitHub.
			if calls := gh.Calls(); strings.Contains(calls[0].Query.Get("q"), "is:issue") {
				t.Errorf("%s: asked for %s", tt.query, calls[0].Query.Get("q"))
			}
			continue
		}
		if err != nil || len(f.Issues) != tt.found || f.Total != tt.total || !f.Whole || len(gh.Log()) != tt.calls {
			t.Errorf("%s, %d: got %d of %d, whole %t, %v, with %d calls", tt.query, tt.most, len(f.Issues), f.Total, f.Whole, err, len(gh.Log()))
		}
	}
}

// TestOpen lists open issues and pull requests, oldest first, also if an old one changed last. It
// fails if that takes too many calls.
func TestOpen(t *testing.T) {
	t.Parallel()
	gh := githubtest.New(t, githubtest.Config{Token: token})
	repo := gh.Repo("octo/hello")
	for i := range 150 {
		repo.AddIssue(githubtest.Issue{Number: i + 1, PullRequest: i%2 == 0})
	}
	repo.AddIssue(githubtest.Issue{Number: 500, State: "closed"})
	gh.Advance(time.Hour)
	repo.AddComment(1, "mona", "hi")
	c, _ := client(t, gh.URL)
	ref := triage.Ref{Owner: "octo", Repo: "hello"}
	gh.ResetCalls()
	list, err := c.Open(t.Context(), ref, 2)
	if err != nil || len(list) != 150 || len(gh.Log()) != 2 {
		t.Fatalf("got %d, %v, with the calls %v", len(list), err, gh.Log())
	}
	if first, last := list[0], list[149]; first.Number != 1 || !first.PullRequest || last.Number != 150 || last.PullRequest {
		t.Errorf("got #%d first and #%d last, want #1 and #150", first.Number, last.Number)
	}
	gh.ResetCalls()
	if list, err := c.Open(t.Context(), ref, 1); !errors.Is(err, triage.ErrTruncated) || list != nil || len(gh.Log()) != 1 {
		t.Errorf("one call: got %d, %v, with the calls %v", len(list), err, gh.Log())
	}
	gh.Fault(githubtest.Fault{Nth: 2, Status: 404})
	if _, err := c.Open(t.Context(), ref, 2); !errors.Is(err, triage.ErrNotFound) {
		t.Errorf("got %v, want the error of the second page", err)
	}
}

// TestSearchAnswers tests invalid responses, and unusual ones that GitHub does send.
func TestSearchAnswers(t *testing.T) {
	t.Parallel()
	item := func(repo string, n int) string {
		return fmt.Sprintf(`{"repository_url": "https://api.github.com/repos/%s", "number": %d, "title": "T"}`, repo, n)
	}
	tests := []struct {
		name, body string
		status     int
		want       string
	}{
		{"of another repository", `{"total_count": 3, "items": [` + item("octo/other", 1) + "," + item("Octo/Hello", 2) + "," + item("evil/octo/hello", 3) + `]}`, 200, "[2] of 3 true"},
		{"incomplete", `{"total_count": 1, "incomplete_results": true, "items": [` + item("octo/hello", 1) + `]}`, 200, "[1] of 1 false"},
		{"no number", `{"total_count": 1, "items": [` + item("octo/hello", 0) + `, 7, null, "x"]}`, 200, "[] of 1 true"},
		{"no items", `{}`, 200, "[] of 0 true"},
		{"no JSON", `<html>`, 200, "error"},
		{"a query that GitHub does not understand", `{"message": "Validation Failed"}`, 422, "error: search issues of octo/hello: 422"},
		{"no permission", `{"message": "Resource not accessible by integration"}`, 403, `error: search issues of octo/hello: the token lacks "issues: read"`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			gh := githubtest.New(t, githubtest.Config{Token: token})
			gh.Fault(githubtest.Fault{Method: http.MethodGet, Path: "/search/issues", Status: tt.status, Body: tt.body, Times: -1})
			c, _ := client(t, gh.URL)
			f, err := c.Find(t.Context(), triage.Ref{Owner: "octo", Repo: "hello"}, "is:open", 10)
			numbers := []int{}
			for _, i := range f.Issues {
				numbers = append(numbers, i.Number)
			}
			got := fmt.Sprintf("%v of %d %t", numbers, f.Total, f.Whole)
			if err != nil {
				got = "error: " + err.Error()
			}
			if !strings.HasPrefix(got, tt.want) {
				t.Errorf("got %s, want %s", got, tt.want)
			}
		})
	}
}

// TestReactions lists the accounts that reacted with one content.
func TestReactions(t *testing.T) {
	t.Parallel()
	gh := githubtest.New(t, githubtest.Config{Token: token})
	repo := gh.Repo("octo/hello").AddIssue(githubtest.Issue{Number: 7})
	id := repo.AddComment(7, "mona", "hello")
	repo.ReactAs("mona", 7, 0, "-1").ReactAs("robot[bot]", 7, 0, "-1").ReactAs("alice", 7, 0, "heart").ReactAs("alice", 7, id, "-1")
	for i := range 401 {
		repo.ReactAs(fmt.Sprint("user", i), 7, 0, "+1")
	}
	ref := triage.Ref{Owner: "octo", Repo: "hello", Number: 7}
	c, _ := client(t, gh.URL)
	got, err := c.Reactions(t.Context(), ref, 0, "-1")
	if err != nil || len(got) != 2 || got[0].Actor != "mona" || got[0].ActorType != "User" || got[1].ActorType != "Bot" || got[0].At.IsZero() {
		t.Errorf("issue: got %v, %v", got, err)
	}
	if got, err := c.Reactions(t.Context(), ref, id, "-1"); err != nil || len(got) != 1 || got[0].Actor != "alice" {
		t.Errorf("comment: got %v, %v", got, err)
	}
	if _, err := c.Reactions(t.Context(), ref, 0, "+1"); !errors.Is(err, triage.ErrTruncated) {
		t.Errorf("many: got %v, want ErrTruncated", err)
	}
	if _, err := c.Reactions(t.Context(), ref, 99, "-1"); !errors.Is(err, triage.ErrNotFound) {
		t.Errorf("no comment: got %v, want ErrNotFound", err)
	}
	ref.Number = 9
	if _, err := c.Reactions(t.Context(), ref, 0, "-1"); !errors.Is(err, triage.ErrGone) {
		t.Errorf("no issue: got %v, want ErrGone", err)
	}
}

// TestBudget checks that the remaining calls come from the last response. A response of the search
// does not count, because the search has a separate limit.
func TestBudget(t *testing.T) {
	t.Parallel()
	gh := githubtest.New(t, githubtest.Config{Token: token})
	gh.Repo("octo/hello").AddIssue(githubtest.Issue{Number: 7})
	ref := triage.Ref{Owner: "octo", Repo: "hello", Number: 7}
	c, _ := client(t, gh.URL)
	if left, ok := c.Budget(); ok || c.Limit() != 0 {
		t.Errorf("before the first call: got %d of %d", left, c.Limit())
	}
	gh.SetBudget(2)
	for i, want := range []int{1, 0, 0} {
		if _, err := c.Issue(t.Context(), ref); err != nil {
			t.Fatal(err)
		}
		if _, err := c.Find(t.Context(), ref, "is:open", 1); err != nil {
			t.Fatal(err)
		}
		if left, ok := c.Budget(); !ok || left != want || c.Limit() != 5000 {
			t.Errorf("call %d: got %d of %d, %t, want %d of 5000", i, left, c.Limit(), ok, want)
		}
	}
	for _, odd := range []string{"-1", "many", "99999999999999", ""} {
		gh.ClearFaults()
		gh.Fault(githubtest.Fault{Status: 200, Body: `{"number": 7}`, Header: map[string]string{"X-Ratelimit-Remaining": odd}})
		if _, err := c.Issue(t.Context(), ref); err != nil {
			t.Fatal(err)
		}
		if left, ok := c.Budget(); !ok || left != 0 {
			t.Errorf("%q: got %d, %t, want what was known before", odd, left, ok)
		}
	}
}
