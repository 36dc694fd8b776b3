// Package archtest checks the structure of the whole module: which package may import which,
// which code may use the process's arguments, environment and streams, how large a package folder
// may be and how much of it must be read together, and comments. The rules are data, in
// testdata/arrows.txt and testdata/rooms.txt. Each check is tested on small modules in
// testdata/*.txtar. testdata/words.txt lists the words that comments, messages and pages avoid.
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

var update = flag.Bool("update", false, "rewrite the golden files, and lower the ceilings of rooms.txt and words.txt")

// A check returns the problems of a module, each with its position.
type check struct {
	name string
	run  func(*module, table) []string
}

func checks() []check {
	return []check{
		{"imports", checkImports},
		{"outside", checkOutside},
		{"init", checkInit},
		{"vars", checkVars},
		{"rooms", checkRooms},
		{"params", checkParams},
		{"tests", checkTests},
		{"docs", checkDocs},
		{"words", checkWords},
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
	if len(tab.words.phrases) == 0 {
		t.Fatal("testdata/words.txt is missing")
	}
	if *update {
		tab = lowerCeilings(t, m, tab)
	}
	t.Log(amounts(m, tab))
	for _, c := range checks() {
		t.Run(c.name, func(t *testing.T) {
			for _, problem := range c.run(m, tab) {
				t.Error(problem)
			}
		})
	}
}

// lowerCeilings writes the figures that have improved to testdata/rooms.txt and
// testdata/words.txt, and returns the new table.
func lowerCeilings(t *testing.T, m *module, tab table) table {
	t.Helper()
	const name = "testdata/rooms.txt"
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	now, err := tab.rooms.lowerAll(m)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(rewrite(string(text), now)), 0o644); err != nil {
		t.Fatal(err)
	}
	const words = "testdata/words.txt"
	if text, err = os.ReadFile(words); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(words, lowerWords(text, tab.words, m), 0o644); err != nil {
		t.Fatal(err)
	}
	if tab, err = readTable(os.DirFS("testdata")); err != nil {
		t.Fatal(err)
	}
	return tab
}

// TestChecks runs every check on the modules of testdata/*.txtar. Each archive contains a module,
// its arrows.txt and rooms.txt, and the problems that the checks must find.
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
		{"0 a: job\n", ""},
		{"0 a: job\n0 a: job\n", "arrows.txt:2: a is listed twice"},
		{"zero a: job\n", `arrows.txt:1: level "zero" is no number`},
		{"# comment\n\n0 a\n", `arrows.txt:3: want LEVEL PATH: JOB, got "0 a"`},
		{"> b\n", `arrows.txt:1: want LEVEL PATH: JOB, got "> b"`},
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
