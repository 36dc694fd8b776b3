package git_test

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/org/foreman-action/internal/coding/git"
)

// newRepo makes a repository with one commit on main. Git's environment contains only the
// variables that it needs.
func newRepo(t testing.TB) git.Repo {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("there is no git")
	}
	r := repoAt(filepath.Join(t.TempDir(), "repo"))
	if err := os.Mkdir(r.Dir, 0o755); err != nil {
		t.Fatal(err)
	}
	run(t, r, "init", "--quiet", "--initial-branch=main", ".")
	write(t, r, "tracked.txt", "one\n")
	commit(t, r, "first")
	return r
}

func repoAt(dir string) git.Repo {
	return git.Repo{Dir: dir, Environ: []string{"PATH=" + os.Getenv("PATH")}, Vars: []string{
		"GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@example.org", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@example.org",
	}}
}

func run(t testing.TB, r git.Repo, args ...string) string {
	t.Helper()
	out, err := r.Run(t.Context(), args...)
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(out))
}

func write(t testing.TB, r git.Repo, name, content string) {
	t.Helper()
	path := filepath.Join(r.Dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o755); err != nil {
		t.Fatal(err)
	}
}

func commit(t testing.TB, r git.Repo, message string) string {
	t.Helper()
	run(t, r, "add", "--all")
	run(t, r, "commit", "--quiet", "--allow-empty", "--message", message)
	return run(t, r, "rev-parse", "HEAD")
}

func status(t testing.TB, r git.Repo, all bool) []git.Change {
	t.Helper()
	list, err := r.Status(t.Context(), all)
	if err != nil {
		t.Fatal(err)
	}
	return list
}

// hostileNames are file names that a program which parses lines may misunderstand.
func hostileNames() []string {
	return []string{
		" leading", "trailing ", "-rf", "--output=x", "a -> b", "new\nline", "tab\tname", `quote"back\slash`, "'single'", "$(touch marker)", "`touch marker`", "é ü",
		"ｆｕｌｌ", "\x1b[31mred", "ends\r", "R  x", ":(glob)**", "\xff\xfe", "\u202egnp.exe", "#", "~", "{a,b}", "*",
	}
}

// TestStatusNames lists files with hostile names. The names are unchanged for untracked, staged
// and renamed files.
func TestStatusNames(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" {
		t.Skip("other file systems refuse some of the names")
	}
	r := newRepo(t)
	var untracked, added, renamed []git.Change
	for _, name := range hostileNames() {
		write(t, r, name, "content of "+name+", long enough to be recognised\n")
		untracked = append(untracked, git.Change{Path: name, Code: "??"})
		added = append(added, git.Change{Path: name, Code: "A "})
		renamed = append(renamed, git.Change{Path: "moved/" + name, From: name, Code: "R "})
	}
	same(t, status(t, r, false), untracked)
	run(t, r, "add", "--all")
	same(t, status(t, r, false), added)
	commit(t, r, "hostile")
	for _, name := range hostileNames() {
		if err := os.MkdirAll(filepath.Join(r.Dir, "moved"), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.Rename(filepath.Join(r.Dir, name), filepath.Join(r.Dir, "moved", name)); err != nil {
			t.Fatal(err)
		}
	}
	run(t, r, "add", "--all")
	same(t, status(t, r, false), renamed)
}

// same compares two lists and ignores their order.
func same(t testing.TB, got, want []git.Change) {
	t.Helper()
	index := func(list []git.Change) map[git.Change]int {
		m := map[git.Change]int{}
		for _, c := range list {
			m[c]++
		}
		return m
	}
	if diff := cmp.Diff(index(want), index(got)); diff != "" {
		t.Errorf("changes (-want +got):\n%s", diff)
	}
}

func TestStatusKinds(t *testing.T) {
	t.Parallel()
	r := newRepo(t)
	same(t, status(t, r, false), nil)
	write(t, r, "gone.txt", "x\n")
	write(t, r, "staged.txt", "x\n")
	commit(t, r, "second")
	write(t, r, "tracked.txt", "two\n")
	write(t, r, "staged.txt", "y\n")
	write(t, r, "folder/new.txt", "z\n")
	run(t, r, "add", "staged.txt")
	write(t, r, "staged.txt", "z\n")
	if err := os.Remove(filepath.Join(r.Dir, "gone.txt")); err != nil {
		t.Fatal(err)
	}
	tracked := []git.Change{{Path: "gone.txt", Code: " D"}, {Path: "staged.txt", Code: "MM"}, {Path: "tracked.txt", Code: " M"}}
	same(t, status(t, r, false), append(tracked, git.Change{Path: "folder/", Code: "??"}))
	same(t, status(t, r, true), append(tracked, git.Change{Path: "folder/new.txt", Code: "??"}))

	// Paths are relative to the root of the working tree, even if git runs in a subfolder.
	below := r
	below.Dir = filepath.Join(r.Dir, "folder")
	same(t, status(t, below, true), append(tracked, git.Change{Path: "folder/new.txt", Code: "??"}))
}

// TestStatusConflict lists the files of a merge with conflicts.
func TestStatusConflict(t *testing.T) {
	t.Parallel()
	r := newRepo(t)
	run(t, r, "checkout", "--quiet", "-b", "other")
	write(t, r, "tracked.txt", "other\n")
	commit(t, r, "other")
	run(t, r, "checkout", "--quiet", "main")
	write(t, r, "tracked.txt", "ours\n")
	commit(t, r, "ours")
	if _, err := r.Run(t.Context(), "merge", "other"); err == nil {
		t.Fatal("the merge did not stop")
	}
	same(t, status(t, r, false), []git.Change{{Path: "tracked.txt", Code: "UU"}})
}

func TestResolve(t *testing.T) {
	t.Parallel()
	r := newRepo(t)
	head := run(t, r, "rev-parse", "HEAD")
	run(t, r, "tag", "--annotate", "--message", "one", "v1")
	for _, rev := range []string{"main", "HEAD", "v1", head, head[:10], "refs/heads/main", "@"} {
		if got, err := r.Resolve(t.Context(), rev); got != head || err != nil {
			t.Errorf("%s: got %q, %v", rev, got, err)
		}
	}
	for _, rev := range []string{
		"", "none", "-h", "--output=x", "--all", "main...HEAD", "main..", "HEAD:tracked.txt", "HEAD^{tree}", "HEAD~1", strings.Repeat("0", 40), "main\nHEAD",
		"main HEAD", "main\x00", "$(touch marker)", "; touch marker", "../main", strings.Repeat("x", 5000),
	} {
		if got, err := r.Resolve(t.Context(), rev); got != "" || !errors.Is(err, git.ErrNoCommit) {
			t.Errorf("%.20q: got %q, %v", rev, got, err)
		}
	}
}

func TestDiff(t *testing.T) {
	t.Parallel()
	r := newRepo(t)
	base := run(t, r, "rev-parse", "HEAD")
	run(t, r, "checkout", "--quiet", "-b", "work")
	write(t, r, "tracked.txt", "one\ntwo\n")
	write(t, r, "uncommitted.txt", "no part of it\n")
	run(t, r, "add", "tracked.txt")
	run(t, r, "commit", "--quiet", "--message", "second")
	head := run(t, r, "rev-parse", "HEAD")
	run(t, r, "checkout", "--quiet", "main")
	write(t, r, "later.txt", "on main, behind the merge base\n")
	moved := commit(t, r, "main goes on")

	const want = "diff --git a/tracked.txt b/tracked.txt\nindex 5626abf..814f4a4 100755\n--- a/tracked.txt\n+++ b/tracked.txt\n@@ -1 +1,2 @@\n one\n+two\n"
	for _, from := range []string{base, moved} {
		got, truncated, err := r.Diff(t.Context(), from, head, 1<<20)
		if string(got) != want || truncated || err != nil {
			t.Errorf("got %q, %v, %v", got, truncated, err)
		}
	}
	exact, truncated, err := r.Diff(t.Context(), base, head, len(want))
	if string(exact) != want || truncated || err != nil {
		t.Errorf("got %q, %v, %v of as much as there is", exact, truncated, err)
	}
	cut, truncated, err := r.Diff(t.Context(), base, head, len(want)-3)
	if string(cut) != strings.TrimSuffix(want, "+two\n") || !truncated || err != nil {
		t.Errorf("got %q, %v, %v", cut, truncated, err)
	}
	if got, truncated, err := r.Diff(t.Context(), base, head, 3); len(got) > 0 || !truncated || err != nil {
		t.Errorf("got %q, %v, %v of less than a line", got, truncated, err)
	}
	if got, truncated, err := r.Diff(t.Context(), head, head, 10); len(got) > 0 || truncated || err != nil {
		t.Errorf("got %q, %v, %v of no change", got, truncated, err)
	}
}

// TestDiffLarge ends git early when a diff is larger than wanted.
func TestDiffLarge(t *testing.T) {
	t.Parallel()
	r := newRepo(t)
	base := run(t, r, "rev-parse", "HEAD")
	write(t, r, "large.txt", strings.Repeat("a line of a large file\n", 200_000))
	head := commit(t, r, "large")
	got, truncated, err := r.Diff(t.Context(), base, head, 100_000)
	if len(got) > 100_000 || len(got) < 99_000 || !truncated || err != nil || got[len(got)-1] != '\n' {
		t.Errorf("got %d bytes, %v, %v", len(got), truncated, err)
	}
}

// TestErrors checks the errors of commands that fail.
func TestErrors(t *testing.T) {
	t.Parallel()
	r := newRepo(t)
	_, err := r.Run(t.Context(), "checkout", "none")
	failed, ok := errors.AsType[*git.Error](err)
	if !ok || failed.Command != "checkout" || !strings.HasPrefix(err.Error(), "git checkout: error: pathspec 'none' did not match") || strings.Contains(err.Error(), "\n") {
		t.Errorf("got %v", err)
	}
	if _, ok := errors.AsType[*exec.ExitError](err); !ok {
		t.Errorf("got %v, want it to wrap an exit error", err)
	}

	elsewhere := repoAt(t.TempDir())
	if _, err := elsewhere.Status(t.Context(), false); err == nil || !strings.Contains(err.Error(), "not a git repository") {
		t.Errorf("got %v outside of a repository", err)
	}
	if _, err := elsewhere.Resolve(t.Context(), "HEAD"); err == nil || errors.Is(err, git.ErrNoCommit) {
		t.Errorf("got %v outside of a repository", err)
	}
	if _, err := repoAt(filepath.Join(r.Dir, "none")).Status(t.Context(), false); err == nil || !strings.HasPrefix(err.Error(), "git status: ") {
		t.Errorf("got %v where there is no folder", err)
	}

	ctx, cancel := context.WithCancelCause(t.Context())
	cause := errors.New("the caller gave up")
	cancel(cause)
	if _, err := r.Status(ctx, false); !errors.Is(err, cause) {
		t.Errorf("got %v, want %v", err, cause)
	}
}

// TestEmpty uses a repository without a commit.
func TestEmpty(t *testing.T) {
	t.Parallel()
	r := newRepo(t)
	run(t, r, "checkout", "--quiet", "--orphan", "empty")
	same(t, status(t, r, false), []git.Change{{Path: "tracked.txt", Code: "A "}})
	if _, err := r.Resolve(t.Context(), "HEAD"); !errors.Is(err, git.ErrNoCommit) {
		t.Errorf("got %v", err)
	}
}
