// Package golden runs tests whose cases are txtar files: one file for each case. On request it
// replaces the expected parts of the files with the actual results.
package golden

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
)

// A Case is one txtar file.
type Case struct {
	path   string
	ar     *txtar.Archive
	update bool
}

// Each runs f as a subtest on every txtar file in dir. Without update the subtests run in
// parallel. With update, [Case.Want] rewrites the expected parts instead of comparing them.
func Each(t *testing.T, dir string, update bool, f func(*testing.T, *Case)) {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(dir, "*.txtar"))
	if err != nil {
		t.Fatal(err)
	}
	if len(paths) == 0 {
		t.Fatalf("no cases in %s", dir)
	}
	for _, path := range paths {
		t.Run(strings.TrimSuffix(filepath.Base(path), ".txtar"), func(t *testing.T) {
			if !update {
				t.Parallel()
			}
			ar, err := txtar.ParseFile(path)
			if err != nil {
				t.Fatal(err)
			}
			f(t, &Case{path, ar, update})
		})
	}
}

// Files runs a test for each archive in a folder. It compares the files that the test returns with
// those of the archive.
func Files(t *testing.T, dir string, update bool, test func(t *testing.T, in map[string]string) map[string]string) {
	t.Helper()
	Each(t, dir, update, func(t *testing.T, c *Case) {
		in := map[string]string{}
		for _, name := range c.Names() {
			in[name] = string(c.Get(name))
		}
		for name, got := range test(t, in) {
			if _, ok := in[name]; !ok {
				t.Errorf("the archive has no file %s", name)
			}
			c.Want(t, name, got)
		}
	})
}

// Get returns the part of the case with that name, or nil when the case has no such part.
func (c *Case) Get(name string) []byte {
	for _, f := range c.ar.Files {
		if f.Name == name {
			return f.Data
		}
	}
	return nil
}

// Names returns the names of the parts in the order of the file.
func (c *Case) Names() []string {
	names := make([]string, 0, len(c.ar.Files))
	for _, f := range c.ar.Files {
		names = append(names, f.Name)
	}
	return names
}

// Want compares the part with that name with got. When the tests run with update, it replaces the
// part with got.
func (c *Case) Want(t *testing.T, name, got string) {
	t.Helper()
	if got != "" && !strings.HasSuffix(got, "\n") {
		got += "\n"
	}
	if c.update {
		c.set(name, got)
		if err := os.WriteFile(c.path, txtar.Format(c.ar), 0o644); err != nil { //nolint:gosec // files of the repository
			t.Fatal(err)
		}
		return
	}
	if want := string(c.Get(name)); got != want {
		t.Errorf("%s:\ngot:\n%s\nwant:\n%s", name, got, want)
	}
}

func (c *Case) set(name, data string) {
	for i := range c.ar.Files {
		if c.ar.Files[i].Name == name {
			c.ar.Files[i].Data = []byte(data)
			return
		}
	}
	c.ar.Files = append(c.ar.Files, txtar.File{Name: name, Data: []byte(data)})
}
