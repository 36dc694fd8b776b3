package github_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/org/foreman-action/internal/github"
	"github.com/org/foreman-action/internal/github/githubtest"
	"github.com/org/foreman-action/triage"
)

// TestFilesAt checks that a file is read from the default branch, or at a commit.
func TestFilesAt(t *testing.T) {
	t.Parallel()
	const commit = "0123456789abcdef0123456789abcdef01234567"
	s := fake(t)
	s.Repo("octo/hello").AddFile("a.json", "head").AddFileAt(commit, "a.json", "commit")
	c, _ := client(t, s.URL)
	for ref, want := range map[string]string{"": "head", commit: "commit"} {
		got, err := c.FilesAt(ref)(t.Context(), triage.Repo{Owner: "octo", Name: "hello"}, "a.json")
		if err != nil || string(got) != want {
			t.Errorf("at %q: got %q, %v, want %q", ref, got, err, want)
		}
	}
	if _, err := c.FilesAt(commit)(t.Context(), triage.Repo{Owner: "octo", Name: "hello"}, "b.json"); !errors.Is(err, triage.ErrNotFound) {
		t.Errorf("missing: %v", err)
	}
}

// TestFilesMemory checks which answers are remembered, and for how long.
func TestFilesMemory(t *testing.T) {
	t.Parallel()
	repo := triage.Repo{Owner: "octo", Name: "hello"}
	s := fake(t)
	s.Repo("octo/hello").AddFile("a.json", "old")
	s.Repo("octo/other").AddFile("a.json", "other")
	c, ticks := client(t, s.URL)
	read := github.NewFiles(ticks.Now).Of(c)
	want := func(what string, repo triage.Repo, path, want string, missing bool) {
		t.Helper()
		got, err := read(t.Context(), repo, path)
		if string(got) != want || errors.Is(err, triage.ErrNotFound) != missing || err != nil && !missing {
			t.Errorf("%s: got %q, %v, want %q", what, got, err, want)
		}
	}
	want("first", repo, "a.json", "old", false)
	want("missing", repo, "b.json", "", true)
	s.Repo("octo/hello").AddFile("a.json", "new").AddFile("b.json", "new")
	_ = ticks.Sleep(t.Context(), 10*time.Minute-time.Second)
	want("remembered", repo, "a.json", "old", false)
	want("remembered as missing", repo, "b.json", "", true)
	want("another repository", triage.Repo{Owner: "octo", Name: "other"}, "a.json", "other", false)
	_ = ticks.Sleep(t.Context(), time.Second)
	want("later", repo, "a.json", "new", false)
	want("later, there now", repo, "b.json", "new", false)
	s.Repo("octo/hello").AddFile("a.json", "newer")
	_ = ticks.Sleep(t.Context(), -time.Minute)
	want("the clock was set back", repo, "a.json", "newer", false)

	s.Fault(githubtest.Fault{Method: "GET", Status: 403, Nth: 1})
	if _, err := read(t.Context(), repo, "c.json"); err == nil || errors.Is(err, triage.ErrNotFound) {
		t.Errorf("refused: %v", err)
	}
	s.Repo("octo/hello").AddFile("c.json", "c")
	want("a failure is not remembered", repo, "c.json", "c", false)
}

// TestFilesBound checks that the memory forgets rather than grows.
func TestFilesBound(t *testing.T) {
	t.Parallel()
	repo := triage.Repo{Owner: "octo", Name: "hello"}
	s := fake(t)
	large := string(make([]byte, 1<<20))
	for n := range 17 {
		s.Repo("octo/hello").AddFile(fmt.Sprint("f", n), large)
	}
	c, ticks := client(t, s.URL)
	read := github.NewFiles(ticks.Now).Of(c)
	for n := range 17 {
		if _, err := read(t.Context(), repo, fmt.Sprint("f", n)); err != nil {
			t.Fatal(err)
		}
	}
	s.Repo("octo/hello").AddFile("f0", "new").AddFile("f16", "new")
	for path, want := range map[string]int{"f0": 3, "f16": len(large)} {
		if got, err := read(t.Context(), repo, path); err != nil || len(got) != want {
			t.Errorf("%s: got %d bytes, %v, want %d", path, len(got), err, want)
		}
	}
}
