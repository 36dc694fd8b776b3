package docs_test

import (
	"os"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"github.com/org/foreman-action/internal/docs"
)

// TestLinks checks the file and the heading of every link within the repository.
func TestLinks(t *testing.T) {
	t.Parallel()
	all := parsed(t)
	if err := docs.CheckLinks(os.DirFS(root), all); err != nil {
		t.Error(err)
	}
	internal := 0
	for name, page := range all {
		for _, link := range page.Links {
			if file, _, err := link.Target(name); err == nil && file != "" {
				internal++
			}
		}
	}
	if internal < 50 {
		t.Errorf("only %d links within the repository", internal)
	}
}

// TestIndex checks that the index links to each page of docs.
func TestIndex(t *testing.T) {
	t.Parallel()
	if err := docs.CheckIndex(parsed(t)); err != nil {
		t.Error(err)
	}
}

// TestBrokenLinks checks pages with one mistake of each kind.
func TestBrokenLinks(t *testing.T) {
	t.Parallel()
	fsys := fstest.MapFS{
		"docs/README.md": {Data: []byte("# Index\n\n[a](a.md#part-one), [no page](none.md)\n")},
		"docs/a.md":      {Data: []byte("# A\n\n## Part one\n\n[up](../../other), [self](#part-1),\n[host](https://example.org/none.md#x), [file](../main.go)\n\n![picture](a.png)\n")},
		"docs/b.md":      {Data: []byte("# B\n\n[a](a.md#b), [code](../main.go#L1), [folder](.)\n")},
		"main.go":        {},
	}
	all := map[string]docs.Page{}
	for name, file := range fsys {
		if strings.HasSuffix(name, ".md") {
			all[name] = docs.Parse(file.Data)
		}
	}
	want := `docs/README.md:3: none.md: no such file
docs/a.md:5: ../../other leads out of the repository
docs/a.md:5: #part-1: no such heading
docs/a.md:8: a.png: no such file
docs/b.md:3: a.md#b: no such heading
docs/b.md:3: ../main.go#L1: no such heading`
	if diff := cmp.Diff(want, docs.CheckLinks(fsys, all).Error()); diff != "" {
		t.Errorf("links (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff("docs/README.md has no link to docs/b.md", docs.CheckIndex(all).Error()); diff != "" {
		t.Errorf("index (-want +got):\n%s", diff)
	}
}

func parsed(t *testing.T) map[string]docs.Page {
	t.Helper()
	out := map[string]docs.Page{}
	for name, src := range pages(t) {
		out[name] = docs.Parse(src)
	}
	return out
}

// TestREADMELength limits the length of the README.
func TestREADMELength(t *testing.T) {
	t.Parallel()
	if n := strings.Count(string(pages(t)["README.md"]), "\n"); n > 200 {
		t.Errorf("README.md has %d lines, want at most 200; reference goes to docs/", n)
	}
}
