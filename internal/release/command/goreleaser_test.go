package command_test

import (
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"gopkg.in/yaml.v3"

	"github.com/org/foreman-action/internal/release/entry"
	"github.com/org/foreman-action/internal/release/program"
)

// goreleaser builds the programs with the flags of our own builds, and publishes none.
func TestGoreleaserBuilds(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../../.goreleaser.yaml")
	if err != nil {
		t.Fatal(err)
	}
	type build struct {
		ID, Binary, Main  string
		Env, Goos, Goarch []string
		Flags, Ldflags    []string
	}
	var got struct {
		Builds  []build
		Release struct{ Draft bool }
	}
	if err := yaml.Unmarshal(text, &got); err != nil {
		t.Fatal(err)
	}
	var want []build
	for _, p := range program.All() {
		var flags, ldflags []string
		for _, flag := range p.Flags("{{ .Env.RELEASE_VERSION }}", `{{ envOrDefault "GITHUB_REPOSITORY" "`+entry.Default+`" }}`) {
			if value, ok := strings.CutPrefix(flag, "-ldflags="); ok {
				ldflags = append(ldflags, value)
			} else {
				flags = append(flags, flag)
			}
		}
		want = append(want, build{p.Name, p.Name, p.Package, []string{"CGO_ENABLED=0", "GOFLAGS="},
			[]string{"linux", "darwin", "windows"}, []string{"amd64", "arm64"}, flags, ldflags})
	}
	if !got.Release.Draft {
		t.Error("a release by goreleaser is public before it is inspected")
	}
	if diff := cmp.Diff(want, got.Builds); diff != "" {
		t.Errorf("builds (-want +got):\n%s", diff)
	}
}

// The image from the Dockerfile names a repository in one place, which a build argument replaces.
func TestDockerfile(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../../Dockerfile")
	if err != nil {
		t.Fatal(err)
	}
	own := strings.ReplaceAll(string(text), "github.com/"+entry.Default+"/", "") // paths of packages
	if strings.Count(own, entry.Default) != strings.Count(own, "\nARG REPOSITORY="+entry.Default+"\n") {
		t.Errorf("the Dockerfile names %s outside of ARG REPOSITORY:\n%s", entry.Default, own)
	}
	if want := `image.source="https://github.com/${REPOSITORY}"`; !strings.Contains(string(text), want) {
		t.Errorf("the Dockerfile has no %s", want)
	}
}
