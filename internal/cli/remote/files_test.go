package remote

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/org/foreman-action/config"
	"github.com/org/foreman-action/internal/cli/files"
	"github.com/org/foreman-action/internal/command"
	"github.com/org/foreman-action/internal/github"
	"github.com/org/foreman-action/internal/github/githubtest"
	"github.com/org/foreman-action/internal/testkit/programtest"
	"github.com/org/foreman-action/triage"
)

// tree writes files below a new folder.
func tree(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// remote serves files from a repository's default branch.
func remote(t *testing.T, files map[string]string) (Branch, *githubtest.Server) {
	t.Helper()
	gh := githubtest.New(t, githubtest.Config{})
	repo := gh.Repo("octo/hello")
	for name, text := range files {
		repo.AddFile(name, text)
	}
	client, err := github.New(github.Options{BaseURL: gh.URL, Token: "t"})
	if err != nil {
		t.Fatal(err)
	}
	return Branch{client, github.Tree{Owner: "octo", Repo: "hello"}}, gh
}

// TestFiles checks that every source of configuration returns the same files.
func TestFiles(t *testing.T) {
	t.Parallel()
	texts := map[string]string{"a.yml": "A", "d/b.yml": "B", "d/c.yml": "C", "d/e.txt": "E", "d/f/g.yml": "G"}
	dir := tree(t, texts)
	far, _ := remote(t, texts)
	places := map[string]config.Files{
		"folder": files.Folder{Dir: dir}, "anywhere": files.Anywhere{Dir: dir}, "branch": far,
		"layered": files.Layered{files.Folder{Dir: t.TempDir()}, files.Folder{Dir: dir}, Tokenless{}},
	}
	for name, place := range places {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := place.Read(t.Context(), "d/b.yml")
			if err != nil || string(got) != "B" {
				t.Errorf("got %q, %v, want B", got, err)
			}
			names, err := place.Glob(t.Context(), "d/*.yml")
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff([]string{"d/b.yml", "d/c.yml"}, names); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if name == "layered" {
				return
			}
			if _, err := place.Read(t.Context(), "d/absent.yml"); !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("an absent file: got %v, want fs.ErrNotExist", err)
			}
			if names, err := place.Glob(t.Context(), "absent/*.yml"); err != nil || len(names) != 0 {
				t.Errorf("an absent folder: got %v, %v, want nothing", names, err)
			}
		})
	}
}

// TestLayeredOrder checks that the second place is read only for files that the first one does not
// have.
func TestLayeredOrder(t *testing.T) {
	t.Parallel()
	near := tree(t, map[string]string{"a.yml": "near", "r/a.yml": "near"})
	far, gh := remote(t, map[string]string{"a.yml": "far", "b.yml": "far", "r/b.yml": "far"})
	l := files.Layered{files.Folder{Dir: near}, far}
	if got, err := l.Read(t.Context(), "a.yml"); err != nil || string(got) != "near" {
		t.Errorf("got %q, %v, want near", got, err)
	}
	if names, err := l.Glob(t.Context(), "r/*.yml"); err != nil || len(names) != 1 || names[0] != "r/a.yml" {
		t.Errorf("got %v, %v, want the near one", names, err)
	}
	if calls := gh.Log(); len(calls) != 0 {
		t.Errorf("needless calls: %v", calls)
	}
	if got, err := l.Read(t.Context(), "b.yml"); err != nil || string(got) != "far" {
		t.Errorf("got %q, %v, want far", got, err)
	}
	if _, err := l.Read(t.Context(), "c.yml"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("got %v, want fs.ErrNotExist", err)
	}
}

// TestFolderStaysInside checks that no link or path leads out of the workspace.
func TestFolderStaysInside(t *testing.T) {
	t.Parallel()
	outside := tree(t, map[string]string{"secret": "s3cret"})
	dir := t.TempDir()
	if err := os.Symlink(filepath.Join(outside, "secret"), filepath.Join(dir, "link.yml")); err != nil {
		t.Skip("no symbolic links here: ", err)
	}
	for _, name := range []string{"link.yml", "../" + filepath.Base(outside) + "/secret", filepath.Join(outside, "secret"), "/etc/passwd"} {
		if got, err := (files.Folder{Dir: dir}).Read(t.Context(), name); err == nil {
			t.Errorf("%s: got %q, want an error", name, got)
		}
	}
	if got, err := (files.Folder{Dir: dir}).Glob(t.Context(), filepath.Join(outside, "*")); err == nil {
		t.Errorf("got %q, want an error", got)
	}
}

func TestFilesTooLarge(t *testing.T) {
	t.Parallel()
	dir := tree(t, map[string]string{"big.yml": strings.Repeat("#", files.MaxSize+1), "fits.yml": strings.Repeat("#", files.MaxSize)})
	if _, err := (files.Folder{Dir: dir}).Read(t.Context(), "big.yml"); err == nil || !strings.Contains(err.Error(), "larger than") {
		t.Errorf("got %v, want an error about the size", err)
	}
	far, _ := remote(t, map[string]string{"big.yml": strings.Repeat("#", 3<<20)})
	if _, err := far.Read(t.Context(), "big.yml"); command.ExitCode(err) != command.ExitUsage || !strings.Contains(err.Error(), "3145728 bytes") {
		t.Errorf("got %v, want a mistake that names the size", err)
	}
	if got, err := (files.Anywhere{Dir: dir}).Read(t.Context(), filepath.Join(dir, "fits.yml")); err != nil || len(got) != files.MaxSize {
		t.Errorf("got %d bytes, %v", len(got), err)
	}
}

// TestNamedPipes reads a named pipe in a work tree. No process writes to the pipe.
func TestNamedPipes(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := programtest.NamedPipe(filepath.Join(dir, "pipe.yml")); err != nil {
		t.Skip("needs a named pipe: ", err)
	}
	for name, place := range map[string]config.Files{"folder": files.Folder{Dir: dir}, "anywhere": files.Anywhere{Dir: dir}} {
		_, err := place.Read(t.Context(), "pipe.yml")
		if command.ExitCode(err) != command.ExitUsage || err.Error() != "read pipe.yml: it is not a regular file" {
			t.Errorf("%s: got %v", name, err)
		}
	}
}

func TestBranchGlobs(t *testing.T) {
	t.Parallel()
	far, _ := remote(t, map[string]string{"a/b.yml": ""})
	_, err := far.Glob(t.Context(), "*/b.yml")
	if _, ok := errors.AsType[*command.UsageError](err); !ok {
		t.Errorf("got %v, want a usage error: a folder cannot be a wildcard", err)
	}
}

func TestTokenless(t *testing.T) {
	t.Parallel()
	_, err := Tokenless{}.Read(t.Context(), "a.yml")
	_, gerr := Tokenless{}.Glob(t.Context(), "*.yml")
	for _, err := range []error{err, gerr} {
		if !errors.Is(err, triage.ErrNeedsHost) || command.ExitCode(err) != command.ExitUsage {
			t.Errorf("got %v, want a usage error that asks for a token", err)
		}
	}
}
