// Package archtest checks the structure of the whole module: which package may import which, what
// a program may contain, which code may use the process's arguments, environment, streams and
// clock, package variables, and comments of exported names. testdata/levels.txt lists the levels and
// imports. Each check is tested on small modules in testdata/*.txtar.
package archtest

import (
	"flag"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// A check returns the problems of a module, each with its position.
type check struct {
	name string
	run  func(*module, table) []string
}

func checks() []check {
	return []check{
		{"imports", checkImports},
		{"programs", checkPrograms},
		{"table", checkTable},
		{"outside", checkOutside},
		{"clock", checkClock},
		{"init", checkInit},
		{"vars", checkVars},
		{"exported", checkExported},
		{"docs", checkDocs},
	}
}

// TestModule runs every check on this module.
func TestModule(t *testing.T) {
	t.Parallel()
	tab, err := readTable(os.DirFS("testdata"))
	if err != nil {
		t.Fatal(err)
	}
	m, err := load(os.DirFS("../.."))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range checks() {
		t.Run(c.name, func(t *testing.T) {
			for _, problem := range c.run(m, tab) {
				t.Error(problem)
			}
		})
	}
}

// TestChecks runs every check on the modules of testdata/*.txtar. Each archive contains a module,
// its levels.txt, and the problems that the checks must find.
func TestChecks(t *testing.T) {
	t.Parallel()
	list, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(list) == 0 {
		t.Fatalf("no archives: %v", err)
	}
	for _, file := range list {
		t.Run(filepath.Base(file), func(t *testing.T) {
			t.Parallel()
			ar, err := txtar.ParseFile(file)
			if err != nil {
				t.Fatal(err)
			}
			last := &ar.Files[len(ar.Files)-1]
			if last.Name != "problems" {
				t.Fatalf("the last file is %s, want problems", last.Name)
			}
			got := problems(t, ar.Files[:len(ar.Files)-1])
			if *update {
				last.Data = []byte(got)
				if err := os.WriteFile(file, txtar.Format(ar), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			if diff := cmp.Diff(string(last.Data), got); diff != "" {
				t.Errorf("problems (-want +got):\n%s", diff)
			}
		})
	}
}

// problems runs the checks on a module with the given files.
func problems(t *testing.T, files []txtar.File) string {
	t.Helper()
	root := fstest.MapFS{}
	for _, f := range files {
		root[f.Name] = &fstest.MapFile{Data: f.Data, Mode: fs.ModePerm}
	}
	tab, err := readTable(root)
	if err != nil {
		return err.Error() + "\n"
	}
	m, err := load(root)
	if err != nil {
		return err.Error() + "\n"
	}
	var b strings.Builder
	for _, c := range checks() {
		for _, p := range c.run(m, tab) {
			b.WriteString(c.name + ": " + p + "\n")
		}
	}
	return b.String()
}

func TestParseTable(t *testing.T) {
	t.Parallel()
	tests := []struct{ in, want string }{
		{"level low: a\n", ""},
		{"# comment\n\nlevel low: a\n\tb\n", ""},
		{"level low: a\n\tb\nlevels high: c\n", `levels.txt:3: unknown keyword "levels"`},
		{"level low\n", `levels.txt:1: want KEYWORD NAME...: NAME..., got "level low"`},
		{"only a:\n", `levels.txt:1: want KEYWORD NAME...: NAME..., got "only a:"`},
		{"level low: a\nlevel high: b a\n", "levels.txt:2: a is listed twice"},
		{": a\n", `levels.txt:1: want KEYWORD NAME...: NAME..., got ": a"`},
	}
	for _, tt := range tests {
		got := ""
		if _, err := parseTable(tt.in); err != nil {
			got = err.Error()
		}
		if got != tt.want {
			t.Errorf("%q: got %q, want %q", tt.in, got, tt.want)
		}
	}
}
