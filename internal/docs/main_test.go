package docs_test

import (
	"context"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/org/foreman-action/internal/cli"
	"github.com/org/foreman-action/internal/cli/contribflow"
	"github.com/org/foreman-action/internal/cli/foremand"
	"github.com/org/foreman-action/internal/cli/process"
	"github.com/org/foreman-action/internal/docs"
)

var update = flag.Bool("update", false, "rewrite the outputs that the pages show")

// root is the root of the repository.
const root = "../.."

// TestMain makes the test binary act as one of the programs when it is started under that
// program's name.
func TestMain(m *testing.M) {
	program := func(run func(context.Context, process.Env, []string) int) func() {
		return func() {
			os.Exit(run(context.Background(), process.Env{
				Getenv: os.Getenv, LookupEnv: os.LookupEnv, Environ: os.Environ,
				Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr, Program: os.Args[0],
			}, os.Args[1:]))
		}
	}
	testscript.Main(m, map[string]func(){
		"foreman": program(cli.Main), "foremand": program(foremand.Main), "contribflow": program(contribflow.Main), "cflow": program(contribflow.Main),
		"workflow-run": workflowRun, "workflow-comment": workflowComment,
	})
}

// programs creates a folder with all programs, and returns its path.
func programs(t *testing.T) string {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	bin := t.TempDir()
	for _, name := range []string{"foreman", "foremand", "contribflow", "cflow", "workflow-run", "workflow-comment"} {
		if err := os.Symlink(self, filepath.Join(bin, name)); err != nil {
			t.Fatal(err)
		}
	}
	return bin
}

// pages returns every page by its path from the root.
func pages(t *testing.T) map[string][]byte {
	t.Helper()
	out := map[string][]byte{}
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		name := strings.TrimPrefix(filepath.ToSlash(path), root+"/")
		switch {
		case err != nil:
			return err
		case d.IsDir() && (d.Name() == "testdata" || d.Name() == "node_modules" || d.Name() == ".git" || name == "bin"):
			return fs.SkipDir
		case d.IsDir() || filepath.Ext(name) != ".md" || strings.HasPrefix(name, "internal/cli/wiring/"):
			return nil // these pages are written into other repositories
		}
		out[name], err = os.ReadFile(path)
		return err
	})
	if err != nil || len(out) < 20 {
		t.Fatalf("%d pages, %v", len(out), err)
	}
	return out
}

// each runs f as a subtest for each page whose blocks are checked: the README and the pages of
// docs.
func each(t *testing.T, f func(t *testing.T, name string, src []byte, page docs.Page)) {
	t.Helper()
	all := pages(t)
	var names []string
	for name := range all {
		if name == "README.md" || strings.HasPrefix(name, "docs/") {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	for _, name := range names {
		t.Run(strings.TrimSuffix(strings.TrimPrefix(name, "docs/"), ".md"), func(t *testing.T) {
			t.Parallel()
			f(t, name, all[name], docs.Parse(all[name]))
		})
	}
}

// at returns the page and line of a block, for messages.
func at(page string, b docs.Block) string { return fmt.Sprintf("%s:%d", page, b.Line) }
