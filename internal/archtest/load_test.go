package archtest

import (
	"bytes"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"slices"
	"strings"
)

// A source is one parsed Go file.
type source struct {
	path  string // from the root of the module
	dir   string // folder of the package; "." for the root
	test  bool   // a _test.go file
	text  []byte
	lines int
	code  int // number of lines that are not blank
	ast   *ast.File
}

// A module contains every Go file of a module outside of testdata.
type module struct {
	name   string // its path, from go.mod
	fset   *token.FileSet
	files  []*source
	inner  []string  // folders of nested modules
	nested []*source // files of nested modules; only their sizes are checked
	// cases is the number of lines that are not blank in the txtar files of testdata. Tests with
	// many cases keep each case in such a file.
	cases int
	pages map[string][]byte // Markdown files
}

func load(root fs.FS) (*module, error) {
	m := &module{fset: token.NewFileSet()}
	mod, err := fs.ReadFile(root, "go.mod")
	if err != nil {
		return nil, err
	}
	first, _, _ := strings.Cut(string(mod), "\n")
	m.name = strings.TrimSpace(strings.TrimPrefix(first, "module "))
	err = fs.WalkDir(root, ".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err == nil && path.Ext(name) == ".txtar":
			return m.count(root, name)
		case err == nil && inTestdata(name):
			return nil
		case err != nil:
			return err
		case d.IsDir():
			return m.enter(root, name)
		case path.Ext(name) == ".md":
			return m.addPage(root, name)
		case path.Ext(name) != ".go":
			return nil
		}
		return m.add(root, name)
	})
	return m, err
}

// enter returns fs.SkipDir for folders that are not searched, and records nested modules.
func (m *module) enter(root fs.FS, dir string) error {
	base := path.Base(dir)
	if dir == "." {
		return nil
	}
	if inTestdata(dir) {
		return nil
	}
	if base == "vendor" || strings.HasPrefix(base, ".") || strings.HasPrefix(base, "_") {
		return fs.SkipDir
	}
	_, err := fs.Stat(root, path.Join(dir, "go.mod"))
	if err == nil {
		m.inner = append(m.inner, dir)
		return nil
	}
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

func inTestdata(name string) bool {
	return slices.Contains(strings.Split(name, "/"), "testdata")
}

// inNested reports whether a file belongs to a nested module.
func (m *module) inNested(name string) bool {
	return slices.ContainsFunc(m.inner, func(dir string) bool { return strings.HasPrefix(name, dir+"/") })
}

// count adds the lines of a txtar file to cases.
func (m *module) count(root fs.FS, name string) error {
	if m.inNested(name) {
		return nil
	}
	text, err := fs.ReadFile(root, name)
	m.cases += codeLines(text)
	return err
}

func codeLines(text []byte) int {
	n := 0
	for line := range bytes.Lines(text) {
		if len(bytes.TrimSpace(line)) > 0 {
			n++
		}
	}
	return n
}

func (m *module) add(root fs.FS, name string) error {
	text, err := fs.ReadFile(root, name)
	if err != nil {
		return err
	}
	file, err := parser.ParseFile(m.fset, name, text, parser.ParseComments)
	if err != nil {
		return err
	}
	s := &source{path: name, dir: path.Dir(name), test: strings.HasSuffix(name, "_test.go"), text: text, ast: file}
	s.lines, s.code = bytes.Count(text, []byte("\n")), codeLines(text)
	if m.inNested(name) {
		m.nested = append(m.nested, s)
	} else {
		m.files = append(m.files, s)
	}
	return nil
}

// at returns the position of a node, for messages.
func (m *module) at(n ast.Node) string {
	p := m.fset.Position(n.Pos())
	return fmt.Sprintf("%s:%d", p.Filename, p.Line)
}

// production returns the files that are not tests.
func (m *module) production() []*source {
	var list []*source
	for _, f := range m.files {
		if !f.test {
			list = append(list, f)
		}
	}
	return list
}

// folders returns the files that are not tests by folder, nested modules included.
func (m *module) folders() map[string][]*source {
	byDir := map[string][]*source{}
	for _, f := range slices.Concat(m.files, m.nested) {
		if !f.test {
			byDir[f.dir] = append(byDir[f.dir], f)
		}
	}
	return byDir
}
