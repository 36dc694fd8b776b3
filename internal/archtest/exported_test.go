package archtest

import (
	"fmt"
	"go/ast"
	"path"
	"slices"
	"strings"
)

// checkExported finds exported declarations of public packages that name a declaration of an internal
// package, which users of the package cannot name. "type T internal.T" is allowed: T is opaque. An
// alias is not, because documentation shows neither its fields nor its methods.
func checkExported(m *module, _ table) []string {
	var out []string
	for _, f := range m.production() {
		if f.ast.Name.Name == "main" || isInternal(f.dir) {
			continue
		}
		imports := importNames(f)
		for _, n := range exported(f.ast) {
			ast.Inspect(n, func(n ast.Node) bool {
				if sel, ok := n.(*ast.SelectorExpr); ok {
					if x, ok := sel.X.(*ast.Ident); ok && isInternal(imports[x.Name]) {
						out = append(out, fmt.Sprintf("%s: an exported declaration names %s.%s", m.at(sel), path.Base(imports[x.Name]), sel.Sel.Name))
					}
				}
				return true
			})
		}
	}
	return out
}

// isInternal reports whether only this module can import a package.
func isInternal(name string) bool { return slices.Contains(strings.Split(name, "/"), "internal") }

// exported returns the types in the exported declarations of a file: of functions, methods, fields,
// variables and constants, and the types that declarations give a name.
func exported(f *ast.File) []ast.Node {
	var out []ast.Node
	for _, d := range f.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			if d.Name.IsExported() && (d.Recv == nil || receiver(d).IsExported()) {
				out = append(out, d.Type)
			}
		case *ast.GenDecl:
			for _, s := range d.Specs {
				out = append(out, exportedSpec(s)...)
			}
		}
	}
	return out
}

func exportedSpec(s ast.Spec) []ast.Node {
	switch s := s.(type) {
	case *ast.TypeSpec:
		if s.Name.IsExported() {
			return typesOf(s)
		}
	case *ast.ValueSpec:
		if s.Type != nil && slices.ContainsFunc(s.Names, (*ast.Ident).IsExported) {
			return []ast.Node{s.Type}
		}
	}
	return nil
}

// typesOf returns the types that users see in the declaration of a type.
func typesOf(s *ast.TypeSpec) []ast.Node {
	var out []ast.Node
	switch t := s.Type.(type) {
	case *ast.StructType:
		for _, f := range t.Fields.List {
			if len(f.Names) == 0 || slices.ContainsFunc(f.Names, (*ast.Ident).IsExported) {
				out = append(out, f.Type)
			}
		}
	case *ast.SelectorExpr:
		if s.Assign.IsValid() {
			out = append(out, t)
		}
	default:
		out = append(out, t)
	}
	return out
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
