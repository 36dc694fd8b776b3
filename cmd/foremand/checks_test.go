package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// TestChecks makes sure that each of the sixty checks has a line in testdata/checks.txt,
// and that the tests and cases which the line names are there.
func TestChecks(t *testing.T) {
	t.Parallel()
	table, err := os.ReadFile("testdata/checks.txt")
	if err != nil {
		t.Fatal(err)
	}
	next := 1
	for line := range strings.Lines(string(table)) {
		head, refs, ok := strings.Cut(strings.TrimSpace(line), ": ")
		number, _, _ := strings.Cut(head, " ")
		n, err := strconv.Atoi(number)
		if !ok || err != nil {
			continue // a heading or a comment
		}
		if n != next {
			t.Errorf("after check %d comes %d", next-1, n)
		}
		next = n + 1
		for ref := range strings.FieldsSeq(refs) {
			if !exists(t, ref) {
				t.Errorf("check %d: there is no %s", n, ref)
			}
		}
	}
	if next != 61 {
		t.Errorf("the table ends with check %d", next-1)
	}
}

// exists reports whether a reference is valid. It names a case by its path, a test by folder:name,
// or a section of an archive by path:name, with underscores for spaces.
func exists(t *testing.T, ref string) bool {
	t.Helper()
	dir, name, isTest := strings.Cut(ref, ":")
	if !isTest {
		_, err := os.Stat(filepath.Join("../..", ref))
		return err == nil
	}
	if strings.HasSuffix(dir, ".txtar") {
		text, err := os.ReadFile(filepath.Join("../..", dir))
		return err == nil && strings.Contains("\n"+string(text), "\n-- "+strings.ReplaceAll(name, "_", " ")+" --\n")
	}
	files, err := filepath.Glob(filepath.Join("../..", dir, "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	f := regexp.MustCompile(`(?m)^func ` + regexp.QuoteMeta(name) + `\(`)
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if f.Match(text) {
			return true
		}
	}
	return false
}
