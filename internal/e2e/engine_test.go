package e2e

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/org/foreman-action/internal/github/githubtest"
)

const (
	root    = "../.."
	image   = "foreman-e2e:test"
	event   = root + "/testdata/events/issues/opened.payload.json"
	repo    = "Codertocat/Hello-World" // repository in the event, as author is
	number  = 1
	author  = "Codertocat"
	title   = "Spelling error in the README file"
	timeout = 10 * time.Minute
)

// require reports whether a missing engine fails the tests. Continuous integration sets the
// variable if it has found an engine, so that no test is skipped by accident.
func require() bool { return os.Getenv("FOREMAN_E2E_REQUIRE_DOCKER") != "" }

// engine reports why no Docker engine can be used; nil when one answers.
var engine = sync.OnceValue(func() error {
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	out, err := exec.CommandContext(ctx, "docker", "version", "--format", "{{.Server.Version}}").CombinedOutput()
	if err != nil {
		return errors.New(strings.TrimSpace(string(out) + " " + err.Error()))
	}
	return nil
})

// needEngine skips the test if no engine answers. If [require] is set, it fails the test instead.
func needEngine(t *testing.T) {
	t.Helper()
	err := engine()
	switch {
	case err == nil:
	case require():
		t.Fatalf("no Docker engine answers, and one must: %v", err)
	default:
		t.Skipf("no Docker engine answers: %v", err)
	}
}

// output runs a command in dir, and returns its standard output without surrounding space. If the
// command fails, the test fails.
func output(t *testing.T, dir, name string, args ...string) string {
	t.Helper()
	out, err := try(t, dir, name, args...)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// try is like output, but returns the error.
func try(t *testing.T, dir, name string, args ...string) (string, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), timeout)
	defer cancel()
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir = dir
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("%s %s: %w\n%s%s", name, strings.Join(args, " "), err, out, stderr.String())
	}
	return strings.TrimSpace(string(out)), nil
}

// images makes the local base images and returns their tags: the Go toolchain for the
// Dockerfile, and the image that act runs a job in.
func images(t *testing.T) (goImage, jobImage string) {
	t.Helper()
	tags := strings.Fields(output(t, root, "bash", ".ci/images"))
	if len(tags) != 2 {
		t.Fatalf("got the images %q, want two", tags)
	}
	return tags[0], tags[1]
}

// build builds the action's image from the unchanged Dockerfile. It tries up to three times,
// because the build downloads modules and the network may fail for a moment.
func build(t *testing.T) {
	t.Helper()
	goImage, _ := images(t)
	start := time.Now()
	args := []string{"build", "-q", "--force-rm", "-t", image, "--build-arg", "GO_IMAGE=" + goImage}
	_, err := try(t, root, "docker", append(args, ".")...)
	for n := 1; err != nil && n < 3; n++ {
		t.Log(err)
		_, err = try(t, root, "docker", append(args, ".")...)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("docker build: %.1f s", time.Since(start).Seconds())
}

// builder builds the action's image, and returns the tag of its stage that compiles. Another build
// can use this stage as its base to reuse the compiled packages.
func builder(t *testing.T) string {
	t.Helper()
	const tag = image + "-builder"
	build(t)
	goImage, _ := images(t)
	output(t, root, "docker", "build", "-q", "--target", "build", "-t", tag, "--build-arg", "GO_IMAGE="+goImage, ".")
	t.Cleanup(func() { clean(t, "image", "rm", tag) })
	return tag
}

// bridge returns the address of this machine for containers in the default network: the address of
// the bridge's interface.
func bridge(t *testing.T) string {
	t.Helper()
	name := output(t, ".", "docker", "network", "inspect", "bridge", "--format", `{{index .Options "com.docker.network.bridge.name"}}`)
	card, err := net.InterfaceByName(name)
	if err != nil {
		t.Fatalf("bridge %q: %v", name, err)
	}
	addresses, err := card.Addrs()
	if err != nil {
		t.Fatalf("bridge %q: %v", name, err)
	}
	for _, a := range addresses {
		if prefix, err := netip.ParsePrefix(a.String()); err == nil && prefix.Addr().Is4() {
			return prefix.Addr().String()
		}
	}
	t.Fatalf("bridge %q has no IPv4 address: %v", name, addresses)
	return ""
}

// fake starts a GitHub on the given host that has the event's issue and a label for it.
func fake(t *testing.T, host string) *githubtest.Server {
	t.Helper()
	gh := githubtest.New(t, githubtest.Config{Addr: host + ":0", Token: token})
	gh.Repo(repo).AddLabel("bug", "documentation").
		AddIssue(githubtest.Issue{Number: number, Title: title, Author: author, Labels: []string{"bug"}})
	return gh
}

var changedAt = regexp.MustCompile(`"(created|updated)_at": "2019-[^"]*"`)

// opened returns the payload of the event, as of an issue that was just opened.
func opened(t *testing.T) []byte {
	t.Helper()
	return changedAt.ReplaceAll(read(t, event), []byte(`"${1}_at": "`+time.Now().UTC().Format(time.RFC3339)+`"`))
}

// read returns the content of a file.
func read(t *testing.T, path ...string) []byte {
	t.Helper()
	content, err := os.ReadFile(filepath.Join(path...))
	if err != nil {
		t.Fatal(err)
	}
	return content
}
