package github_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/org/foreman-action/internal/github/githubtest"
	"github.com/org/foreman-action/runner/effect"
	"github.com/org/foreman-action/triage"
)

// TestReactToComment adds a reaction twice, which results in one reaction. A reaction to a missing
// comment, or on an issue that is not accessible, is an error.
func TestReactToComment(t *testing.T) {
	t.Parallel()
	s := fake(t)
	c, _ := client(t, s.URL)
	id := s.Repo("octo/hello").AddComment(7, "mona", "/foreman why")
	for range 2 {
		if err := put(t.Context(), c, ref, effect.React{Comment: id, Content: "confused"}); err != nil {
			t.Fatal(err)
		}
	}
	want := []githubtest.Reaction{{Author: "github-actions[bot]", Content: "confused"}}
	if diff := cmp.Diff(want, s.Issue("octo/hello", 7).Comments[0].Reactions); diff != "" {
		t.Errorf("reactions (-want +got):\n%s", diff)
	}
	if err := put(t.Context(), c, ref, effect.React{Comment: id + 1000, Content: "confused"}); !errors.Is(err, triage.ErrNotFound) {
		t.Errorf("a comment that is not there: got %v, want ErrNotFound", err)
	}
	s.Fault(githubtest.Fault{Method: "POST", Status: 403, Body: `{"message":"Resource not accessible by integration"}`})
	err := put(t.Context(), c, ref, effect.React{Comment: id, Content: "confused"})
	p, ok := errors.AsType[*triage.PermissionError](err)
	if !ok || p.Need != "issues: write" || !strings.Contains(err.Error(), "react to comment") {
		t.Errorf("forbidden: got %v", err)
	}
}
