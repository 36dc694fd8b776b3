package github_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/org/foreman-action/internal/github"
	"github.com/org/foreman-action/internal/github/githubtest"
	"github.com/org/foreman-action/runner/effect"
	"github.com/org/foreman-action/triage"
)

func TestWritesCall(t *testing.T) {
	t.Parallel()
	for _, w := range writes() {
		t.Run(w.name, func(t *testing.T) {
			t.Parallel()
			s := fake(t)
			c, ticks := client(t, s.URL)
			// Each write is made twice: repeating a write must be harmless, except for comments.
			for range 2 {
				s.ResetCalls()
				if err := w.call(t.Context(), c, ref); err != nil {
					t.Fatal(err)
				}
			}
			want := w.want
			switch w.name {
			case "RemoveLabel":
				want = []string{"DELETE /repos/octo/hello/issues/7/labels/bug 404"}
			case "React":
				want = []string{"POST /repos/octo/hello/issues/7/reactions 200"}
			}
			if diff := cmp.Diff(want, s.Log()); diff != "" {
				t.Errorf("calls (-want +got):\n%s", diff)
			}
			if len(ticks.Waits()) != 0 {
				t.Errorf("waited %v, want no wait", ticks.Waits())
			}
		})
	}
}

func TestWritesChangeTheIssue(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name string
		do   func(context.Context, *github.Client) error
		want func(*githubtest.Issue)
	}{
		{"add labels", func(ctx context.Context, c *github.Client) error {
			return put(ctx, c, ref, effect.AddLabels{Names: []string{"kind/feature", "BUG"}})
		}, func(i *githubtest.Issue) { i.Labels = []string{"bug", "Kind/Feature"} }},
		{"remove a label", func(ctx context.Context, c *github.Client) error {
			return put(ctx, c, ref, effect.RemoveLabels{Names: []string{"Bug"}})
		}, func(i *githubtest.Issue) { i.Labels = []string{} }},
		{"close without a reason", func(ctx context.Context, c *github.Client) error {
			return put(ctx, c, ref, effect.Close{Reason: ""})
		}, func(i *githubtest.Issue) { i.State, i.StateReason = "closed", "completed" }},
		{"close with a reason", func(ctx context.Context, c *github.Client) error {
			return put(ctx, c, ref, effect.Close{Reason: "not_planned"})
		}, func(i *githubtest.Issue) { i.State, i.StateReason = "closed", "not_planned" }},
		{"close and reopen", func(ctx context.Context, c *github.Client) error {
			return errors.Join(put(ctx, c, ref, effect.Close{Reason: ""}), put(ctx, c, ref, effect.Reopen{}))
		}, func(i *githubtest.Issue) { i.StateReason = "reopened" }},
		{"mark as a duplicate", func(ctx context.Context, c *github.Client) error {
			return put(ctx, c, ref, effect.MarkDuplicate{Of: 11})
		}, func(i *githubtest.Issue) { i.State, i.StateReason, i.DuplicateOf = "closed", "duplicate", 11 }},
		{"assign and unassign", func(ctx context.Context, c *github.Client) error {
			err := put(ctx, c, ref, effect.Assign{Logins: []string{"alice", "bob"}})
			return errors.Join(err, put(ctx, c, ref, effect.Unassign{Logins: []string{"ALICE", "nobody"}}))
		}, func(i *githubtest.Issue) { i.Assignees = []string{"bob"} }},
		{"milestone of another case", func(ctx context.Context, c *github.Client) error {
			return put(ctx, c, ref, effect.SetMilestone{Title: "v2"})
		}, func(i *githubtest.Issue) { i.Milestone = "V2" }},
		{"no milestone", func(ctx context.Context, c *github.Client) error {
			err := put(ctx, c, ref, effect.SetMilestone{Title: "V2"})
			return errors.Join(err, put(ctx, c, ref, effect.SetMilestone{}))
		}, func(*githubtest.Issue) {}},
		{"type", func(ctx context.Context, c *github.Client) error {
			return put(ctx, c, ref, effect.SetType{Name: "bug"})
		}, func(i *githubtest.Issue) { i.Type = "Bug" }},
		{"lock", func(ctx context.Context, c *github.Client) error {
			return put(ctx, c, ref, effect.Lock{Reason: "spam"})
		}, func(i *githubtest.Issue) { i.Locked, i.LockReason = true, "spam" }},
		{"lock without a reason", func(ctx context.Context, c *github.Client) error {
			return put(ctx, c, ref, effect.Lock{Reason: ""})
		}, func(i *githubtest.Issue) { i.Locked = true }},
		{"lock and unlock", func(ctx context.Context, c *github.Client) error {
			return errors.Join(put(ctx, c, ref, effect.Lock{Reason: "spam"}), put(ctx, c, ref, effect.Unlock{}))
		}, func(*githubtest.Issue) {}},
		{"react", func(ctx context.Context, c *github.Client) error {
			return errors.Join(put(ctx, c, ref, effect.React{Content: "+1"}), put(ctx, c, ref, effect.React{Content: "+1"}))
		}, func(i *githubtest.Issue) {
			i.Reactions = []githubtest.Reaction{{Author: "github-actions[bot]", Content: "+1"}}
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s := fake(t)
			want := s.Issue("octo/hello", 7)
			tt.want(&want)
			c, _ := client(t, s.URL)
			if err := tt.do(t.Context(), c); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, s.Issue("octo/hello", 7)); diff != "" {
				t.Errorf("issue (-want +got):\n%s", diff)
			}
		})
	}
}

func TestCommentIsCreatedAndReplaced(t *testing.T) {
	t.Parallel()
	s := fake(t)
	c, _ := client(t, s.URL)
	w, err := c.Write(t.Context(), ref, effect.Comment{Body: "first <b> & \u2028"})
	if err != nil {
		t.Fatal(err)
	}
	made := w.Comment
	if made.Author != "github-actions[bot]" || !strings.Contains(made.URL, "/octo/hello/issues/7#issuecomment-") || made.CreatedAt.IsZero() {
		t.Errorf("got comment %+v, want author, page and time", made)
	}
	changed, err := c.Write(t.Context(), ref, effect.Comment{ID: made.ID, Body: "second"})
	if err != nil {
		t.Fatal(err)
	}
	made.Body = "second"
	if diff := cmp.Diff(made, changed.Comment); diff != "" {
		t.Errorf("comment (-want +got):\n%s", diff)
	}
	got := s.Issue("octo/hello", 7).Comments
	if len(got) != 1 || got[0].Body != "second" {
		t.Errorf("got comments %v, want one that says second", got)
	}
	if _, err := c.Write(t.Context(), ref, effect.Comment{ID: 99, Body: "x"}); !errors.Is(err, triage.ErrNotFound) || errors.Is(err, triage.ErrGone) {
		t.Errorf("update of a comment that is not there: got %v, want ErrNotFound only", err)
	}
}

func TestAssignReturnsWhoWasAccepted(t *testing.T) {
	t.Parallel()
	s := fake(t)
	c, _ := client(t, s.URL)
	if err := put(t.Context(), c, ref, effect.Assign{Logins: []string{"bob"}}); err != nil {
		t.Fatal(err)
	}
	got, err := c.Write(t.Context(), ref, effect.Assign{Logins: []string{"Alice", "mallory"}})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"alice"}, got.Accepted); diff != "" {
		t.Errorf("accepted (-want +got):\n%s", diff)
	}
}

func TestNothingToDoIsNoCall(t *testing.T) {
	t.Parallel()
	s := fake(t)
	c, _ := client(t, s.URL)
	err := put(t.Context(), c, ref, effect.Assign{Logins: nil})
	err = errors.Join(err, put(t.Context(), c, ref, effect.AddLabels{Names: nil}), put(t.Context(), c, ref, effect.Unassign{Logins: nil}))
	if err != nil || len(s.Log()) != 0 {
		t.Errorf("got %v and calls %v, want none", err, s.Log())
	}
}

// TestRemoveLabelThatIsNotThere removes a label that the issue does not have, which succeeds. Then
// it removes a label from a deleted issue, which fails.
func TestRemoveLabelThatIsNotThere(t *testing.T) {
	t.Parallel()
	s := fake(t)
	c, _ := client(t, s.URL)
	if err := put(t.Context(), c, ref, effect.RemoveLabels{Names: []string{"Kind/Feature"}}); err != nil {
		t.Errorf("a label that the issue does not bear: got %v, want success", err)
	}
	gone := ref
	gone.Number = 9
	if err := put(t.Context(), c, gone, effect.RemoveLabels{Names: []string{"bug"}}); !errors.Is(err, triage.ErrGone) {
		t.Errorf("a deleted issue: got %v, want ErrGone", err)
	}
}

func TestLabelNamesAreEscaped(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"a/b", "what?", "#1", "50%", "%2F", "a b", "ü", "a+b", "x;y", "...", "a\\b"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := fake(t)
			s.Repo("octo/hello").AddLabel(name)
			c, _ := client(t, s.URL)
			got, err := c.Label(t.Context(), ref, name)
			if err != nil || got != name {
				t.Errorf("Label: got %q, %v, want %q", got, err, name)
			}
			if err := put(t.Context(), c, ref, effect.AddLabels{Names: []string{name}}); err != nil {
				t.Error(err)
			}
			if err := put(t.Context(), c, ref, effect.RemoveLabels{Names: []string{name}}); err != nil {
				t.Error(err)
			}
			if diff := cmp.Diff([]string{"bug"}, s.Issue("octo/hello", 7).Labels); diff != "" {
				t.Errorf("labels (-want +got):\n%s", diff)
			}
		})
	}
}

// TestNoPath checks that a label "." does not become the path that removes all labels, and that an
// agent's text of a megabyte does not become an address.
func TestNoPath(t *testing.T) {
	t.Parallel()
	s := fake(t)
	c, _ := client(t, s.URL)
	for _, name := range []string{"", ".", "..", strings.Repeat("x", 1001)} {
		if err := put(t.Context(), c, ref, effect.RemoveLabels{Names: []string{name}}); err == nil || len(err.Error()) > 300 {
			t.Errorf("RemoveLabel(%.20q): got %v, want a short error", name, err)
		}
		if _, err := c.Label(t.Context(), ref, name); !errors.Is(err, triage.ErrNotFound) || len(err.Error()) > 300 {
			t.Errorf("Label(%.20q): got %v, want a short ErrNotFound", name, err)
		}
	}
	if len(s.Log()) != 0 {
		t.Errorf("got calls %v, want none", s.Log())
	}
}

func TestMilestones(t *testing.T) {
	t.Parallel()
	s := fake(t)
	r := s.Repo("octo/hello").AddMilestone("V1", "done", "Next", "nExt").CloseMilestone("done")
	for range 100 {
		r.AddMilestone("filler")
	}
	r.AddMilestone("last")
	c, _ := client(t, s.URL)
	for title, want := range map[string]string{"V1": "V1", "v1": "v1", "LAST": "last", "NEXT": "Next"} {
		if err := put(t.Context(), c, ref, effect.SetMilestone{Title: title}); err != nil {
			t.Fatal(err)
		}
		if got := s.Issue("octo/hello", 7).Milestone; got != want {
			t.Errorf("title %q: got milestone %q, want %q", title, got, want)
		}
	}
	s.ResetCalls()
	if err := put(t.Context(), c, ref, effect.SetMilestone{Title: "v1"}); err != nil || len(s.Log()) != 2 {
		t.Errorf("a title of the first page: got %v and calls %v, want one page and one write", err, s.Log())
	}
	s.ResetCalls()
	err := put(t.Context(), c, ref, effect.SetMilestone{Title: "done"})
	if !errors.Is(err, triage.ErrNotFound) {
		t.Errorf("a closed milestone: got %v, want ErrNotFound", err)
	}
	want := []string{"GET /repos/octo/hello/milestones 200", "GET /repos/octo/hello/milestones 200"}
	if diff := cmp.Diff(want, s.Log()); diff != "" {
		t.Errorf("calls (-want +got):\n%s", diff)
	}
}
