package archtest

import (
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"strings"
)

// A source is one parsed Go file.
type source struct {
	path string // from the root of the module
	dir  string // folder of the package; "." for the root
	test bool   // a _test.go file
	ast  *ast.File
}

// A module contains every Go file of a module outside of testdata. Nested modules are left out.
type module struct {
	name  string // its path, from go.mod
	fset  *token.FileSet
	files []*source
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
		case err != nil:
			return err
		case d.IsDir():
			return enter(root, name)
		case path.Ext(name) != ".go":
			return nil
		}
		return m.add(root, name)
	})
	return m, err
}

// enter returns fs.SkipDir for folders that do not belong to the module.
func enter(root fs.FS, dir string) error {
	base := path.Base(dir)
	if dir == "." {
		return nil
	}
	if base == "testdata" || base == "vendor" || strings.HasPrefix(base, ".") || strings.HasPrefix(base, "_") {
		return fs.SkipDir
	}
	_, err := fs.Stat(root, path.Join(dir, "go.mod"))
	switch {
	case err == nil:
		return fs.SkipDir
	case errors.Is(err, fs.ErrNotExist):
		return nil
	}
	return err
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
	m.files = append(m.files, &source{path: name, dir: path.Dir(name), test: strings.HasSuffix(name, "_test.go"), ast: file})
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
