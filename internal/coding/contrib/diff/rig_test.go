package diff_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/org/foreman-action/internal/coding/contrib/checkout"
	"github.com/org/foreman-action/internal/coding/contrib/contract"
	"github.com/org/foreman-action/internal/coding/contrib/controller"
	"github.com/org/foreman-action/internal/coding/contrib/diff"
	"github.com/org/foreman-action/internal/coding/contrib/session"
	"github.com/org/foreman-action/internal/coding/contrib/workspace"
)

const issue = "o/r#1"

// A rig is a controller's folder, and a fake GitHub whose repositories are local folders.
type rig struct {
	t        testing.TB
	home     string // home folder with the user's git configuration
	upstream string // working tree from which o/r is made
	session  session.Session
}

func newRig(t testing.TB) *rig {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("there is no git")
	}
	dir := t.TempDir()
	r := &rig{t: t, home: filepath.Join(dir, "home"), upstream: filepath.Join(dir, "github", "o", "r.git")}
	for _, folder := range []string{r.home, r.upstream, filepath.Join(dir, "work")} {
		if err := os.MkdirAll(folder, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	r.session = session.Session{
		Controller: controller.Controller{Root: filepath.Join(dir, "work")},
		Config:     controller.Default(),
		Environ: []string{
			"PATH=" + os.Getenv("PATH"), "HOME=" + r.home, "TMPDIR=" + t.TempDir(),
			"GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=url.file://" + filepath.Join(dir, "github") + "/.insteadOf", "GIT_CONFIG_VALUE_0=https://github.com/",
		},
		Now:    func() time.Time { return time.Date(2026, 6, 4, 0, 0, 0, 0, time.UTC) },
		Report: func(session.Progress) {},
	}
	r.git(r.upstream, "init", "--quiet", "--initial-branch=main", ".")
	r.git(r.upstream, "config", "gc.auto", "0")
	r.git(r.upstream, "config", "maintenance.auto", "false")
	r.write(r.upstream, "README.md", "one\ntwo\n")
	r.commit(r.upstream)
	return r
}

// git runs git for the tests, without the configuration of the user.
func (r *rig) git(dir string, args ...string) string {
	r.t.Helper()
	return r.gitIn(dir, nil, args...)
}

func (r *rig) gitIn(dir string, vars []string, args ...string) string {
	r.t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir = dir
	cmd.Env = append([]string{
		"PATH=" + os.Getenv("PATH"), "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=" + os.DevNull, "GIT_ALLOW_PROTOCOL=file",
		"GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@example.org", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@example.org",
	}, vars...)
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		r.t.Fatalf("git %q: %v: %s", args, err, stderr.String())
	}
	return strings.TrimSpace(string(out))
}

func (r *rig) write(dir, name, content string) {
	r.t.Helper()
	file := filepath.Join(dir, name)
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		r.t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(content), 0o644); err != nil {
		r.t.Fatal(err)
	}
}

func (r *rig) commit(dir string) string {
	r.t.Helper()
	r.git(dir, "add", "--all", "--force")
	r.git(dir, "commit", "--quiet", "--allow-empty", "--message", "change")
	return r.git(dir, "rev-parse", "HEAD")
}

// dir returns the folder of the workspace.
func (r *rig) dir() string { return r.session.Controller.Abs(controller.Paths("o-r-1").Workspace) }

func (r *rig) checkout() contract.Workspace {
	r.t.Helper()
	d, err := checkout.Run(context.Background(), r.session, checkout.Options{Issue: issue})
	if err != nil {
		r.t.Fatal(err)
	}
	return d
}

func (r *rig) diff() contract.Patch {
	r.t.Helper()
	d, err := diff.Run(context.Background(), r.session)
	if err != nil {
		r.t.Fatal(err)
	}
	return d
}

func (r *rig) look() workspace.Facts {
	r.t.Helper()
	ref, files, err := r.session.Active()
	if err != nil {
		r.t.Fatal(err)
	}
	facts, err := workspace.Inspect(context.Background(), r.session, ref, files)
	if err != nil {
		r.t.Fatal(err)
	}
	return facts
}
