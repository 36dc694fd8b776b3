package github_test

import (
	"errors"
	"net/http"
	"testing"
	"time"

	"github.com/org/foreman-action/internal/github"
	"github.com/org/foreman-action/internal/github/githubtest"
	"github.com/org/foreman-action/internal/github/rest"
	"github.com/org/foreman-action/triage"
)

func TestListIssues(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	s := githubtest.New(t, githubtest.Config{Token: token, Now: func() time.Time { return now }})
	r := s.Repo("octo/hello")
	for n := range 120 {
		r.AddIssue(githubtest.Issue{Number: n + 1, CreatedAt: now.Add(time.Duration(n-200) * time.Minute)})
	}
	r.AddIssue(githubtest.Issue{Number: 121, State: "closed"}).AddIssue(githubtest.Issue{Number: 122, PullRequest: true})
	c, _ := client(t, s.URL)
	tests := []struct {
		name        string
		q           github.ListQuery
		first, last int
		n           int
		more        bool
	}{
		{"newest", github.ListQuery{}, 122, 22, 100, true},
		{"second page", github.ListQuery{Page: 2}, 21, 1, 21, false},
		{"oldest change", github.ListQuery{Updated: true, Oldest: true}, 1, 100, 100, true},
		{"since", github.ListQuery{Updated: true, Oldest: true, Since: now.Add(-90 * time.Minute)}, 111, 122, 11, false},
		{"closed", github.ListQuery{State: "closed"}, 121, 121, 1, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			p, err := c.ListIssues(t.Context(), "octo", "hello", tt.q)
			if err != nil {
				t.Fatal(err)
			}
			if len(p.Issues) != tt.n || p.Issues[0].Number != tt.first || p.Issues[tt.n-1].Number != tt.last || p.More != tt.more || !p.Date.Equal(now) || p.Same {
				t.Fatalf("got %d issues, #%d to #%d, more %v, at %v", len(p.Issues), p.Issues[0].Number, p.Issues[len(p.Issues)-1].Number, p.More, p.Date)
			}
			tt.q.ETag = p.ETag
			again, err := c.ListIssues(t.Context(), "octo", "hello", tt.q)
			if err != nil || !again.Same || len(again.Issues) != 0 || !again.Date.Equal(now) {
				t.Errorf("the same question again: got %+v, %v, want that nothing changed", again, err)
			}
		})
	}
}

func TestListIssuesFails(t *testing.T) {
	t.Parallel()
	s := fake(t)
	c, _ := client(t, s.URL)
	if _, err := c.ListIssues(t.Context(), "octo", "nothing", github.ListQuery{}); !errors.Is(err, triage.ErrNotFound) || rest.StatusOf(err) != http.StatusNotFound {
		t.Errorf("got %v, want ErrNotFound", err)
	}
	if _, err := c.ListIssues(t.Context(), "octo", "a b", github.ListQuery{}); err == nil || rest.StatusOf(err) != 0 {
		t.Errorf("got %v, want that the name is none", err)
	}
	s.Fault(githubtest.Fault{Status: http.StatusOK, Body: `null`})
	if _, err := c.ListIssues(t.Context(), "octo", "hello", github.ListQuery{}); err == nil {
		t.Error("an answer that is no list is accepted")
	}
}
