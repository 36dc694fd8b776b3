package github_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/org/foreman-action/internal/github"
)

func readFile(path string) func(*testing.T, *github.Client) error {
	return func(t *testing.T, c *github.Client) error {
		_, err := c.File(t.Context(), "octo", "hello", path)
		return err
	}
}

func readDir(path string) func(*testing.T, *github.Client) error {
	return func(t *testing.T, c *github.Client) error {
		_, err := c.Dir(t.Context(), "octo", "hello", path)
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
		got, err := c.File(t.Context(), "octo", "hello", path)
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
		got, err := c.Dir(t.Context(), "octo", "hello", path)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%q (-want +got):\n%s", path, diff)
		}
	}
}
