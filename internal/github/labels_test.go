package github_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/org/foreman-action/internal/github"
	"github.com/org/foreman-action/internal/github/githubtest"
	"github.com/org/foreman-action/runner/effect"
	"github.com/org/foreman-action/triage"
)

// TestLabelsMemory checks what is remembered after calls, and for how long.
func TestLabelsMemory(t *testing.T) {
	t.Parallel()
	label := func(name string) func(*testing.T, *github.Client, *githubtest.Server) {
		return func(t *testing.T, c *github.Client, _ *githubtest.Server) {
			if _, err := c.Label(t.Context(), ref, name); err != nil && !errors.Is(err, triage.ErrNotFound) {
				t.Error(err)
			}
		}
	}
	add := func(fails bool, names ...string) func(*testing.T, *github.Client, *githubtest.Server) {
		return func(t *testing.T, c *github.Client, _ *githubtest.Server) {
			if err := put(t.Context(), c, ref, effect.AddLabels{Names: names}); (err != nil) != fails {
				t.Error(err)
			}
		}
	}
	page := func(t *testing.T, c *github.Client, _ *githubtest.Server) {
		if _, _, err := c.LabelPage(t.Context(), ref, 1); err != nil {
			t.Error(err)
		}
	}
	tests := []struct {
		name  string
		do    []func(*testing.T, *github.Client, *githubtest.Server)
		after time.Duration
		want  []string
	}{
		{name: "nothing"},
		{name: "looked up", do: []func(*testing.T, *github.Client, *githubtest.Server){label("kind/feature")}, want: []string{"Kind/Feature"}},
		{name: "listed", do: []func(*testing.T, *github.Client, *githubtest.Server){page}, want: []string{"bug", "Kind/Feature"}},
		{name: "written", do: []func(*testing.T, *github.Client, *githubtest.Server){add(false, "Kind/Feature")}, want: []string{"bug", "Kind/Feature"}},
		{name: "missing", do: []func(*testing.T, *github.Client, *githubtest.Server){label("none")}},
		{name: "just before its time", do: []func(*testing.T, *github.Client, *githubtest.Server){page}, after: time.Hour - time.Second, want: []string{"bug", "Kind/Feature"}},
		{name: "after its time", do: []func(*testing.T, *github.Client, *githubtest.Server){page}, after: time.Hour},
		{name: "the clock was set back", do: []func(*testing.T, *github.Client, *githubtest.Server){page}, after: -time.Minute},
		{name: "refused", do: []func(*testing.T, *github.Client, *githubtest.Server){page, func(_ *testing.T, _ *github.Client, s *githubtest.Server) {
			s.Fault(githubtest.Fault{Method: "POST", Status: 422})
		}, add(true, "BUG")}, want: []string{"Kind/Feature"}},
		{name: "gone when it is looked up", do: []func(*testing.T, *github.Client, *githubtest.Server){page, func(_ *testing.T, _ *github.Client, s *githubtest.Server) {
			s.DeleteLabel("octo/hello", "bug")
		}, label("bug")}, want: []string{"Kind/Feature"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s := fake(t)
			c, ticks := client(t, s.URL)
			c = c.Remembering(github.NewLabels(ticks.Now))
			for _, do := range tt.do {
				do(t, c, s)
			}
			_ = ticks.Sleep(t.Context(), tt.after)
			var got []string
			for _, name := range []string{"BUG", "kind/feature", "none"} {
				if l, ok := c.KnownLabel(triage.Ref{Owner: "Octo", Repo: "HELLO"}, name); ok {
					if got = append(got, l.Name); l.ID != s.LabelID("octo/hello", name) {
						t.Errorf("%s: got id %q", name, l.ID)
					}
				}
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("remembered (-want +got):\n%s", diff)
			}
		})
	}
}

// TestLabelsBound checks that the memory forgets rather than grows.
func TestLabelsBound(t *testing.T) {
	t.Parallel()
	l := github.NewLabels(nil)
	c, _ := client(t, "http://127.0.0.1:1")
	c = c.Remembering(l)
	known := func(repo, n int) bool {
		_, ok := c.KnownLabel(triage.Ref{Owner: "o", Repo: fmt.Sprint(repo)}, fmt.Sprint("l", n))
		return ok
	}
	for repo := range 21 {
		for n := range 1000 {
			l.Changed(github.LabelChange{Repo: fmt.Sprintf("o/%d", repo), Label: triage.LabelID{ID: "L", Name: fmt.Sprint("l", n)}})
		}
		if !known(repo, 999) {
			t.Errorf("the newest label of repository %d is not remembered", repo)
		}
	}
	if known(0, 0) || !known(20, 0) {
		t.Error("the memory did not start again")
	}
}

// TestTakeBackLabels checks the calls after a write of a remembered label that was deleted or renamed.
func TestTakeBackLabels(t *testing.T) {
	t.Parallel()
	const post, search, drop = "POST /repos/octo/hello/issues/7/labels 200", "GET /repos/octo/hello/issues 200", "DELETE /repos/octo/hello/labels/kept 204"
	tests := []struct {
		name    string
		prepare func(*githubtest.Server)
		names   []string
		ids     []string
		want    []string // calls
		missing []string
		has     []string
		fails   string
		shut    int // the request that the gate stops, from 1; 0: none
	}{
		{name: "as remembered", names: []string{"Kind/Feature"}, ids: []string{"?"}, want: []string{post}, has: []string{"bug", "Kind/Feature"}},
		{name: "looked up", names: []string{"kept"}, ids: []string{""}, want: []string{post}, has: []string{"bug", "kept"}},
		{name: "none remembered", names: []string{"kept"}, want: []string{post}, has: []string{"bug", "kept"}},
		{name: "deleted", names: []string{"kept"}, ids: []string{"L_old"}, want: []string{post, search, drop}, missing: []string{"kept"}, has: []string{"bug"}},
		{name: "deleted, beside another", names: []string{"Kind/Feature", "kept"}, ids: []string{"?", "L_old"}, want: []string{post, search, drop}, missing: []string{"kept"}, has: []string{"bug", "Kind/Feature"}},
		{name: "created again, described", names: []string{"kept"}, ids: []string{"L_old"}, prepare: func(s *githubtest.Server) { s.DescribeLabel("octo/hello", "kept", "ededed", "to be kept") },
			want: []string{post}, has: []string{"bug", "kept"}},
		{name: "created again, with a color", names: []string{"kept"}, ids: []string{"L_old"}, prepare: func(s *githubtest.Server) { s.DescribeLabel("octo/hello", "kept", "0075ca", "") },
			want: []string{post}, has: []string{"bug", "kept"}},
		{name: "created again, and used", names: []string{"kept"}, ids: []string{"L_old"}, prepare: func(s *githubtest.Server) { s.Repo("octo/hello").LabelAs("bob", 11, "kept") },
			want: []string{post, search}, has: []string{"bug", "kept"}},
		{name: "deleting it is refused", names: []string{"kept"}, ids: []string{"L_old"}, prepare: func(s *githubtest.Server) {
			s.Fault(githubtest.Fault{Method: "DELETE", Status: 403, Body: `{"message":"Resource not accessible by integration"}`})
		}, want: []string{post, search, "DELETE /repos/octo/hello/labels/kept 403"}, has: []string{"bug", "kept"}, fails: "could not be taken back"},
		{name: "deleting it is refused for good", names: []string{"kept"}, ids: []string{"L_old"}, prepare: func(s *githubtest.Server) {
			s.Fault(githubtest.Fault{Method: "DELETE", Status: 403, Body: `{"message":"Repository was archived so is read-only."}`})
		}, want: []string{post, search, "DELETE /repos/octo/hello/labels/kept 403"}, has: []string{"bug", "kept"}, fails: "could not be taken back"},
		{name: "the gate stops it", names: []string{"kept"}, ids: []string{"L_old"}, shut: 2,
			want: []string{post, search}, has: []string{"bug", "kept"}, fails: "could not be taken back"},
		{name: "another deletes it first", names: []string{"kept"}, ids: []string{"L_old"}, prepare: func(s *githubtest.Server) {
			s.Before(func(method, _ string) {
				if method == "DELETE" {
					s.DeleteLabel("octo/hello", "kept")
				}
			})
		}, want: []string{post, search, "DELETE /repos/octo/hello/labels/kept 404"}, missing: []string{"kept"}, has: []string{"bug"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s := fake(t)
			if tt.prepare != nil {
				tt.prepare(s)
			}
			for i, id := range tt.ids {
				if id == "?" {
					tt.ids[i] = s.LabelID("octo/hello", tt.names[i])
				}
			}
			c, _ := client(t, s.URL)
			memory := github.NewLabels(nil)
			c = c.Remembering(memory)
			if tt.fails != "" {
				memory.Changed(github.LabelChange{Repo: "octo/hello", Label: triage.LabelID{ID: tt.ids[0], Name: tt.names[0]}})
			}
			asked := 0
			ctx := effect.WithGate(t.Context(), func(context.Context) error {
				if asked++; asked == tt.shut {
					return errors.New("paused")
				}
				return nil
			})
			w, err := c.Write(ctx, ref, effect.AddLabels{Names: tt.names, IDs: tt.ids})
			if l, _ := c.KnownLabel(ref, tt.names[0]); tt.fails != "" && l.ID != tt.ids[0] {
				t.Errorf("got the remembered id %q, want %q, with which a repetition compares", l.ID, tt.ids[0])
			}
			if (err != nil) != (tt.fails != "") || err != nil && !strings.Contains(err.Error(), tt.fails) {
				t.Errorf("got error %v, want %q", err, tt.fails)
			}
			_, refused := errors.AsType[*triage.RefusedError](err)
			if err != nil && (!errors.Is(err, triage.ErrUncertain) || errors.Is(err, triage.ErrHalted) || refused) {
				t.Errorf("the error is not just uncertain: %v", err)
			}
			if diff := cmp.Diff(tt.missing, w.Missing); diff != "" {
				t.Errorf("missing (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(tt.want, s.Log()); diff != "" {
				t.Errorf("calls (-want +got):\n%s", diff)
			}
			if got := s.Issue("octo/hello", 7).Labels; !slices.Equal(got, tt.has) {
				t.Errorf("got labels %q, want %q", got, tt.has)
			}
		})
	}
}

// TestTakeBackRenamed checks that a label is removed if GitHub adds it under the name that it has now.
func TestTakeBackRenamed(t *testing.T) {
	t.Parallel()
	s := fake(t)
	c, _ := client(t, s.URL)
	id := s.LabelID("octo/hello", "Kind/Feature")
	s.Fault(githubtest.Fault{Method: "POST", Status: 200, Body: `[{"node_id":"L_b","name":"bug"},{"node_id":"` + id + `","name":"secret"}]`})
	s.Repo("octo/hello").LabelAs("github-actions[bot]", 7, "secret")
	w, err := c.Write(t.Context(), ref, effect.AddLabels{Names: []string{"Kind/Feature"}, IDs: []string{id}})
	if err != nil || !slices.Equal(w.Missing, []string{"Kind/Feature"}) {
		t.Errorf("got %+v, %v", w, err)
	}
	if got := s.Issue("octo/hello", 7).Labels; !slices.Equal(got, []string{"bug"}) {
		t.Errorf("got labels %q", got)
	}
}
