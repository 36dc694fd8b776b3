package e2e

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestAct runs a workflow under act, once for each action. With a Docker engine, "uses: ./" builds
// the container. "uses: ./slim" downloads the program and needs no engine. The test does not run
// in parallel, so that the builder's cache contains the layers that the next test needs.
func TestAct(t *testing.T) {
	t.Run("slim", actSlim)
	t.Run("container", func(t *testing.T) {
		needEngine(t)
		actDocker(t)
	})
}

func actDocker(t *testing.T) {
	_, jobImage := images(t)
	tagDefault(t, builder(t))
	project := newProject(t)
	project.copyTree(root)
	project.copy("testdata/act/docker.yml", ".github/workflows/triage.yml")
	project.commit()
	project.act("ubuntu-latest="+jobImage, bridge(t))
}

// defaultImage matches the name of the base image in the Dockerfile. act cannot replace this
// image, because it passes no build arguments.
var defaultImage = regexp.MustCompile(`(?m)^ARG GO_IMAGE=(\S+)$`)

// tagDefault tags a local image with the name of the Dockerfile's base image until the test ends.
// It does nothing if an image with this name exists.
func tagDefault(t *testing.T, base string) {
	t.Helper()
	found := defaultImage.FindSubmatch(read(t, root, "Dockerfile"))
	if found == nil {
		t.Fatal("the Dockerfile has no default GO_IMAGE")
	}
	name := string(found[1])
	if exec.CommandContext(t.Context(), "docker", "image", "inspect", name).Run() == nil {
		return
	}
	output(t, ".", "docker", "tag", base, name)
	t.Cleanup(func() { clean(t, "image", "rm", name) })
}

// clean runs a docker command after the test's own context has ended.
func clean(t *testing.T, args ...string) {
	if out, err := exec.Command("docker", args...).CombinedOutput(); err != nil {
		t.Logf("docker %s: %v\n%s", strings.Join(args, " "), err, out)
	}
}

// A project is a repository with a workflow, as act wants it.
type project struct {
	t   *testing.T
	dir string
}

func newProject(t *testing.T) project {
	t.Helper()
	p := project{t, t.TempDir()}
	p.copy("testdata/foreman.yml", ".github/foreman.yml")
	return p
}

// path returns the path of a file of the project and makes its folder.
func (p project) path(name string) string {
	p.t.Helper()
	path := filepath.Join(p.dir, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		p.t.Fatal(err)
	}
	return path
}

func (p project) copy(from, to string) {
	p.t.Helper()
	if err := os.WriteFile(p.path(to), read(p.t, from), 0o644); err != nil {
		p.t.Fatal(err)
	}
}

// unused matches files that .dockerignore excludes. They are not copied, because act would read
// each of them several times.
var unused = regexp.MustCompile(`^(docs|site)/|(^|/)testdata/|_test\.go$`)

// copyTree copies the tracked and untracked files of this repository. It skips ignored files,
// .github and unused files.
func (p project) copyTree(dir string) {
	p.t.Helper()
	files := strings.Fields(output(p.t, dir, "git", "ls-files", "-co", "--exclude-standard"))
	for _, name := range files {
		from := filepath.Join(dir, name)
		if info, err := os.Lstat(from); err != nil || !info.Mode().IsRegular() || strings.HasPrefix(name, ".github/") || unused.MatchString(name) {
			continue
		}
		p.copy(from, name)
	}
}

func (p project) commit() {
	p.t.Helper()
	git := func(args ...string) {
		p.t.Helper()
		output(p.t, p.dir, "git", append([]string{"-c", "user.name=test", "-c", "user.email=test@example.com"}, args...)...)
	}
	git("init", "-q", "-b", "main")
	git("remote", "add", "origin", "https://github.com/"+repo)
	git("add", "-A")
	git("commit", "-q", "-m", "project")
}

// act runs the workflow on the event, with a fake GitHub on host, and checks the result.
func (p project) act(platform, host string) {
	t := p.t
	t.Helper()
	gh := fake(t, host)
	payload, err := filepath.Abs(event)
	if err != nil {
		t.Fatal(err)
	}
	log := p.run("issues", "-C", p.dir, "-e", payload, "-P", platform, "-s", "GITHUB_TOKEN="+token,
		"--env", "GITHUB_API_URL="+gh.URL, "--env", "GITHUB_REPOSITORY="+repo,
		"--pull=false", "--no-cache-server", "--rm")
	issue := gh.Issue(repo, number)
	if want := []string{"bug", "documentation"}; !slices.Equal(issue.Labels, want) {
		t.Errorf("got the labels %q, want %q", issue.Labels, want)
	}
	if len(issue.Comments) != 1 || !strings.Contains(issue.Comments[0].Body, " -->\n\nThanks "+author) {
		t.Errorf("got the comments %+v, want one that thanks the author", issue.Comments)
	}
	if want := "decision=label_and_respond status=applied executed=2"; !strings.Contains(log, want) {
		t.Errorf("the next step did not print %q", want)
	}
	if t.Failed() {
		t.Logf("log of act:\n%s\ncalls: %q", log, gh.Log())
	}
}

// The names of what act leaves behind: the image of the action, and a volume for tools.
const (
	actImage  = "act-dockeraction"
	actVolume = "act-toolcache"
)

// run starts act and returns its log.
func (p project) run(args ...string) string {
	t := p.t
	t.Helper()
	if engine() == nil {
		sweep(t)
	}
	ctx, cancel := context.WithTimeout(t.Context(), timeout)
	defer cancel()
	program := output(t, ".", "go", "tool", "-n", "act")
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Env = append(os.Environ(), "XDG_CACHE_HOME="+t.TempDir(), "XDG_CONFIG_HOME="+t.TempDir())
	var log bytes.Buffer
	cmd.Stdout, cmd.Stderr = &log, &log
	if err := cmd.Run(); err != nil {
		t.Errorf("act: %v", errors.Join(err, ctx.Err()))
	}
	return log.String()
}

// sweep removes an image of an earlier run, because act would use it instead of building one. At
// the end of the test, it removes the image and the volume of this run.
func sweep(t *testing.T) {
	t.Helper()
	exists := func(kind, name string) bool {
		return exec.Command("docker", kind, "inspect", name).Run() == nil
	}
	remove := func(kind, name string) {
		if exists(kind, name) {
			clean(t, kind, "rm", "-f", name)
		}
	}
	remove("image", actImage)
	hadVolume := exists("volume", actVolume)
	t.Cleanup(func() {
		remove("image", actImage)
		if !hadVolume {
			remove("volume", actVolume)
		}
	})
}
