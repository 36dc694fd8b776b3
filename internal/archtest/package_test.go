package archtest

import (
	"go/ast"
	"go/token"
	"go/types"
	"path"
)

// A pkg is a package with the files that one build selects.
type pkg struct {
	decls map[string]*decl // top-level declarations by name
	uses  graph            // uses between declarations
	files graph            // uses between files, by base name
}

// A decl is a top-level declaration. A type includes its methods.
type decl struct {
	place   string // file and line of a type; empty for other declarations
	lines   int
	methods int
	files   map[string]bool // files with methods
}

// resolve returns the package of the files of one folder. It resolves every name, field and
// method of the package itself, but not those of imported packages.
func resolve(m *module, files []*source) pkg {
	info := types.Info{Defs: map[*ast.Ident]types.Object{}, Uses: map[*ast.Ident]types.Object{}}
	conf := types.Config{Importer: emptyImporter{}, FakeImportC: true, Error: func(error) {}}
	var trees []*ast.File
	for _, f := range files {
		trees = append(trees, f.ast)
	}
	// The errors are ignored, because they are about the unknown imports.
	_, _ = conf.Check(files[0].dir, m.fset, trees, &info)

	p := pkg{decls: map[string]*decl{}, uses: graph{}, files: graph{}}
	owner := map[types.Object]string{} // the declaration of each object
	var all []part
	for _, f := range files {
		all = append(all, parts(f)...)
	}
	for _, one := range all {
		p.add(m, one)
		for _, id := range one.names {
			owner[info.Defs[id]] = one.owner
		}
	}
	for _, one := range all {
		ast.Inspect(one.node, func(n ast.Node) bool {
			id, ok := n.(*ast.Ident)
			if !ok {
				return true
			}
			used := info.Uses[id]
			if used == nil || !used.Pos().IsValid() { // predeclared
				return true
			}
			p.files.use(path.Base(one.file.path), path.Base(m.fset.Position(used.Pos()).Filename))
			if to, ok := owner[used]; ok {
				p.uses.use(one.owner, to)
			}
			return true
		})
	}
	return p
}

// add adds a part to the figures of its declaration.
func (p pkg) add(m *module, one part) {
	d := p.decls[one.owner]
	if d == nil {
		d = &decl{files: map[string]bool{}}
		p.decls[one.owner] = d
	}
	d.lines += m.fset.Position(one.node.End()).Line - m.fset.Position(one.node.Pos()).Line + 1
	switch n := one.node.(type) {
	case *ast.TypeSpec:
		d.place = m.at(n)
	case *ast.FuncDecl:
		if n.Recv != nil {
			d.methods++
			d.files[one.file.path] = true
		}
	}
}

// A part is a function, a method, a type without its methods, or the constants or
// variables of one specification.
type part struct {
	file  *source
	node  ast.Node
	names []*ast.Ident // the names that it declares
	owner string       // name of its declaration; for a method, its type
}

func parts(f *source) []part {
	var list []part
	for _, d := range f.ast.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			owner := d.Name
			if d.Recv != nil {
				owner = receiver(d)
			}
			list = append(list, part{f, d, []*ast.Ident{d.Name}, owner.Name})
		case *ast.GenDecl:
			if d.Tok == token.IMPORT {
				continue
			}
			for _, s := range d.Specs {
				var names []*ast.Ident
				switch s := s.(type) {
				case *ast.TypeSpec:
					names = []*ast.Ident{s.Name}
				case *ast.ValueSpec:
					names = s.Names
				}
				list = append(list, part{f, s, names, names[0].Name})
			}
		}
	}
	return list
}

// receiver returns the name of a method's type.
func receiver(fn *ast.FuncDecl) *ast.Ident {
	x := fn.Recv.List[0].Type
	for {
		switch e := x.(type) {
		case *ast.ParenExpr:
			x = e.X
		case *ast.StarExpr:
			x = e.X
		case *ast.IndexExpr: // a generic type
			x = e.X
		case *ast.IndexListExpr:
			x = e.X
		case *ast.Ident:
			return e
		default:
			return ast.NewIdent("_") // no valid Go
		}
	}
}

// emptyImporter imports packages that declare nothing.
type emptyImporter struct{}

func (emptyImporter) Import(name string) (*types.Package, error) {
	p := types.NewPackage(name, path.Base(name))
	p.MarkComplete()
	return p, nil
}
