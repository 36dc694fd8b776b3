package github_test

import (
	"errors"
	"testing"

	"github.com/org/foreman-action/internal/github"
	"github.com/org/foreman-action/internal/github/githubtest"
	"github.com/org/foreman-action/triage"
)

const pullsPath = "/repos/octo/hello/pulls"

func TestPulls(t *testing.T) {
	t.Parallel()
	s := fake(t)
	c, _ := client(t, s.URL)
	pulls := c.Pulls("octo", "hello")
	if _, found, err := pulls.Find(t.Context(), "foreman/a"); found || err != nil {
		t.Fatalf("got %t, %v, want none", found, err)
	}
	made, err := pulls.Open(t.Context(), github.NewPull{PullText: github.PullText{Title: "Mend", Body: "It"}, Head: "foreman/a", Base: "main", Draft: true})
	if err != nil {
		t.Fatal(err)
	}
	if err := pulls.Edit(t.Context(), made.Number, github.PullText{Title: "Mended", Body: "Both"}); err != nil {
		t.Fatal(err)
	}
	got, found, err := pulls.Find(t.Context(), "foreman/a")
	if err != nil || !found || got.Number != made.Number || got.URL != made.URL || got.Body != "Both" {
		t.Errorf("got %+v, %t, %v", got, found, err)
	}
	if issue := s.Issue("octo/hello", made.Number); issue.Title != "Mended" || !issue.Draft {
		t.Errorf("got %+v", issue)
	}
	// GitHub lists all pull requests if it cannot parse the filter.
	s.Fault(githubtest.Fault{Path: pullsPath, Status: 200, Body: `[{"number":3,"html_url":"x","head":{"ref":"foreman/b","repo":{"full_name":"octo/hello"}}},{"number":4,"head":{"ref":"foreman/a","repo":{"full_name":"fork/hello"}}},{"number":5,"head":{"ref":"foreman/a","repo":null}}]`})
	if got, found, err := pulls.Find(t.Context(), "foreman/a"); found || err != nil {
		t.Errorf("got %+v, %v, want none of the others", got, err)
	}
}

func TestOpenPullFails(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name  string
		fault githubtest.Fault
		want  error
	}{
		{"setting", githubtest.Fault{Status: 403, Body: `{"message":"GitHub Actions is not permitted to create or approve pull requests."}`}, github.ErrPullsForbidden},
		{"server error", githubtest.Fault{Status: 502}, triage.ErrUncertain},
		{"cut", githubtest.Fault{CutAfter: true}, triage.ErrUncertain},
		{"no number", githubtest.Fault{Status: 201, Body: `{}`}, triage.ErrUncertain},
		{"no JSON", githubtest.Fault{Status: 201, Body: `<`}, triage.ErrUncertain},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s := fake(t)
			c, _ := client(t, s.URL)
			tt.fault.Method, tt.fault.Path = "POST", pullsPath
			s.Fault(tt.fault)
			if _, err := c.Pulls("octo", "hello").Open(t.Context(), github.NewPull{PullText: github.PullText{Title: "Mend"}, Head: "a", Base: "main"}); !errors.Is(err, tt.want) {
				t.Errorf("got %v, want %v", err, tt.want)
			}
		})
	}
}

func TestFindComment(t *testing.T) {
	t.Parallel()
	s := fake(t)
	c, _ := client(t, s.URL)
	for range 450 { // more than the 400 entries that other lists read
		s.Repo("octo/hello").AddComment(7, "alice", "x")
	}
	id := s.Repo("octo/hello").AddComment(7, "bob", "y")
	by := func(author string) func(triage.Comment) bool {
		return func(c triage.Comment) bool { return c.Author == author }
	}
	if got, found, err := c.FindComment(t.Context(), ref, by("bob")); err != nil || !found || got.ID != id {
		t.Errorf("got %+v, %t, %v, want %d", got, found, err, id)
	}
	if _, found, err := c.FindComment(t.Context(), ref, by("carol")); found || err != nil {
		t.Errorf("got %t, %v, want none", found, err)
	}
}
