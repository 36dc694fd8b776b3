// Package tools pins the tools of a release.
package tools

import (
	"testing"

	"github.com/goreleaser/goreleaser/v2/pkg/config"
)

// goreleaser reads its file: every key is known.
func TestConfig(t *testing.T) {
	t.Parallel()
	project, err := config.Load("../../../.goreleaser.yaml")
	if err != nil {
		t.Fatal(err)
	}
	if len(project.Builds) != 3 || len(project.Archives) != 4 || len(project.NFPMs) != 3 || len(project.SBOMs) != 1 {
		t.Errorf("got %d builds, %d archives, %d packages and %d SBOMs", len(project.Builds), len(project.Archives), len(project.NFPMs), len(project.SBOMs))
	}
	if !project.Release.Draft {
		t.Error("a release by goreleaser is public at once")
	}
}
