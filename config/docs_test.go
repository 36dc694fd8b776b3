package config_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/org/foreman-action/config"
)

// TestDocsFiles loads each complete configuration file on the pages about rules.
func TestDocsFiles(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("../docs/rules/*.md")
	if err != nil {
		t.Fatal(err)
	}
	var page []byte
	for _, file := range append(files, "../docs/rules.md") {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		page = append(page, text...)
	}
	n := 0
	for _, m := range regexp.MustCompile("(?s)\n```yaml\n(.*?\n)```\n").FindAllStringSubmatch(string(page), -1) {
		if !strings.HasPrefix(m[1], "version:") && !strings.HasPrefix(m[1], "# .github/foreman.yml") {
			continue
		}
		n++
		config, err := config.Parse("rules.md", []byte(m[1]), nil)
		if err != nil {
			t.Errorf("%s\n%v", m[1], err)
			continue
		}
		for _, w := range config.Warnings {
			t.Errorf("%s\n%v", m[1], w)
		}
	}
	if n < 5 {
		t.Errorf("%d whole files, want at least 5", n)
	}
}
