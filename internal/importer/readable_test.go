package importer_test

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/org/foreman-action/internal/importer"
)

const maxWidth = 120 // maximal number of characters in a line

// fixed returns the number of lines of an imported file that do not depend on the length of the
// source: the head, and the rules for the tool's defaults.
func fixed(tool string) int {
	if importer.InWorkflow(tool) {
		return 60
	}
	return 30
}

// TestReadable checks the golden files of TestGolden. An imported file must be about as long as its
// source, and must have no long lines and no duplicate rules.
func TestReadable(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob(filepath.Join("testdata", "*", "*.txtar"))
	if err != nil || len(files) < 40 {
		t.Fatalf("%d files: %v", len(files), err)
	}
	for _, file := range files {
		ar, err := txtar.ParseFile(file)
		if err != nil {
			t.Fatal(err)
		}
		in, out := 0, ""
		for _, f := range ar.Files {
			switch {
			case f.Name == "want":
				out = string(f.Data)
			case f.Name != "report":
				in += strings.Count(string(f.Data), "\n")
			}
		}
		if out == "" {
			continue
		}
		if n := strings.Count(out, "\n"); n > in*5/4+fixed(filepath.Base(filepath.Dir(file))) {
			t.Errorf("%s: %d lines became %d", file, in, n)
		}
		for line := range strings.Lines(out) {
			if n := utf8.RuneCountInString(line) - 1; n > maxWidth {
				t.Errorf("%s: a line of %d characters: %s", file, n, line)
			}
		}
		for _, rule := range twice(out) {
			t.Errorf("%s: twice:\n%s", file, rule)
		}
	}
}

// twice returns the rules of a file that are equal except for their id.
func twice(config string) []string {
	var out []string
	_, list, _ := strings.Cut(config, "\nrules:\n")
	var known []string
	for rule := range strings.SplitSeq(list, "\n  - id: ") {
		_, rest, _ := strings.Cut(rule, "\n")
		if slices.Contains(known, rest) {
			out = append(out, rest)
		}
		known = append(known, rest)
	}
	return out
}
