package docs_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestMessages checks that the programs contain each message in the tables at the end of
// docs/suggestions.md. Names and numbers in a message stand for any value.
func TestMessages(t *testing.T) {
	t.Parallel()
	var source strings.Builder
	for _, dir := range []string{"runner", "internal/lint"} {
		err := filepath.WalkDir(filepath.Join(root, dir), func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || filepath.Ext(path) != ".go" || strings.HasSuffix(path, "_test.go") {
				return err
			}
			data, err := os.ReadFile(path)
			source.Write(data)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	_, part, ok := strings.Cut(string(pages(t)["docs/suggestions.md"]), "\n## What the messages mean\n")
	if !ok {
		t.Fatal("docs/suggestions.md has no section about the messages")
	}
	code, value := regexp.MustCompile("`([^`]+)`"), regexp.MustCompile(`…|\bmona\b|\b\d+\b`)
	messages := 0
	for line := range strings.Lines(part) {
		cells := strings.Split(line, " | ")
		if !strings.HasPrefix(line, "| `") && !strings.HasPrefix(line, "From `foreman rules check`") {
			continue
		}
		for _, m := range code.FindAllStringSubmatch(cells[0], -1) {
			longest := ""
			for _, fixed := range value.Split(m[1], -1) {
				if len(fixed) > len(longest) {
					longest = fixed
				}
			}
			longest = strings.Trim(longest, " ():")
			messages++
			for piece := range strings.SplitSeq(longest, ": ") { // a parameter and what is wrong with it
				if m[1] != "foreman rules check" && !strings.Contains(source.String(), piece) {
					t.Errorf("no program has the message %q: %q is missing", m[1], piece)
				}
			}
		}
	}
	if messages < 30 {
		t.Errorf("%d messages", messages)
	}
}
