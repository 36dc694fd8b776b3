package github_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/org/foreman-action/config"
	"github.com/org/foreman-action/internal/github"
	"github.com/org/foreman-action/triage"
)

func readFile(path string) func(*testing.T, *github.Client) error {
	return func(t *testing.T, c *github.Client) error {
		_, err := c.File(t.Context(), hello, path)
		return err
	}
}

func readDir(path string) func(*testing.T, *github.Client) error {
	return func(t *testing.T, c *github.Client) error {
		_, err := c.Dir(t.Context(), hello, path)
		return err
	}
}

func TestFile(t *testing.T) {
	t.Parallel()
	s := fake(t)
	long := strings.Repeat("line ü\n", 1000)
	s.Repo("octo/hello").AddFile("empty", "").AddFile("dir #1/what? 100%.yml", long)
	c, _ := client(t, s.URL)
	for path, want := range map[string]string{
		".github/foreman.yml": "version: 1\n", "/.github/foreman.yml": "version: 1\n", "empty": "", "dir #1/what? 100%.yml": long,
	} {
		got, err := c.File(t.Context(), hello, path)
		if err != nil || string(got) != want {
			t.Errorf("%s: got %d bytes, %v, want %d", path, len(got), err, len(want))
		}
	}
}

func TestDir(t *testing.T) {
	t.Parallel()
	s := fake(t)
	s.Repo("octo/hello").AddFile("README.md", "hi")
	c, _ := client(t, s.URL)
	for path, want := range map[string][]string{
		".github": {".github/foreman.yml"}, ".github/foreman/": {".github/foreman/a b.yml", ".github/foreman/b.yml"}, "": {"README.md"},
	} {
		got, err := c.Dir(t.Context(), hello, path)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%q (-want +got):\n%s", path, diff)
		}
	}
}

// TestFileAt reads files at tags and commits. A branch of the same name must not replace a tag or a
// commit.
func TestFileAt(t *testing.T) {
	t.Parallel()
	s := fake(t)
	const sha = "4f1c2ab8d0e9c7b6a5f4e3d2c1b0a9f8e7d6c5b4"
	s.Repo("octo/.github").AddFileAt("refs/tags/v1", "a b.yml", "one").AddFileAt(sha, "a b.yml", "two").
		AddFileAt("refs/tags/x/20&1", "a b.yml", "three").AddFile("a b.yml", "main").
		// Names that look like the first digits of a commit.
		AddFileAt("abc1234", "a b.yml", "branch").AddFileAt("refs/heads/abc1234", "a b.yml", "branch").
		AddFileAt("refs/tags/20261121", "a b.yml", "day").AddFileAt("abc1234"+sha[7:], "a b.yml", "hidden")
	c, _ := client(t, s.URL)
	for ref, want := range map[string]string{
		"v1": "one", "refs/tags/v1": "one", "4f1c2ab": "two", "x/20&1": "three", "main": "", "refs/heads/main": "", "4f1c2": "",
		sha: "two", sha[:12]: "two", "4f1c2ac": "", "abc1234": "", "20261121": "", "refs/tags/20261121": "day",
	} {
		got, err := c.FileAt(t.Context(), config.RemoteFile{Owner: "octo", Repo: ".github", Path: "a b.yml", Ref: ref})
		if string(got) != want || (err == nil) != (want != "") || err != nil && !errors.Is(err, triage.ErrNotFound) {
			t.Errorf("%s: got %q, %v, want %q", ref, got, err, want)
		}
	}
}
