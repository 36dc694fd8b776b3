package workspace_test

import (
	"bufio"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/org/foreman-action/internal/coding/build/workspace"
)

// BenchmarkStart makes the folder in which an agent works, in a checkout with a large history: a worktree,
// as git makes it, or Foreman's repository of a run and a clone. It reports the disk space of both without
// the files.
func BenchmarkStart(b *testing.B) {
	megabytes := 1000
	if testing.Short() {
		megabytes = 10
	}
	root := history(b, megabytes)
	dir := b.TempDir()
	git := func(args ...string) {
		cmd := exec.CommandContext(b.Context(), "git", append([]string{"-C", root}, args...)...)
		cmd.Env = environ()
		if out, err := cmd.CombinedOutput(); err != nil {
			b.Fatalf("%v: %s", err, out)
		}
	}
	files := workspace.Size(root) - workspace.Size(filepath.Join(root, ".git"))
	b.Run("worktree", func(b *testing.B) {
		to := filepath.Join(dir, "worktree")
		for b.Loop() {
			git("worktree", "add", "--quiet", "--force", "-B", "foreman/w", to, "main")
			b.StopTimer()
			b.ReportMetric(float64(workspace.Size(to)-files)/1e6, "MB")
			git("worktree", "remove", "--force", to)
			b.StartTimer()
		}
	})
	b.Run("clone", func(b *testing.B) {
		to := filepath.Join(dir, "run")
		for b.Loop() {
			checkout, err := workspace.Open(b.Context(), root, environ())
			if err != nil {
				b.Fatal(err)
			}
			commit, branch, err := checkout.Base(b.Context(), "main")
			if err != nil {
				b.Fatal(err)
			}
			if err := os.MkdirAll(to, 0o700); err != nil {
				b.Fatal(err)
			}
			repo, err := workspace.NewRepository(b.Context(), checkout, workspace.Options{Dir: to, Branch: "foreman/c", Commit: commit, Base: branch})
			if err != nil {
				b.Fatal(err)
			}
			if _, err := workspace.NewClone(b.Context(), repo, "builder", workspace.Steering{}); err != nil {
				b.Fatal(err)
			}
			b.StopTimer()
			b.ReportMetric(float64(workspace.Size(to)-files)/1e6, "MB")
			if err := workspace.Remove(to); err != nil {
				b.Fatal(err)
			}
			b.StartTimer()
		}
	})
}

// history makes a checkout of 200 files, with a history of random files of 1 MB each that were removed
// again.
func history(b *testing.B, megabytes int) string {
	b.Helper()
	root := b.TempDir()
	cmd := exec.CommandContext(b.Context(), "sh", "-e", "-c", "git init -q -b main .; git config core.compression 0; git fast-import --quiet; git checkout -q main")
	cmd.Dir, cmd.Env = root, environ()
	in, err := cmd.StdinPipe()
	if err != nil {
		b.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		b.Fatal(err)
	}
	w := bufio.NewWriter(in)
	random := rand.NewChaCha8([32]byte{})
	blob := make([]byte, 1<<20)
	commit := func(n int) {
		fmt.Fprintf(w, "commit refs/heads/main\ncommitter A <a@example.org> %d +0000\ndata 1\nx\n", n)
	}
	for n := range megabytes {
		_, _ = random.Read(blob) // never fails
		commit(n)
		fmt.Fprintf(w, "M 644 inline large/%d\ndata %d\n%s\n", n, len(blob), blob)
	}
	commit(megabytes)
	fmt.Fprint(w, "D large\n")
	for n := range 200 {
		fmt.Fprintf(w, "M 644 inline dir%d/file%d\ndata 10240\n%s\n", n%20, n, blob[:10240])
	}
	if err := w.Flush(); err != nil {
		b.Fatal(err)
	}
	if err := in.Close(); err != nil {
		b.Fatal(err)
	}
	if err := cmd.Wait(); err != nil {
		b.Fatal(err)
	}
	return root
}
