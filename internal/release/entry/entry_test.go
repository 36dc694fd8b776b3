package entry_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"gopkg.in/yaml.v3"

	"github.com/org/foreman-action/internal/release/entry"
)

var digest = "sha256:" + strings.Repeat("ab", 32)

func read(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("../../..", name))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// The files of this repository can be pinned, once, and change in nothing else.
func TestPinImage(t *testing.T) {
	t.Parallel()
	before := read(t, entry.ContainerFile)
	r, err := entry.ParseRepository("Octo-Org/foreman-action")
	if err != nil {
		t.Fatal(err)
	}
	after, err := entry.PinImage(before, r.Image("ghcr.io", "foreman-action"), digest)
	if err != nil {
		t.Fatal(err)
	}
	var got struct{ Runs struct{ Using, Image string } }
	if err := yaml.Unmarshal([]byte(after), &got); err != nil {
		t.Fatal(err)
	}
	want := "docker://ghcr.io/octo-org/foreman-action@" + digest
	if got.Runs.Using != "docker" || got.Runs.Image != want {
		t.Errorf("got %+v, want the image %s", got.Runs, want)
	}
	if strings.Replace(after, want, "Dockerfile", 1) != before {
		t.Error("more than the image changed")
	}
	if again, err := entry.PinImage(after, "ghcr.io/octo-org/foreman-action", digest); err == nil {
		t.Errorf("pinned twice: %s", again)
	}
}

func TestPinPrograms(t *testing.T) {
	t.Parallel()
	before := read(t, entry.SlimFile)
	sums := map[string]string{"checksums of": "others"}
	for i, platform := range entry.Platforms() {
		sums[entry.File("foreman", platform)] = strings.Repeat(string("abcdef"[i]), 64)
	}
	const address = "https://github.com/octo-org/foreman-action/releases/download/v1.2.3"
	after, err := entry.PinPrograms(before, address, sums)
	if err != nil {
		t.Fatal(err)
	}
	var got struct {
		Runs struct {
			Steps []struct{ Env map[string]string }
		}
	}
	if err := yaml.Unmarshal([]byte(after), &got); err != nil {
		t.Fatal(err)
	}
	env := got.Runs.Steps[0].Env
	if env["FOREMAN_DOWNLOAD"] != address {
		t.Errorf("got the address %q", env["FOREMAN_DOWNLOAD"])
	}
	for i, name := range []string{"LINUX_AMD64", "LINUX_ARM64", "DARWIN_AMD64", "DARWIN_ARM64", "WINDOWS_AMD64", "WINDOWS_ARM64"} {
		if want := strings.Repeat(string("abcdef"[i]), 64); env["FOREMAN_"+name] != want {
			t.Errorf("%s: got %q, want %q", name, env["FOREMAN_"+name], want)
		}
	}

	delete(sums, "foreman-linux-arm64")
	sums["foreman-windows-arm64.exe"] = "abc"
	_, err = entry.PinPrograms(after, address, sums)
	if err == nil {
		t.Fatal("want an error")
	}
	for _, want := range []string{"no checksum of foreman-linux-arm64", `"abc"`, `FOREMAN_DOWNLOAD: ""`, `FOREMAN_LINUX_AMD64: ""`} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("got the error\n%v\nwant %q in it", err, want)
		}
	}
}

func TestRefusals(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"", "org", "org/", "/name", "org/..", "org/a/b", "org/a b", "-org/a", "org/a\n", "org/a@sha256:1"} {
		if r, err := entry.ParseRepository(text); err == nil {
			t.Errorf("repository %q: got %v, want an error", text, r)
		}
	}
	for _, text := range []string{"", "latest", "sha256:", "sha256:" + strings.Repeat("AB", 32), digest + "0", digest + "\n", "sha512:" + strings.Repeat("ab", 64)} {
		if err := entry.CheckDigest(text); err == nil {
			t.Errorf("digest %q: want an error", text)
		}
	}
	for _, text := range []string{"", "github.com", "ftp://github.com", "https://user@github.com", "https://github.com?a=b", "https://"} {
		if got, err := entry.Downloads(text, entry.Repository{Owner: "org", Name: "name"}, "v1.2.3"); err == nil {
			t.Errorf("server %q: got %s, want an error", text, got)
		}
	}
}

// Every page of this repository has a form for a release: only the module keeps its path, and the
// parts until the first release are gone.
func TestPage(t *testing.T) {
	t.Parallel()
	pages, err := filepath.Glob("../../../*.md")
	if err != nil {
		t.Fatal(err)
	}
	err = filepath.WalkDir("../../../docs", func(path string, _ fs.DirEntry, err error) error {
		if filepath.Ext(path) == ".md" {
			pages = append(pages, path)
		}
		return err
	})
	if err != nil || len(pages) < 10 {
		t.Fatalf("got %d pages and the error %v", len(pages), err)
	}
	r, changed, without := entry.Repository{Owner: "Octo-Org", Name: "foreman-action"}, 0, 0
	for _, page := range pages {
		before, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		after := entry.Page(string(before), "https://github.example/", r)
		if after != string(before) {
			changed++
		}
		if strings.Contains(strings.ReplaceAll(after, "github.com/"+entry.Default, ""), entry.Default) || strings.Contains(after, entry.Default+"/releases") {
			t.Errorf("%s still names %s", page, entry.Default)
		}
		again := entry.Page(string(before), "https://github.com", entry.Repository{Owner: "org", Name: "foreman-action"})
		if strings.Count(after, "github.com/"+entry.Default) != strings.Count(again, "github.com/"+entry.Default)-strings.Count(again, "github.com/"+entry.Default+"/releases") {
			t.Errorf("%s lost the path of the module", page)
		}
		if strings.Contains(after, "YOU/") || strings.Contains(strings.ToLower(after), "until the first release") && !strings.HasSuffix(page, "/docs/release.md") {
			t.Errorf("%s still says what to do without a release", page)
		}
		lines := strings.Split(string(before), "\n")
		if again != string(before) {
			without++
			for line := range strings.SplitSeq(again, "\n") {
				if !slices.Contains(lines, line) {
					t.Errorf("%s: the default repository adds the line %q", page, line)
				}
			}
		}
	}
	if without != 3 {
		t.Errorf("%d pages say what to do without a release, want README.md, docs/workflow.md and docs/guides/write-agent.md", without)
	}
	if changed < 5 {
		t.Errorf("%d pages name the repository", changed)
	}
}

// The files of a release are those of its tag alone; the files of a branch pin none.
func TestCheckPinned(t *testing.T) {
	t.Parallel()
	sums := map[string]string{}
	for _, platform := range entry.Platforms() {
		sums[entry.File("foreman", platform)] = strings.Repeat("0f", 32)
	}
	container, err := entry.PinImage(read(t, entry.ContainerFile), "ghcr.io/octo-org/foreman-action", digest)
	if err != nil {
		t.Fatal(err)
	}
	slim, err := entry.PinPrograms(read(t, entry.SlimFile), "https://github.com/octo-org/foreman-action/releases/download/v1.2.3", sums)
	if err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		name, container, slim, tag string
		want                       []string // nil: it is a release
	}{
		{"a release", container, slim, "v1.2.3", nil},
		{"of another version", container, slim, "v1.2.30", []string{"want the address of the release v1.2.30"}},
		{"files of a branch", read(t, entry.ContainerFile), read(t, entry.SlimFile), "v1.2.3", []string{
			`action.yml names the image "Dockerfile"`, `FOREMAN_DOWNLOAD is ""`, `FOREMAN_LINUX_AMD64 is ""`, `FOREMAN_WINDOWS_ARM64 is ""`}},
		{"an image by a tag", strings.Replace(container, "@"+digest, ":v1.2.3", 1), slim, "v1.2.3", []string{"want docker:// and an image with its digest"}},
		{"no YAML", "a: [", "", "v1.2.3", []string{"action.yml: yaml:", `FOREMAN_DARWIN_ARM64 is ""`}},
	}
	for _, tt := range tests {
		err := entry.CheckPinned(tt.container, tt.slim, tt.tag)
		if tt.want == nil && err != nil {
			t.Errorf("%s: got the error %v", tt.name, err)
		}
		for _, want := range tt.want {
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%s: got the error %v, want %q in it", tt.name, err, want)
			}
		}
	}
}

func TestParseSums(t *testing.T) {
	t.Parallel()
	sum := strings.Repeat("0f", 32)
	sums, err := entry.ParseSums(sum + "  a\n" + sum + "  b c\n")
	if err != nil || len(sums) != 2 || sums["b c"] != sum {
		t.Errorf("got %v and the error %v", sums, err)
	}
	_, err = entry.ParseSums(sum + "  a\n" + sum + "  a\nshort  b\n" + sum + " c\n")
	if err == nil || strings.Count(err.Error(), "line ") != 3 {
		t.Errorf("got the error %v, want one of three lines", err)
	}
}
