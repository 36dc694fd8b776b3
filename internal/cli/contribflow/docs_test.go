package contribflow_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
)

// TestDocs checks that a script compares every document in docs/contribflow.md with the output of
// the program.
func TestDocs(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../../docs/contribflow.md")
	if err != nil {
		t.Fatal(err)
	}
	scripts, err := filepath.Glob("testdata/script/*.txtar")
	if err != nil {
		t.Fatal(err)
	}
	printed := map[string]bool{}
	for _, script := range scripts {
		archive, err := txtar.ParseFile(script)
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range archive.Files {
			printed[strings.ReplaceAll(string(file.Data), "$WORK/work", "/home/me/contributions")] = true
		}
	}
	blocks := strings.Split(string(page), "```json\n")[1:]
	if len(blocks) == 0 {
		t.Error("docs/contribflow.md shows no document")
	}
	for _, block := range blocks {
		if document, _, _ := strings.Cut(block, "```"); !printed[document] {
			t.Errorf("no script compares this document with what the program prints:\n%s", document)
		}
	}
}

// TestProof checks that docs/proof/contribflow.md has every check of the specification once, and
// that the scripts and tests that it names exist.
func TestProof(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../../docs/proof/contribflow.md")
	if err != nil {
		t.Fatal(err)
	}
	var tests strings.Builder
	for _, folder := range []string{"../../coding/contrib/*", "../../coding/sandbox", "../../scoring", "../../scoring/evidence", "../../e2e", "."} {
		files, err := filepath.Glob(filepath.Join(folder, "*_test.go"))
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			source, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			tests.Write(source)
		}
	}
	const checks = 60
	next := 1
	for _, row := range regexp.MustCompile(`(?m)^\| (\d+) \| .* \| (.*) \| .* \|$`).FindAllStringSubmatch(string(page), -1) {
		if row[1] != strconv.Itoa(next) {
			t.Errorf("check %s comes where %d was expected", row[1], next)
		}
		next++
		proven := false
		for _, name := range regexp.MustCompile("`([^`]+)`").FindAllStringSubmatch(row[2], -1) {
			_, err := os.Stat(filepath.Join("testdata/script", name[1]+".txtar"))
			isTest := strings.HasPrefix(name[1], "Test")
			if isTest && !strings.Contains(tests.String(), "func "+name[1]+"(t *testing.T)") {
				t.Errorf("check %s: there is no %s", row[1], name[1])
			}
			proven = proven || isTest || err == nil
		}
		if !proven {
			t.Errorf("check %s: %s names neither a script nor a test", row[1], row[2])
		}
	}
	if next != checks+1 {
		t.Errorf("the page has %d checks, want %d", next-1, checks)
	}
}
