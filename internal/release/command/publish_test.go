package command_test

import (
	"bytes"
	"encoding/base64"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/google/go-containerregistry/pkg/authn"
	"github.com/google/go-containerregistry/pkg/registry"

	"github.com/org/foreman-action/internal/release/command"
	"github.com/org/foreman-action/internal/release/entry"
	"github.com/org/foreman-action/internal/release/image"
)

// A stage is a clone with its remote, a registry and what build made.
type stage struct {
	t              *testing.T
	root, out, reg string
	requests       *atomic.Int64 // to the registry
}

func newStage(t *testing.T) stage {
	t.Helper()
	images, requests := registry.New(registry.Logger(log.New(io.Discard, "", 0))), &atomic.Int64{}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		requests.Add(1)
		images.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	s := stage{t, filepath.Join(t.TempDir(), "work"), t.TempDir(), strings.TrimPrefix(server.URL, "http://"), requests}
	s.write(s.root, "CHANGELOG.md", "# Changelog\n\n## [1.2.3] - 2026-01-31\n\n- A thing.\n")
	for _, name := range []string{entry.ContainerFile, entry.SlimFile} {
		text, err := os.ReadFile(filepath.Join("../../..", name))
		if err != nil {
			t.Fatal(err)
		}
		s.write(s.root, name, string(text))
	}
	remote := t.TempDir()
	s.git("init", "-q", "--bare", "-b", "main", remote)
	for _, args := range [][]string{
		{"init", "-q", "-b", "main"}, {"remote", "add", "origin", remote}, {"config", "user.name", "test"},
		{"config", "user.email", "test@example.com"}, {"add", "-A"}, {"commit", "-q", "-m", "prepare"}, {"push", "-q", "origin", "main"},
	} {
		s.git(args...)
	}
	var sums strings.Builder
	for _, platform := range entry.Platforms() {
		sums.WriteString(strings.Repeat("ab", 32) + "  " + entry.File("foreman", platform) + "\n")
	}
	s.write(s.out, "checksums.txt", sums.String())
	for name, spec := range map[string]image.Spec{"foreman-action": image.Action(), "foremand": image.Server()} {
		for _, platform := range image.Platforms() {
			s.write(s.out, "programs/"+entry.File(spec.Program, platform), platform)
		}
		digest, err := image.Write(filepath.Join(s.out, "images", name), spec, image.Release{Version: "v1.2.3"}, image.Platforms(), filepath.Join(s.out, "programs"))
		if err != nil {
			t.Fatal(err)
		}
		s.write(s.out, "images/"+name+".digest", digest)
	}
	return s
}

func (s stage) write(dir, name, text string) {
	s.t.Helper()
	path := filepath.Join(dir, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		s.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		s.t.Fatal(err)
	}
}

func (s stage) git(args ...string) string {
	s.t.Helper()
	cmd := exec.CommandContext(s.t.Context(), "git", args...)
	cmd.Dir = s.root
	out, err := cmd.CombinedOutput()
	if err != nil {
		s.t.Fatalf("git %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return strings.TrimSpace(string(out))
}

// run runs a command for a tag, as the workflow does.
func (s stage) run(tag, name string, flags ...string) (string, error) {
	var out bytes.Buffer
	getenv := func(name string) string {
		return map[string]string{"GITHUB_REPOSITORY": "Octo-Org/foreman-action", "GITHUB_ACTOR": "octo", "GITHUB_TOKEN": "example"}[name]
	}
	args := append([]string{name, "-root", s.root, "-out", s.out, "-registry", s.reg, "-sums", filepath.Join(s.out, "checksums.txt")}, flags...)
	err := command.Run(s.t.Context(), command.Env{Getenv: getenv, Stdout: &out, Stderr: &out}, append(args, tag))
	return out.String(), err
}

// The steps of the workflow, in their order, on a real repository and a real registry.
func TestRelease(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	if out, err := s.run("v1.2.3", "check"); err != nil {
		t.Fatalf("check: %v\n%s", err, out)
	}
	if out, err := s.run("v1.2.3", "notes"); err != nil || out != "- A thing.\n" {
		t.Errorf("notes: got %q and the error %v", out, err)
	}
	written, err := os.ReadFile(filepath.Join(s.out, "images", "foreman-action.digest"))
	if err != nil {
		t.Fatal(err)
	}
	digest := string(written)

	// The registry does not have the image yet.
	before := s.git("ls-remote", "origin")
	commit, err := s.run("v1.2.3", "commit")
	if err != nil {
		t.Fatalf("commit: %v\n%s", err, commit)
	}
	if out, err := s.run("v1.2.3", "tag", "-digest", digest); err == nil || !strings.Contains(err.Error(), "cannot be pulled without a login") {
		t.Errorf("tag before the push: got %q and the error %v", out, err)
	}
	if out, err := s.run("v1.2.3", "move"); err == nil {
		t.Errorf("move before the tag: got %q", out)
	}
	if got := s.git("ls-remote", "origin") + s.git("tag"); got != before {
		t.Errorf("a refused release pushed something: %s", got)
	}

	out, err := s.run("v1.2.3", "push")
	if err != nil || strings.TrimSpace(out) != digest {
		t.Fatalf("push: got %q and the error %v, want %s", out, err, digest)
	}
	if out, err := s.run("v1.2.3", "tag", "-digest", digest); err != nil {
		t.Fatalf("tag: %v\n%s", err, out)
	}
	if tagged := s.git("rev-parse", "v1.2.3"); tagged+"\n" != commit {
		t.Errorf("the tag is at %s, and commit printed %s", tagged, commit)
	}
	want := "image: docker://" + s.reg + "/octo-org/foreman-action@" + digest
	if text := s.git("show", "v1.2.3:action.yml"); !strings.Contains(text, want) {
		t.Errorf("got action.yml\n%s\nwant %q in it", text, want)
	}
	if out, err := s.run("v1.2.3", "move"); err != nil || out != "v1 is at v1.2.3\nv1.2 is at v1.2.3\n" {
		t.Errorf("move: got %q and the error %v", out, err)
	}
	if out, err := s.run("v1.2.3", "latest"); err != nil || out != "true\n" {
		t.Errorf("latest: got %q and the error %v", out, err)
	}
	refs := s.git("ls-remote", "--tags", "origin")
	for _, name := range []string{"v1", "v1.2", "v1.2.3"} {
		if !strings.Contains(refs, s.git("rev-parse", "v1.2.3")+"\trefs/tags/"+name) {
			t.Errorf("%s is not at the release:\n%s", name, refs)
		}
	}
}

// A release that check refuses pushes no image.
func TestPushRefused(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, tag string
		change    func(stage)
		want      string
	}{
		{"no version", "v1.2", func(stage) {}, `tag "v1.2" is no version: want vX.Y.Z`},
		{"no changelog entry", "v1.2.4", func(stage) {}, `no section for 1.2.4: add "## [1.2.4] - YYYY-MM-DD"`},
		{"changed tree", "v1.2.3", func(s stage) { s.write(s.root, "new", "x") }, "the tree has changes: commit or remove them"},
		{"commit not pushed", "v1.2.3", func(s stage) { s.git("commit", "-q", "--allow-empty", "-m", "more") }, "push it, or check out the branch"},
		{"another branch", "v1.2.3", func(s stage) {
			s.git("checkout", "-q", "-b", "topic")
			s.git("commit", "-q", "--allow-empty", "-m", "more")
			s.git("push", "-q", "origin", "topic")
		}, "is not the newest of main"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s := newStage(t)
			tt.change(s)
			out, err := s.run(tt.tag, "push")
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %q and the error %v, want %q in it", out, err, tt.want)
			}
			if n := s.requests.Load(); n != 0 {
				t.Errorf("the registry got %d requests, want none", n)
			}
		})
	}
}

// Another branch is released when -branch names it.
func TestBranch(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.git("checkout", "-q", "-b", "fixes")
	s.git("commit", "-q", "--allow-empty", "-m", "more")
	s.git("push", "-q", "origin", "fixes")
	if out, err := s.run("v1.2.3", "check"); err == nil {
		t.Errorf("got %q, want an error", out)
	}
	if out, err := s.run("v1.2.3", "check", "-branch", "fixes"); err != nil {
		t.Errorf("got %q and the error %v", out, err)
	}
}

// An image that can be pulled is not tagged when another run built it.
func TestTagOfAnotherBuild(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	if out, err := s.run("v1.2.3", "push"); err != nil {
		t.Fatalf("push: %v\n%s", err, out)
	}
	other := filepath.Join(t.TempDir(), "other")
	digest, err := image.Write(other, image.Action(), image.Release{Version: "v1.2.2"}, image.Platforms(), filepath.Join(s.out, "programs"))
	if err != nil {
		t.Fatal(err)
	}
	if err := (image.Registry{}).Push(t.Context(), other, s.reg+"/octo-org/foreman-action", "v1.2.2", authn.Anonymous); err != nil {
		t.Fatal(err)
	}
	out, err := s.run("v1.2.3", "tag", "-digest", digest)
	if err == nil || !strings.Contains(err.Error(), "-digest "+digest+": the image of this run has the digest sha256:") {
		t.Errorf("got %q and the error %v", out, err)
	}
	if tags := s.git("ls-remote", "--tags", "origin"); tags != "" {
		t.Errorf("the remote has the tags %s", tags)
	}
}

// git sends the token of a step to the server of the repository, and to no other.
func TestLogin(t *testing.T) {
	t.Parallel()
	var logins sync.Map // by path
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		logins.Store(strings.Split(r.URL.Path, "/")[1], r.Header.Get("Authorization"))
		http.NotFound(w, r)
	}))
	t.Cleanup(server.Close)
	s := newStage(t)
	for name, address := range map[string]string{"own": server.URL, "other": "https://github.example"} {
		s.git("remote", "add", name, server.URL+"/"+name)
		if out, err := s.run("v1.2.3", "check", "-remote", name, "-server", address); err == nil {
			t.Errorf("got %q, want an error", out)
		}
	}
	want := "Basic " + base64.StdEncoding.EncodeToString([]byte("x-access-token:example"))
	if login, _ := logins.Load("own"); login != want {
		t.Errorf("the own server got the login %q, want %q", login, want)
	}
	if login, asked := logins.Load("other"); !asked || login != "" {
		t.Errorf("another server got the login %q", login)
	}
}

// A missing list of checksums is reported beside all other mistakes.
func TestTagReportsAll(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.write(s.root, "new", "x")
	out, err := s.run("v1.2.4", "tag", "-digest", "latest", "-sums", filepath.Join(s.out, "none"))
	if err == nil {
		t.Fatalf("got %q, want an error", out)
	}
	for _, want := range []string{"none: no such file", "no section for 1.2.4", "?? new", `image digest "latest"`, "foreman-darwin-arm64"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("got the error\n%v\nwant %q in it", err, want)
		}
	}
}

func TestUsage(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{nil, {"deploy"}, {"check"}, {"check", "v1.2.3", "v1.2.4"}, {"inspect", "v1.2.3"}, {"build", "-platforms", "plan9-amd64"}, {"check", "-unknown", "v1.2.3"}} {
		env := command.Env{Getenv: func(string) string { return "" }, Stdout: io.Discard, Stderr: io.Discard}
		if err := command.Run(t.Context(), env, args); err == nil {
			t.Errorf("%q: want an error", args)
		}
	}
}
