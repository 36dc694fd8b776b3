package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/org/foreman-action/internal/docs"
)

// TestModels checks the two texts for language models: the list has every page with an address that
// exists, and the whole text has the Markdown of every page.
func TestModels(t *testing.T) {
	dir, s := builtSite(t)
	list, err := os.ReadFile(filepath.Join(dir, listFile))
	if err != nil {
		t.Fatal(err)
	}
	whole, err := os.ReadFile(filepath.Join(dir, wholeFile))
	if err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(string(list), "# Foreman\n\n> Your rules decide") {
		t.Errorf("the list begins with %.80q", list)
	}
	listed := map[string]bool{}
	for _, m := range regexp.MustCompile(`(?m)^- \[[^\n]+?\]\(([^)\n]+)\)`).FindAllStringSubmatch(string(list), -1) {
		listed[m[1]] = true
		if _, err := os.Stat(filepath.Join(dir, m[1])); err != nil {
			t.Error(err)
		}
	}
	for name, page := range s.pages {
		if name != home && !listed[address(name)] {
			t.Errorf("%s lacks %s", listFile, address(name))
		}
		if n := strings.Count(string(whole), "<!-- "+name+" -->\n\n"); n != 1 {
			t.Errorf("%s has %s %d times", wholeFile, name, n)
		}
		end := strings.TrimSpace(string(page.Source))
		if end = end[max(0, len(end)-200):]; !strings.Contains(string(whole), end) {
			t.Errorf("%s lacks the end of %s", wholeFile, name)
		}
	}
	if strings.Contains(string(whole), "<!-- Made by") {
		t.Errorf("%s says how its pages are made", wholeFile)
	}
}

func TestOpening(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ source, want string }{
		{"# A\n\nOne `b` is\ntwo. Three.\n", "One b is two."},
		{"# A\n\n![a picture](x.png)\n\nLook at `this`:\n", "Look at this"},
		{"# A\n\n- a\n", ""},
	} {
		if got := opening(docs.Parse([]byte(tt.source))); got != tt.want {
			t.Errorf("%q: got %q, want %q", tt.source, got, tt.want)
		}
	}
}
