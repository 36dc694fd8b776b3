package command

import (
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"gopkg.in/yaml.v3"
)

// A job of the workflow that releases.
type job struct {
	Needs       any
	Environment string
	Permissions map[string]string
	Steps       []step
}

type step struct {
	Name, Uses, Run string
	With, Env       map[string]string
}

func workflow(t *testing.T) map[string]job {
	t.Helper()
	text, err := os.ReadFile("../../../.github/workflows/release.yml")
	if err != nil {
		t.Fatal(err)
	}
	var w struct {
		Permissions map[string]string
		Env         map[string]string
		Jobs        map[string]job
	}
	if err := yaml.Unmarshal(text, &w); err != nil {
		t.Fatal(err)
	}
	if w.Permissions == nil || len(w.Permissions) > 0 {
		t.Errorf("the workflow has the permissions %v, want none", w.Permissions)
	}
	for name, value := range w.Env {
		if strings.Contains(value, "token") {
			t.Errorf("all steps have the token as %s", name)
		}
	}
	return w.Jobs
}

// Each job has the permissions of its work alone.
func TestWorkflowPermissions(t *testing.T) {
	t.Parallel()
	want := map[string]map[string]string{
		"build":   {"contents": "read"},
		"draft":   {"contents": "write", "packages": "write"},
		"sign":    {"contents": "read", "packages": "write", "id-token": "write", "attestations": "write"},
		"publish": {"contents": "write"},
	}
	got := map[string]map[string]string{}
	for name, j := range workflow(t) {
		got[name] = j.Permissions
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("permissions (-want +got):\n%s", diff)
	}
}

// The programs of others run where they can publish nothing: without a permission, or as a user
// without rights. A token is in the environment of the steps that need it alone.
func TestWorkflowTrust(t *testing.T) {
	t.Parallel()
	pinned := regexp.MustCompile(`^[a-z-]+/[a-z-]+@[0-9a-f]{40}$`)
	tokens := map[string][]string{
		"build":   {"Refuse a wrong branch, tag, tree or changelog", "Make the commit of the tag"},
		"draft":   {"Make the commit of the tag", "Refuse a draft that an earlier run left", "Push the images", "Pin and tag", "Draft the release"},
		"sign":    {"Sign the images"},
		"publish": {"Publish the draft, unless it is public", "Move v1 and v1.2"},
	}
	for name, j := range workflow(t) {
		var got []string
		for _, s := range j.Steps {
			if s.Uses != "" && !pinned.MatchString(s.Uses) {
				t.Errorf("%s: %s is not pinned by a commit", name, s.Uses)
			}
			if strings.HasPrefix(s.Uses, "actions/checkout@") && s.With["persist-credentials"] != "false" {
				t.Errorf("%s: all steps can read the token of the checkout", name)
			}
			if strings.HasPrefix(s.Uses, "actions/setup-go@") && s.With["cache"] != "false" {
				t.Errorf("%s: a cache of another run takes part in the build", name)
			}
			if strings.Contains(s.Run, "${{") {
				t.Errorf("%s: an expression is part of the script of %q", name, s.Name)
			}
			for variable, value := range s.Env {
				if strings.Contains(value, "github.token") && variable == "GITHUB_TOKEN" {
					got = append(got, s.Name)
				} else if strings.Contains(value, "token") || strings.Contains(value, "secrets") {
					t.Errorf("%s: %q has %s", name, s.Name, variable)
				}
			}
			if name != "build" && strings.Contains(s.Run, "goreleaser release") && !strings.Contains(s.Run, "sudo --user=packer env --ignore-environment") {
				t.Errorf("%s: %q runs goreleaser with the rights of the job", name, s.Name)
			}
			if strings.Contains(s.Run, "goreleaser release") && !strings.Contains(s.Run, "goreleaser release --snapshot") {
				t.Errorf("%s: %q publishes by goreleaser", name, s.Name)
			}
			if name != "sign" && strings.Contains(s.Run, "cosign") {
				t.Errorf("%s: %q runs cosign", name, s.Name)
			}
		}
		if diff := cmp.Diff(tokens[name], got); diff != "" {
			t.Errorf("%s: steps with a token (-want +got):\n%s", name, diff)
		}
	}
}

// Nothing is public before it is inspected and signed, and v1 moves last.
func TestWorkflowOrder(t *testing.T) {
	t.Parallel()
	jobs := workflow(t)
	for name, want := range map[string]any{"build": nil, "draft": "build", "sign": "draft", "publish": []any{"draft", "sign"}} {
		if diff := cmp.Diff(want, jobs[name].Needs); diff != "" {
			t.Errorf("%s needs (-want +got):\n%s", name, diff)
		}
	}
	if jobs["draft"].Environment != "release" {
		t.Error("the first job that can write needs no approval")
	}
	marks := []string{
		"release check ", "-twice -cold", "release commit ", "goreleaser release ", "release files ",
		"release build ", "release commit ", "goreleaser release ", "release files ", `git checkout --quiet --detach "$GITHUB_SHA"`,
		"release push ", "release tag ", "gh release create ", "--draft --verify-tag",
		"subject-checksums", "cosign sign-blob ", "cosign verify-blob ", "cosign sign --yes ",
		"gh release download ", "release compare ", "gh release upload ", "release latest ", `--draft=false --latest="$latest"`, "release move ",
	}
	var all strings.Builder
	for _, name := range []string{"build", "draft", "sign", "publish"} {
		for _, s := range jobs[name].Steps {
			all.WriteString(s.Run + "\n" + strings.Join(slices.Sorted(maps.Keys(s.With)), " ") + "\n")
		}
	}
	rest := all.String()
	for _, mark := range marks {
		_, after, found := strings.Cut(rest, mark)
		if !found {
			t.Fatalf("no %q in its place", mark)
		}
		rest = after
	}
	if got := strings.Count(all.String(), "--draft=false"); got != 1 {
		t.Errorf("%d steps publish the release", got)
	}
}

// Every command that the workflow runs exists.
func TestWorkflowCommands(t *testing.T) {
	t.Parallel()
	used := map[string]bool{}
	for _, j := range workflow(t) {
		for _, s := range j.Steps {
			for _, parts := range regexp.MustCompile(`(?m)(?:^ *|\(|; )release ([a-z]+)`).FindAllStringSubmatch(s.Run, -1) {
				used[parts[1]] = true
				if _, ok := verbs()[parts[1]]; !ok {
					t.Errorf("%q runs the unknown command %q", s.Name, parts[1])
				}
			}
		}
	}
	for _, name := range []string{"check", "build", "commit", "files", "notes", "push", "tag", "compare", "latest", "move"} {
		if !used[name] {
			t.Errorf("the workflow does not run %q", name)
		}
	}
}
