package program_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/org/foreman-action/internal/release/entry"
	"github.com/org/foreman-action/internal/release/program"
)

const source = `package main

import (
	"fmt"
	"runtime"
)

var version string

func main() {
	_, file, _, _ := runtime.Caller(0)
	fmt.Print(version, " ", file)
}
`

// module writes a small module into a new repository.
func module(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{"go.mod": "module example.com/small\n\ngo 1.26\n", "main.go": source} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.CommandContext(t.Context(), "git", "init", "-q")
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("git init: %v\n%s", err, out)
	}
	return dir
}

// The place of the source does not change the program; its version does.
func TestBuild(t *testing.T) {
	t.Parallel()
	small := program.Program{Name: "small", Package: ".", Version: "main.version"}
	build := func(dir, version, platform string) (string, string) {
		t.Helper()
		file := filepath.Join(t.TempDir(), "small")
		b := program.Builder{Dir: dir, Version: version}
		if err := b.Build(t.Context(), small, platform, file); err != nil {
			t.Fatal(err)
		}
		sum, err := program.Sum(file)
		if err != nil {
			t.Fatal(err)
		}
		return file, sum
	}
	dir, other := module(t), t.TempDir()
	if err := program.Copy(t.Context(), dir, other); err != nil {
		t.Fatal(err)
	}
	platform := "linux-amd64"
	file, first := build(dir, "v1.2.3", platform)
	if _, second := build(other, "v1.2.3", platform); second != first {
		t.Errorf("got %s and %s from two folders", first, second)
	}
	if _, later := build(dir, "v1.2.4", platform); later == first {
		t.Error("another version has the same bytes")
	}
	content, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(content), dir) {
		t.Error("the program contains the path of its source")
	}
	err = program.Builder{Dir: dir, Version: "v1.2.3"}.Build(t.Context(), program.Program{Name: "none", Package: "./none"}, platform, file)
	if err == nil || !strings.Contains(err.Error(), "build none for linux-amd64") {
		t.Errorf("got the error %v", err)
	}
}

// TestRepository writes the repository that releases into the workflow of "foreman init".
func TestRepository(t *testing.T) {
	t.Parallel()
	platform := runtime.GOOS + "-" + runtime.GOARCH
	file := filepath.Join(t.TempDir(), entry.File("foreman", platform))
	b := program.Builder{Dir: "../../..", Version: "v1.2.3", Repository: "Octo-Org/foreman-action"}
	if err := b.Build(t.Context(), program.All()[0], platform, file); err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if out, err := exec.CommandContext(t.Context(), file, "init", "--dir", dir, "--labels", "bug").CombinedOutput(); err != nil {
		t.Fatalf("foreman init: %v\n%s", err, out)
	}
	text, err := os.ReadFile(filepath.Join(dir, ".github", "workflows", "foreman.yml"))
	if err != nil || !strings.Contains(string(text), "- uses: Octo-Org/foreman-action@v1\n") {
		t.Errorf("got the workflow\n%s\nand the error %v", text, err)
	}
}
