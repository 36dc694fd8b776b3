package docs_test

import (
	"net/url"
	"os"
	"path"
	"path/filepath"
	"strings"
	"testing"

	"github.com/org/foreman-action/internal/docs"
)

// TestLinks opens the file and the heading of every link that stays within the repository.
func TestLinks(t *testing.T) {
	t.Parallel()
	all := pages(t)
	parsed := map[string]docs.Page{}
	for name, src := range all {
		parsed[name] = docs.Parse(src)
	}
	internal := 0
	for name, page := range parsed {
		for _, link := range page.Links {
			u, err := url.Parse(link.To)
			if err != nil {
				t.Errorf("%s:%d: %v", name, link.Line, err)
				continue
			}
			if u.Scheme != "" {
				continue
			}
			internal++
			target := name
			if u.Path != "" {
				target = path.Join(path.Dir(name), u.Path)
			}
			if strings.HasPrefix(target, "../") {
				t.Errorf("%s:%d: %s leads out of the repository", name, link.Line, link.To)
				continue
			}
			if _, err := os.Stat(filepath.Join(root, filepath.FromSlash(target))); err != nil {
				t.Errorf("%s:%d: %s: no such file", name, link.Line, link.To)
				continue
			}
			if u.Fragment == "" {
				continue
			}
			if to, ok := parsed[target]; !ok || !to.Anchors[u.Fragment] {
				t.Errorf("%s:%d: %s: no such heading", name, link.Line, link.To)
			}
		}
	}
	if internal < 50 {
		t.Errorf("only %d links within the repository", internal)
	}
}

// TestIndex looks for each page of docs in the index.
func TestIndex(t *testing.T) {
	t.Parallel()
	all := pages(t)
	linked := map[string]bool{"docs/README.md": true}
	for _, link := range docs.Parse(all["docs/README.md"]).Links {
		target, _, _ := strings.Cut(link.To, "#")
		linked[path.Join("docs", target)] = true
	}
	for name := range all {
		if strings.HasPrefix(name, "docs/") && !linked[name] {
			t.Errorf("docs/README.md has no link to %s", name)
		}
	}
}

// TestREADMELength keeps the README a page that one reads.
func TestREADMELength(t *testing.T) {
	t.Parallel()
	if n := strings.Count(string(pages(t)["README.md"]), "\n"); n > 200 {
		t.Errorf("README.md has %d lines, want at most 200; reference goes to docs/", n)
	}
}
