package github_test

import (
	"errors"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/org/foreman-action/internal/github/githubtest"
	"github.com/org/foreman-action/runner/effect"
	"github.com/org/foreman-action/triage"
)

func TestHideComment(t *testing.T) {
	t.Parallel()
	s := fake(t)
	c, _ := client(t, s.URL)
	id := s.Repo("octo/hello").AddComment(7, "github-actions[bot]", "hello")
	read := func() triage.Comment {
		t.Helper()
		one, err := c.Comment(t.Context(), ref, id)
		if err != nil {
			t.Fatal(err)
		}
		return one
	}
	before := read()
	if before.Hidden || before.NodeID == "" {
		t.Fatalf("before: %+v", before)
	}
	s.ResetCalls()
	for range 2 { // repeating it is harmless
		if err := put(t.Context(), c, ref, effect.HideComment{ID: before.NodeID}); err != nil {
			t.Fatal(err)
		}
	}
	if diff := cmp.Diff([]string{"POST /graphql 200", "POST /graphql 200"}, s.Log()); diff != "" {
		t.Errorf("calls (-want +got):\n%s", diff)
	}
	if after := read(); !after.Hidden {
		t.Errorf("after: %+v", after)
	}
	if got := s.Issue("octo/hello", 7).Comments[0].Minimized; got != "outdated" {
		t.Errorf("the reason is %q", got)
	}
	s.Repo("octo/hello").DeleteComment(id)
	if err := put(t.Context(), c, ref, effect.HideComment{ID: before.NodeID}); !errors.Is(err, triage.ErrNotFound) {
		t.Errorf("deleted: got %v", err)
	}
	if err := put(t.Context(), c, ref, effect.HideComment{}); err == nil || !strings.Contains(err.Error(), "id is missing") {
		t.Errorf("without an id: got %v", err)
	}
}

// TestHideCommentRefused checks the meaning of GitHub's errors. There is no other call to try.
func TestHideCommentRefused(t *testing.T) {
	t.Parallel()
	of := func(typ string) string {
		return `{"data":{"minimizeComment":null},"errors":[{"type":"` + typ + `","path":["minimizeComment"],"message":"no"}]}`
	}
	is := func(target error) func(error) bool { return func(err error) bool { return errors.Is(err, target) } }
	denied := func(err error) bool { _, ok := errors.AsType[*triage.PermissionError](err); return ok }
	refused := func(err error) bool { _, ok := errors.AsType[*triage.RefusedError](err); return ok }
	tests := []struct {
		name   string
		status int
		body   string
		want   func(error) bool
	}{
		{"not found", http.StatusOK, of("NOT_FOUND"), is(triage.ErrNotFound)},
		{"forbidden", http.StatusOK, of("FORBIDDEN"), denied},
		{"forbidden, by the status", http.StatusForbidden, `{"message":"Resource not accessible by integration"}`, denied},
		{"scopes", http.StatusOK, of("INSUFFICIENT_SCOPES"), denied},
		{"unprocessable", http.StatusOK, of("UNPROCESSABLE"), refused},
		{"still visible", http.StatusOK, `{"data":{"minimizeComment":{"minimizedComment":{"isMinimized":false}}}}`, is(triage.ErrUncertain)},
		{"other answer", http.StatusOK, `{}`, is(triage.ErrUncertain)},
	}
	for _, tt := range tests {
		s := fake(t)
		c, _ := client(t, s.URL)
		s.Fault(githubtest.Fault{Path: "/graphql", Status: tt.status, Body: tt.body})
		if err := put(t.Context(), c, ref, effect.HideComment{ID: "IC_1"}); err == nil || !tt.want(err) {
			t.Errorf("%s: got %v", tt.name, err)
		}
	}
}

func TestRequestReview(t *testing.T) {
	t.Parallel()
	pull := ref
	pull.Number = 8
	tests := []struct {
		name    string
		ref     triage.Ref
		effect  effect.RequestReview
		refused string   // a part of the refusal; empty: none
		want    []string // the requested reviewers
		calls   int
	}{
		{"people and teams", pull, effect.RequestReview{Users: []string{"alice", "bob"}, Teams: []string{"docs"}}, "", []string{"alice", "bob", "team/docs"}, 1},
		{"a team", pull, effect.RequestReview{Teams: []string{"docs"}}, "", []string{"team/docs"}, 1},
		{"nobody", pull, effect.RequestReview{}, "", nil, 0},
		{"a stranger", pull, effect.RequestReview{Users: []string{"alice", "mallory"}}, "Reviews may only be requested from collaborators", nil, 1},
		{"the author", pull, effect.RequestReview{Users: []string{"octocat"}}, "Review cannot be requested from pull request author", nil, 1},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s := fake(t)
			s.Describe("octo/hello", githubtest.About{Teams: []string{"docs"}})
			c, _ := client(t, s.URL)
			err := put(t.Context(), c, tt.ref, tt.effect)
			r, refused := errors.AsType[*triage.RefusedError](err)
			if refused != (tt.refused != "") || refused && !strings.Contains(r.Reason, tt.refused) || !refused && err != nil {
				t.Errorf("got %v", err)
			}
			if got := len(s.Log()); got != tt.calls {
				t.Errorf("%d calls, want %d", got, tt.calls)
			}
			p, err := c.Pull(t.Context(), pull)
			if err != nil {
				t.Fatal(err)
			}
			got := p.RequestedReviewers
			for _, slug := range p.RequestedTeams {
				got = append(got, effect.TeamName(slug))
			}
			if !slices.Equal(got, tt.want) {
				t.Errorf("requested: %q, want %q", got, tt.want)
			}
		})
	}
	s := fake(t)
	c, _ := client(t, s.URL)
	if err := put(t.Context(), c, ref, effect.RequestReview{Users: []string{"alice"}}); !errors.Is(err, triage.ErrGone) {
		t.Errorf("an issue: got %v", err)
	}
}

// TestRequestReviewRefused checks the sentences with which GitHub refuses a request for good.
func TestRequestReviewRefused(t *testing.T) {
	t.Parallel()
	pull := ref
	pull.Number = 8
	tests := []struct {
		name    string
		status  int
		body    string
		refused bool
	}{
		{"a team that the token cannot read", http.StatusUnprocessableEntity, `{"message":"Validation Failed","errors":["Could not resolve to a node with the global id of 'T_kwDO'."]}`, true},
		{"reviewers", http.StatusUnprocessableEntity, `{"message":"Could not add requested reviewers to pull request."}`, true},
		{"too quickly", http.StatusUnprocessableEntity, `{"message":"Validation Failed","errors":["the review request was submitted too quickly"]}`, false},
		{"another cause", http.StatusUnprocessableEntity, `{"message":"Validation Failed"}`, false},
		{"another status", http.StatusForbidden, `{"message":"Please review the terms of the organization."}`, false},
	}
	for _, tt := range tests {
		s := fake(t)
		c, _ := client(t, s.URL)
		s.Fault(githubtest.Fault{Path: "/repos/octo/hello/pulls/8/requested_reviewers", Status: tt.status, Body: tt.body})
		err := put(t.Context(), c, pull, effect.RequestReview{Users: []string{"alice"}, Teams: []string{"docs"}})
		if _, refused := errors.AsType[*triage.RefusedError](err); err == nil || refused != tt.refused {
			t.Errorf("%s: got %v", tt.name, err)
		}
	}
}

func TestReviewRequestsInTheTimeline(t *testing.T) {
	t.Parallel()
	pull := ref
	pull.Number = 8
	s := fake(t)
	s.Describe("octo/hello", githubtest.About{Teams: []string{"docs"}})
	c, _ := client(t, s.URL)
	if err := put(t.Context(), c, pull, effect.RequestReview{Users: []string{"alice"}, Teams: []string{"docs"}}); err != nil {
		t.Fatal(err)
	}
	githubtest.RemoveReviewerAs(s.Repo("octo/hello"), "bob", 8, "alice")
	timeline, err := c.Timeline(t.Context(), pull)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, e := range timeline.Events {
		got = append(got, e.Kind+" "+triage.EventValue(e)+" by "+e.Actor)
	}
	us := "github-actions[bot]"
	if diff := cmp.Diff([]string{"review_requested alice by " + us, "review_requested team/docs by " + us, "review_request_removed alice by bob"}, got); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
}
