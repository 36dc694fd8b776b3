package tagging_test

import (
	"context"
	"errors"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/org/foreman-action/internal/release/entry"
	"github.com/org/foreman-action/internal/release/tagging"
	"github.com/org/foreman-action/internal/release/version"
)

var update = flag.Bool("update", false, "rewrite the golden files in testdata")

// A clone is a repository with the real action.yml and slim/action.yml, and its remote.
type clone struct {
	t           *testing.T
	dir, remote string
}

func newClone(t *testing.T) clone {
	t.Helper()
	root := t.TempDir()
	c := clone{t, filepath.Join(root, "work"), filepath.Join(root, "remote")}
	for _, dir := range []string{c.dir, c.remote} {
		if err := os.Mkdir(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	c.git(c.remote, "init", "-q", "--bare", "-b", "main")
	c.git(c.dir, "init", "-q", "-b", "main")
	c.git(c.dir, "remote", "add", "origin", "../remote")
	c.git(c.dir, "config", "user.name", "test")
	c.git(c.dir, "config", "user.email", "test@example.com")
	for _, name := range []string{entry.ContainerFile, entry.SlimFile} {
		text, err := os.ReadFile(filepath.Join("../../..", name))
		if err != nil {
			t.Fatal(err)
		}
		c.write(name, string(text))
	}
	c.release("1.2.3")
	return c
}

// copy returns a copy of the clone and its remote.
func (c clone) copy(t *testing.T) clone {
	t.Helper()
	root := t.TempDir()
	if err := os.CopyFS(root, os.DirFS(filepath.Dir(c.dir))); err != nil {
		t.Fatal(err)
	}
	return clone{t, filepath.Join(root, "work"), filepath.Join(root, "remote")}
}

// release commits a changelog with a section for a version, and pushes it.
func (c clone) release(v string) {
	c.t.Helper()
	c.write("CHANGELOG.md", "# Changelog\n\n## [Unreleased]\n\n## ["+v+"] - 2026-01-31\n\n- A thing.\n")
	c.git(c.dir, "add", "-A")
	c.git(c.dir, "commit", "-q", "-m", "prepare "+v)
	c.git(c.dir, "push", "-q", "origin", "main")
}

func (c clone) write(name, text string) {
	c.t.Helper()
	path := filepath.Join(c.dir, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		c.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		c.t.Fatal(err)
	}
}

func (c clone) git(dir string, args ...string) string {
	c.t.Helper()
	cmd := exec.CommandContext(c.t.Context(), "git", args...)
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	if err != nil {
		c.t.Fatalf("git %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return strings.TrimSpace(string(out))
}

// state is all that a release may change: branch, tags here and there, and files.
func (c clone) state() string {
	return c.git(c.dir, "show-ref", "--head") + "\n--\n" + c.git(c.dir, "ls-remote", "origin") + "\n--\n" +
		c.git(c.dir, "status", "--porcelain", "--untracked-files=all")
}

func (c clone) repository() tagging.Repository {
	return tagging.Repository{Dir: c.dir, Remote: "origin", Branch: "main"}
}

var digest = "sha256:" + strings.Repeat("12", 32)

func pins(known ...string) tagging.Pins {
	sums := map[string]string{}
	for _, platform := range entry.Platforms() {
		sums[entry.File("foreman", platform)] = strings.Repeat("ab", 32)
	}
	return tagging.Pins{
		Repository: "Octo-Org/foreman-action", Server: "https://github.com", Registry: "ghcr.io", Digest: digest, Sums: sums,
		Exists: func(_ context.Context, image, digest string) error {
			if !slices.Contains(known, image+"@"+digest) {
				return errors.New("image " + image + "@" + digest + " does not exist")
			}
			return nil
		},
	}
}

var published = "ghcr.io/octo-org/foreman-action@" + digest

func TestTag(t *testing.T) {
	t.Parallel()
	c := newClone(t)
	head := c.git(c.dir, "rev-parse", "HEAD")
	commit, err := c.repository().Tag(t.Context(), "v1.2.3", pins(published))
	if err != nil {
		t.Fatal(err)
	}
	if got := c.git(c.remote, "rev-parse", "v1.2.3"); got != commit {
		t.Errorf("the remote's tag is %s, want %s", got, commit)
	}
	if got := c.git(c.dir, "rev-parse", "v1.2.3^"); got != head {
		t.Errorf("the parent is %s, want %s", got, head)
	}
	if got := c.git(c.dir, "diff", "--name-only", "HEAD", "v1.2.3"); got != "action.yml\nslim/action.yml" {
		t.Errorf("the release changes %q", got)
	}
	if text := c.git(c.dir, "show", "v1.2.3:action.yml"); !strings.Contains(text, "\n  image: docker://"+published+"\n") {
		t.Errorf("got action.yml\n%s", text)
	}
	want := "FOREMAN_DOWNLOAD: \"https://github.com/Octo-Org/foreman-action/releases/download/v1.2.3\""
	if text := c.git(c.dir, "show", "v1.2.3:slim/action.yml"); !strings.Contains(text, want) {
		t.Errorf("got slim/action.yml\n%s", text)
	}
	// The branch, here and there, and the files are as before.
	for _, dir := range []string{c.dir, c.remote} {
		if got := c.git(dir, "rev-parse", "main"); got != head {
			t.Errorf("main moved to %s", got)
		}
		if got := c.git(dir, "tag"); got != "v1.2.3" {
			t.Errorf("got the tags %q: v1 moves later", got)
		}
	}
	if got := c.git(c.dir, "status", "--porcelain"); got != "" {
		t.Errorf("the files changed: %s", got)
	}
}

// The commit of a release names its repository in the documentation, and lacks what holds until the
// first release; nothing is tagged or pushed
// before Tag makes the same commit.
func TestCommit(t *testing.T) {
	t.Parallel()
	c := newClone(t)
	const unreleased = "<!-- until the first release -->\nWrite `uses: YOU/foreman-action@main`.\n\n<!-- /until the first release -->\n\n"
	const page = "Write `uses: org/foreman-action@v1`, or\ngo install github.com/org/foreman-action/cmd/foreman@latest\n"
	for _, name := range []string{"README.md", "docs/guides/agent.md", "docs/notes.txt", "internal/README.md"} {
		c.write(name, unreleased+page)
	}
	c.write("docs/other.md", "Nothing.\n")
	c.git(c.dir, "add", "-A")
	c.git(c.dir, "commit", "-q", "-m", "docs")
	c.git(c.dir, "push", "-q", "origin", "main")
	before := c.state()
	p := pins()
	if commit, err := c.repository().Commit(t.Context(), "v1.2.3", p); err == nil {
		t.Errorf("got the commit %s without an image", commit)
	}
	p.Exists = nil
	commit, err := c.repository().Commit(t.Context(), "v1.2.3", p)
	if err != nil {
		t.Fatal(err)
	}
	if c.state() != before {
		t.Error("the commit changed something")
	}
	if got := c.git(c.dir, "diff", "--name-only", "HEAD", commit); got != "README.md\naction.yml\ndocs/guides/agent.md\nslim/action.yml" {
		t.Errorf("the release changes %q", got)
	}
	want := strings.Replace(page, "uses: org/", "uses: Octo-Org/", 1)
	if got := c.git(c.dir, "show", commit+":docs/guides/agent.md"); got != strings.TrimSpace(want) {
		t.Errorf("got the page %q, want %q", got, want)
	}
	if tagged, err := c.repository().Tag(t.Context(), "v1.2.3", pins(published)); err != nil || tagged != commit {
		t.Errorf("got the tag at %s and the error %v, want %s", tagged, err, commit)
	}
}

// The files for deployments name the image and the version of the release: testdata has the lines that
// a release of this repository's files changes.
func TestCommitDeploys(t *testing.T) {
	t.Parallel()
	c := newClone(t)
	if err := os.CopyFS(filepath.Join(c.dir, entry.DeployFolder), os.DirFS(filepath.Join("../../..", entry.DeployFolder))); err != nil {
		t.Fatal(err)
	}
	c.git(c.dir, "add", "-A")
	c.git(c.dir, "commit", "-q", "-m", "deploy")
	c.git(c.dir, "push", "-q", "origin", "main")
	p := pins()
	p.Exists = nil
	commit, err := c.repository().Commit(t.Context(), "v1.2.3", p)
	if err != nil {
		t.Fatal(err)
	}
	var got strings.Builder
	for line := range strings.Lines(c.git(c.dir, "diff", "--unified=0", "--no-color", "HEAD", commit, "--", entry.DeployFolder)) {
		if strings.HasPrefix(line, "-") || strings.HasPrefix(line, "+") {
			got.WriteString(strings.TrimSpace(line) + "\n")
		}
	}
	const golden = "testdata/deploy.diff"
	if *update {
		if err := os.WriteFile(golden, []byte(got.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got.String()); diff != "" {
		t.Errorf("%s (-want +got):\n%s", golden, diff)
	}
	// git grep ends with 1 if it finds nothing.
	left, err := exec.CommandContext(t.Context(), "git", "-C", c.dir, "grep", "-E", "ghcr.io/org/|github.com/org/", commit, "--", entry.DeployFolder).Output()
	if exit, ok := errors.AsType[*exec.ExitError](err); !ok || exit.ExitCode() != 1 {
		t.Errorf("the release still names the default repository: %v\n%s", err, left)
	}
}

// Files on the disk that git does not compare with the commit take no part in a release.
func TestTagReadsCommit(t *testing.T) {
	t.Parallel()
	c := newClone(t)
	for _, name := range []string{entry.ContainerFile, entry.SlimFile, "CHANGELOG.md"} {
		c.git(c.dir, "update-index", "--assume-unchanged", name)
		text, err := os.ReadFile(filepath.Join(c.dir, name))
		if err != nil {
			t.Fatal(err)
		}
		c.write(name, string(text)+"# on the disk only\n")
	}
	c.write("CHANGELOG.md", "")
	if _, err := c.repository().Tag(t.Context(), "v1.2.3", pins(published)); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{entry.ContainerFile, entry.SlimFile} {
		if diff := c.git(c.dir, "diff", "v1.2.3^", "v1.2.3", "--", name); diff == "" || strings.Contains(diff, "on the disk") {
			t.Errorf("got the changes\n%s\nwant the pins alone", diff)
		}
	}
	notes, err := c.repository().Notes(t.Context(), "HEAD", version.Version{Major: 1, Minor: 2, Patch: 3})
	if err != nil || notes != "- A thing.\n" {
		t.Errorf("got the notes %q and the error %v", notes, err)
	}
}

// The same release makes the same commit wherever it is made.
func TestTagAgain(t *testing.T) {
	t.Parallel()
	c := newClone(t)
	first, err := c.repository().Tag(t.Context(), "v1.2.3", pins(published))
	if err != nil {
		t.Fatal(err)
	}
	before := c.state()
	if _, err := c.repository().Tag(t.Context(), "v1.2.3", pins(published)); err == nil || !strings.Contains(err.Error(), "exists") {
		t.Errorf("got the error %v, want that the tag exists", err)
	}
	if c.state() != before {
		t.Error("a refused release changed something")
	}
	c.git(c.dir, "push", "-q", "origin", ":refs/tags/v1.2.3")
	c.git(c.dir, "tag", "-d", "v1.2.3")
	second, err := c.repository().Tag(t.Context(), "v1.2.3", pins(published))
	if err != nil || second != first {
		t.Errorf("got %s and the error %v, want %s again", second, err, first)
	}
}

func TestRefused(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name   string
		tag    string
		change func(clone, *tagging.Pins)
		want   []string
	}{
		{"no version", "release", func(clone, *tagging.Pins) {}, []string{`tag "release" is no version`}},
		{"an option", "--delete", func(clone, *tagging.Pins) {}, []string{`is no version`}},
		{"no changelog entry", "v1.2.4", func(clone, *tagging.Pins) {}, []string{"no section for 1.2.4"}},
		{"changed file", "v1.2.3", func(c clone, _ *tagging.Pins) { c.write("action.yml", "x") },
			[]string{"the tree has changes"}},
		{"no Dockerfile", "v1.2.3", func(c clone, _ *tagging.Pins) {
			c.write("action.yml", "x")
			c.git(c.dir, "commit", "-q", "-a", "-m", "break")
		}, []string{"is not the newest of main", "action.yml: want one line image: Dockerfile"}},
		{"new file", "v1.2.3", func(c clone, _ *tagging.Pins) { c.write("new", "x") }, []string{"?? new"}},
		{"commit not pushed", "v1.2.3", func(c clone, _ *tagging.Pins) { c.git(c.dir, "commit", "-q", "--allow-empty", "-m", "more") },
			[]string{"is not the newest of main"}},
		{"another branch", "v1.2.3", func(c clone, _ *tagging.Pins) {
			c.git(c.dir, "checkout", "-q", "-b", "topic")
			c.git(c.dir, "commit", "-q", "--allow-empty", "-m", "more")
			c.git(c.dir, "push", "-q", "origin", "topic")
		}, []string{"is not the newest of main, which is "}},
		{"an older commit", "v1.2.3", func(c clone, _ *tagging.Pins) {
			c.git(c.dir, "commit", "-q", "--allow-empty", "-m", "more")
			c.git(c.dir, "push", "-q", "origin", "main")
			c.git(c.dir, "checkout", "-q", "--detach", "HEAD^")
		}, []string{"is not the newest of main, which is "}},
		{"tag in the clone", "v1.2.3", func(c clone, _ *tagging.Pins) { c.git(c.dir, "tag", "v1.2.3") }, []string{"exists in this clone"}},
		{"tag at the remote", "v1.2.3", func(c clone, _ *tagging.Pins) { c.git(c.dir, "push", "-q", "origin", "main:refs/tags/v1.2.3") },
			[]string{"exists at origin"}},
		{"no remote", "v1.2.3", func(c clone, _ *tagging.Pins) {
			c.git(c.dir, "remote", "set-url", "origin", filepath.Join(c.dir, "none"))
		},
			[]string{"list the tags of origin"}},
		{"no digest", "v1.2.3", func(_ clone, p *tagging.Pins) { p.Digest = "latest" }, []string{`image digest "latest"`}},
		{"unknown digest", "v1.2.3", func(_ clone, p *tagging.Pins) { p.Digest = "sha256:" + strings.Repeat("99", 32) },
			[]string{"9999 does not exist"}},
		{"no owner", "v1.2.3", func(_ clone, p *tagging.Pins) { p.Repository = "" }, []string{"want owner/name"}},
		{"no server", "v1.2.3", func(_ clone, p *tagging.Pins) { p.Server = "" }, []string{`server ""`}},
		{"a platform is missing", "v1.2.3", func(_ clone, p *tagging.Pins) { delete(p.Sums, "foreman-darwin-arm64") },
			[]string{"no checksum of foreman-darwin-arm64"}},
		{"everything at once", "1.2", func(c clone, p *tagging.Pins) {
			c.write("new", "x")
			p.Digest, p.Repository, p.Sums = "", "x", nil
		}, []string{"is no version", "?? new", "image digest", "want owner/name", "foreman-linux-amd64", "foreman-windows-arm64.exe"}},
		{"changelog and digest at once", "v2.0.0", func(_ clone, p *tagging.Pins) { p.Digest = "sha256:" + strings.Repeat("99", 32) },
			[]string{"no section for 2.0.0", "does not exist"}},
	}
	base := newClone(t)
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			c := base.copy(t)
			p := pins(published)
			tt.change(c, &p)
			before := ""
			if tt.name != "no remote" {
				before = c.state()
			}
			commit, err := c.repository().Tag(t.Context(), tt.tag, p)
			if err == nil {
				t.Fatalf("got the commit %s, want an error", commit)
			}
			for _, want := range tt.want {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("got the error\n%v\nwant %q in it", err, want)
				}
			}
			if before != "" && c.state() != before {
				t.Errorf("a refused release changed something:\n%s\nbefore:\n%s", c.state(), before)
			}
		})
	}
}

// Another branch is released when it is named.
func TestBranch(t *testing.T) {
	t.Parallel()
	c := newClone(t)
	c.git(c.dir, "push", "-q", "origin", "main:v1.2-fixes")
	c.git(c.dir, "commit", "-q", "--allow-empty", "-m", "more")
	c.git(c.dir, "push", "-q", "origin", "main")
	c.git(c.dir, "checkout", "-q", "--detach", "HEAD^")
	r := c.repository()
	r.Branch = "v1.2-fixes"
	if _, err := r.Check(t.Context(), "v1.2.3"); err != nil {
		t.Error(err)
	}
	r.Branch = "none"
	if _, err := r.Check(t.Context(), "v1.2.3"); err == nil || !strings.Contains(err.Error(), `origin has no branch "none"`) {
		t.Errorf("got the error %v", err)
	}
}

// A remote that refuses the tag leaves this clone without it.
func TestPushRefused(t *testing.T) {
	t.Parallel()
	c := newClone(t)
	hook := filepath.Join(c.remote, "hooks", "pre-receive")
	if err := os.WriteFile(hook, []byte("#!/bin/sh\necho protected >&2\nexit 1\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	before := c.state()
	if _, err := c.repository().Tag(t.Context(), "v1.2.3", pins(published)); err == nil || !strings.Contains(err.Error(), "protected") {
		t.Errorf("got the error %v, want that of the remote", err)
	}
	if c.state() != before {
		t.Error("the refused push left something behind")
	}
}

func TestMove(t *testing.T) {
	t.Parallel()
	c := newClone(t)
	move := func(tag string, want ...string) {
		t.Helper()
		got, err := c.repository().Move(t.Context(), tag)
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("%s: got %q and the error %v, want %q", tag, got, err, want)
		}
		for _, name := range want {
			for _, dir := range []string{c.dir, c.remote} {
				if c.git(dir, "rev-parse", name) != c.git(c.dir, "rev-parse", tag) {
					t.Errorf("%s in %s is not at %s", name, dir, tag)
				}
			}
		}
	}
	if _, err := c.repository().Move(t.Context(), "v1.2.3"); err == nil || !strings.Contains(err.Error(), "has no tag v1.2.3") {
		t.Errorf("got the error %v, want that there is no tag", err)
	}
	tag := func(v string) {
		t.Helper()
		if _, err := c.repository().Tag(t.Context(), v, pins(published)); err != nil {
			t.Fatal(err)
		}
	}
	tag("v1.2.3")
	move("v1.2.3", "v1", "v1.2")
	move("v1.2.3")
	c.release("1.3.0")
	tag("v1.3.0")
	move("v1.3.0", "v1", "v1.3")
	c.release("1.2.4")
	tag("v1.2.4")
	move("v1.2.4", "v1.2")
	if c.git(c.remote, "rev-parse", "v1") != c.git(c.dir, "rev-parse", "v1.3.0") {
		t.Error("v1 left the newest version")
	}
}

// An older line does not become the latest release, and the newest one does.
func TestLatest(t *testing.T) {
	t.Parallel()
	c := newClone(t)
	if latest, err := c.repository().Latest(t.Context(), "v1.2.3"); err == nil || !strings.Contains(err.Error(), "has no tag v1.2.3") {
		t.Errorf("without a tag: got %v and the error %v", latest, err)
	}
	for _, tag := range []string{"v1.2.3", "v1.3.0", "v1.2.4", "v1.10.0"} {
		c.git(c.dir, "push", "-q", "origin", "main:refs/tags/"+tag)
		want := tag != "v1.2.4"
		if latest, err := c.repository().Latest(t.Context(), tag); err != nil || latest != want {
			t.Errorf("%s: got %v and the error %v, want %v", tag, latest, err, want)
		}
	}
}

// A tag with a message, made by hand, moves as any other.
func TestMoveAnnotated(t *testing.T) {
	t.Parallel()
	c := newClone(t)
	c.git(c.dir, "tag", "-a", "-m", "by hand", "v1", "HEAD")
	c.git(c.dir, "push", "-q", "origin", "v1")
	if _, err := c.repository().Tag(t.Context(), "v1.2.3", pins(published)); err != nil {
		t.Fatal(err)
	}
	if moved, err := c.repository().Move(t.Context(), "v1.2.3"); err != nil || !slices.Equal(moved, []string{"v1", "v1.2"}) {
		t.Fatalf("got %q and the error %v", moved, err)
	}
	for _, dir := range []string{c.dir, c.remote} {
		if c.git(dir, "rev-parse", "v1^{commit}") != c.git(c.dir, "rev-parse", "v1.2.3") {
			t.Errorf("v1 in %s is not at the release", dir)
		}
	}
}

// A tag of a version that pins nothing, made by hand, gets neither v1 nor v1.2.
func TestMoveUnpinned(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{{"tag", "v1.2.3"}, {"tag", "-a", "-m", "by hand", "v1.2.3"}} {
		c := newClone(t)
		c.git(c.dir, args...)
		c.git(c.dir, "push", "-q", "origin", "v1.2.3")
		before := c.state()
		moved, err := c.repository().Move(t.Context(), "v1.2.3")
		if err == nil || !strings.Contains(err.Error(), "v1.2.3 is no release: action.yml names the image") || !strings.Contains(err.Error(), "FOREMAN_LINUX_AMD64") {
			t.Errorf("%q: got %q and the error %v", args, moved, err)
		}
		if c.state() != before {
			t.Errorf("%q: a refused move changed something", args)
		}
	}
}
