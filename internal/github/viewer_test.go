package github_test

import (
	"testing"

	"github.com/org/foreman-action/internal/github"
	"github.com/org/foreman-action/internal/github/githubtest"
)

func TestViewer(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, login, want string // want: the expected login; empty: an error
	}{
		{"an account's token", "octocat", "octocat"},
		{"a workflow's token", "", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			gh := githubtest.New(t, githubtest.Config{Token: "t", Login: tt.login})
			c, err := github.New(github.Options{BaseURL: gh.URL, Token: "t"})
			if err != nil {
				t.Fatal(err)
			}
			got, err := c.Viewer(t.Context())
			if got != tt.want || (err == nil) != (tt.want != "") {
				t.Errorf("got %q, %v; want %q", got, err, tt.want)
			}
		})
	}
}
