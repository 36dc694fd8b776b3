package git_test

import (
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/org/foreman-action/internal/coding/git"
)

func TestObjects(t *testing.T) {
	t.Parallel()
	for _, format := range []string{"sha1", "sha256"} {
		t.Run(format, func(t *testing.T) {
			t.Parallel()
			r := repoAt(t.TempDir())
			run(t, r, "init", "--quiet", "--object-format="+format, ".")
			write(t, r, "a", "one\n")
			write(t, r, "b", "")
			commit(t, r, "first")
			blob, empty := run(t, r, "rev-parse", "HEAD:a"), run(t, r, "rev-parse", "HEAD:b")
			read := func(names ...string) (map[string]string, error) {
				found := map[string]string{}
				err := r.Objects(t.Context(), names, func(hash string, content []byte) { found[hash] = string(content) })
				return found, err
			}
			got, err := read(empty, blob, strings.Repeat("0", len(blob)), blob)
			if want := map[string]string{blob: "one\n", empty: ""}; err != nil || !maps.Equal(got, want) {
				t.Errorf("got %q, %v", got, err)
			}
			if got, err := read("HEAD", "HEAD^{tree}"); err != nil || len(got) != 2 {
				t.Errorf("got %q, %v", got, err)
			}
			if _, err := read(blob, "none"); err == nil || !strings.Contains(err.Error(), "missing") {
				t.Errorf("got %v for a missing object", err)
			}
			file := func(hash string) string { return filepath.Join(r.Dir, ".git/objects", hash[:2], hash[2:]) }
			if err := errors.Join(os.Remove(file(blob)), os.Link(file(empty), file(blob))); err != nil {
				t.Fatal(err)
			}
			if _, err := read(blob); !errors.Is(err, git.ErrForged) {
				t.Errorf("got %v for a forged object", err)
			}
			missing := r
			missing.Dir = filepath.Join(r.Dir, "none")
			if err := missing.Objects(t.Context(), []string{blob}, func(string, []byte) {}); err == nil || !strings.Contains(err.Error(), "git cat-file") {
				t.Errorf("got %v without a repository", err)
			}
		})
	}
}

func TestIsAncestor(t *testing.T) {
	t.Parallel()
	r := newRepo(t)
	commits := []string{run(t, r, "rev-parse", "HEAD")}
	for range 2 {
		commits = append(commits, commit(t, r, "x"))
	}
	var got []bool
	for _, pair := range [][2]string{{commits[0], "HEAD"}, {commits[1], commits[2]}, {commits[2], "main"}, {commits[2], commits[0]}} {
		is, err := r.IsAncestor(t.Context(), pair[0], pair[1])
		if err != nil {
			t.Error(err)
		}
		got = append(got, is)
	}
	if want := []bool{true, true, true, false}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	if is, err := r.IsAncestor(t.Context(), strings.Repeat("1", len(commits[0])), "HEAD"); is || err == nil {
		t.Errorf("got %v, %v for a missing commit", is, err)
	}
}
