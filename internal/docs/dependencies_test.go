package docs_test

import (
	"encoding/json"
	"io/fs"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestDependencies compares the table of docs/dependencies.md with every go.mod of the repository:
// each direct requirement and each tool has a row, and each row has a requirement.
func TestDependencies(t *testing.T) {
	t.Parallel()
	var names []string // in the first column of the table
	for line := range strings.Lines(string(pages(t)["docs/dependencies.md"])) {
		row, ok := strings.CutPrefix(line, "| ")
		if !ok {
			continue
		}
		cell, _, _ := strings.Cut(row, " |")
		for _, m := range regexp.MustCompile("`([a-z0-9]+\\.[^`]+)`").FindAllStringSubmatch(cell, -1) {
			names = append(names, m[1])
		}
	}
	required, direct := requirements(t)
	for _, module := range direct {
		if !slices.ContainsFunc(names, func(name string) bool { return contains(name, module) || contains(module, name) }) {
			t.Errorf("docs/dependencies.md has no row for %s", module)
		}
	}
	for _, name := range names {
		if !slices.ContainsFunc(required, func(module string) bool { return contains(name, module) || contains(module, name) }) {
			t.Errorf("docs/dependencies.md has a row for %s, which no go.mod requires", name)
		}
	}
}

// contains reports whether a path is that of a package or module, or begins with it.
func contains(path, other string) bool {
	return path == other || strings.HasPrefix(other, path+"/")
}

// requirements returns the modules of other authors that the go.mod files of the repository require, and
// those that they require directly or as tools.
func requirements(t *testing.T) (all, direct []string) {
	t.Helper()
	var files []string
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() && (d.Name() == "testdata" || d.Name() == ".git") {
			return fs.SkipDir
		}
		if d.Name() == "go.mod" {
			files = append(files, path)
		}
		return err
	})
	if err != nil || len(files) < 2 {
		t.Fatalf("found %d files go.mod: %v", len(files), err)
	}
	for _, file := range files {
		out, err := exec.CommandContext(t.Context(), "go", "mod", "edit", "-json", file).Output()
		if err != nil {
			t.Fatal(err)
		}
		var mod struct {
			Require []struct {
				Path     string
				Indirect bool
			}
			Tool []struct{ Path string }
		}
		if err := json.Unmarshal(out, &mod); err != nil {
			t.Fatal(err)
		}
		for _, r := range mod.Require {
			if strings.HasPrefix(r.Path, "github.com/org/foreman-action") {
				continue
			}
			all = append(all, r.Path)
			if !r.Indirect {
				direct = append(direct, r.Path)
			}
		}
		for _, tool := range mod.Tool {
			direct = append(direct, tool.Path)
		}
	}
	return all, direct
}
